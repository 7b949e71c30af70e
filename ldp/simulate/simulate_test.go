package simulate_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/ldp/simulate"
	"github.com/noren-privacy/noren/ldp/survey"
)

func labels(k int) survey.Attribute { return survey.Attribute{Size: k} }

func run(t *testing.T, o simulate.Options) *simulate.Result {
	t.Helper()
	r, err := simulate.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The errors of many samples are those of the formulas: the mean square over 100
// samples of 5 labels, some 400 independent terms, is within 5 deviations (a
// quarter) of it. Means by Hybrid have one term a sample.
func TestErrorsAreTheFormulas(t *testing.T) {
	randtest.SkipShort(t)
	for _, c := range []struct {
		spec   survey.Spec
		within float64
	}{
		{survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: labels(5)}, 0.25},
		{survey.Spec{Mechanism: "oue", Epsilon: 1, Attribute: labels(5)}, 0.25},
		{survey.Spec{Mechanism: "longitudinal-grr", Epsilon: 1, Attribute: labels(5)}, 0.25},
		{survey.Spec{Mechanism: "hybrid", Epsilon: 1, Attribute: survey.Attribute{Range: []float64{-3, 7}}}, 0.6},
	} {
		r := run(t, simulate.Options{Spec: c.spec, N: 400, Trials: 100, Epsilons: []float64{1}, Ns: []int{200}, Seed: 1})
		if len(r.Curves) != 2 {
			t.Fatalf("%d curves", len(r.Curves))
		}
		for _, curve := range r.Curves {
			for _, p := range curve.Points {
				if ratio := p.Error * p.Error / (p.Expected * p.Expected); !(math.Abs(ratio-1) < c.within) {
					t.Errorf("%s over %s at %g: error %.4f, expected %.4f", curve.Mechanism, curve.Over, p.X, p.Error, p.Expected)
				}
			}
		}
	}
}

// The figures follow from the seed alone.
func TestSeed(t *testing.T) {
	o := simulate.Options{
		Spec: survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: labels(3)}, N: 100, Trials: 2,
		Compare: []string{"oue", "subset"}, Workers: 1, Seed: 9,
	}
	one := run(t, o)
	o.Workers = 7
	if two := run(t, o); !reflect.DeepEqual(one.Curves, two.Curves) || !reflect.DeepEqual(one.Estimate, two.Estimate) {
		t.Error("the figures depend on the workers")
	}
	o.Seed = 10
	if two := run(t, o); reflect.DeepEqual(one.Curves, two.Curves) {
		t.Error("the figures do not depend on the seed")
	}
}

// The truth is that of the sample: given values, just these.
func TestTruth(t *testing.T) {
	values := [][]string{{"0"}, {"0"}, {"1"}, {"2"}}
	r := run(t, simulate.Options{Spec: survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: labels(3)}, N: 4, Values: values, Trials: 1})
	if got := r.Sample.Truth[0].Shares; !reflect.DeepEqual(got, []float64{0.5, 0.25, 0.25}) {
		t.Errorf("shares %v", got)
	}
	r = run(t, simulate.Options{
		Spec: survey.Spec{Mechanism: "hybrid", Epsilon: 1, Attribute: survey.Attribute{Range: []float64{0, 1}}}, N: 4,
		Values: values, Trials: 1,
	})
	if got := r.Sample.Truth[0].Mean; got != 0.5 { // 2 counts as 1
		t.Errorf("mean %g", got)
	}
	r = run(t, simulate.Options{
		Spec: survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: labels(2)}, N: 1000, Shares: []float64{0, 3},
		Trials: 1,
	})
	if got := r.Sample.Truth[0].Shares; math.Abs(got[1]-1) > 1e-9 || got[0] != 0 {
		t.Errorf("shares %v", got)
	}
	r = run(t, simulate.Options{
		Spec: survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: survey.Attribute{Edges: []float64{0, 1, 10}}},
		N:    1000, Shares: []float64{1, 0}, Trials: 1,
	})
	if got := r.Sample.Truth[0].Shares; math.Abs(got[0]-1) > 1e-9 {
		t.Errorf("shares of bins %v", got)
	}
}

func TestEveryMechanismCanBeSimulated(t *testing.T) {
	f, p, q := 0.25, 0.25, 0.75
	for _, name := range survey.Mechanisms() {
		spec := survey.Spec{Mechanism: name, Epsilon: 1}
		switch name {
		case "duchi", "piecewise", "hybrid", "square-wave":
			spec.Range = []float64{0, 10}
		case "rappor", "rappor-one-time":
			spec.Epsilon, spec.K, spec.H, spec.M, spec.F = 0, 16, 2, 4, &f
		default:
			spec.Size = 4
		}
		if name == "rappor" || name == "basic-rappor" {
			spec.P, spec.Q = &p, &q
		}
		r := run(t, simulate.Options{Spec: spec, N: 200, Trials: 1, Words: 3, Seed: 1})
		if math.IsNaN(r.Error) || len(r.Curves) != 2 || len(r.Curves[0].Points) < 2 || len(r.Curves[1].Points) != 4 {
			t.Errorf("%s: error %g, curves %+v", name, r.Error, r.Curves)
		}
	}
	several := survey.Spec{Epsilon: 5, Attributes: []survey.Attribute{{Column: "a", Size: 3}, {Column: "b", Range: []float64{0, 1}}}}
	if r := run(t, simulate.Options{Spec: several, N: 200, Trials: 1}); math.IsNaN(r.Error) || len(r.Estimate.Several) != 2 {
		t.Errorf("several: %+v", r)
	}
}

func TestRefused(t *testing.T) {
	grr := survey.Spec{Mechanism: "grr", Epsilon: 1, Attribute: labels(3)}
	for i, o := range []simulate.Options{
		{Spec: grr},
		{Spec: survey.Spec{}, N: 10},
		{Spec: grr, N: 10, Trials: -1},
		{Spec: grr, N: 10, Ns: []int{0}},
		{Spec: grr, N: 10, Shape: "normal"},
		{Spec: grr, N: 10, Shares: []float64{1, 2}},
		{Spec: grr, N: 10, Shares: []float64{1, 2, math.NaN()}},
		{Spec: grr, N: 10, Shares: []float64{0, 0, 0}},
		{Spec: grr, N: 10, Compare: []string{"hybrid"}},
	} {
		if _, err := simulate.Run(t.Context(), o); err == nil || noren.KindOf(err) != noren.Usage {
			t.Errorf("case %d: %v", i, err)
		}
	}
	_, err := simulate.Run(t.Context(), simulate.Options{Spec: grr, N: 1, Values: [][]string{{"secret77"}}})
	if noren.KindOf(err) != noren.BadData {
		t.Errorf("a value of no label: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := simulate.Run(ctx, simulate.Options{Spec: grr, N: 1000}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's end", err)
	}
}

// Two distributions that lie one bucket of width 2 apart in all their mass are 2
// apart.
func TestWasserstein(t *testing.T) {
	if got := simulate.Wasserstein([]float64{0, 2, 4, 6}, []float64{0, 1, 0}, []float64{0, 0, 1}); got != 2 {
		t.Errorf("%g, want 2", got)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, mechanism := range []string{"grr", "oue"} {
		b.Run(mechanism, func(b *testing.B) {
			for i := range b.N {
				o := simulate.Options{
					Spec: survey.Spec{Mechanism: mechanism, Epsilon: 1, Attribute: labels(16)}, N: 10_000,
					Trials: 1, Epsilons: []float64{1}, Ns: []int{10_000}, Seed: uint64(i), Workers: 1,
				}
				if _, err := simulate.Run(b.Context(), o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(3*10_000*float64(b.N)/b.Elapsed().Seconds(), "reports/s")
		})
	}
}
