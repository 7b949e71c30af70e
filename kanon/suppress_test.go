package kanon_test

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/table"
)

// far is a table of two close towns' people and some records far from all, by key.
func far(n, outliers int) (fields []table.Field, rows [][]string) {
	fields = []table.Field{
		{Name: "person", Role: table.Identifier},
		{Name: "key"},
		{Name: "x", Role: table.Quasi, Type: table.Integer},
		{Name: "y", Role: table.Quasi, Type: table.Integer},
		{Name: "illness", Role: table.Sensitive},
	}
	for i := range n {
		x, y := i%20, i%7
		if i < outliers {
			x, y = 1000+700*i, 500*(i%2)
		}
		rows = append(rows, []string{
			fmt.Sprintf("P%03d", i), fmt.Sprintf("k%04d", i), fmt.Sprint(x), fmt.Sprint(y),
			[]string{"flu", "gout", "none"}[i%3],
		})
	}
	return fields, rows
}

// The records far from all are left out, as many as are said, up to the limit; the
// others are in the release once, in classes of k; and the loss counts all.
func TestSuppress(t *testing.T) {
	fields, rows := far(120, 6)
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize} {
		var first []byte
		for workers, c := range []struct {
			limit kanon.Suppression
			want  int
		}{{kanon.Suppression{}, 0}, {kanon.Suppression{Records: 6}, 6}, {kanon.Suppression{Share: 0.05}, 6}, {kanon.Suppression{Records: 1}, 1}} {
			dir := t.TempDir()
			path := filepath.Join(dir, "in.csv")
			writeCSV(t, path, fields, rows)
			j := kanon.Job{
				Source: open(t, path), Schema: table.Schema{Fields: fields}, Kept: []string{"key", "note"}, Output: kanon.Output{
					Path: filepath.Join(dir, "out.csv"),
				},
				Options: kanon.Options{
					K: 5, Refine: refine.Auto, Publish: mode, KeepOrder: true, Workers: workers, Suppress: c.limit,
					Diversity: &privacy.Diversity{L: 2},
				},
			}
			r := anonymize(t, j)
			if r.Suppressed != c.want || r.Rows != 120-c.want || r.Verified.Rows != int64(r.Rows) {
				t.Fatalf("%v: %d left out of %d, want %d", c.limit, r.Suppressed, r.Rows, c.want)
			}
			if !(r.Loss >= r.SuppressedLoss && r.Loss <= 1) || (r.SuppressedLoss > 0) != (c.want > 0) {
				t.Errorf("loss %v, of it %v by records that are left out", r.Loss, r.SuppressedLoss)
			}
			release := read(t, j.Output.Path)
			header, out := readCSV(t, release)
			var kept [][]string
			for _, row := range out {
				kept = append(kept, rows[keyNumber(t, row[slices.Index(header, "key")])])
			}
			check(t, 5, fields, kept, release)
			if c.want == 6 {
				for _, row := range kept {
					if len(row[2]) > 2 {
						t.Errorf("record %s is far from all others, and is in the release", row[1])
					}
				}
				if first == nil {
					first = release
				} else if !bytes.Equal(first, release) {
					t.Error("a share of 5 % and 6 records leave out different ones")
				}
				checkLoss(t, fields, rows, kept, r)
			}
		}
	}
}

func keyNumber(t *testing.T, key string) int {
	t.Helper()
	var n int
	if _, err := fmt.Sscanf(key, "k%d", &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// checkLoss works the part of the loss by the records that are left out anew, under
// min-max scaling.
func checkLoss(t *testing.T, fields []table.Field, rows, kept [][]string, r *kanon.Result) {
	t.Helper()
	in := map[string]bool{}
	for _, row := range kept {
		in[row[1]] = true
	}
	var sst, lost float64
	for c := range fields {
		if fields[c].Role != table.Quasi {
			continue
		}
		var x []float64
		for _, row := range rows {
			var v float64
			if _, err := fmt.Sscan(row[c], &v); err != nil {
				t.Fatal(err)
			}
			x = append(x, v)
		}
		lo, hi, sum := slices.Min(x), slices.Max(x), 0.0
		for i := range x {
			x[i] = (x[i] - lo) / (hi - lo)
			sum += x[i]
		}
		for i, v := range x {
			d := v - sum/float64(len(x))
			sst += d * d
			if !in[rows[i][1]] {
				lost += d * d
			}
		}
	}
	if math.Abs(r.SuppressedLoss-lost/sst) > 1e-9 || math.Abs(r.SST-sst) > 1e-6 {
		t.Errorf("%v of the loss are said to be by records that are left out, expected %v", r.SuppressedLoss, lost/sst)
	}
}

// All records of a person are left out or none.
func TestSuppressPersons(t *testing.T) {
	fields, rows := far(160, 8)
	for i := range rows {
		rows[i][0] = fmt.Sprintf("P%03d", i/2)
	}
	// The second record of the first outlier's person is among the others.
	rows[1][2], rows[1][3] = "3", "3"
	dir := t.TempDir()
	path := filepath.Join(dir, "in.csv")
	writeCSV(t, path, fields, rows)
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize} {
		j := kanon.Job{
			Source: open(t, path), Schema: table.Schema{Fields: fields}, Kept: []string{"key", "note"}, Output: kanon.Output{
				Path: filepath.Join(dir, "out.csv"), Force: true,
			},
			Options: kanon.Options{K: 3, Refine: refine.Fast, Publish: mode, Unit: "person", Suppress: kanon.Suppression{Records: 9}},
		}
		r := anonymize(t, j)
		if r.Suppressed != 8 {
			t.Fatalf("%d records are left out", r.Suppressed)
		}
		header, out := readCSV(t, read(t, j.Output.Path))
		left := map[string]int{}
		for _, row := range out {
			left[rows[keyNumber(t, row[slices.Index(header, "key")])][0]]++
		}
		for person, n := range left {
			if n != 2 {
				t.Errorf("%d of 2 records of %s are in the release", n, person)
			}
		}
		if int(r.Verified.Unit.Persons) != len(left) || r.AchievedK < 3 {
			t.Errorf("%+v", r.Verified.Unit)
		}
	}
}

// What leaving out would break is not done, and a limit that makes no sense is
// refused.
func TestSuppressLimits(t *testing.T) {
	fields, rows := far(30, 2)
	for i := range rows {
		rows[i][4] = "flu"
	}
	// Without both outliers no class is 2-diverse.
	rows[0][4], rows[1][4] = "gout", "gout"
	dir := t.TempDir()
	path := filepath.Join(dir, "in.csv")
	writeCSV(t, path, fields, rows)
	j := kanon.Job{
		Source: open(t, path), Schema: table.Schema{Fields: fields}, Kept: []string{"key", "note"}, Output: kanon.Output{
			Path: filepath.Join(dir, "out.csv"),
		},
		Options: kanon.Options{K: 3, Refine: refine.Fast, Suppress: kanon.Suppression{Records: 2}, Diversity: &privacy.Diversity{L: 2}},
	}
	if r := anonymize(t, j); r.Suppressed > 1 || r.Rows+r.Suppressed != 30 {
		t.Errorf("%d records are left out, and no class can be diverse then", r.Suppressed)
	}
	for _, bad := range []string{"1.5", "-1", "100%", "-1%", "x", "%", ""} {
		if _, err := kanon.ParseSuppression(bad); noren.KindOf(err) != noren.Usage {
			t.Errorf("%q: %v", bad, err)
		}
	}
	j.Output.Path = filepath.Join(dir, "no.csv")
	j.Unit, j.Linkage, j.Diversity = "person", kanon.LinkAll, nil
	if _, err := kanon.Anonymize(t.Context(), j); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "suppression") {
		t.Errorf("with a linkage of all records: %v", err)
	}
}
