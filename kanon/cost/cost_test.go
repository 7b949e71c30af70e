package cost_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// anyTable draws a number, an ordered category, a category of few and one of many
// values, and one with a hierarchy, all with missing values now and then.
func anyTable(t *rapid.T, n int) []*table.Column {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	holes := rapid.SampledFrom([]float64{0, 0.2, 1}).Draw(t, "missing")
	h, err := table.NewHierarchy("h", [][]string{{"a", "x", "*"}, {"b", "x", "*"}, {"c", "y", "*"}, {"d", "y", "*"}, {"e", "y", "*"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var many []string
	for i := range 300 {
		many = append(many, fmt.Sprintf("v%03d", i))
	}
	var columns []*table.Column
	for _, c := range []struct {
		field table.Field
		dict  []string
	}{
		{table.Field{Name: "number", Type: table.Integer}, nil},
		{table.Field{Name: "level", Type: table.Ordered, Levels: []string{"low", "mid", "high"}}, []string{"low", "mid", "high"}},
		{table.Field{Name: "few"}, []string{"f", "m", "o"}},
		{table.Field{Name: "many"}, many},
		{table.Field{Name: "tree", Hierarchy: h}, []string{"a", "b", "c", "d", "e"}},
	} {
		col := (&table.Column{Field: c.field, Dict: c.dict}).Blank(n)
		for i := range n {
			switch {
			case rng.Float64() < holes:
				col.SetMissing(i)
			case c.dict == nil:
				col.Ints[i] = rng.Int64N(20)
			default:
				col.Codes[i] = uint32(rng.IntN(len(c.dict)))
			}
		}
		columns = append(columns, col)
	}
	return columns
}

func measures(t *rapid.T, columns []*table.Column) map[string]cost.Measure {
	frame, err := space.FrameOf(columns, space.ZScore)
	if err != nil {
		t.Fatal(err)
	}
	s, err := frame.Space(columns)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]cost.Measure{"squares": cost.Squares(s), "boxes": cost.Boxes(frame, columns)}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-7*(1+math.Abs(a)+math.Abs(b)) }

// What a group loses without, with or with another record is what the group made
// so loses; no vacancy is above any replacement; and beginnings are groups.
func TestChangesOfAGroup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 30).Draw(t, "n")
		columns := anyTable(t, n)
		for name, m := range measures(t, columns) {
			order := make([]int32, n)
			for i := range order {
				order[i] = int32(i)
			}
			size := rapid.IntRange(2, n-1).Draw(t, "size")
			g := m.NewGroup()
			g.Set(order[:size])
			out, in := order[rapid.IntRange(0, size-1).Draw(t, "out")], order[rapid.IntRange(size, n-1).Draw(t, "in")]
			rest := slices.DeleteFunc(slices.Clone(order[:size]), func(i int32) bool { return i == out })
			for what, c := range map[string][2]float64{
				"cost":     {g.Cost(), cost.Of(m, order[:size])},
				"with":     {g.With(in), cost.Of(m, append(slices.Clone(order[:size]), in))},
				"without":  {g.Without(out), cost.Of(m, rest)},
				"replaced": {g.Replaced(out, in), cost.Of(m, append(slices.Clone(rest), in))},
			} {
				if !near(c[0], c[1]) {
					t.Fatalf("%s, %s: %v, and the group itself %v", name, what, c[0], c[1])
				}
			}
			if g.Vacant(out) > g.Replaced(out, in)+1e-7 || g.With(in) < g.Cost()-1e-7 {
				t.Fatalf("%s: vacant %v, replaced %v; with %v, cost %v", name, g.Vacant(out), g.Replaced(out, in), g.With(in), g.Cost())
			}
			begin := make([]float64, n)
			m.Beginnings(order, begin)
			sub := m.Subset(order[:size])
			for j := range begin {
				if !near(begin[j], cost.Of(m, order[:j+1])) {
					t.Fatalf("%s: a beginning of %d loses %v, and as a group %v", name, j+1, begin[j], cost.Of(m, order[:j+1]))
				}
			}
			if !near(cost.Of(sub, order[:size]), begin[size-1]) {
				t.Fatalf("%s: a subset loses %v, not %v", name, cost.Of(sub, order[:size]), begin[size-1])
			}
		}
	})
}

// What boxes lose by its definition, from the values themselves.
func TestBoxesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "n")
		columns := anyTable(t, n)
		var want float64
		for _, c := range columns {
			want += naiveWidth(c, n)
		}
		all := make([]int32, n)
		for i := range all {
			all[i] = int32(i)
		}
		if got := cost.Of(measures(t, columns)["boxes"], all) / float64(n); !near(got, want) {
			t.Fatalf("widths sum to %v, want %v", got, want)
		}
	})
}

// naiveWidth is the width of all records as one group, where the domain of a number
// is what the records span and that of a category its dictionary.
func naiveWidth(c *table.Column, n int) float64 {
	present, missing := map[uint32]bool{}, false
	some := false
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range n {
		if c.IsMissing(i) {
			missing = true
			continue
		}
		some = true
		if c.Field.Type.IsNumber() || c.Field.Type == table.Ordered {
			lo, hi = min(lo, c.Number(i)), max(hi, c.Number(i))
		} else {
			present[c.Codes[i]] = true
		}
	}
	switch {
	case !some:
		return 0
	case c.Field.Type.IsNumber() || c.Field.Type == table.Ordered:
		if missing || hi > lo {
			return 2
		}
		return 0
	case c.Field.Hierarchy != nil:
		const leaves = 5
		under := map[string]string{"a": "x", "b": "x", "c": "y", "d": "y", "e": "y"}
		nodes := map[string]bool{}
		for code := range present {
			nodes[under[c.Dict[code]]] = true
		}
		switch {
		case missing || len(nodes) > 1:
			return 1
		case len(present) == 1:
			return 0
		case nodes["x"]:
			return naiveSet(2, leaves)
		}
		return naiveSet(3, leaves)
	}
	values, domain := len(present), len(c.Dict)
	if missing {
		values, domain = values+1, domain+1
	}
	return naiveSet(values, domain)
}

// naiveSet is the width of a set of s of d values.
func naiveSet(s, d int) float64 { return (1 - 1/float64(s)) / (1 - 1/float64(d)) }

// Without a judge the cut of few records is the best of all places in all orders by
// an ordered axis at least, both parts have k records, and no record is lost.
func TestCutAgainstAllPlaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, k := rapid.IntRange(4, 24).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "k")
		columns := anyTable(t, n)
		for name, m := range measures(t, columns) {
			c := cost.NewCutter(m, k, nil)
			all := c.All()
			whole := cost.Of(m, all)
			best := whole
			for a := range m.Axes() {
				if !m.Ordered(a) {
					continue
				}
				order := slices.Clone(all)
				slices.SortStableFunc(order, func(i, j int32) int {
					switch x, y := m.Key(a, i), m.Key(a, j); {
					case x < y:
						return -1
					case x > y:
						return 1
					}
					return 0
				})
				for at := k; at <= n-k; at++ {
					// Cuts of an axis on which all are at one place are not looked for.
					if m.Key(a, order[0]) < m.Key(a, order[n-1]) {
						best = min(best, cost.Of(m, order[:at])+cost.Of(m, order[at:]))
					}
				}
			}
			left, right := c.Cut(all)
			if left == nil {
				if best < whole-1e-6 {
					t.Fatalf("%s: no cut was found, and one goes from %v to %v", name, whole, best)
				}
				continue
			}
			got := cost.Of(m, left) + cost.Of(m, right)
			if len(left) < k || len(right) < k || got > best+1e-6 || got >= whole {
				t.Fatalf("%s: parts of %d and %d, from %v to %v; the best is %v", name, len(left), len(right), whole, got, best)
			}
			both := append(left, right...)
			if slices.Sort(both); !slices.Equal(both, slices.Sorted(slices.Values(all))) {
				t.Fatalf("%s: the parts are not the whole", name)
			}
		}
	})
}

// even allows groups in which at least a third, and not all, of the records are
// of stratum 1.
type even struct{ of []uint32 }

func (e even) Holds(records []int32) bool {
	ones := 0
	for _, i := range records {
		ones += int(e.of[i])
	}
	return len(records) >= 2 && 3*ones >= len(records) && ones < len(records)
}

func (e even) Strata() ([]uint32, bool) { return e.of, true }

func (e even) Subset(records []int32) cost.Judge {
	sub := even{}
	for _, i := range records {
		sub.of = append(sub.of, e.of[i])
	}
	return sub
}

// divide cuts records until no cut pays.
func divide(c *cost.Cutter, records []int32) [][]int32 {
	left, right := c.Cut(records)
	if left == nil {
		return [][]int32{records}
	}
	return append(divide(c, left), divide(c, right)...)
}

// Every group that a judge was asked about holds, whole or halved.
func TestJudgedDivision(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 60).Draw(t, "n")
		columns := anyTable(t, n)
		judge := even{make([]uint32, n)}
		for i := range judge.of {
			judge.of[i] = uint32(i % 2)
		}
		for name, m := range measures(t, columns) {
			c := cost.NewCutter(m, 2, judge)
			groups := divide(c, c.All())
			if halved, ok := c.Halve(c.All(), 8); ok {
				for _, g := range halved {
					if len(g) > 8 {
						t.Fatalf("%s: a half of %d records", name, len(g))
					}
				}
				groups = append(groups, halved...)
			}
			for _, g := range groups {
				if !judge.Holds(g) {
					t.Fatalf("%s: a group of %d records does not hold", name, len(g))
				}
			}
		}
	})
}
