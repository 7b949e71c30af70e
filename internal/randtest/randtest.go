// Package randtest is the statistics by which every random mechanism of the
// module is tested: does it have the distribution that it claims, would the test
// have noticed another one, and does an attack find more loss than is claimed.
//
// Everything is a function of a seed: a test that passes once passes always, and
// one that fails can be looked at. The price is that a seed could be chosen until
// a test passes; so none is chosen, and the levels are such that an honest
// sampler fails one test in a million.
package randtest

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren/internal/entropy"
)

// Source returns a source of bits that repeats itself for a seed. It is the
// [noren/noise.Source] that samplers take.
func Source(seed uint64) *entropy.Source { return entropy.Seeded(seed) }

const (
	// FitLevel is the p-value below which a sampler is said not to fit.
	FitLevel = 1e-6
	// RejectLevel is the p-value that a wrong sampler must fall below for a test
	// to count as one that can fail.
	RejectLevel = 1e-9
	// minExpected is how many draws a cell must lead one to expect for the
	// chi-squared distribution to stand for the statistic's own.
	minExpected = 20
	// scaleCells is how many cells AssertScale asks for: a wrong scale shows in
	// few cells as well as in many, and few have the sharper test.
	scaleCells = 40
)

// CDF is a distribution on the integers: P(X <= k).
type CDF func(k int64) float64

// CDFOf sums a probability function, given by its logarithm, over lo..hi. What
// lies outside must be too rare to count. At most 2^24 terms.
func CDFOf(logP func(int64) float64, lo, hi int64) (CDF, error) {
	if lo > hi || uint64(hi)-uint64(lo) >= 1<<24 {
		return nil, fmt.Errorf("a sum of probabilities needs 1 to 2^24 terms")
	}
	sums := make([]float64, hi-lo+1)
	// Kahan's summation: the terms are many and the tail matters.
	sum, lost := 0.0, 0.0
	for i := range sums {
		term := math.Exp(logP(lo+int64(i))) - lost
		next := sum + term
		lost = (next - sum) - term
		sum = next
		sums[i] = sum
	}
	return func(k int64) float64 {
		switch {
		case k < lo:
			return 0
		case k >= hi:
			return 1
		default:
			return sums[k-lo]
		}
	}, nil
}

// Fit is the result of a test of fit.
type Fit struct {
	Statistic float64
	DF        int     // degrees of freedom; 0 where they have no meaning
	P         float64 // the probability of a statistic this large or larger
}

// ChiSquared is Pearson's test of counts against exact probabilities. Adjacent
// cells are pooled until each leads one to expect at least 20 draws; the
// probabilities must sum to 1 within 1e-9. At least two cells must remain.
func ChiSquared(counts []int64, probs []float64) (Fit, error) {
	if len(counts) != len(probs) {
		return Fit{}, fmt.Errorf("%d counts for %d probabilities", len(counts), len(probs))
	}
	var n int64
	mass := 0.0
	for i, c := range counts {
		if c < 0 || !(probs[i] >= 0) {
			return Fit{}, fmt.Errorf("cell %d has a negative count or probability", i)
		}
		if c > 0 && probs[i] == 0 {
			// What cannot be was drawn.
			return Fit{Statistic: math.Inf(1), P: 0}, nil
		}
		n += c
		mass += probs[i]
	}
	if math.Abs(mass-1) > 1e-9 {
		return Fit{}, fmt.Errorf("the probabilities sum to %v", mass)
	}
	type cell struct{ seen, expected float64 }
	var cells []cell
	var open cell
	for i, c := range counts {
		open.seen += float64(c)
		open.expected += probs[i] * float64(n)
		if open.expected >= minExpected {
			cells = append(cells, open)
			open = cell{}
		}
	}
	if len(cells) > 0 { // what is left joins the last cell
		cells[len(cells)-1].seen += open.seen
		cells[len(cells)-1].expected += open.expected
	}
	if len(cells) < 2 {
		return Fit{}, fmt.Errorf("%d draws are too few: one cell is left", n)
	}
	stat := 0.0
	for _, c := range cells {
		d := c.seen - c.expected
		stat += d * d / c.expected
	}
	df := len(cells) - 1
	return Fit{stat, df, mathext.GammaIncRegComp(float64(df)/2, stat/2)}, nil
}

// GoodnessOfFit tests draws of integers against cdf with at most cells cells of
// about equal probability, cut by the distribution alone.
func GoodnessOfFit(draws []int64, cdf CDF, cells int) (Fit, error) {
	var edges []int64 // the largest value of each cell but the last
	for i := 1; i < cells; i++ {
		k := quantile(cdf, float64(i)/float64(cells))
		if len(edges) == 0 || k > edges[len(edges)-1] {
			edges = append(edges, k)
		}
	}
	probs := make([]float64, len(edges)+1)
	below := 0.0
	for i, e := range edges {
		at := cdf(e)
		probs[i] = at - below
		below = at
	}
	probs[len(edges)] = 1 - below
	counts := make([]int64, len(probs))
	for _, x := range draws {
		i, _ := slices.BinarySearch(edges, x)
		counts[i]++
	}
	return ChiSquared(counts, probs)
}

// quantile is the smallest k with cdf(k) >= q.
func quantile(cdf CDF, q float64) int64 {
	lo, hi := int64(-1), int64(1)
	for cdf(lo) >= q && lo > math.MinInt64/2 {
		lo *= 2
	}
	for cdf(hi) < q && hi < math.MaxInt64/2 {
		hi *= 2
	}
	for hi-lo > 1 {
		mid := lo + (hi-lo)/2
		if cdf(mid) >= q {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

// Draws collects n draws.
func Draws(n int, draw func() (int64, error)) ([]int64, error) {
	out := make([]int64, n)
	for i := range out {
		x, err := draw()
		if err != nil {
			return nil, err
		}
		out[i] = x
	}
	return out, nil
}

// AssertScale asserts that a sampler has the distribution cdf, and that the same
// test rejects the sampler at 0.9 and at 1.1 times its scale, so that it is a
// test. sampler makes the sampler whose scale is factor times the right one.
func AssertScale(t testing.TB, n int, cdf CDF, sampler func(factor *big.Rat) (func() (int64, error), error)) {
	t.Helper()
	for _, tenths := range []int64{10, 9, 11} {
		draw, err := sampler(big.NewRat(tenths, 10))
		if err != nil {
			t.Fatal(err)
		}
		draws, err := Draws(n, draw)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := GoodnessOfFit(draws, cdf, scaleCells)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case tenths == 10 && fit.P < FitLevel:
			t.Errorf("the sampler does not fit: chi-squared %.1f, %d degrees of freedom, p = %.3g", fit.Statistic, fit.DF, fit.P)
		case tenths != 10 && fit.P > RejectLevel:
			t.Errorf("the test would not notice %d/10 of the scale: chi-squared %.1f, %d degrees of freedom, p = %.3g", tenths, fit.Statistic,
				fit.DF, fit.P)
		}
	}
}

// KolmogorovSmirnov tests draws against a continuous distribution. The p-value
// is Kolmogorov's limit with Stephens' correction (1970), good for n >= 20.
func KolmogorovSmirnov(draws []float64, cdf func(float64) float64) Fit {
	x := slices.Clone(draws)
	slices.Sort(x)
	n := float64(len(x))
	d := 0.0
	for i, v := range x {
		f := cdf(v)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	return Fit{Statistic: d, P: kolmogorov((math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * d)}
}

// kolmogorov is P(K > x) = 2 sum_{k>=1} (-1)^(k-1) e^(-2 k^2 x^2).
func kolmogorov(x float64) float64 {
	if x < 0.2 {
		return 1 // within 1e-12
	}
	p, sign := 0.0, 1.0
	for k := 1.0; k <= 100; k++ {
		term := math.Exp(-2 * k * k * x * x)
		p += sign * term
		sign = -sign
		if term < 1e-18 {
			break
		}
	}
	return min(1, max(0, 2*p))
}

// AssertContinuous asserts that draws have the distribution cdf and that the
// same test rejects them when stretched by 0.9 and by 1.1 about centre.
func AssertContinuous(t testing.TB, draws []float64, centre float64, cdf func(float64) float64) {
	t.Helper()
	if fit := KolmogorovSmirnov(draws, cdf); fit.P < FitLevel {
		t.Errorf("the sampler does not fit: D = %.4f, p = %.3g", fit.Statistic, fit.P)
	}
	for _, factor := range []float64{0.9, 1.1} {
		wrong := slices.Clone(draws)
		for i := range wrong {
			wrong[i] = centre + factor*(wrong[i]-centre)
		}
		if fit := KolmogorovSmirnov(wrong, cdf); fit.P > RejectLevel {
			t.Errorf("the test would not notice a scale of %v: D = %.4f, p = %.3g", factor, fit.Statistic, fit.P)
		}
	}
}

// TwoSample is the Kolmogorov-Smirnov test of two samples for one distribution.
// Ties, as of whole numbers, make its p-value too large and never too small. An
// empty sample shows nothing.
func TwoSample(a, b []float64) Fit {
	if len(a) == 0 || len(b) == 0 {
		return Fit{P: 1}
	}
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	d := 0.0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x := min(a[i], b[j])
		for i < len(a) && a[i] == x {
			i++
		}
		for j < len(b) && b[j] == x {
			j++
		}
		d = max(d, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	n := float64(len(a)) * float64(len(b)) / float64(len(a)+len(b))
	return Fit{Statistic: d, P: kolmogorov((math.Sqrt(n) + 0.12 + 0.11/math.Sqrt(n)) * d)}
}
