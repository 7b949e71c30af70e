package query

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
)

// FuzzBounds holds that for any bounds, grid and value a query is either refused from
// public parameters, or answers finitely, with a record that adds no more than the noise
// was made for.
func FuzzBounds(f *testing.F) {
	for _, v := range []float64{
		0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1 << 53, -(1 << 53), 1<<53 + 2,
		math.MaxInt64, math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1,
	} {
		f.Add(0.0, v, v, 0, false)
		f.Add(-v, 1.0, 1/v, 3, true)
		f.Add(v, v+1, 5.0, -60, true)
	}
	kinds := []Kind{Sum, Mean, Variance, Quantile}
	f.Fuzz(func(t *testing.T, lo, hi, value float64, bits int, withGrid bool) {
		fields := []table.Field{{Name: "x", Type: table.Decimal}}
		b, err := table.NewBuilder(fields[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		if b.AppendFloat(value) != nil {
			b.AppendMissing()
		}
		tab := &table.Table{Rows: 1, Columns: []*table.Column{b.Column()}}
		for _, kind := range kinds {
			o := Options{Kind: kind, Column: "x", Bounds: &Bounds{lo, hi}, Fields: fields, Cost: account.Cost{Epsilon: one}}
			if withGrid {
				o.GridBits = &bits
			}
			q, err := New(context.Background(), o)
			if err != nil {
				if noren.KindOf(err) != noren.Usage {
					t.Fatalf("%s [%v, %v] %d: %v", kind, lo, hi, bits, err)
				}
				continue
			}
			r, err := q.answer(t.Context(), tab, randtest.Source(1))
			if err != nil {
				t.Fatalf("%s [%v, %v] %d: %v", kind, lo, hi, bits, err)
			}
			asJSON(t, r)
			asJSON(t, q.Parameters())
			if r.Value != nil {
				if v := float64(*r.Value); math.IsNaN(v) || math.IsInf(v, 0) || kind != Sum && kind != Variance && !(lo <= v && v <= hi) {
					t.Fatalf("%s [%v, %v]: answered %v", kind, lo, hi, v)
				}
			}
			s, ok := q.kernel.(*sums)
			if !ok {
				continue
			}
			each, err := q.records(t.Context(), tab)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := s.exact(t.Context(), tab, each)
			if err != nil {
				t.Fatal(err)
			}
			total := int64(0)
			for i := range sum {
				v, err := sum[i].Int64()
				if err != nil || v < s.add.lo || v > s.add.hi {
					t.Fatalf("%s [%v, %v]: a record adds %d, outside [%d, %d], %v", kind, lo, hi, v, s.add.lo, s.add.hi, err)
				}
				total += v
			}
			if kind != Sum && total != s.add.hi && !tab.Columns[0].IsMissing(0) {
				t.Fatalf("%s [%v, %v]: the coordinates of a record add up to %d, not %d", kind, lo, hi, total, s.add.hi)
			}
		}
	})
}

func TestDefaultGrid(t *testing.T) {
	for _, test := range []struct {
		kind   Kind
		of     table.Type
		lo, hi float64
		j      int
		steps  int64
	}{
		{Sum, table.Integer, 0, 100, 0, 100},
		{Sum, table.Date, 0, 1 << 40, -9, 1 << 31},
		{Sum, table.Decimal, 0, 100, 13, 819200},
		{Mean, table.Decimal, -1, 1, 19, 1 << 20},
		{Variance, table.Decimal, 0, 100, 5, 3200},
		{Variance, table.Integer, 0, 1 << 20, -5, 1 << 15},
		{Quantile, table.Decimal, 0, 1, 16, 1 << 16},
		{Quantile, table.Integer, 0, 120, 0, 120},
		{Sum, table.Decimal, 0, 1e-100, 352, 917399},
		{Mean, table.Decimal, 1e9, 1e9 + 1, 20, 1 << 20},
		{Sum, table.Decimal, 1e9, 1e9 + 1, 1, 2},
	} {
		o := Options{Kind: test.kind, Bounds: &Bounds{test.lo, test.hi}}
		g, err := newGrid(&o, test.of != table.Decimal)
		if err != nil || g.J() != test.j || g.width() != test.steps {
			t.Errorf("%s of %s in [%v, %v]: j = %d, %d steps, %v, want %d, %d", test.kind, test.of, test.lo, test.hi, g.J(), g.width(), err, test.j,
				test.steps)
		}
	}
}

// Of each person at most most records are kept, which ones depends on that person's
// records alone, and records without a person are left out.
func TestBoundRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := visitRows(rapid.IntRange(0, 80).Draw(rt, "n"), rapid.Uint64().Draw(rt, "seed"))
		most := rapid.Int64Range(1, 12).Draw(rt, "most")
		kept := func(rows [][]string) map[string][]string {
			tab := makeTable(t, visits, rows...)
			keep, err := boundRows(t.Context(), tab, tab.Columns, tab.Unit, most, secret)
			if err != nil {
				rt.Fatal(err)
			}
			out := map[string][]string{}
			for i, k := range keep {
				if k {
					out[rows[i][0]] = append(out[rows[i][0]], strings.Join(rows[i], "|"))
				}
			}
			for _, v := range out {
				slices.Sort(v)
			}
			return out
		}
		all := kept(rows)
		if len(all[""]) > 0 {
			rt.Fatal("a record without a person counts")
		}
		count := map[string]int64{}
		for _, r := range rows {
			count[r[0]]++
		}
		for who, n := range count {
			if who != "" && int64(len(all[who])) != min(n, most) {
				rt.Fatalf("%d of %d records count, at most %d should", len(all[who]), n, most)
			}
		}
		alone := kept(slices.DeleteFunc(slices.Clone(rows), func(r []string) bool { return r[0] != "p3" }))
		if !slices.Equal(alone["p3"], all["p3"]) {
			rt.Fatalf("%v count, and without the others %v", all["p3"], alone["p3"])
		}
	})
}

// Another key picks other records: the rule is not one that a person can aim at.
func TestKeyPicks(t *testing.T) {
	var rows [][]string
	for i := range 50 {
		rows = append(rows, []string{"p", "F", "1", strconv.Itoa(i), "2020-01-01", "mild"})
	}
	tab := makeTable(t, visits, rows...)
	pick := func(key string) int {
		keep, err := boundRows(t.Context(), tab, tab.Columns, tab.Unit, 1, []byte(key))
		if err != nil {
			t.Fatal(err)
		}
		return slices.Index(keep, true)
	}
	seen := map[int]bool{}
	for i := range 20 {
		seen[pick("key number "+strconv.Itoa(i))] = true
	}
	if len(seen) < 8 {
		t.Errorf("20 keys pick %d records", len(seen))
	}
}

func TestParseBound(t *testing.T) {
	for _, test := range []struct {
		of   table.Field
		text string
		want float64
		bad  bool
	}{
		{table.Field{Type: table.Integer}, "17", 17, false},
		{table.Field{Type: table.Decimal}, "-1.5e2", -150, false},
		{table.Field{Type: table.Date}, "1970-01-11", 10, false},
		{table.Field{Type: table.Date}, "10", 0, true},
		{table.Field{Type: table.Integer}, "NaN", 0, true},
		{table.Field{Type: table.Integer}, "", 0, true},
	} {
		got, err := ParseBound(test.of, test.text)
		if got != test.want || (err != nil) != test.bad || test.bad && noren.KindOf(err) != noren.Usage {
			t.Errorf("%s %q: %v, %v", test.of.Type, test.text, got, err)
		}
	}
}

// The error of a table that is not what it should be holds nothing of its cells.
func TestErrorsHoldNoValues(t *testing.T) {
	q := mustNew(t, Options{Kind: Mean, Column: "cost", Bounds: &Bounds{0, 1}, Fields: visits, Cost: account.Cost{Epsilon: one}})
	tab := makeTable(t, []table.Field{{Name: "cost", Type: table.Category}}, []string{"hush-hush"})
	if _, err := q.Answer(t.Context(), tab, randtest.Source(1)); err == nil || strings.Contains(err.Error(), "hush") {
		t.Error(err)
	}
}
