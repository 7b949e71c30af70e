package partition_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// tiedSpace draws a space of few values: quarters, and codes of weights that
// are powers of two, a hierarchy among them. Sums of these are exact, so that
// distances that are equal by definition are equal in memory.
func tiedSpace(t *rapid.T, n int) *space.Space {
	numbers := make([][]float64, rapid.IntRange(0, 5).Draw(t, "numeric axes"))
	for a := range numbers {
		values := rapid.IntRange(1, 6).Draw(t, "values")
		numbers[a] = rapid.SliceOfN(rapid.Map(rapid.IntRange(1, values), func(v int) float64 { return float64(v) / 4 }), n, n).Draw(t, "numbers")
	}
	var words []space.Categorical
	codes := func(cardinality int) []uint32 {
		return rapid.SliceOfN(rapid.Uint32Range(0, uint32(cardinality-1)), n, n).Draw(t, "codes")
	}
	for range rapid.IntRange(0, 3).Draw(t, "categories") {
		words = append(words, space.Categorical{Codes: codes(4), Cardinality: 5, Weight: rapid.SampledFrom([]float64{1, 0.5, 0}).
			Draw(t, "weight")})
	}
	if len(numbers)+len(words) == 0 || rapid.Bool().Draw(t, "hierarchy") {
		leaf := codes(6)
		parent := make([]uint32, n)
		for i, c := range leaf {
			parent[i] = c / 3
		}
		words = append(words, space.Categorical{Codes: leaf, Cardinality: 6, Weight: 0.5},
			space.Categorical{Codes: parent, Cardinality: 2, Weight: 0.5})
	}
	s, err := space.New(n, numbers, words)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// freeTable draws a table of every type of column, with missing values, and a
// decimal one in which no two are alike: there are no ties between distances.
func freeTable(t *rapid.T, n int) []*table.Column {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	h, err := table.NewHierarchy("h", [][]string{
		{"a", "ab", "*", "**"}, {"b", "ab", "*", "**"}, {"c", "cd", "*", "**"}, {"d", "cd", "*", "**"}, {"e", "e-", "-", "**"},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	word := func(words ...string) func() string { return func() string { return words[rng.IntN(len(words))] } }
	kinds := []struct {
		field table.Field
		draw  func() string
	}{
		{table.Field{Type: table.Integer}, func() string { return strconv.Itoa(rng.IntN(5)) }},
		{table.Field{Type: table.Date}, func() string { return fmt.Sprintf("2024-01-%02d", 1+rng.IntN(31)) }},
		{table.Field{Type: table.Ordered, Levels: []string{"low", "mid", "high"}}, word("low", "mid", "high", "")},
		{table.Field{Type: table.Category}, word("red", "green", "blue", "")},
		{table.Field{Type: table.Category, Hierarchy: h}, word("a", "b", "c", "d", "e", "")},
		{table.Field{Type: table.Integer}, word("17", "18", "19", "")},
		{table.Field{Type: table.Decimal}, func() string { return strconv.FormatFloat(rng.NormFloat64(), 'g', -1, 64) }},
	}
	free := table.Field{Name: "free", Type: table.Decimal}
	columns := []*table.Column{build(t, free, n, func() string { return strconv.FormatFloat(rng.Float64(), 'g', -1, 64) })}
	for i, k := range kinds {
		if rapid.Bool().Draw(t, "with") {
			k.field.Name = fmt.Sprintf("c%d", i)
			columns = append(columns, build(t, k.field, n, k.draw))
		}
	}
	return columns
}

func build(tb rapid.TB, f table.Field, n int, draw func() string) *table.Column {
	b, err := table.NewBuilder(f, []string{""})
	if err != nil {
		tb.Fatal(err)
	}
	for range n {
		if err := b.Append([]byte(draw())); err != nil {
			tb.Fatal(err)
		}
	}
	return b.Column()
}

func freeSpace(t *rapid.T, n int) *space.Space {
	s, err := space.FromTable(freeTable(t, n), rapid.SampledFrom([]space.Scaling{space.MinMax, space.ZScore}).Draw(t, "scaling"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var methods = []partition.Method{partition.Mondrian, partition.MondrianStrict, partition.MDAV, partition.VMDAV, partition.Tomobiki}

// drawOptions draws a method with all of its parameters said, as the naive
// methods have no defaults.
func drawOptions(t *rapid.T, method partition.Method, n int) partition.Options {
	o := partition.Options{Method: method, K: rapid.IntRange(2, min(7, n)).Draw(t, "k"), Coarse: partition.CoarseOff, Workers: 1}
	switch method {
	case partition.VMDAV:
		o.Gamma = rapid.SampledFrom([]float64{0.2, 0.5, 1, 1.1, 3}).Draw(t, "gamma")
		o.LargeLimit = rapid.Bool().Draw(t, "large limit")
	case partition.Tomobiki:
		o.M = rapid.IntRange(1, 4).Draw(t, "m")
		o.Ties = rapid.SampledFrom([]space.Ties{space.Cyclic, space.ByIndex}).Draw(t, "ties")
		o.Start = rapid.SampledFrom([]partition.Start{partition.FromCentroid, partition.FromLowest}).Draw(t, "start")
		o.Literal = rapid.Bool().Draw(t, "literal")
	}
	return o
}

func run(tb rapid.TB, s *space.Space, o partition.Options) space.Partition {
	p, chosen, err := partition.Partition(context.Background(), s, o)
	if err != nil {
		tb.Fatalf("%+v: %v", o, err)
	}
	if len(p.Group) != s.Len() {
		tb.Fatalf("%+v: %d records in a partition of %d", o, len(p.Group), s.Len())
	}
	if err := p.Validate(o.K); err != nil {
		tb.Fatalf("%+v: %v", o, err)
	}
	if !slices.Equal(p.Group, p.Canonical().Group) {
		tb.Fatalf("%+v: groups are not numbered by their lowest record", o)
	}
	if o.Method != partition.Auto && chosen.Method != o.Method {
		tb.Fatalf("%+v: chose %v", o, chosen.Method)
	}
	return p
}

func same(tb rapid.TB, what string, got, want space.Partition) {
	if got.Groups != want.Groups || !slices.Equal(got.Group, want.Group) {
		tb.Fatalf("%s: %d groups %v, want %d groups %v", what, got.Groups, got.Group, want.Groups, want.Group)
	}
}

// drawSize favours tables of several groups; rapid by itself favours small
// numbers.
func drawSize(t *rapid.T) int {
	return rapid.OneOf(rapid.IntRange(2, 10), rapid.IntRange(15, 30), rapid.IntRange(30, 45)).Draw(t, "n")
}

// Every method gives the partition of its definition: on tables full of ties,
// where the distances are the space's own, and on tables without any, where
// nothing is taken from package space but the values.
func TestMethodsAreTheirDefinitions(t *testing.T) {
	for _, method := range methods {
		t.Run(method.String(), func(t *testing.T) {
			t.Run("ties", rapid.MakeCheck(func(t *rapid.T) {
				s := tiedSpace(t, drawSize(t))
				for range 3 {
					o := drawOptions(t, method, s.Len())
					same(t, fmt.Sprintf("%+v", o), run(t, s, o), naive(s, shared, o))
				}
			}))
			t.Run("none", rapid.MakeCheck(func(t *rapid.T) {
				s := freeSpace(t, drawSize(t))
				for range 3 {
					o := drawOptions(t, method, s.Len())
					same(t, fmt.Sprintf("%+v", o), run(t, s, o), naive(s, embedded, o))
				}
			}))
		})
	}
}

// The coarse step is Mondrian, then the method in each cell as if it were a
// table of its own.
func TestCoarseStepIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := tiedSpace(t, rapid.IntRange(8, 80).Draw(t, "n"))
		o := drawOptions(t, rapid.SampledFrom(methods).Draw(t, "method"), s.Len())
		o.Coarse = rapid.IntRange(o.K, s.Len()+2).Draw(t, "coarse")
		o.CoarseCut = rapid.SampledFrom([]partition.Cut{partition.Balanced, partition.Strict}).Draw(t, "coarse cut")
		p := run(t, s, o)
		same(t, fmt.Sprintf("%+v", o), p, naive(s, shared, o))

		// No group reaches over the border of a cell.
		cut := partition.Mondrian
		if o.CoarseCut == partition.Strict {
			cut = partition.MondrianStrict
		}
		if o.Coarse < s.Len() {
			cells := run(t, s, partition.Options{Method: cut, K: o.Coarse})
			of := map[uint32]uint32{}
			for i, g := range p.Group {
				if cell, ok := of[g]; ok && cell != cells.Group[i] {
					t.Fatalf("%+v: group %d lies in two cells", o, g)
				}
				of[g] = cells.Group[i]
			}
		}
	})
}

// Mondrian never parts records that are alike, and leaves nothing that it may
// cut.
func TestMondrianCutsAllItMay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := tiedSpace(t, rapid.IntRange(2, 120).Draw(t, "n"))
		o := drawOptions(t, rapid.SampledFrom(methods[:2]).Draw(t, "method"), s.Len())
		p := run(t, s, o)
		axes := axesOf(s)
		groupOf := map[string]uint32{}
		for i, g := range p.Group {
			record := ""
			for _, x := range axes {
				record += fmt.Sprint(x[i], " ")
			}
			if other, ok := groupOf[record]; ok && other != g {
				t.Fatalf("%+v: equal records in groups %d and %d", o, other, g)
			}
			groupOf[record] = g
		}
		list, start := p.Members()
		for g := range p.Groups {
			members := list[start[g]:start[g+1]]
			for a, x := range axes {
				var values []float64
				for _, i := range members {
					values = append(values, x[i])
				}
				slices.Sort(values)
				n := len(values)
				for left := o.K; left <= n-o.K; left++ {
					median := slices.Index(values, values[n/2]) == left
					if values[left-1] != values[left] && (o.Method == partition.Mondrian || median) {
						t.Fatalf("%+v: group %d could be cut on axis %d into %d and %d", o, g, a, left, n-left)
					}
				}
			}
		}
	})
}

func axesOf(s *space.Space) [][]float64 {
	axes := slices.Clone(s.Numbers())
	for _, w := range s.Words() {
		x := make([]float64, s.Len())
		for i, c := range w.Codes {
			x[i] = float64(c)
		}
		axes = append(axes, x)
	}
	return axes
}

// Sizes are those that each method guarantees, beyond k at least.
func TestSizes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := tiedSpace(t, rapid.IntRange(2, 150).Draw(t, "n"))
		o := drawOptions(t, rapid.SampledFrom(methods[2:]).Draw(t, "method"), s.Len())
		sizes := run(t, s, o).Sizes()
		slices.Sort(sizes)
		n, k := s.Len(), o.K
		switch o.Method {
		case partition.MDAV:
			// All have k but the rest.
			if want := max(1, n/k); len(sizes) != want || sizes[len(sizes)-1] != n-(want-1)*k {
				t.Fatalf("%+v: %d records in groups of %v", o, n, sizes)
			}
		case partition.VMDAV:
			limit := 2*k - 1
			if o.LargeLimit {
				limit = 2 * k
			}
			// Fewer than k are left over, wherever they go.
			over := 0
			for _, size := range sizes {
				over += max(0, size-limit)
			}
			if over >= k {
				t.Fatalf("%+v: groups of %v", o, sizes)
			}
		case partition.Tomobiki:
			if !o.Literal && sizes[len(sizes)-1] >= 2*k {
				t.Fatalf("%+v: groups of %v", o, sizes)
			}
		}
	})
}

// The number of workers changes nothing.
func TestWorkersChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 400).Draw(t, "n")
		s := rapid.SampledFrom([]func(*rapid.T, int) *space.Space{tiedSpace, freeSpace}).Draw(t, "space")(t, n)
		o := drawOptions(t, rapid.SampledFrom(methods).Draw(t, "method"), n)
		if rapid.Bool().Draw(t, "coarse") {
			o.Coarse = min(n, 4*o.K)
		}
		want := run(t, s, o)
		for _, workers := range []int{2, 3, 8, 0} {
			o.Workers = workers
			same(t, fmt.Sprintf("%+v", o), run(t, s, o), want)
		}
	})
}

// Where nothing ties, the order of the records changes nothing but their
// numbers, from the centroid at least.
func TestOrderOfRecordsChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 120).Draw(t, "n")
		s := freeSpace(t, n)
		o := drawOptions(t, rapid.SampledFrom(methods).Draw(t, "method"), n)
		o.Start = partition.FromCentroid
		if rapid.Bool().Draw(t, "coarse") {
			o.Coarse = min(n, 4*o.K)
		}
		order := rapid.Permutation(int32s(n)).Draw(t, "order")
		p, q := run(t, s, o), run(t, s.Subset(order), o)
		back := space.Partition{Group: make([]uint32, n), Groups: q.Groups}
		for at, i := range order {
			back.Group[i] = q.Group[at]
		}
		same(t, fmt.Sprintf("%+v", o), back.Canonical(), p)
	})
}

func int32s(n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}
