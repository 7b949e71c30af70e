package partition_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

func numbers(tb testing.TB, columns ...[]float64) *space.Space {
	tb.Helper()
	s, err := space.FromMatrix(columns, space.MinMax)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// ramp is 0, 1, ..., n-1.
func ramp(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

func allMethods(t *testing.T, test func(t *testing.T, o partition.Options)) {
	for _, method := range append([]partition.Method{partition.Auto}, methods...) {
		for _, coarse := range []int{partition.CoarseAuto, partition.CoarseOff, 10} {
			t.Run(fmt.Sprintf("%v/coarse=%d", method, coarse), func(t *testing.T) {
				test(t, partition.Options{Method: method, Coarse: coarse})
			})
		}
	}
}

func TestFewerThanK(t *testing.T) {
	allMethods(t, func(t *testing.T, o partition.Options) {
		o.K = 4
		for n := range o.K {
			p, _, err := partition.Partition(context.Background(), numbers(t, ramp(n)), o)
			if noren.KindOf(err) != noren.BadData {
				t.Errorf("%d records, k = %d: error %v, want one of bad data", n, o.K, err)
			}
			if p.Groups != 0 || p.Group != nil {
				t.Errorf("%d records, k = %d: a partition beside the error", n, o.K)
			}
		}
	})
}

func TestKOfOneLeavesEveryRecordAlone(t *testing.T) {
	allMethods(t, func(t *testing.T, o partition.Options) {
		o.K = 1
		for _, x := range [][]float64{{7}, {7, 7, 7, 7}, ramp(11)} {
			p := run(t, numbers(t, x), o)
			if p.Groups != len(x) {
				t.Errorf("%d groups of %d records", p.Groups, len(x))
			}
		}
	})
}

func TestOneGroupBelowTwiceK(t *testing.T) {
	allMethods(t, func(t *testing.T, o partition.Options) {
		o.K = 4
		for n := o.K; n < 2*o.K; n++ {
			if p := run(t, numbers(t, ramp(n), ramp(n)), o); p.Groups != 1 {
				t.Errorf("%d records, k = %d: %d groups, want 1", n, o.K, p.Groups)
			}
		}
	})
}

// Two heaps of k records far apart are two groups, whatever the method.
func TestTwiceK(t *testing.T) {
	allMethods(t, func(t *testing.T, o partition.Options) {
		o.K = 4
		p := run(t, numbers(t, []float64{0, 100, 1, 101, 2, 102, 3, 103}), o)
		if want := []uint32{0, 1, 0, 1, 0, 1, 0, 1}; !slices.Equal(p.Group, want) {
			t.Errorf("groups %v, want %v", p.Group, want)
		}
	})
}

func TestAllRecordsEqual(t *testing.T) {
	const n, k = 41, 3
	for _, c := range []struct {
		o      partition.Options
		groups int
	}{
		{partition.Options{Method: partition.Mondrian}, 1},
		{partition.Options{Method: partition.MondrianStrict}, 1},
		{partition.Options{Method: partition.MDAV}, n / k},
		// No group grows, as nothing is nearer than a factor of nothing.
		{partition.Options{Method: partition.VMDAV, Gamma: 3}, n / k},
		{partition.Options{Method: partition.Tomobiki}, n / k},
		{partition.Options{Method: partition.Tomobiki, Start: partition.FromLowest}, n / k},
		{partition.Options{Method: partition.Tomobiki, Ties: space.ByIndex}, n / k},
		{partition.Options{Method: partition.Tomobiki, Coarse: 12}, n / k},
	} {
		c.o.K = k
		t.Run(fmt.Sprintf("%+v", c.o), func(t *testing.T) {
			constant := make([]float64, n)
			s := numbers(t, constant, constant)
			p := run(t, s, c.o)
			if c.o.Method == partition.Tomobiki {
				// How many there are is up to the graph's ties; that duplicates
				// do not become hubs of large groups is not.
				if largest := slices.Max(p.Sizes()); largest >= 2*k {
					t.Errorf("a group of %d", largest)
				}
			} else if p.Groups != c.groups {
				t.Errorf("%d groups, want %d", p.Groups, c.groups)
			}
			o := c.o
			if o.Gamma == 0 {
				o.Gamma = 0.2
			}
			o.M = 3
			same(t, "by definition", p, naive(s, shared, o))
			if loss := s.Loss(p); loss != 0 {
				t.Errorf("loss %g of equal records", loss)
			}
		})
	}
}

func field(name string, kind table.Type) table.Field { return table.Field{Name: name, Type: kind} }

func fromTable(tb testing.TB, columns ...*table.Column) *space.Space {
	tb.Helper()
	s, err := space.FromTable(columns, space.MinMax)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func column(tb testing.TB, f table.Field, values ...string) *table.Column {
	at := -1
	return build(tb, f, len(values), func() string { at++; return values[at] })
}

func repeated(n int, value func(i int) string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = value(i)
	}
	return all
}

// A column that says nothing, as all its values are one or missing, changes
// nothing.
func TestConstantColumns(t *testing.T) {
	const n = 40
	some := column(t, field("some", table.Integer), repeated(n, func(i int) string { return strconv.Itoa(i * i * 37 % 101) })...)
	constants := []*table.Column{
		column(t, field("number", table.Integer), repeated(n, func(int) string { return "5" })...),
		column(t, field("word", table.Category), repeated(n, func(int) string { return "x" })...),
		column(t, field("no number", table.Decimal), repeated(n, func(int) string { return "" })...),
		column(t, field("no word", table.Category), repeated(n, func(int) string { return "" })...),
	}
	allMethods(t, func(t *testing.T, o partition.Options) {
		o.K = 3
		want := run(t, fromTable(t, some), o)
		if want.Groups < 4 {
			t.Fatalf("%d groups: too few for the test to tell anything", want.Groups)
		}
		for _, c := range constants {
			same(t, c.Field.Name+" before", run(t, fromTable(t, c, some), o), want)
			same(t, c.Field.Name+" behind", run(t, fromTable(t, some, c), o), want)
		}
	})
}

// Missing is a value of its own: those without a value are as near to each
// other as those of one value, and far from all that have one.
func TestMissingValuesAreAValue(t *testing.T) {
	for name, c := range map[string]*table.Column{
		"number": column(t, field("c", table.Integer), "50", "", "50", "", "50", "", "50", ""),
		"ordered": column(t, table.Field{Name: "c", Type: table.Ordered, Levels: []string{"low", "high"}}, "low", "", "low", "", "low", "", "low",
			""),
		"word": column(t, field("c", table.Category), "x", "", "x", "", "x", "", "x", ""),
	} {
		t.Run(name, func(t *testing.T) {
			allMethods(t, func(t *testing.T, o partition.Options) {
				o.K = 4
				if p, want := run(t, fromTable(t, c), o), []uint32{0, 1, 0, 1, 0, 1, 0, 1}; !slices.Equal(p.Group, want) {
					t.Errorf("groups %v, want %v", p.Group, want)
				}
			})
		})
	}
}

// One column of numbers in heaps of k is divided into them.
func TestSingleColumn(t *testing.T) {
	x := []float64{0, 1, 2, 20, 21, 22, 100, 101, 102, 150, 151, 152}
	s := numbers(t, x)
	for _, method := range methods {
		if p := run(t, s, partition.Options{Method: method, K: 3}); !slices.Equal(p.Group, []uint32{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}) {
			t.Errorf("%v: groups %v", method, p.Group)
		}
	}
}

func TestNoColumnsThatTell(t *testing.T) {
	s, err := space.New(9, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	allMethods(t, func(t *testing.T, o partition.Options) {
		o.K = 2
		run(t, s, o)
	})
}

func TestBadOptions(t *testing.T) {
	s := numbers(t, ramp(30))
	for name, o := range map[string]partition.Options{
		"k of 0":          {K: 0},
		"k below 0":       {K: -3},
		"method":          {K: 3, Method: 99},
		"gamma below 0":   {K: 3, Gamma: -0.1},
		"gamma NaN":       {K: 3, Gamma: math.NaN()},
		"m below 0":       {K: 3, M: -1},
		"coarse below":    {K: 3, Coarse: -2},
		"coarse below k":  {K: 3, Coarse: 2},
		"ties":            {K: 3, Ties: 9},
		"start":           {K: 3, Start: 9},
		"coarse cut":      {K: 3, CoarseCut: 9},
		"before bad data": {K: 31, M: -1},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, err := partition.Partition(context.Background(), s, o)
			if noren.KindOf(err) != noren.Usage || p.Group != nil {
				t.Errorf("error %v (%v), want one of usage", err, noren.KindOf(err))
			}
		})
	}
	t.Run("all at once", func(t *testing.T) {
		_, _, err := partition.Partition(context.Background(), s, partition.Options{Gamma: -1, M: -1, Coarse: -7})
		const want = "k must be 1 at least; gamma must not be negative; m must be 1 at least; a coarse cell must have k records at least"
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	})
}

func TestMethodNames(t *testing.T) {
	for _, m := range append([]partition.Method{partition.Auto}, methods...) {
		if got, err := partition.ParseMethod(m.String()); err != nil || got != m {
			t.Errorf("%v read as %v, %v", m, got, err)
		}
	}
	if _, err := partition.ParseMethod("kmeans"); noren.KindOf(err) != noren.Usage {
		t.Errorf("an unknown method: error %v, want one of usage", err)
	}
	if got := partition.Method(77).String(); got != "method(77)" {
		t.Errorf("an unknown method is called %q", got)
	}
}

// What was chosen is reported, and only where there was something to choose.
func TestChosen(t *testing.T) {
	const many = 40_001
	for _, c := range []struct {
		name   string
		n      int
		o      partition.Options
		method partition.Method
		coarse int
		reason bool
	}{
		{"small", 50, partition.Options{K: 5}, partition.Tomobiki, partition.CoarseOff, true},
		{"nothing left", 50, partition.Options{K: 5, Method: partition.MDAV}, partition.MDAV, partition.CoarseOff, false},
		{"said", 50, partition.Options{K: 5, Method: partition.MDAV, Coarse: 20}, partition.MDAV, 20, false},
		{"cell of the whole", 50, partition.Options{K: 5, Method: partition.MDAV, Coarse: 50}, partition.MDAV, partition.CoarseOff, false},
		{
			"cell larger than the whole", 50,
			partition.Options{K: 5, Method: partition.MDAV, Coarse: 5000},
			partition.MDAV, partition.CoarseOff,
			false,
		},
		{"large", many, partition.Options{K: 50, Method: partition.MDAV}, partition.MDAV, 3000, true},
		{"large k", many, partition.Options{K: 200, Method: partition.MDAV}, partition.MDAV, 4000, true},
		{"k too large for cells", many, partition.Options{K: 2100, Method: partition.MDAV}, partition.MDAV, partition.CoarseOff, false},
		{"coarse itself", many, partition.Options{K: 200, Method: partition.Mondrian}, partition.Mondrian, partition.CoarseOff, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.n == many {
				randtest.SkipShort(t)
			}
			p, chosen, err := partition.Partition(context.Background(), numbers(t, ramp(c.n)), c.o)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Validate(c.o.K); err != nil {
				t.Error(err)
			}
			if chosen.Method != c.method || chosen.Coarse != c.coarse || chosen.Reason.IsZero() == c.reason {
				t.Errorf("chosen %+v", chosen)
			}
		})
	}
}

// A context that has ended, or ends on the way, ends the work with its error
// and without a partition.
func TestContext(t *testing.T) {
	const n = 3000
	x, y := ramp(n), ramp(n)
	for i := range y {
		y[i] = float64(i * i % 1009)
	}
	s := numbers(t, x, y)
	for _, method := range methods {
		for _, coarse := range []int{partition.CoarseOff, 100} {
			o := partition.Options{Method: method, K: 2, Coarse: coarse, Workers: 1}
			t.Run(fmt.Sprintf("%v/coarse=%d", method, coarse), func(t *testing.T) {
				ended, cancel := context.WithCancel(context.Background())
				cancel()
				p, _, err := partition.Partition(ended, s, o)
				if !errors.Is(err, context.Canceled) || noren.KindOf(err) != noren.Interrupted || p.Group != nil {
					t.Errorf("ended before: error %v", err)
				}

				var whole int
				o.Progress = func(string, int64, int64) { whole++ }
				if _, _, err := partition.Partition(context.Background(), s, o); err != nil {
					t.Fatal(err)
				}
				ends, cancel := context.WithCancel(context.Background())
				defer cancel()
				var told int
				o.Progress = func(_ string, done, total int64) {
					if done < 0 || done > total {
						t.Errorf("%d of %d done", done, total)
					}
					if told++; told == 5 {
						cancel()
					}
				}
				p, _, err = partition.Partition(ends, s, o)
				if !errors.Is(err, context.Canceled) || p.Group != nil {
					t.Errorf("ended on the way: error %v", err)
				}
				if told > 7 || whole < 10 {
					t.Errorf("went on: told of progress %d times after it ended, %d in all", told-5, whole)
				}
			})
		}
	}
}
