package ratio

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/table/axis"
)

// What kernels of 60 categories leave unexplained, answers about categories are corrected
// for: the fit check says so, and the answer has no warning of it.
func TestFollowedFindings(t *testing.T) {
	const k = 60
	draw := func(seed uint64, n int, tilt float64) *Points {
		rng := rand.New(rand.NewPCG(seed, 1))
		p := axis.NewPoints[float64](n, k)
		for i := range n {
			p.Row(i)[int(float64(k)*math.Pow(rng.Float64(), tilt))] = 1 / math.Sqrt2
		}
		return p
	}
	e, x := draw(1, 400, 1), draw(2, 2000, 1.6)
	w := fitOne(t, 3, e, x, Options{Cost: milli(3000), Centres: 64})
	if w.unexplained.IsZero() || !slices.ContainsFunc(w.Meta.Check.Findings, w.unexplained.Equal) {
		t.Fatalf("nothing is left unexplained: %q", w.Meta.Check.Findings)
	}
	f := make([]float64, e.Rows)
	truth := 0.0
	for j := range k / 3 {
		for i := range f {
			f[i] += e.Row(i)[j] * math.Sqrt2
		}
		for i := range x.Rows {
			truth += x.Row(i)[j] * math.Sqrt2 / float64(x.Rows)
		}
	}
	a, err := w.Mean(f)
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(a.Warnings, w.unexplained.Equal) || math.Abs(a.Value-truth) > 1.96*a.SE {
		t.Errorf("%+v, the truth is %g", a, truth)
	}
	if kept := w.findings(false); !slices.EqualFunc(kept, w.Meta.Check.Findings, noren.Text.Equal) {
		t.Errorf("without a correction: %q", kept)
	}
}

// Private records outside of the public ones widen answers by their share of a standard
// deviation, where they were found.
func TestOutsideWidens(t *testing.T) {
	e := gaussian(1, 400, 1, 0, 1)
	x := gaussian(2, 2000, 1, 0, 1)
	x.Outside = make([]bool, x.Rows)
	answer := func(outside int) *Answer {
		for i := range x.Outside {
			x.Outside[i] = i < outside
		}
		m, err := New(context.Background(), Options{
			Public: e, Neighbours: account.ReplaceOne, Records: x.Rows, Cost: milli(2000),
			OutsideShare: 0.1,
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := m.Release(t.Context(), x, entropy.Seeded(4))
		if err != nil {
			t.Fatal(err)
		}
		w, err := m.Weights(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		a, err := w.Mean(e.Data)
		if err != nil {
			t.Fatal(err)
		}
		if found := strings.Contains(noren.Texts(a.Warnings).String(), "outside of the public ones"); found != (outside > 0) {
			t.Errorf("%d outside: %q", outside, a.Warnings)
		}
		return a
	}
	none, some := answer(0), answer(400)
	sd := none.Parts.Private * math.Sqrt(float64(x.Rows))
	if more := math.Sqrt(some.Parts.Model*some.Parts.Model - none.Parts.Model*none.Parts.Model); math.Abs(more-0.2*sd) > 0.03*sd {
		t.Errorf("a fifth outside adds %g, a fifth of a standard deviation is %g", more, 0.2*sd)
	}
}

// A warning about a count states a count.
func TestCountWarning(t *testing.T) {
	e, x := gaussian(1, 100, 2, 0, 1), gaussian(2, 200, 2, 0, 1)
	w := fitOne(t, 3, e, x, Options{Cost: milli(50)})
	in := make([]bool, e.Rows)
	for i := range in {
		in[i] = i%2 == 0
	}
	a, err := w.Count(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range a.Warnings {
		if _, rest, found := strings.Cut(text.String(), "than the unweighted one, "); found {
			number, _, _ := strings.Cut(rest, ":")
			if v, err := strconv.ParseFloat(number, 64); err != nil || math.Abs(v-100) > 1e-6 {
				t.Errorf("half of 200 records: %q", text)
			}
			return
		}
	}
	t.Errorf("no warning: %q", a.Warnings)
}
