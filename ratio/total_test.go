package ratio

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// mixed are columns of every type, with a public table of them.
var mixed = []axis.Axis{
	{Field: table.Field{Name: "x", Type: table.Decimal}, Low: 0, High: 10},
	{Field: table.Field{Name: "n", Type: table.Integer}, Low: -5, High: 5},
	{Field: table.Field{Name: "day", Type: table.Date, Layout: "YYYY-MM-DD"}, Low: 0, High: 365},
	{Field: table.Field{Name: "level", Type: table.Ordered, Levels: []string{"low", "high"}}, Low: 0, High: 1},
	{Field: table.Field{Name: "word", Type: table.Category}, Categories: []string{"a", "b"}},
}

var mixedTexts = [][]string{
	{"0", "3.5", "-1e308", "1e308", "5e-324", ""},
	{"0", "4", "9223372036854775807", "-9223372036854775808", ""},
	{"1970-01-01", "1970-05-06", "0001-01-01", "9999-12-31", ""},
	{"low", "high", ""},
	{"a", "b", "never listed", "\x00", ""},
}

func mixedTable(t rapid.TB, rows int, cell func(column, row int) string) *table.Table {
	t.Helper()
	out := &table.Table{Rows: rows}
	for j, a := range mixed {
		b, err := table.NewBuilder(a.Field, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			if err := b.Append([]byte(cell(j, i))); err != nil {
				t.Fatal(err)
			}
		}
		out.Columns = append(out.Columns, b.Column())
	}
	return out
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

// weightsFor are weights of no particular worth, which a check needs.
func weightsFor(t rapid.TB, frame *Frame, public *Points) *Weights {
	t.Helper()
	m, err := New(context.Background(), Options{
		Public: public, Frame: frame, Cost: milli(100_000), Neighbours: account.ReplaceOne,
		Records: public.Rows, Centres: 5,
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Release(context.Background(), public, randtest.Source(1))
	if err != nil {
		t.Fatal(err)
	}
	w, err := m.Weights(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Every table of the columns is answered, by fit and check, with each noise: no record,
// one record, missing cells, unlisted words, values far beyond the bounds; and every answer
// has canonical JSON and reads back the same.
func TestEveryTableIsAnswered(t *testing.T) {
	randtest.SkipShort(t)
	ctx := context.Background()
	frame, err := NewFrame(mixed)
	if err != nil {
		t.Fatal(err)
	}
	public, err := frame.Points(mixedTable(t, 40, func(j, i int) string {
		return []string{fmt.Sprint(i % 10), fmt.Sprint(i%9 - 4), fmt.Sprintf("1970-%02d-11", i%12+1), mixedTexts[3][i%2], mixedTexts[4][i/2%2]}[j]
	}))
	if err != nil {
		t.Fatal(err)
	}
	weights := weightsFor(t, frame, public)
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SampledFrom([]int{0, 1, 2, 9}).Draw(t, "rows")
		tab := mixedTable(t, rows, func(j, _ int) string { return rapid.SampledFrom(mixedTexts[j]).Draw(t, "cell") })
		src := randtest.Source(rapid.Uint64().Draw(t, "seed"))
		cost := account.Cost{Epsilon: rapid.SampledFrom([]int64{1_000_000, 1_000_000_000}).Draw(t, "epsilon")}
		neighbours, records := account.AddRemove, 0
		if rows > 0 && rapid.Bool().Draw(t, "replace") {
			neighbours, records = account.ReplaceOne, rows
		}
		check, err := NewCheck(CheckOptions{Weights: weights, Frame: frame, Public: public, Cost: cost, Neighbours: neighbours, Records: records})
		if err != nil {
			t.Fatal(err)
		}
		a, err := check.Answer(ctx, tab, src)
		if err != nil {
			t.Fatal(err)
		}
		hasCanonicalJSON(t, a)
		hasCanonicalJSON(t, check.Parameters())
		for _, by := range []Noise{RKHSPure, RKHSGaussian, Laplace, Parametric, NoisyCentres} {
			o := Options{Public: public, Frame: frame, Cost: cost, Neighbours: neighbours, Records: records, Noise: by, Centres: 4}
			switch {
			case by == NoisyCentres && records == 0:
				continue
			case by == NoisyCentres:
				o.Centres = 1
			case by == RKHSGaussian:
				o.Cost.Delta = 1_000_000_000
			}
			if neighbours == account.AddRemove {
				o.CountShare = 0.25
			}
			m, err := New(ctx, o)
			if err != nil {
				t.Fatalf("%s: %v", by, err)
			}
			a, err := m.Answer(ctx, tab, src)
			if err != nil {
				t.Fatalf("%s: %v", by, err)
			}
			hasCanonicalJSON(t, a)
			hasCanonicalJSON(t, m.Parameters())
		}
	})
}

// A check of ten million records has an answer with canonical JSON: its sums, in steps of
// 2^-30, pass 2^53 from 2^23 records on.
func TestCheckOfTenMillionRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("ten million records")
	}
	frame, err := NewFrame([]axis.Axis{{Field: table.Field{Name: "n", Type: table.Integer}, Low: 0, High: 9}})
	if err != nil {
		t.Fatal(err)
	}
	public := axis.NewPoints[float64](40, 1)
	for i := range public.Data {
		public.Data[i] = float64(i%10) / 9
	}
	check, err := NewCheck(CheckOptions{Weights: weightsFor(t, frame, public), Frame: frame, Public: public, Cost: milli(1000)})
	if err != nil {
		t.Fatal(err)
	}
	const records = 10_000_000
	if err := check.Covers(20_000_000, 0); err != nil {
		t.Fatal(err)
	}
	seed := &table.Column{Field: frame.Columns()[0]}
	column := seed.Blank(records)
	for i := range column.Ints {
		column.Ints[i] = int64(i % 10)
	}
	a, err := check.Answer(context.Background(), &table.Table{Rows: records, Columns: []*table.Column{column}}, randtest.Source(3))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(a)
	if err == nil {
		text, err = certificate.Canonical(text)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	back, err := check.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	got := a.(*Sums)
	if got.Records <= 1<<53 || back.Records != got.Records || back.Sums[0] != got.Sums[0] || back.Sums[1] != got.Sums[1] {
		t.Errorf("%+v became %+v", got, back)
	}
	if n := float64(got.Records) / (1 << 30); math.Abs(n-records) > 1000 {
		t.Errorf("%g records", n)
	}
	if r, err := check.Compare(back); err != nil || math.Abs(r.Tests[0].Private-0.5) > 0.01 {
		t.Errorf("%+v, %v", r, err)
	}
}

// Noise of every size has canonical JSON.
func TestExtremeNoiseHasCanonicalJSON(t *testing.T) {
	huge := new(big.Int).Lsh(big.NewInt(1), 200)
	for _, j := range []int{-20, 0, 30, 50} {
		for _, k := range []*big.Int{new(big.Int), huge, new(big.Int).Neg(huge)} {
			hasCanonicalJSON(t, Released{Sums: [][]float64{{gridValue(k, j)}}})
		}
	}
	for _, v := range []int64{math.MinInt64, -1, 0, 1<<53 + 1, math.MaxInt64} {
		n := publishableCount(v)
		hasCanonicalJSON(t, Released{Sums: [][]float64{}, Records: &n})
		s := Sums{Sums: []int64{v, -v}, Records: v}
		hasCanonicalJSON(t, s)
		text, err := json.Marshal(&s)
		if err != nil {
			t.Fatal(err)
		}
		var back Sums
		if err := json.Unmarshal(text, &back); err != nil || back.Records != v || back.Sums[1] != -v {
			t.Errorf("%s became %+v: %v", text, back, err)
		}
	}
	// Earlier answers hold numbers.
	var old Sums
	if err := json.Unmarshal([]byte(`{"sums":[5,-7],"records":1073741824}`), &old); err != nil || old.Sums[1] != -7 || old.Records != 1<<30 {
		t.Errorf("%+v, %v", old, err)
	}
	for _, bad := range []string{
		`{"sums":["1.5"],"records":"0"}`, `{"sums":["9223372036854775808"],"records":"0"}`,
		`{"sums":[null],"records":[]}`,
	} {
		if err := json.Unmarshal([]byte(bad), &old); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

// The public figures are compared before any charge.
func TestCovers(t *testing.T) {
	public := axis.NewPoints[float64](4, 1)
	copy(public.Data, []float64{0, 0.3, 0.7, 1})
	for _, c := range []struct {
		neighbours                account.Neighbours
		declared, atMost, records int64
		code                      string
	}{
		{account.AddRemove, 0, 1 << 30, 0, ""},
		{account.AddRemove, 0, 1<<30 + 1, 0, "too-many-records"},
		{account.AddRemove, 0, 100, 100, ""},
		{account.ReplaceOne, 100, 100, 100, ""},
		{account.ReplaceOne, 100, 101, 101, "records"},
		{account.ReplaceOne, 100, 20_000_000, 0, "records"},
	} {
		o := Options{Public: public, Cost: milli(1000), Neighbours: c.neighbours, Records: int(c.declared), Centres: 2}
		m, err := New(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		check := &Check{options: CheckOptions{Neighbours: c.neighbours, Records: int(c.declared)}}
		for _, f := range []func(int64, int64) error{m.Covers, check.Covers} {
			if err := f(c.atMost, c.records); noren.CodeOf(err) != c.code || err != nil && noren.KindOf(err) != noren.Usage {
				t.Errorf("%+v: %v", c, err)
			}
		}
	}
	// A scale that canonical JSON cannot hold is refused from public figures.
	if _, err := New(context.Background(), Options{Public: public, Cost: account.Cost{Epsilon: 1}, Noise: Laplace, Centres: 4}); noren.KindOf(
		err) != noren.Usage {
		t.Errorf("noise of a scale beyond 2^53 steps: %v", err)
	}
}
