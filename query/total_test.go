package query

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
)

func itoa(i int) string { return strconv.Itoa(i) }

// tableFields are columns of every type; tableOf fills those that it is given.
var tableFields = []table.Field{
	{Name: "x", Type: table.Integer},
	{Name: "y", Type: table.Decimal},
	{Name: "day", Type: table.Date, Layout: "YYYY-MM-DD"},
	{Name: "level", Type: table.Ordered, Levels: []string{"low", "high"}},
	{Name: "group", Type: table.Category},
}

func tableOf(t rapid.TB, texts map[string][]string) *table.Table {
	t.Helper()
	out := &table.Table{}
	for _, f := range tableFields {
		cells, ok := texts[f.Name]
		if !ok {
			continue
		}
		b, err := table.NewBuilder(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			if err := b.Append([]byte(c)); err != nil {
				t.Fatal(err)
			}
		}
		out.Rows = len(cells)
		out.Columns = append(out.Columns, b.Column())
	}
	return out
}

// Every question answers every table of its columns: no record, one record, and cells
// that are missing anywhere; and every answer has canonical JSON.
func TestEveryTableIsAnswered(t *testing.T) {
	randtest.SkipShort(t)
	randtest.Fewer(t, 3)
	testEveryTable(t, 3)
}

func TestLongEveryTableIsAnswered(t *testing.T) {
	randtest.Long(t)
	testEveryTable(t, 1)
}

// testEveryTable asks one query in parts of each table.
func testEveryTable(t *testing.T, parts int) {
	tiny := account.Cost{Epsilon: 1} // noise of every size
	base := Options{Fields: tableFields, Cost: tiny}
	with := func(change func(o *Options)) Options {
		o := base
		change(&o)
		return o
	}
	questions := []Options{
		with(func(o *Options) { o.Kind = Count }),
		with(func(o *Options) { o.Kind, o.Where = Count, "x > 3 and not y is missing or day < '2000-01-01'" }),
		with(func(o *Options) { o.Kind, o.Noise, o.Cost.Delta = Count, Gaussian, 1 }),
		with(func(o *Options) { o.Kind, o.Column, o.Bins = Histogram, "y", []float64{-maxBound, 0, 1, maxBound} }),
		with(func(o *Options) { o.Kind, o.Column, o.Values = Histogram, "group", []string{"a", ""} }),
	}
	for _, column := range []string{"x", "y", "day"} {
		for _, kind := range []Kind{Sum, Mean, Variance, Quantile} {
			for _, b := range []Bounds{{0, 1}, {-maxBound, maxBound}, {maxBound - 1, maxBound}} {
				o := with(func(o *Options) { o.Kind, o.Column, o.Bounds = kind, column, &b })
				questions = append(questions, o)
				o.By, o.Keys = []string{"group", "level"}, [][]string{{"a", "low"}, {"", ""}, {"never", "high"}}
				questions = append(questions, o)
			}
		}
		o := with(func(o *Options) {
			o.Kind, o.Column, o.Bounds, o.Noise, o.Cost.Epsilon = Quantile, column, &Bounds{-1e6, 1e6}, Smooth, one
		})
		questions = append(questions, o)
		o.Neighbours = account.ReplaceOne
		questions = append(questions, o)
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(t, "rows")
		cells := func(name string, choices ...string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(append(choices, "", "")), rows, rows).Draw(t, name)
		}
		tab := tableOf(t, map[string][]string{
			"x":     cells("x", "0", "1", "-5", "9223372036854775807", "-9223372036854775808"),
			"y":     cells("y", "0.5", "-1e308", "1e308", "5e-324", "3"),
			"day":   cells("day", "1970-01-01", "0001-01-01", "9999-12-31"),
			"level": cells("level", "low", "high"),
			"group": cells("group", "a", "b", "\x00", "日本"),
		})
		src := randtest.Source(rapid.Uint64().Draw(t, "seed"))
		part := rapid.IntRange(0, parts-1).Draw(t, "part")
		for i, o := range questions {
			if i%parts != part {
				continue
			}
			q, err := New(context.Background(), o)
			if noren.KindOf(err) == noren.Usage && o.Bounds != nil && o.Bounds.Hi >= maxBound-1 {
				continue // such bounds have no grid for this question: refused before any table
			}
			if err != nil {
				t.Fatalf("%s of %s: %v", o.Kind, o.Column, err)
			}
			answer, err := q.Answer(t.Context(), tab, src)
			if err != nil {
				t.Fatalf("%s of %s: %v", o.Kind, o.Column, err)
			}
			hasCanonicalJSON(t, answer)
		}
		for _, column := range []string{"x", "y", "day"} {
			e := edgesOf(t, with(func(o *Options) { o.Column, o.Bounds, o.Cost.Epsilon = column, &Bounds{-1e6, 1e6}, 10 }), 4)
			answer, err := e.Answer(t.Context(), tab, src)
			if err != nil {
				t.Fatal(err)
			}
			hasCanonicalJSON(t, answer)
			hasCanonicalJSON(t, e.Parameters())
		}
	})
}

func hasCanonicalJSON(t rapid.TB, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		_, err = certificate.Canonical(text)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// The noise's extremes have canonical JSON too.
func TestExtremeNoiseHasCanonicalJSON(t *testing.T) {
	for _, o := range []Options{
		{Kind: Count},
		{Kind: Sum, Column: "y", Bounds: &Bounds{-maxBound, maxBound}},
		{Kind: Mean, Column: "y", Bounds: &Bounds{-maxBound, maxBound}},
		{Kind: Variance, Column: "y", Bounds: &Bounds{-maxBound, maxBound}},
	} {
		o.Fields, o.Cost = tableFields, account.Cost{Epsilon: 1}
		q := mustNew(t, o)
		s := q.kernel.(*sums)
		for _, a := range []int64{math.MinInt64, -1, 0, 1 << 53, math.MaxInt64} {
			for _, b := range []int64{math.MinInt64, 0, math.MaxInt64} {
				hasCanonicalJSON(t, q.result([]Group{s.group([]int64{a, b, a}[:s.add.coords])}))
			}
		}
	}
}

// The bound of the number of records is held against the limit before any charge.
func TestCovers(t *testing.T) {
	q := mustNew(t, Options{Kind: Count, Fields: tableFields, Cost: account.Cost{Epsilon: one}})
	e := edgesOf(t, Options{Cost: account.Cost{Epsilon: one}}, 3)
	for _, m := range []interface {
		Covers(atMost, records int64) error
	}{q, e} {
		if err := m.Covers(1<<30, 0); err != nil {
			t.Error(err)
		}
		if err := m.Covers(1<<31+1, 0); noren.KindOf(err) != noren.Usage || noren.CodeOf(err) != "too-many-records" {
			t.Error(err)
		}
	}
}
