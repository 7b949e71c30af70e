package refine_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// balanced allows groups of k records with one of each stratum at least.
type balanced struct {
	k     int
	of    []uint32
	exact bool
}

func (b balanced) Holds(records []int32) bool {
	var met [2]bool
	for _, i := range records {
		met[b.of[i]] = true
	}
	return len(records) >= b.k && met[0] && met[1]
}

func (b balanced) Strata() ([]uint32, bool) { return b.of, b.exact }

func (b balanced) Subset(records []int32) cost.Judge {
	sub := balanced{k: b.k, exact: b.exact}
	for _, i := range records {
		sub.of = append(sub.of, b.of[i])
	}
	return sub
}

// boxed is a table of two numbers and a category with its boxes.
func boxed(t *rapid.T, n int) (*space.Space, cost.Measure) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "table"), 2))
	columns := []*table.Column{
		(&table.Column{Field: table.Field{Name: "a", Type: table.Integer}}).Blank(n),
		(&table.Column{Field: table.Field{Name: "b", Type: table.Integer}}).Blank(n),
		(&table.Column{Field: table.Field{Name: "c"}, Dict: []string{"u", "v", "w"}}).Blank(n),
	}
	for i := range n {
		columns[0].Ints[i], columns[1].Ints[i], columns[2].Codes[i] = rng.Int64N(50), rng.Int64N(6), uint32(rng.IntN(3))
		if rng.IntN(9) == 0 {
			columns[0].Ints[i] = 0
			columns[0].SetMissing(i)
		}
	}
	frame, err := space.FrameOf(columns, space.ZScore)
	if err != nil {
		t.Fatal(err)
	}
	s, err := frame.Space(columns)
	if err != nil {
		t.Fatal(err)
	}
	return s, cost.Boxes(frame, columns)
}

// By a measure and a judge no refinement raises the measure but to divide large groups,
// every group has k records and holds, and the result is the same with any number of workers.
func TestByCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(12, 120).Draw(t, "n"), rapid.IntRange(2, 4).Draw(t, "k")
		s, m := boxed(t, n)
		o := refine.Options{K: k, Effort: refine.Auto, Measure: m, Workers: 1}
		if rapid.Bool().Draw(t, "squares") {
			o.Measure = nil
			m = cost.Squares(s)
		}
		p := anyPartition(t, n, k)
		judge := balanced{k: k, of: make([]uint32, n), exact: rapid.Bool().Draw(t, "exact")}
		if rapid.Bool().Draw(t, "judged") || o.Measure == nil {
			// Every group gets both strata.
			seen := make([]uint32, p.Groups)
			for i, g := range p.Group {
				judge.of[i] = min(1, seen[g])
				seen[g]++
			}
			o.Judge = judge
		}
		total := func(p space.Partition) float64 {
			list, start := p.Members()
			return cost.Total(m, list, start)
		}
		before := total(p)
		q, stats, err := refine.Refine(context.Background(), s, p, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Validate(k); err != nil {
			t.Fatal(err)
		}
		after := total(q)
		inLarge := func(p space.Partition) (records int) {
			for _, size := range p.Sizes() {
				if size > refine.LargeGroup*k {
					records += size
				}
			}
			return records
		}
		rises := after > before+1e-6 && (o.Judge == nil || inLarge(q) >= inLarge(p))
		if rises || stats.After-after > 1e-6 || after-stats.After > 1e-6 || stats.Before-before > 1e-6 {
			t.Fatalf("from %v to %v, and %+v is said", before, after, stats)
		}
		if o.Judge != nil {
			list, start := q.Members()
			for g := range q.Groups {
				if !judge.Holds(list[start[g]:start[g+1]]) {
					t.Fatalf("group %d does not hold", g)
				}
			}
		}
		o.Workers = 3
		if again, _, err := refine.Refine(context.Background(), s, p, o); err != nil || !slices.Equal(again.Group, q.Group) {
			t.Fatalf("another partition with three workers: %v", err)
		}
	})
}

// Auto never ends above the descent that it begins with, and several workers give
// the same groups, in cells too.
func TestAuto(t *testing.T) {
	randtest.SkipShort(t)
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(12, 200).Draw(t, "n"), rapid.IntRange(2, 5).Draw(t, "k")
		s := anySpace(t, n)
		p := anyPartition(t, n, k)
		_, fast, err := refine.Refine(context.Background(), s, p, refine.Options{K: k, Effort: refine.Fast})
		if err != nil {
			t.Fatal(err)
		}
		q, auto, err := refine.Refine(context.Background(), s, p, refine.Options{K: k, Effort: refine.Auto})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Validate(k); err != nil {
			t.Fatal(err)
		}
		if auto.After > fast.After*(1+1e-9)+1e-9 {
			t.Fatalf("auto ends at %v, the descent at %v", auto.After, fast.After)
		}
	})
	if testing.Short() {
		t.Skip("a table of several cells takes seconds")
	}
	const n = 41_000
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := [][]float64{make([]float64, n), make([]float64, n)}
	p := space.Partition{Group: make([]uint32, n), Groups: n / 5}
	for i := range n {
		numbers[0][i], numbers[1][i] = float64(i/5)+rng.Float64(), 3*rng.Float64()
		p.Group[i] = uint32(i / 5)
	}
	s, err := space.New(n, numbers, nil)
	if err != nil {
		t.Fatal(err)
	}
	var first []uint32
	var last float64
	for _, workers := range []int{1, 3} {
		q, stats, err := refine.Refine(context.Background(), s, p, refine.Options{K: 5, Effort: refine.Auto, Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if first != nil && (!slices.Equal(first, q.Group) || last != stats.After) {
			t.Errorf("another partition with %d workers", workers)
		}
		first, last = q.Group, stats.After
	}
}
