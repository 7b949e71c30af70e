package ratio

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/axis"
)

const (
	largeValues = "a few public records with large values decide this answer, and larger ones may be missing: the interval may be too " +
		"narrow; a share, a quantile or the mean of values with an upper bound would be safer"
	untoldPart = "the columns of the weights tell something of this question that the released features do not follow, such as an " +
		"interaction of columns: if the tables differ in that, the answer may be off by more than the interval says; more centres, or " +
		"histograms of pairs of columns, would help"
)

// Of an interaction of columns kernels follow little. 3 of 4 private and half of the public
// records have an odd number of columns above .5: every interval holds the private mean of
// that, or a warning stands beside it.
func TestInteractionsMissNothingSilently(t *testing.T) {
	draw := func(seed uint64, n, d int, private bool) (*Points, []float64) {
		rng := rand.New(rand.NewPCG(seed, uint64(d)))
		p, y := axis.NewPoints[float64](n, d), make([]float64, n)
		for i := 0; i < n; i++ {
			odd := 0
			for j := range d {
				v := rng.Float64()
				p.Row(i)[j] = v
				if v > 0.5 {
					odd ^= 1
				}
			}
			if private && odd == 0 && rng.IntN(3) > 0 {
				i-- // an even record stays with chance 1/3
				continue
			}
			y[i] = float64(odd)
		}
		return p, y
	}
	for d := 2; d <= 4; d++ {
		silent, wide := 0, 0.0
		for seed := range uint64(8) {
			x, truths := draw(2*seed, 2000, d, true)
			e, y := draw(2*seed+1, 400, d, false)
			a, err := fitOne(t, seed, e, x, Options{Cost: milli(3000), OutsideShare: 0.1}).Mean(y)
			if err != nil {
				t.Fatal(err)
			}
			if truth := average(ones(len(truths)), truths); math.Abs(a.Value-truth) > 1.96*a.SE && len(a.Warnings) == 0 {
				silent++
			}
			wide = max(wide, a.SE)
		}
		if silent > 1 || wide > 0.12 {
			t.Errorf("%d columns: %d of 8 intervals miss silently, the largest standard error is %.3f", d, silent, wide)
		}
	}
}

// The mean of a log-normal outcome rests on a few large values, most of which the public
// records lack, and has a warning; a share and the mean of a normal outcome have none.
func TestLargeValuesAreWarnedOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	warned, needless := 0, 0
	for seed := range uint64(6) {
		e, x := gaussian(2*seed, 400, 1, 0, 1), gaussian(2*seed+1, 2000, 1, 1, 1)
		w := fitOne(t, seed, e, x, Options{Cost: milli(1000)})
		large, normal, few := make([]float64, e.Rows), make([]float64, e.Rows), make([]float64, e.Rows)
		for i := range large {
			large[i] = math.Exp(1.5*e.Row(i)[0] + 0.5*rng.NormFloat64())
			normal[i] = e.Row(i)[0] + 0.5*rng.NormFloat64()
			if normal[i] > 2 {
				few[i] = 1
			}
		}
		for q, f := range [][]float64{large, normal, few} {
			a, err := w.Mean(f)
			if err != nil {
				t.Fatal(err)
			}
			switch has := slices.ContainsFunc(a.Warnings, noren.Textf(largeValues).Equal); {
			case q == 0 && has:
				warned++
			case q > 0 && has:
				needless++
			}
		}
		if r, err := w.Regression(e, large); err != nil || seed == 0 && !slices.ContainsFunc(r.Warnings, noren.Textf(largeValues).Equal) {
			t.Errorf("regression: %v, %q", err, r.Warnings)
		}
	}
	if warned < 5 || needless > 0 {
		t.Errorf("warned of %d of 6, needlessly of %d of 12", warned, needless)
	}
}

// At the bound of enlarged the expansion of a studentised mean leaves 5 % outside.
func TestEnlarged(t *testing.T) {
	for _, g := range []float64{0, 0.05, 0.1, 0.2, 0.3, 1.0 / 3} {
		s := singles{square: 1, third: g, fourth: 1e-9, weight2: 1, weight4: 1e-9, spread: 0.5}
		q := 1.959964 * math.Sqrt(s.enlarged(1))
		by := g * (2*q*q + 1) / 6
		if p := upper(q-by) + upper(q+by); math.Abs(p-0.05) > 0.005 {
			t.Errorf("skewness %g: %.4f outside", g, p)
		}
		s.skew, s.spread = 2, 1 // a skewed question keeps 2.5 % on each side
		q = 1.959964 * math.Sqrt(s.enlarged(1e12))
		if p := upper(q - g*(2*1.96*1.96+1)/6); p > 0.0251 {
			t.Errorf("skewed, %g: %.4f on one side", g, p)
		}
	}
}

// Normal residuals have the degrees of freedom of the weights, and one large residual has few.
func TestDegrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	var s, one singles
	for i := range 200_000 {
		s.add(1, rng.NormFloat64())
		one.add(1, 0.001)
		if i == 0 {
			one.add(1, 10)
		}
	}
	if df := s.degrees(); df < 0.9*200_000 {
		t.Errorf("normal residuals: %g degrees of freedom of 200,000", df)
	}
	if df := one.degrees(); df > 3 {
		t.Errorf("one residual: %g degrees of freedom", df)
	}
}

// Hill's estimator finds the index of Pareto's distribution, and the values of a share are
// no tail.
func TestTailIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	n := 100_000
	w, u, two := make([]float64, n), make([]float64, n), make([]float64, n)
	mean, share := 0.0, 0.0
	for i := range u {
		w[i], u[i] = 1/float64(n), math.Pow(1-rng.Float64(), -1)
		if i < n/50 {
			two[i] = 1
		}
		mean += u[i] / float64(n)
		share += two[i] / float64(n)
	}
	var s, of singles
	s.shape(w, u, mean)
	of.shape(w, two, share)
	if !s.heavy(100) || math.Abs(s.index-1) > 0.5 {
		t.Errorf("Pareto 1: %+v", s)
	}
	if of.skewed() || of.heavy(1) {
		t.Errorf("a share: %+v", of)
	}
}

// Neighbours tell all of a step of two columns, and nothing of noise, also where all records
// are alike.
func TestNeighboursTell(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	same := axis.NewPoints[float64](400, 2)
	alarms := 0
	for seed := range uint64(40) {
		e := gaussian(seed, 400, 2, 0, 1)
		if seed%2 == 1 {
			e = same
		}
		rows, noise, step, shares := make([]int, 400), make([]float64, 400), make([]float64, 400), make([]float64, 400)
		for i := range rows {
			rows[i], noise[i], shares[i] = i, rng.NormFloat64(), 1.0/400
			step[i] = math.Copysign(1, e.Row(i)[0]*e.Row(i)[1])
		}
		o := newNeighbours(e, rows)
		if got := o.told(noise, shares); got > 0 {
			alarms++
		}
		if got := o.told(step, shares); seed%2 == 0 && got < 0.8 {
			t.Errorf("a step: %.2f told", got)
		}
	}
	if alarms > 2 {
		t.Errorf("noise has structure in %d of 40", alarms)
	}
}
