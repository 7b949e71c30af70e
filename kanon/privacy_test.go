package kanon_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/table"
)

// hard is more than any of these tables keeps.
var hard = &privacy.Diversity{L: 1000}

// counts are how often each value of a column occurs; ? and the empty text are
// the same.
func counts(rows [][]string, column int) map[string]int {
	out := map[string]int{}
	for _, row := range rows {
		v := row[column]
		if v == "?" {
			v = ""
		}
		out[v]++
	}
	return out
}

// diverse are the definitions of Machanavajjhala et al. for the records of a class
// that have a value.
func diverse(class map[string]int, d privacy.Diversity) bool {
	n, entropy := 0, 0.0
	var sizes []int
	for v, c := range class {
		if v == "" {
			continue
		}
		sizes = append(sizes, c)
		n += c
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	for _, c := range sizes {
		p := float64(c) / float64(n)
		entropy -= p * math.Log(p)
	}
	switch d.Model {
	case privacy.Distinct:
		return len(sizes) >= int(d.L)
	case privacy.Entropy:
		return math.Exp(entropy) >= d.L-1e-9
	}
	rest := 0
	for _, c := range sizes[min(int(d.L)-1, len(sizes)):] {
		rest += c
	}
	return len(sizes) > 0 && float64(sizes[0]) < d.C*float64(rest)
}

// equalDistance is the earth mover's distance where every two values are 1
// apart.
func equalDistance(class, whole map[string]int, n, all int) float64 {
	d := 0.0
	for v, c := range whole {
		d += math.Abs(float64(class[v])/float64(n)-float64(c)/float64(all)) / 2
	}
	return d
}

// Diversity and closeness hold in the file that is written, by its own reader.
func TestDiversityAndCloseness(t *testing.T) {
	randtest.SkipShort(t)
	rows := makePeople(150, 21)
	fields := slices.Clone(people)
	for i := range fields {
		if fields[i].Name == "pay" {
			fields[i].Role, fields[i].Type = table.Sensitive, table.Category
		}
	}
	for name, o := range map[string]kanon.Options{
		"distinct":          {Diversity: &privacy.Diversity{L: 3}},
		"entropy":           {Diversity: &privacy.Diversity{Model: privacy.Entropy, L: 2.5}},
		"recursive":         {Diversity: &privacy.Diversity{Model: privacy.Recursive, L: 3, C: 1.5}},
		"close":             {Closeness: &privacy.Closeness{T: 0.25}},
		"both":              {Diversity: &privacy.Diversity{L: 3}, Closeness: &privacy.Closeness{T: 0.3}},
		"as near as can be": {Closeness: &privacy.Closeness{T: 0}},
	} {
		// Made to keep it, or merged until they do.
		for _, method := range []partition.Method{partition.Auto, partition.MDAV} {
			j := job(t, t.TempDir(), rows)
			j.Schema.Fields, j.Partition.Method = fields, method
			j.Diversity, j.Closeness = o.Diversity, o.Closeness
			r := anonymize(t, j)
			found := check(t, 5, fields, rows, read(t, j.Output.Path))
			header, out := readCSV(t, read(t, j.Output.Path))
			for _, column := range []string{"illness", "pay"} {
				at := slices.Index(header, column)
				whole := counts(out, at)
				for key, class := range found {
					c := counts(class, at)
					if o.Diversity != nil && !diverse(c, *o.Diversity) {
						t.Errorf("%s: class %s has %v in %s", name, key, c, column)
					}
					if o.Closeness != nil && equalDistance(c, whole, len(class), len(out)) > o.Closeness.T+1e-12 {
						t.Errorf("%s: class %s is at %v in %s", name, key, equalDistance(c, whole, len(class), len(out)), column)
					}
				}
			}
			if (r.Merged > 0) != (method == partition.MDAV) || len(r.Verified.Sensitive) != 2 ||
				(len(r.Guarantee.Diversity) == 2) != (o.Diversity != nil) || (len(r.Guarantee.Closeness) == 2) != (o.Closeness != nil) {
				t.Errorf("%s: %+v", name, r)
			}
			// Only the whole table is as the whole table, and its loss is all.
			if whole := name == "as near as can be"; whole != (r.Groups == 1) || whole != (math.Abs(r.Loss-1) < 1e-12) {
				t.Errorf("%s: %d groups, loss %v", name, r.Groups, r.Loss)
			}
			if sizes := r.GroupSize; sizes.Min < 5 || math.Abs(sizes.Mean-150/float64(r.Groups)) > 1e-12 {
				t.Errorf("%s: %+v", name, sizes)
			}
		}
	}
}

// A sensitive column that nothing is asked of is not looked at: what it holds
// need not fit its type.
func TestSensitiveThatNothingIsAskedOf(t *testing.T) {
	rows := makePeople(40, 22)
	rows[3][10] = "much"
	j := job(t, t.TempDir(), rows)
	if r := anonymize(t, j); len(r.Verified.Sensitive) != 0 {
		t.Errorf("got %+v", r.Verified)
	}
	j.Output.Path += ".csv"
	j.Diversity = &privacy.Diversity{L: 2}
	if _, err := kanon.Anonymize(context.Background(), j); noren.KindOf(err) != noren.BadData ||
		!strings.Contains(err.Error(), "column 11 (pay): expected an integer") || strings.Contains(err.Error(), "much") {
		t.Errorf("got %v", err)
	}
}

// What even the whole table does not keep is refused, and nothing is said of
// how far off it is.
func TestNotMet(t *testing.T) {
	for _, c := range []kanon.Options{{Diversity: hard}, {Diversity: &privacy.Diversity{Model: privacy.Recursive, L: 4, C: 0.01}}} {
		dir := t.TempDir()
		j := job(t, dir, makePeople(40, 23))
		j.Diversity = c.Diversity
		_, err := kanon.Anonymize(context.Background(), j)
		if noren.KindOf(err) != noren.NotMet || list(t, dir) != "in.csv" {
			t.Errorf("%v; the folder holds %s", err, list(t, dir))
		}
		for _, told := range []string{"flu", "asthma", "gout", "IDENT"} {
			if strings.Contains(err.Error(), told) {
				t.Errorf("%v tells %s", err, told)
			}
		}
	}
}
