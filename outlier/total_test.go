package outlier

import (
	"context"
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// Every table of the columns is answered: no record, one record, cells that are missing
// anywhere, values far beyond the box; and every answer has canonical JSON.
func TestEveryTableIsAnswered(t *testing.T) {
	randtest.SkipShort(t)
	fields := []table.Field{
		{Name: "x", Type: table.Decimal},
		{Name: "n", Type: table.Integer},
		{Name: "level", Type: table.Ordered, Levels: []string{"low", "mid", "high"}},
		{Name: "day", Type: table.Date, Layout: "YYYY-MM-DD"},
	}
	axes := []axis.Axis{
		{Field: fields[0], Low: 0, High: 10},
		{Field: fields[1], Low: -5, High: 5},
		{Field: fields[2], Low: 0, High: 2},
		{Field: fields[3], Low: 0, High: 365, Scale: 30},
	}
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SampledFrom([]int{0, 1, 2, 9}).Draw(t, "rows")
		dims := rapid.IntRange(1, len(axes)).Draw(t, "columns")
		o := Options{
			Axes: axes[:dims], Step: 0.5, Radius: 1, K: rapid.IntRange(1, 4).Draw(t, "k"),
			Cost: account.Cost{Epsilon: rapid.SampledFrom([]int64{1_000_000, 1_000_000_000, 50_000_000_000}).Draw(t, "epsilon")},
		}
		o.Noise = rapid.SampledFrom([]Noise{"", Lomax, StudentT, Laplace, Gaussian, GlobalLaplace}).Draw(t, "family")
		if o.Noise == Laplace || o.Noise == Gaussian {
			o.Cost.Delta = 1_000_000_000
		}
		if o.Cost.Epsilon > 1_000_000_000 && rapid.Bool().Draw(t, "share") {
			o.IntervalShare = 0.5
		}
		if rows > 0 && rapid.Bool().Draw(t, "replace") {
			o.Neighbours, o.Records = account.ReplaceOne, rows
		}
		m, err := New(context.Background(), o)
		if err != nil {
			if noren.CodeOf(err) == "interval-share" || o.Cost.Epsilon < 1_000_000_000 || o.Noise == StudentT || o.Noise == Gaussian ||
				o.Noise == Laplace {
				t.Skip(err) // such noise is refused from public figures
			}
			t.Fatal(err)
		}
		tab := &table.Table{Rows: rows}
		texts := [][]string{
			{"0", "1", "9.5", "-1e308", "1e308", "5e-324", ""},
			{"0", "3", "9223372036854775807", "-9223372036854775808", ""},
			{"low", "mid", "high", ""},
			{"1970-01-01", "1970-02-03", "0001-01-01", "9999-12-31", ""},
		}
		for j := range dims {
			b, err := table.NewBuilder(fields[j], nil)
			if err != nil {
				t.Fatal(err)
			}
			for range rows {
				if err := b.Append([]byte(rapid.SampledFrom(texts[j]).Draw(t, "cell"))); err != nil {
					t.Fatal(err)
				}
			}
			tab.Columns = append(tab.Columns, b.Column())
		}
		a, err := m.Answer(context.Background(), tab, randtest.Source(rapid.Uint64().Draw(t, "seed")))
		if err != nil {
			t.Fatal(err)
		}
		hasCanonicalJSON(t, a)
		hasCanonicalJSON(t, m.Parameters())
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

// Noise of every size has canonical JSON: counts stop at 2^53 - 1.
func TestExtremeNoiseHasCanonicalJSON(t *testing.T) {
	m, err := New(context.Background(), plane())
	if err != nil {
		t.Fatal(err)
	}
	for _, y := range []int64{math.MinInt64, -1, 0, 1 << 53, math.MaxInt64} {
		for _, w := range []float64{0, 1e300, math.Inf(1)} {
			a := m.present(y, w, noren.Textf("a test"))
			hasCanonicalJSON(t, a)
			if a.Interval.High > 1<<53-1 || a.Count > 1<<53-1 || a.Count < 0 {
				t.Errorf("%+v", a)
			}
		}
	}
}

// The limit and the public number of records are compared before any charge.
func TestCovers(t *testing.T) {
	o := plane()
	for _, c := range []struct {
		neighbours                account.Neighbours
		declared, atMost, records int64
		code                      string
	}{
		{account.AddRemove, 0, 20_000_000, 0, ""},
		{account.AddRemove, 0, 20_000_001, 0, "too-many-records"},
		{account.AddRemove, 0, 100, 100, ""},
		{account.ReplaceOne, 100, 100, 100, ""},
		{account.ReplaceOne, 100, 101, 101, "records"},
		{account.ReplaceOne, 100, 20_000_000, 0, "records"},
	} {
		o.Neighbours, o.Records = c.neighbours, int(c.declared)
		m, err := New(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Covers(c.atMost, c.records); noren.CodeOf(err) != c.code || err != nil && noren.KindOf(err) != noren.Usage {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// A share of epsilon for the interval is refused where the interval is expected to be no
// narrower for it, and taken where it is: what is expected then comes about.
func TestIntervalShareNarrowsTheInterval(t *testing.T) {
	o := plane()
	o.Noise, o.IntervalShare = Lomax, 0.3
	if _, err := New(context.Background(), o); noren.KindOf(err) != noren.Usage || noren.CodeOf(err) != "interval-share" {
		t.Fatalf("at epsilon 1: %v", err)
	}
	o.K, o.Cost = 500, milli(2000)
	m, err := New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	with, without, err := m.intervals(context.Background())
	if err != nil || with >= without {
		t.Fatalf("%g with, %g without: %v", with, without, err)
	}
	// Records far apart, none of them near to having 500 others: U_0 is 1 or so.
	coords := make([]int32, 0, 400)
	for i := range int32(200) {
		coords = append(coords, i*1000, 0)
	}
	points, err := NewPoints(2, coords, 0)
	if err != nil {
		t.Fatal(err)
	}
	narrower, src := 0, randtest.Source(7)
	for range 100 {
		a := answer(t, m, points, src)
		if float64(a.Interval.High-a.Count) < without {
			narrower++
		}
	}
	if narrower < 60 {
		t.Errorf("%d of 100 intervals are narrower than without the share", narrower)
	}
}
