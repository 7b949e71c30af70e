package publish_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// outside reports by the definition whether no group spans the values of record i,
// its own group without it: tight ranges of numbers, sets of categories.
func outside(cols []*table.Column, group []uint32, groups int, i int) bool {
	for g := range groups {
		spans, others := true, 0
		for _, c := range cols {
			var values []float64
			others = 0
			for j, h := range group {
				if int(h) != g || j == i {
					continue
				}
				others++
				switch {
				case c.IsMissing(j):
				case c.Codes != nil:
					values = append(values, float64(c.Codes[j]))
				default:
					values = append(values, c.Number(j))
				}
			}
			switch {
			case c.IsMissing(i):
			case len(values) == 0:
				spans = false
			case c.Codes != nil:
				spans = spans && slices.Contains(values, float64(c.Codes[i]))
			default:
				spans = spans && slices.Min(values) <= c.Number(i) && c.Number(i) <= slices.Max(values)
			}
		}
		if spans && others > 0 {
			return false
		}
	}
	return true
}

// Groups that are looked at a part at a time exclude the same records as all together,
// and as many as the definition says.
func TestOutsidersByParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 150).Draw(t, "records")
		cols, group, groups := people(t, n, rapid.IntRange(2, 9).Draw(t, "size"), rapid.Uint64().Draw(t, "table"))
		o := publish.Options{Mode: publish.Generalize, Ranges: rapid.SampledFrom([]publish.Ranges{publish.Tight, publish.Fixed}).
			Draw(t, "ranges")}
		whole, err := publish.CountExcluded(context.Background(), cols, group, groups, o)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for i := range n {
			if outside(cols, group, groups, i) {
				want++
			}
		}
		if whole.Sampled != n || whole.Tight != float64(want)/float64(n) {
			t.Fatalf("%+v: %d of %d records are excluded", whole, want, n)
		}
		if !(whole.TightLow <= whole.Tight && whole.Tight <= whole.TightHigh && whole.ShownLow <= whole.Shown && whole.Shown <= whole.ShownHigh) {
			t.Fatalf("%+v: intervals do not hold the shares", whole)
		}
		// Two parts, the later groups first.
		sample := publish.SampleOutsiders[uint32](n, o.Seed)
		of := make([]*table.Column, len(cols))
		for j, c := range cols {
			of[j] = c.Select(sample)
		}
		parts := publish.NewOutsiders(sample, of, o)
		cut := uint32(rapid.IntRange(0, groups).Draw(t, "cut"))
		for _, part := range []struct{ from, to uint32 }{{cut, uint32(groups)}, {0, cut}} {
			var records, own []uint32
			for i, g := range group {
				if part.from <= g && g < part.to {
					records, own = append(records, uint32(i)), append(own, g-part.from)
				}
			}
			if len(records) == 0 {
				continue
			}
			selected := make([]*table.Column, len(cols))
			for j, c := range cols {
				selected[j] = c.Select(records)
			}
			if err := parts.Look(context.Background(), selected, records, own, int(part.to-part.from)); err != nil {
				t.Fatal(err)
			}
		}
		if got := parts.Excluded(); *got != *whole {
			t.Fatalf("by parts %+v, together %+v", got, whole)
		}
	})
}

// A sample has as many different records as it says, in order.
func TestSampleOutsiders(t *testing.T) {
	for _, n := range []int{0, 1, 999, 1000, 1001, 100_000} {
		sample := publish.SampleOutsiders[uint32](n, 7)
		if len(sample) != min(n, 1000) || !slices.IsSorted(sample) || len(slices.Compact(slices.Clone(sample))) != len(sample) || n > 0 &&
			int(sample[len(sample)-1]) >= n {
			t.Errorf("%d records: a sample of %d", n, len(sample))
		}
	}
}

// The interval of 30 of 1,000: its ends are where sums of binomial probabilities, computed
// apart in Python, are 2.5 %.
func TestExcludedInterval(t *testing.T) {
	values := make([]string, 1000)
	group := make([]uint32, 1000)
	for i := range values {
		values[i] = "same"
		if i < 30 {
			values[i] = "alone-" + string(rune('A'+i))
		}
	}
	cols := []*table.Column{column(t, table.Field{Name: "x", Type: table.Category}, values...)}
	e, err := publish.CountExcluded(context.Background(), cols, group, 1, publish.Options{Mode: publish.Generalize})
	if err != nil {
		t.Fatal(err)
	}
	if e.Tight != 0.03 || math.Abs(e.TightLow-0.0203304857) > 1e-9 || math.Abs(e.TightHigh-0.0425514025) > 1e-9 {
		t.Errorf("%+v", e)
	}
}
