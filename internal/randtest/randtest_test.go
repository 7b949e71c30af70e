package randtest

import (
	"context"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/noren-privacy/noren/internal/entropy"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %.6g, want %.6g", what, got, want)
	}
}

// Figures from the printed tables: chi-squared 0.95 quantile for 3 degrees of
// freedom 7.8147; Kolmogorov's 1.3581 (5%) and 1.6276 (1%); Clopper-Pearson
// (1934) limits for 0 and 5 of 10.
func TestAgainstPrintedTables(t *testing.T) {
	// A statistic of exactly 7.8147: one cell off by d, another by -d.
	const n = 4_000_000_000
	d := int64(math.Round(math.Sqrt(7.8147 * (n / 4) / 2)))
	fit, err := ChiSquared([]int64{n/4 + d, n/4 - d, n / 4, n / 4}, []float64{0.25, 0.25, 0.25, 0.25})
	if err != nil {
		t.Fatal(err)
	}
	if fit.DF != 3 {
		t.Errorf("%d degrees of freedom, want 3", fit.DF)
	}
	near(t, "p of 7.8147", fit.P, 0.05, 1e-5)
	near(t, "P(K > 1.3581)", kolmogorov(1.3581), 0.05, 1e-5)
	near(t, "P(K > 1.6276)", kolmogorov(1.6276), 0.01, 1e-5)
	near(t, "P(K > 0.1)", kolmogorov(0.1), 1, 0)

	lo, hi := ClopperPearson(0, 10, 0.95)
	near(t, "0 of 10, low", lo, 0, 0)
	near(t, "0 of 10, high", hi, 0.3085, 5e-5)
	lo, hi = ClopperPearson(5, 10, 0.95)
	near(t, "5 of 10, low", lo, 0.1871, 5e-5)
	near(t, "5 of 10, high", hi, 0.8129, 5e-5)
	_, hi = ClopperPearson(10, 10, 0.95)
	near(t, "10 of 10, high", hi, 1, 0)
}

// The limits are where the binomial tails reach the level, also far out and for
// many runs, where an inverse may lose its way.
func TestClopperPearsonMeetsItsTails(t *testing.T) {
	for _, n := range []int64{50, 1000, 100_000} {
		for _, k := range []int64{1, 7, n / 10, n / 2, n - 1} {
			for _, confidence := range []float64{0.9, 1 - 1e-6, 1 - 1e-9} {
				lo, hi := ClopperPearson(k, n, confidence)
				if !(lo < float64(k)/float64(n) && float64(k)/float64(n) < hi) {
					t.Errorf("%d of %d lies outside %v..%v", k, n, lo, hi)
				}
				tail := (1 - confidence) / 2
				if up := upperTail(k, n, lo); math.Abs(up/tail-1) > 1e-3 {
					t.Errorf("%d of %d at %v: P(X >= k) at the lower limit is %v", k, n, confidence, up)
				}
				if down := 1 - upperTail(k+1, n, hi); tail > 1e-8 && math.Abs(down/tail-1) > 1e-3 {
					t.Errorf("%d of %d at %v: P(X <= k) at the upper limit is %v", k, n, confidence, down)
				}
			}
		}
	}
}

// upperTail is P(Binomial(n, p) >= k), term by term.
func upperTail(k, n int64, p float64) float64 {
	lg := func(x int64) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	sum := 0.0
	for i := n; i >= k; i-- {
		sum += math.Exp(lg(n) - lg(i) - lg(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
	}
	return sum
}

// Under an honest sampler the p-values are themselves uniform.
func TestPValuesOfAnHonestDieAreUniform(t *testing.T) {
	var ps, ks []float64
	for seed := range uint64(400) {
		src := Source(seed)
		counts := make([]int64, 6)
		for range 3000 {
			v, err := src.Uint64n(6)
			if err != nil {
				t.Fatal(err)
			}
			counts[v]++
		}
		fit, err := ChiSquared(counts, []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6})
		if err != nil {
			t.Fatal(err)
		}
		ps = append(ps, fit.P)
		draws := make([]float64, 200)
		for i := range draws {
			w, err := src.Bits(53)
			if err != nil {
				t.Fatal(err)
			}
			draws[i] = float64(w) / (1 << 53)
		}
		ks = append(ks, KolmogorovSmirnov(draws, func(x float64) float64 { return x }).P)
	}
	uniform := func(x float64) float64 { return min(1, max(0, x)) }
	for what, p := range map[string][]float64{"chi-squared": ps, "Kolmogorov-Smirnov": ks} {
		if fit := KolmogorovSmirnov(p, uniform); fit.P < 1e-4 {
			t.Errorf("%s: the p-values are not uniform: D = %.3f, p = %.3g", what, fit.Statistic, fit.P)
		}
	}
}

func TestChiSquaredPoolsAndRefuses(t *testing.T) {
	// Ten cells of expectation 10 pool to five.
	counts, probs := make([]int64, 10), make([]float64, 10)
	for i := range counts {
		counts[i], probs[i] = 10, 0.1
	}
	fit, err := ChiSquared(counts, probs)
	if err != nil || fit.DF != 4 || fit.Statistic != 0 {
		t.Errorf("pooled to %+v, %v", fit, err)
	}
	if fit, err := ChiSquared([]int64{50, 50, 1}, []float64{0.5, 0.5, 0}); err != nil || fit.P != 0 {
		t.Errorf("a draw of probability 0 gave %+v, %v", fit, err)
	}
	for name, c := range map[string]struct {
		counts []int64
		probs  []float64
	}{
		"lengths":  {[]int64{1}, []float64{0.5, 0.5}},
		"mass":     {[]int64{100, 100}, []float64{0.5, 0.4}},
		"negative": {[]int64{100, -1}, []float64{0.5, 0.5}},
		"NaN":      {[]int64{100, 100}, []float64{0.5, math.NaN()}},
		"few":      {[]int64{3, 4}, []float64{0.5, 0.5}},
	} {
		if _, err := ChiSquared(c.counts, c.probs); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

// triangle draws the sum of two dice of the given number of sides: a sampler
// whose scale can be told.
func triangle(src *entropy.Source, sides uint64) func() (int64, error) {
	return func() (int64, error) {
		a, err := src.Uint64n(sides)
		if err != nil {
			return 0, err
		}
		b, err := src.Uint64n(sides)
		return int64(a + b), err
	}
}

func triangleLogP(sides int64) func(int64) float64 {
	return func(k int64) float64 {
		ways := min(k+1, 2*sides-1-k)
		if ways <= 0 {
			return math.Inf(-1)
		}
		return math.Log(float64(ways) / float64(sides*sides))
	}
}

func TestAssertScaleTellsRightFromWrong(t *testing.T) {
	cdf, err := CDFOf(triangleLogP(100), 0, 198)
	if err != nil {
		t.Fatal(err)
	}
	src := Source(1)
	sampler := func(times float64) func(*big.Rat) (func() (int64, error), error) {
		return func(factor *big.Rat) (func() (int64, error), error) {
			f, _ := factor.Float64()
			return triangle(src, uint64(math.Round(100*times*f))), nil
		}
	}
	AssertScale(t, 100_000, cdf, sampler(1))

	// A sampler that is off by 3% is found, and so is a test that cannot see.
	off := &recorder{TB: t}
	AssertScale(off, 100_000, cdf, sampler(1.03))
	if off.errors == 0 {
		t.Error("a scale 3% too large was not found")
	}
	blind := &recorder{TB: t}
	AssertScale(blind, 1000, cdf, func(*big.Rat) (func() (int64, error), error) { return triangle(src, 100), nil })
	if blind.errors != 2 {
		t.Errorf("a test that sees no scale failed %d times, want twice", blind.errors)
	}
}

// recorder counts what would have failed.
type recorder struct {
	testing.TB
	errors int
}

func (r *recorder) Errorf(string, ...any) { r.errors++ }

func TestAssertContinuousTellsRightFromWrong(t *testing.T) {
	src := Source(5)
	draws := make([]float64, 20_000)
	for i := range draws {
		w, err := src.Bits(53)
		if err != nil {
			t.Fatal(err)
		}
		draws[i] = float64(w) / (1 << 53)
	}
	uniform := func(width float64) func(float64) float64 {
		return func(x float64) float64 { return min(1, max(0, x/width)) }
	}
	AssertContinuous(t, draws, 0.5, uniform(1))
	r := &recorder{TB: t}
	AssertContinuous(r, draws, 0.5, uniform(1.1))
	if r.errors == 0 {
		t.Error("a wrong width was not found")
	}
}

// coin answers 1 with probability p/1000.
func coin(p uint64) Mechanism {
	return func(src *entropy.Source) (int64, error) {
		v, err := src.Uint64n(1000)
		if v < p {
			return 1, err
		}
		return 0, err
	}
}

func TestEpsilonLowerBound(t *testing.T) {
	ctx := context.Background()
	// Randomised response with 3/4 and 1/4 is ln 3 = 1.0986 differentially private.
	b, err := EpsilonLowerBound(ctx, Audit{Seed: 1}, coin(750), coin(250))
	if err != nil {
		t.Fatal(err)
	}
	if !(b.Epsilon > 1.05 && b.Epsilon < math.Log(3)) {
		t.Errorf("found epsilon >= %.4f by %q, want a little under 1.0986", b.Epsilon, b.Event)
	}
	// The same for any number of workers.
	again, err := EpsilonLowerBound(ctx, Audit{Seed: 1, Workers: 5}, coin(750), coin(250))
	if err != nil || again != b {
		t.Errorf("five workers found %+v, two %+v (%v)", again, b, err)
	}
	// With the sides changed the event favours the other one.
	swapped, err := EpsilonLowerBound(ctx, Audit{Seed: 1}, coin(250), coin(750))
	if err != nil || !(swapped.Epsilon > 1.05 && swapped.Epsilon < math.Log(3)) {
		t.Errorf("swapped: %+v, %v", swapped, err)
	}
	// Equal sides show nothing, whatever the seed.
	for seed := range uint64(20) {
		b, err := EpsilonLowerBound(ctx, Audit{Seed: seed, Runs: 20_000}, coin(500), coin(500))
		if err != nil || b.Epsilon > 0 {
			t.Errorf("equal coins show epsilon >= %v (%v)", b.Epsilon, err)
		}
	}
	// An output that one side never gives is an unbounded loss: the bound grows
	// with the runs. Its probability is 0.1; a delta of 0.2 covers it.
	b, err = EpsilonLowerBound(ctx, Audit{Seed: 2}, coin(100), coin(0))
	if err != nil || b.Epsilon < 6 {
		t.Errorf("an impossible output shows only %v (%v)", b.Epsilon, err)
	}
	b, err = EpsilonLowerBound(ctx, Audit{Seed: 2, Delta: 0.2}, coin(100), coin(0))
	if err != nil || b.Epsilon > 0 {
		t.Errorf("delta 0.2 does not cover 0.1: %v (%v)", b.Epsilon, err)
	}
}

func TestEpsilonLowerBoundFails(t *testing.T) {
	cause := errors.New("broken")
	broken := func(*entropy.Source) (int64, error) { return 0, cause }
	if _, err := EpsilonLowerBound(context.Background(), Audit{Runs: 1000}, coin(1), broken); !errors.Is(err, cause) {
		t.Errorf("a broken mechanism gave %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := EpsilonLowerBound(ctx, Audit{}, coin(1), coin(2)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled audit gave %v", err)
	}
	for _, a := range []Audit{{Runs: 7}, {Error: 2}, {Delta: -1}, {Workers: -1}, {Delta: math.NaN()}} {
		if _, err := EpsilonLowerBound(context.Background(), a, coin(1), coin(2)); err == nil {
			t.Errorf("%+v was not refused", a)
		}
	}
}

func TestEventsAreCountedAsTheyRead(t *testing.T) {
	sorted := []int64{math.MinInt64, -3, -3, 0, 5, math.MaxInt64}
	for _, c := range []struct {
		e    Event
		n    int64
		text string
	}{
		{Event{-3, -3}, 2, "answer = -3"},
		{Event{math.MinInt64, 0}, 4, "answer <= 0"},
		{Event{0, math.MaxInt64}, 3, "answer >= 0"},
		{Event{-2, 4}, 1, "-2 <= answer <= 4"},
	} {
		if got := hits(sorted, c.e); got != c.n {
			t.Errorf("%v: %d hits, want %d", c.e, got, c.n)
		}
		if got := c.e.String(); got != c.text {
			t.Errorf("%q, want %q", got, c.text)
		}
	}
}
