package kanon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// Every method, with and without refinement, by both ways to publish.
func TestEveryMethod(t *testing.T) {
	randtest.SkipShort(t)
	rows := makePeople(120, 1)
	for _, method := range []partition.Method{
		partition.Auto, partition.Mondrian, partition.MondrianStrict, partition.MDAV, partition.VMDAV,
		partition.Tomobiki,
	} {
		for _, effort := range []refine.Effort{refine.Off, refine.Fast} {
			for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize, publish.Matched, publish.Shares} {
				t.Run(fmt.Sprint(method, effort, mode), func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					j := job(t, dir, rows)
					before := read(t, filepath.Join(dir, "in.csv"))
					j.Partition.Method, j.Refine, j.Publish = method, effort, mode
					r := anonymize(t, j)
					found := check(t, 5, people, rows, read(t, j.Output.Path))
					sizes := []int{}
					for _, class := range found {
						sizes = append(sizes, len(class))
					}
					if r.Classes != len(found) || r.AchievedK != slices.Min(sizes) || int(r.Verified.ClassSize.Max) != slices.Max(sizes) {
						t.Errorf("%d classes of %d to %d, and the result says %+v", len(found), slices.Min(sizes), slices.Max(sizes), r.Verified)
					}
					if method != partition.Auto && r.Method != method.String() || r.Method == "auto" ||
						r.MethodReason.IsZero() != (method != partition.Auto) {
						t.Errorf("method %s (%s)", r.Method, r.MethodReason)
					}
					if effort == refine.Off && r.RefinedFrom != r.Loss || effort == refine.Fast && r.Objective == "sse" && r.RefinedFrom < r.Loss {
						t.Errorf("refined from %v to %v", r.RefinedFrom, r.Loss)
					}
					if got := list(t, dir); got != "in.csv out.csv" || string(before) != string(read(t, filepath.Join(dir, "in.csv"))) {
						t.Errorf("the folder holds %s", got)
					}
				})
			}
		}
	}
}

func TestResult(t *testing.T) {
	rows := makePeople(103, 2)
	j := job(t, t.TempDir(), rows)
	j.Partition = partition.Options{Method: partition.MDAV, Coarse: 40}
	j.Scale = space.ZScore
	j.Seed = ptr[uint64](3)
	r := anonymize(t, j)
	check(t, 5, people, rows, read(t, j.Output.Path))
	if r.Groups < 2 || r.Groups > 103/5 || r.Classes > r.Groups || r.Classes < 2 || r.GroupSize.Min < 5 || r.GroupSize.Max < r.GroupSize.Min ||
		r.GroupSize.Max > 103 {
		t.Errorf("got %+v", r)
	}
	if math.Abs(r.GroupSize.Mean-103/float64(r.Groups)) > 1e-12 || math.Abs(r.Loss-r.SSE/r.SST) > 1e-15 || r.Loss <= 0 || r.Loss >= 1 ||
		r.RefinedFrom < r.Loss || r.RefinedFrom >= 1 {
		t.Errorf("got %+v", r)
	}
	if r.Coarse != 40 || r.AchievedK < 5 || r.Verified == nil || !r.Verified.Met {
		t.Errorf("got %+v", r)
	}
	quasi := []string{"age", "sex", "day", "income", "level"}
	if d := cmp.Diff(quasi, r.Verified.Quasi); d != "" || r.Verified.File.String() != j.Output.Path || r.Verified.Rows != 103 {
		t.Errorf("verified %+v", r.Verified)
	}
	if d := cmp.Diff(quasi, r.Guarantee.Quasi); d != "" || r.Guarantee.Model != "k-anonymity" || r.Guarantee.K != 5 ||
		len(r.Guarantee.Diversity)+len(r.Guarantee.Closeness) != 0 {
		t.Errorf("guaranteed %+v", r.Guarantee)
	}
	s := r.Seconds
	if parts := s.Read + s.Partition + s.Refine + s.Publish + s.Verify; min(s.Read, s.Partition, s.Refine, s.Publish, s.Verify) <= 0 ||
		s.Total < parts {
		t.Errorf("seconds %+v", s)
	}

	// What it was refined from is what it would be without.
	off := j
	off.Refine, off.Output.Path = refine.Off, j.Output.Path+".csv"
	if was := anonymize(t, off); was.Loss != r.RefinedFrom || was.Loss <= r.Loss || was.Refine != "off" {
		t.Errorf("refined from %v to %v; without refinement %v", r.RefinedFrom, r.Loss, was.Loss)
	}

	// The contract's words.
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"schema": "noren.anonymize/1", "input": j.Source.Name(), "output": j.Output.Path, "rows": 103.0, "k": 5.0,
		"achieved_k": float64(r.AchievedK),
		"groups":     float64(r.Groups), "classes": float64(r.Classes), "loss": r.Loss, "sse": r.SSE, "sst": r.SST, "method": "mdav",
		"coarse": 40.0,
		"refine": "fast", "refined_from": r.RefinedFrom, "scale": "zscore", "publish": "aggregate", "merged": 0.0, "suppressed": 0.0,
	} {
		if object[key] != want {
			t.Errorf("%s is %v, want %v", key, object[key], want)
		}
	}
	for key, parts := range map[string][]string{
		"group_size": {"min", "mean", "max"},
		"seconds":    {"read", "partition", "refine", "publish", "verify", "total"},
		"guarantee":  {"model", "k", "quasi_identifiers"},
		"verified":   {"met", "achieved_k", "class_size"},
	} {
		inner, _ := object[key].(map[string]any)
		for _, part := range parts {
			if inner[part] == nil {
				t.Errorf("%s.%s is not there", key, part)
			}
		}
	}
}

// The loss by hand: with means that are written out, SSE is the sum of squares
// between the source and the release, in units of each column's range.
func TestLossIsThatOfTheRelease(t *testing.T) {
	fields := []table.Field{
		{Name: "key"},
		{Name: "x", Role: table.Quasi, Type: table.Integer, Round: ptr(12)},
		{Name: "y", Role: table.Quasi, Type: table.Decimal, Round: ptr(12)},
	}
	var rows [][]string
	for i := range 60 {
		rows = append(rows, []string{fmt.Sprint("k", i), fmt.Sprint(i * i % 97), fmt.Sprintf("%.1f", float64(i*i*i%89)/10)})
	}
	dir := t.TempDir()
	writeCSV(t, filepath.Join(dir, "in.csv"), fields, rows)
	j := kanon.Job{
		Kept:   []string{"key", "note"},
		Source: open(t, filepath.Join(dir, "in.csv")), Schema: table.Schema{Fields: fields},
		Output: kanon.Output{Path: filepath.Join(dir, "out.csv")}, Options: kanon.Options{K: 3, Refine: refine.Fast},
	}
	r := anonymize(t, j)
	check(t, 3, fields, rows, read(t, j.Output.Path))
	_, out := readCSV(t, read(t, j.Output.Path))
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	published := map[string][]string{}
	for _, row := range out {
		published[row[0]] = row
	}
	sse, sst := 0.0, 0.0
	for c := 1; c <= 2; c++ {
		lo, hi, mean := math.Inf(1), math.Inf(-1), 0.0
		for _, row := range rows {
			v := number(row[c])
			lo, hi, mean = min(lo, v), max(hi, v), mean+v/float64(len(rows))
		}
		for _, row := range rows {
			e, d := (number(row[c])-number(published[row[0]][c]))/(hi-lo), (number(row[c])-mean)/(hi-lo)
			sse, sst = sse+e*e, sst+d*d
		}
	}
	if math.Abs(r.SSE-sse) > 1e-9 || math.Abs(r.SST-sst) > 1e-9 || math.Abs(r.Loss-sse/sst) > 1e-9 {
		t.Errorf("SSE %v and SST %v, by hand %v and %v", r.SSE, r.SST, sse, sst)
	}
}

// A table comes in many pieces, and each record meets its own group.
func TestManyPieces(t *testing.T) {
	randtest.SkipShort(t)
	rows := makePeople(20_000, 6)
	for _, keep := range []bool{false, true} {
		j := job(t, t.TempDir(), rows)
		j.KeepOrder, j.Refine, j.Publish = keep, refine.Off, publish.Generalize
		j.Partition.Method = partition.Mondrian
		r := anonymize(t, j)
		found := check(t, 5, people, rows, read(t, j.Output.Path))
		if len(found) != r.Classes || r.Classes < 1000 {
			t.Errorf("%d classes, %+v", len(found), r)
		}
		// Every record's own age is in the range that it shows.
		ages := map[string]string{}
		for _, row := range rows {
			ages[row[1]] = row[2]
		}
		_, out := readCSV(t, read(t, j.Output.Path))
		for _, row := range out {
			lo, hi, _, ok := publish.ParseRange(row[1], &people[2])
			age, err := strconv.ParseFloat(ages[row[0]], 64)
			if err == nil && (!ok || age < lo || age > hi) {
				t.Fatalf("record %s of age %v shows %s", row[0], age, row[1])
			}
		}
	}
}

// Sizes at which there is little choice.
func TestSmallTables(t *testing.T) {
	randtest.SkipShort(t)
	for _, c := range []struct{ n, k, groups int }{{5, 5, 1}, {9, 5, 1}, {10, 5, 2}, {1, 1, 1}, {7, 1, 7}, {40, 40, 1}} {
		for _, method := range []partition.Method{partition.Auto, partition.Mondrian, partition.MDAV, partition.VMDAV, partition.Tomobiki} {
			rows := makePeople(c.n, uint64(c.n))
			j := job(t, t.TempDir(), rows)
			j.K, j.Partition.Method = c.k, method
			r := anonymize(t, j)
			check(t, c.k, people, rows, read(t, j.Output.Path))
			if c.groups != 2 && r.Groups != c.groups || r.Groups > c.groups {
				t.Errorf("n = %d, k = %d, %s: %d groups, want %d", c.n, c.k, method, r.Groups, c.groups)
			}
			if c.k == 1 && r.Loss != 0 {
				t.Errorf("n = %d, k = 1, %s: loss %v", c.n, method, r.Loss)
			}
		}
	}
}

// At k = 1 every record keeps its own values.
func TestKIsOne(t *testing.T) {
	rows := makePeople(30, 4)
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize, publish.Matched, publish.Shares} {
		j := job(t, t.TempDir(), rows)
		j.K, j.KeepOrder, j.Publish = 1, true, mode
		anonymize(t, j)
		_, out := readCSV(t, read(t, j.Output.Path))
		for i, row := range rows {
			var want []string
			for c, f := range people {
				text := row[c]
				if f.Role == table.Identifier {
					continue
				}
				if f.Role == table.Quasi && text == "?" {
					text = ""
				}
				want = append(want, text)
			}
			got := slices.Clone(out[i])
			const income = 5 // has two places, and its mean four
			if want[income] != "" {
				a, err := strconv.ParseFloat(got[income], 64)
				b, _ := strconv.ParseFloat(want[income], 64)
				if err != nil || a != b {
					t.Errorf("record %d: income %s, was %s", i, got[income], want[income])
				}
				got[income] = want[income]
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s, record %d (-want +got)\n%s", mode, i, d)
			}
		}
	}
}

// Records that are all the same stay what they are.
func TestIdenticalRecords(t *testing.T) {
	rows := makePeople(23, 5)
	for i := range rows {
		for c, f := range people {
			if f.Role == table.Quasi {
				rows[i][c] = rows[0][c]
			}
		}
	}
	rows[0][2], rows[0][4] = "33", "" // one column is missing throughout
	for i := range rows {
		rows[i][2], rows[i][4] = rows[0][2], rows[0][4]
	}
	for _, method := range []partition.Method{
		partition.Auto, partition.Mondrian, partition.MondrianStrict, partition.MDAV, partition.VMDAV,
		partition.Tomobiki,
	} {
		j := job(t, t.TempDir(), rows)
		j.Partition.Method = method
		r := anonymize(t, j)
		found := check(t, 5, people, rows, read(t, j.Output.Path))
		if len(found) != 1 || r.Classes != 1 || r.AchievedK != 23 || r.Loss != 0 || r.SST != 0 || r.GroupSize.Min < 5 {
			t.Errorf("%s: %d classes, %+v", method, len(found), r)
		}
		for key := range found {
			if !strings.HasPrefix(key, `"33" "" `) {
				t.Errorf("%s: the class shows %s", method, key)
			}
		}
	}
}

// A missing value is one rule throughout: ? and the empty text are the same
// nothing, shown as the empty text, and only where a whole class has none.
func TestMissingValues(t *testing.T) {
	fields := []table.Field{{Name: "key"}, {Name: "age", Role: table.Quasi, Type: table.Integer}}
	rows := [][]string{{"a", "?"}, {"b", ""}, {"c", "?"}, {"d", "30"}, {"e", "31"}, {"f", "30"}, {"g", "32"}}
	dir := t.TempDir()
	writeCSV(t, filepath.Join(dir, "in.csv"), fields, rows)
	for _, mode := range []publish.Mode{publish.Aggregate, publish.Generalize, publish.Matched, publish.Shares} {
		j := kanon.Job{
			Kept:   []string{"key", "note"},
			Source: open(t, filepath.Join(dir, "in.csv")), Schema: table.Schema{Fields: fields}, Missing: []string{"?"},
			Output: kanon.Output{Path: filepath.Join(dir, mode.String()+".csv")}, Options: kanon.Options{K: 3, KeepOrder: true, Publish: mode},
		}
		r := anonymize(t, j)
		check(t, 3, fields, rows, read(t, j.Output.Path))
		_, out := readCSV(t, read(t, j.Output.Path))
		present := map[publish.Mode]string{
			publish.Aggregate: "31", publish.Generalize: "[30-32]", publish.Matched: "31",
			publish.Shares: "[30-32]",
		}[mode]
		if got := fmt.Sprint(out); got != fmt.Sprintf("[[a ] [b ] [c ] [d %[1]s] [e %[1]s] [f %[1]s] [g %[1]s]]", present) || r.AchievedK != 3 ||
			r.Classes != 2 {
			t.Errorf("%s: %s, %+v", mode, got, r)
		}
	}
	// With no word for it, ? is a word where an integer should stand.
	j := kanon.Job{
		Kept:   []string{"key", "note"},
		Source: open(t, filepath.Join(dir, "in.csv")), Schema: table.Schema{Fields: fields},
		Output: kanon.Output{Path: filepath.Join(dir, "out.csv")}, Options: kanon.Options{K: 3},
	}
	if _, err := kanon.Anonymize(context.Background(), j); noren.KindOf(err) != noren.BadData ||
		!strings.Contains(err.Error(), "line 2, column 2 (age): expected an integer") || strings.Contains(err.Error(), "?") {
		t.Errorf("got %v", err)
	}
	if got := list(t, dir); got != "aggregate.csv generalize.csv in.csv matched.csv shares.csv" {
		t.Errorf("the folder holds %s", got)
	}
}

// A release whose every column is changed or left out has no column to read
// again, and as many records all the same.
func TestNothingButQuasiIdentifiers(t *testing.T) {
	fields := []table.Field{{Name: "name", Role: table.Identifier}, {Name: "age", Role: table.Quasi, Type: table.Integer}}
	var rows [][]string
	for i := range 25 {
		rows = append(rows, []string{fmt.Sprint("IDENT", i), fmt.Sprint(i)})
	}
	dir := t.TempDir()
	writeCSV(t, filepath.Join(dir, "in.csv"), fields, rows)
	j := kanon.Job{
		Kept:   []string{"key", "note"},
		Source: open(t, filepath.Join(dir, "in.csv")), Schema: table.Schema{Fields: fields},
		Output: kanon.Output{Path: filepath.Join(dir, "out.csv")}, Options: kanon.Options{
			K: 5, Partition: partition.Options{Method: partition.Mondrian},
		},
	}
	r := anonymize(t, j)
	header, out := readCSV(t, read(t, j.Output.Path))
	if fmt.Sprint(header) != "[age]" || len(out) != 25 {
		t.Errorf("%v and %d records", header, len(out))
	}
	found := classes(header, out, fields[1:])
	if len(found) != r.Classes || r.Classes < 2 || r.Classes > 5 {
		t.Errorf("%d classes, %+v", len(found), r)
	}
	for key, class := range found {
		if len(class) < 5 {
			t.Errorf("class %s has %d records", key, len(class))
		}
	}
}

func TestHierarchy(t *testing.T) {
	h, err := table.NewHierarchy("towns.csv", [][]string{
		{"Kyoto", "Kansai", "Japan"},
		{"Osaka", "Kansai", "Japan"},
		{"Tokyo", "Kanto", "Japan"},
		{"Chiba", "Kanto", "Japan"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	fields := []table.Field{{Name: "key"}, {Name: "town", Role: table.Quasi, Hierarchy: h}}
	var rows [][]string
	for i := range 12 {
		rows = append(rows, []string{fmt.Sprint("k", i), []string{"Kyoto", "Osaka", "Tokyo", "Chiba"}[i%4]})
	}
	dir := t.TempDir()
	writeCSV(t, filepath.Join(dir, "in.csv"), fields, rows)
	j := kanon.Job{
		Kept:   []string{"key", "note"},
		Source: open(t, filepath.Join(dir, "in.csv")), Schema: table.Schema{Fields: fields},
		Output:  kanon.Output{Path: filepath.Join(dir, "out.csv")},
		Options: kanon.Options{K: 6, Publish: publish.Generalize, Refine: refine.Fast},
	}
	anonymize(t, j)
	// Two groups of six are best cut between the regions.
	found := check(t, 6, fields, rows, read(t, j.Output.Path))
	if len(found) != 2 || len(found[`"Kansai" `]) != 6 || len(found[`"Kanto" `]) != 6 {
		t.Errorf("got %v", found)
	}

	// Values without a line are reported by their number, and not by their names.
	rows[3][1], rows[7][1] = "s3cr3t", "s3cr3t2"
	writeCSV(t, filepath.Join(dir, "other.csv"), fields, rows)
	j.Source, j.Output.Path = open(t, filepath.Join(dir, "other.csv")), filepath.Join(dir, "none.csv")
	_, err = kanon.Anonymize(context.Background(), j)
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(),
		"other.csv: column town: 2 of its 6 different values have no line in the hierarchy towns.csv") ||
		strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("got %v", err)
	}
	if got := list(t, dir); got != "in.csv other.csv out.csv" {
		t.Errorf("the folder holds %s", got)
	}
}
