package ratio

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

func wordFrame(t testing.TB) *Frame {
	t.Helper()
	f, err := NewFrame([]axis.Axis{
		{Field: table.Field{Name: "x", Type: table.Decimal}, Low: 0, High: 1},
		{Field: table.Field{Name: "c", Type: table.Category}, Categories: []string{"a", "b", "d"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wordPoints are n points of wordFrame: words by shares, x by the word.
func wordPoints(seed uint64, n int, shares []float64) *Points {
	u := gaussian(seed, n, 2, 0, 1)
	p := axis.NewPoints[float64](n, 4)
	for i := range n {
		rank, word := 0.5*math.Erfc(-u.Row(i)[0]/math.Sqrt2), 0
		for rank > shares[word] && word < len(shares)-1 {
			rank -= shares[word]
			word++
		}
		p.Row(i)[0] = min(1, max(0, 0.3+0.2*float64(word)+0.1*u.Row(i)[1]))
		p.Row(i)[1+word] = math.Sqrt2 / 2
	}
	return p
}

// A record is in one cell of each histogram at most, whatever it is: adding it changes
// all counts by their number in L1, and replacing it by twice as much, at most; the noise
// is scaled for that, and both bounds are reached.
func TestMarginalSensitivity(t *testing.T) {
	f, public := wordFrame(t), wordPoints(1, 300, []float64{0.4, 0.3, 0.3})
	for _, n := range []account.Neighbours{account.AddRemove, account.ReplaceOne} {
		m, err := New(context.Background(), Options{
			Frame: f, Public: public, Cost: milli(1000), Features: MarginalFeatures, Neighbours: n,
			Records: 3000,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(m.marginals) != 3 {
			t.Fatalf("histograms %q", m.Histograms())
		}
		bound := 3.0
		if n == account.ReplaceOne {
			bound = 6
		}
		if s, _ := m.scale.Float64(); s < bound || s > bound*(1+1e-6) {
			t.Errorf("%s: the scale is %g, want %g", n, s, bound)
		}
		at := func(x []float64) []float64 {
			out := make([]float64, cells(m.marginals))
			if !isWhole(x) {
				return out
			}
			from := 0
			for k := range m.marginals {
				out[from+m.marginals[k].cell(x)]++
				from += m.marginals[k].Cells()
			}
			return out
		}
		largest := 0.0
		rapid.Check(t, func(t *rapid.T) {
			draw := func(name string) []float64 {
				x := []float64{rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Just(math.NaN())).Draw(t, name), 0, 0, 0}
				if word := rapid.IntRange(0, 3).Draw(t, name+" word"); word < 3 {
					x[1+word] = math.Sqrt2 / 2
				}
				return x
			}
			a, b := at(draw("one")), make([]float64, cells(m.marginals))
			if n == account.ReplaceOne {
				b = at(draw("other"))
			}
			sum := 0.0
			for k := range a {
				sum += math.Abs(a[k] - b[k])
			}
			largest = max(largest, sum)
			if sum > bound {
				t.Fatalf("a record moves the counts by %g, more than %g", sum, bound)
			}
		})
		a, b, moved := at([]float64{0, math.Sqrt2 / 2, 0, 0}), make([]float64, cells(m.marginals)), 0.0
		if n == account.ReplaceOne {
			b = at([]float64{1, 0, 0, math.Sqrt2 / 2})
		}
		for k := range a {
			moved += math.Abs(a[k] - b[k])
		}
		if moved != bound || largest > bound {
			t.Errorf("%s: a record moved %g of %g", n, moved, bound)
		}
	}
}

// Weights of histograms match the private table, survive their meta data, and answer.
func TestMarginalWeights(t *testing.T) {
	ctx := context.Background()
	f := wordFrame(t)
	public, private := wordPoints(1, 800, []float64{0.4, 0.3, 0.3}), wordPoints(2, 5000, []float64{0.1, 0.3, 0.6})
	for _, kind := range []Feature{MarginalFeatures, BothFeatures} {
		m, err := New(ctx, Options{Frame: f, Public: public, Cost: milli(1000), Features: kind, CountShare: 0.1, OutsideShare: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.Release(ctx, private, entropy.Seeded(1))
		if err != nil {
			t.Fatal(err)
		}
		w, err := m.Weights(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		if !w.Meta.Check.Passed {
			t.Errorf("%s: the check found %q", kind, w.Meta.Check.Findings)
		}
		text, err := w.Meta.Encode()
		if err != nil {
			t.Fatal(err)
		}
		meta, err := DecodeMeta(text)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Open(ctx, meta, public)
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Same(w.W); err != nil {
			t.Errorf("%s: weights made again: %v", kind, err)
		}
		for j, name := range []string{"x", "a", "b", "d"} {
			values, truth := make([]float64, public.Rows), 0.0
			for i := range values {
				values[i] = public.Row(i)[j]
			}
			for i := range private.Rows {
				truth += private.Row(i)[j] / float64(private.Rows)
			}
			a, err := again.Mean(values)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(a.Value-truth) > 4*a.SE || a.SE > 0.05 {
				t.Errorf("%s: mean of %s is %+v, want %g", kind, name, a, truth)
			}
		}
		ratio, err := again.Ratio(public)
		if err != nil {
			t.Fatal(err)
		}
		if d := meanSquare(ratio, w.W); d > 1e-15 {
			t.Errorf("%s: the ratio at public points differs from their weights by %g", kind, d)
		}
		plans, err := m.Plan(ctx, 5000, [][]float64{public.Data[:public.Rows]})
		if err != nil || !(plans[0].SE > plans[0].Privacy) || !(plans[0].Direct > 0) {
			t.Errorf("%s: %+v, %v", kind, plans, err)
		}
	}
	for _, o := range []Options{
		{Features: "other"},
		{Features: MarginalFeatures, Post: Plain},
		{Features: BothFeatures, Post: Clip},
		{Features: BothFeatures, Noise: NoisyCentres, Neighbours: account.ReplaceOne, Records: 100},
	} {
		o.Frame, o.Public, o.Cost = f, public, milli(1000)
		if _, err := New(ctx, o); noren.KindOf(err) != noren.Usage {
			t.Errorf("%+v: %v", o.Features, err)
		}
	}
}

// Histograms that are not ones are refused.
func TestDecodeMetaHistograms(t *testing.T) {
	ctx := context.Background()
	public := wordPoints(1, 100, []float64{0.4, 0.3, 0.3})
	m, err := New(ctx, Options{Frame: wordFrame(t), Public: public, Cost: milli(9000), Features: MarginalFeatures})
	if err != nil {
		t.Fatal(err)
	}
	r, err := m.Release(ctx, public, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	w, err := m.Weights(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Meta){
		"too few cells":       func(m *Meta) { m.Cells = m.Cells[1:] },
		"no axis":             func(m *Meta) { m.Histograms[0].Axes = nil },
		"a coordinate beyond": func(m *Meta) { m.Histograms[0].Axes[0].At = 4 },
		"no noise":            func(m *Meta) { m.CellScale = 0 },
		"plain":               func(m *Meta) { m.Post = Plain },
		"no dimension":        func(m *Meta) { m.Dim = 0 },
	} {
		text, err := w.Meta.Encode()
		if err != nil {
			t.Fatal(err)
		}
		bad, err := DecodeMeta(text)
		if err != nil {
			t.Fatal(err)
		}
		spoil(bad)
		if text, err = bad.Encode(); err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeMeta(text); noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", name, err)
		}
	}
}
