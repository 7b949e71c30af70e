package query

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table"
)

// drawnTable is a table with a column of each type, of several blocks or of a few
// records, with or without missing values.
func drawnTable(t *rapid.T) (*table.Table, []table.Field) {
	fields := []table.Field{
		{Name: "whole", Type: table.Integer},
		{Name: "real", Type: table.Decimal},
		{Name: "word", Type: table.Category},
		{Name: "level", Type: table.Ordered, Levels: []string{"low", "mid", "high"}},
		{Name: "who", Type: table.Category},
	}
	n := rapid.SampledFrom([]int{0, 1, 63, 64, 65, 127, 200, blockRows - 1, blockRows, blockRows + 1, 2*blockRows + 77}).Draw(t, "records")
	gaps := rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "missing of 16")
	wide := rapid.Bool().Draw(t, "wide values")
	seed := rapid.Uint64().Draw(t, "seed")
	next := func() uint64 { // xorshift: rapid is slow for tens of thousands of values
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return seed
	}
	seed |= 1
	tab := &table.Table{Rows: n}
	for _, f := range fields {
		b, err := table.NewBuilder(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			r := next()
			text := ""
			if int(r>>60) >= gaps {
				switch f.Name {
				case "whole":
					v := int64(r%121) - 10
					if wide {
						v = int64(r)
					}
					text = strconv.FormatInt(v, 10)
				case "real":
					v := float64(int64(r%2000)-500) / 16
					if wide {
						v *= math.Pow(2, float64(r%80)-40)
					}
					text = strconv.FormatFloat(v, 'f', -1, 64)
				case "level":
					text = f.Levels[r%3]
				case "who":
					text = strconv.FormatUint(r%50, 10)
				default:
					text = string(rune('a' + r%5))
				}
			}
			if err := b.Append([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		tab.Columns = append(tab.Columns, b.Column())
	}
	tab.Unit = tab.Column("who")
	return tab, fields
}

func drawnOptions(t *rapid.T, fields []table.Field) Options {
	o := Options{Fields: fields, Cost: account.Cost{Epsilon: one}}
	o.Kind = rapid.SampledFrom([]Kind{Count, Sum, Mean, Variance, Histogram, Quantile}).Draw(t, "kind")
	o.Where = rapid.SampledFrom([]string{
		"", "", "whole >= 40", "whole < 3 or real > 2.5", "not (real <= 1.25 and word = 'a')", "word in ('b', 'c') and level != 'low'",
		"level >= 'mid'", "whole is missing or not word = 'd'", "whole in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)", "whole in (7, 8)", "real = 2",
	}).Draw(t, "where")
	switch rapid.IntRange(0, 4).Draw(t, "groups") {
	case 0:
		o.By, o.Keys = []string{"word"}, [][]string{{"a"}, {"c"}, {""}}
	case 1:
		o.By, o.Keys = []string{"word", "level"}, [][]string{{"a", "low"}, {"b", "high"}, {"a", "high"}, {"c", ""}}
	case 2:
		o.By, o.Keys = []string{"whole"}, [][]string{{"3"}, {"7"}}
	}
	if o.Kind != Count {
		o.Column = rapid.SampledFrom([]string{"whole", "real"}).Draw(t, "column")
	}
	switch o.Kind {
	case Sum, Mean, Variance, Quantile:
		o.Bounds = rapid.SampledFrom([]*Bounds{{0, 100}, {-7, 20}, {5, 30}}).Draw(t, "bounds")
		if rapid.Bool().Draw(t, "grid") {
			j := rapid.IntRange(-1, 3).Draw(t, "grid bits")
			o.GridBits = &j
		}
	case Histogram:
		if rapid.Bool().Draw(t, "by values") {
			o.Column, o.Values = "word", []string{"a", "e", "b"}
		} else {
			o.Bins = rapid.SampledFrom([][]float64{{0, 10, 20, 50, 100}, {-3.5, 0.25, 7, 7.5}, {0, 1e6}, {-1e12, 3, 1e15}}).Draw(t, "bins")
		}
	}
	if rapid.Bool().Draw(t, "people") {
		o.Unit, o.MaxRows, o.Key = "who", int64(rapid.IntRange(1, 200).Draw(t, "rows")), secret
	}
	return o
}

// The loops over columns give the integers of the evaluation record by record.
func TestKernelsAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tab, fields := drawnTable(rt)
		q, err := New(t.Context(), drawnOptions(rt, fields))
		if err != nil {
			rt.Skip(err)
		}
		scan, err := q.records(t.Context(), tab)
		if err != nil {
			rt.Fatal(err)
		}
		each, err := q.plain(t.Context(), tab)
		if err != nil {
			rt.Fatal(err)
		}
		if s, ok := q.kernel.(*sums); ok {
			got, err := s.exact(t.Context(), tab, scan)
			if err != nil {
				rt.Fatal(err)
			}
			want, err := s.plain(tab, each)
			if err != nil {
				rt.Fatal(err)
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("got %v, want %v", got, want)
			}
			return
		}
		g := q.kernel.(*quantile).grid
		got, err := g.values(t.Context(), q, tab, scan)
		if err != nil {
			rt.Fatal(err)
		}
		place, err := g.plainPlaceOf(tab, q.field)
		if err != nil {
			rt.Fatal(err)
		}
		want := make([][]int64, len(got))
		if err := each(func(i, group int) {
			if k, ok := place(i); ok {
				want[group] = append(want[group], k)
			}
		}); err != nil {
			rt.Fatal(err)
		}
		for i := range want {
			slices.Sort(want[i])
			if !slices.Equal(got[i], runsOf(want[i])) {
				rt.Fatalf("group %d: got %v, want %v", i, got[i], runsOf(want[i]))
			}
		}
	})
}

// Values that are not finite, which a table read by package table never has, count as
// missing.
func TestNotFinite(t *testing.T) {
	b, err := table.NewBuilder(table.Field{Name: "x", Type: table.Decimal}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := b.Append([]byte("1")); err != nil {
			t.Fatal(err)
		}
	}
	c := b.Column()
	c.Floats[1], c.Floats[2] = math.NaN(), math.Inf(-1)
	tab := &table.Table{Rows: 4, Columns: []*table.Column{c}}
	q, err := New(t.Context(), Options{
		Kind: Mean, Column: "x", Bounds: &Bounds{-4, 4}, Fields: []table.Field{c.Field},
		Cost: account.Cost{Epsilon: one},
	})
	if err != nil {
		t.Fatal(err)
	}
	scan, err := q.records(t.Context(), tab)
	if err != nil {
		t.Fatal(err)
	}
	s := q.kernel.(*sums)
	got, err := s.exact(t.Context(), tab, scan)
	if err != nil {
		t.Fatal(err)
	}
	step := s.grid.Value(1)
	if a, b := got[0].Saturated(), got[1].Saturated(); float64(a)*step != 10 || float64(b)*step != 6 {
		t.Errorf("sums %v and %v of steps %v", a, b, step)
	}
}
