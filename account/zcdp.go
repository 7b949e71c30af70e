package account

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
)

// RhoUnits is how many units of [Rho] make a rho of 1.
const RhoUnits = 1_000_000_000_000_000

// Rho is a loss in zero-concentrated differential privacy, in units of 1e-15,
// rounded up: the Rényi divergence of order alpha between the outputs on
// neighbours is at most alpha rho for every alpha > 1 (Bun and Steinke 2016).
// Like epsilon it adds up, also adaptively, and it is for one relation and unit.
type Rho int64

// Rat is rho, exactly.
func (r Rho) Rat() *big.Rat { return big.NewRat(int64(r), RhoUnits) }

// String writes r exactly, as "0.005".
func (r Rho) String() string { return Decimal(int64(r), 15) }

// Float is rho as the nearest floating-point number.
func (r Rho) Float() float64 {
	f, _ := r.Rat().Float64()
	return f
}

// Cost is the (epsilon, delta) guarantee that r gives at delta, in units of
// 1e-18 and above 0. It takes, of any alpha > 1,
//
//	eps = alpha rho + (ln(1/delta) - ln alpha)/(alpha-1) + ln(1 - 1/alpha)
//
// (Canonne, Kamath and Steinke 2020, corollary 13, solved for eps; it is below
// Bun and Steinke's rho + 2 sqrt(rho ln(1/delta))). Which alpha is nearly the best
// is found in floating point; the figure itself is an interval's upper end, and is
// right whatever the alpha. Error: [noren.Usage].
func (r Rho) Cost(delta int64) (Cost, error) {
	if delta <= 0 || delta > DeltaUnits || r < 0 {
		return Cost{}, noren.Usagef("delta", "must be above 0 and at most 1").
			Hinted("zCDP becomes an (epsilon, delta) guarantee only with a delta, for instance 1e-9")
	}
	c := Cost{Delta: delta}
	if r == 0 {
		return c, nil
	}
	best := minimise(r.approximateAt(delta), -30, 40)
	a := arith{192}
	beta := a.float(math.Exp(best))
	alpha := a.add(a.int(1), beta)
	epsilon := a.mul(alpha, a.rat(r.Rat()))
	epsilon = a.add(epsilon, a.div(a.neg(a.log(a.mul(a.rat(c.DeltaRat()), alpha))), beta))
	epsilon = a.add(epsilon, a.log(a.div(beta, alpha)))
	units, err := EpsilonUp(epsilon.hiRat())
	c.Epsilon = max(0, units)
	return c, err
}

// approximateAt is the cost of r at delta in floating point for alpha = 1 + e^logBeta. It
// guarantees nothing.
func (r Rho) approximateAt(delta int64) func(logBeta float64) float64 {
	rho, logDelta := r.Float(), -math.Log(float64(delta)/DeltaUnits)
	return func(logBeta float64) float64 {
		beta := math.Exp(logBeta)
		return (1+beta)*rho + (logDelta-math.Log1p(beta))/beta + logBeta - math.Log1p(beta)
	}
}

// approximate is nearly the epsilon that r costs at delta. It guarantees nothing.
func (r Rho) approximate(delta int64) float64 {
	at := r.approximateAt(delta)
	return at(minimise(at, -30, 40))
}

// RhoWithin is the largest rho, to a relative 1e-9 or so, that at c.Delta gives at
// most c.Epsilon: [Rho.Cost] of it is within c. Error: [noren.Usage].
func RhoWithin(c Cost) (Rho, error) {
	if c.Delta <= 0 || c.Delta >= DeltaUnits || c.Epsilon <= 0 {
		return 0, noren.Usagef("delta", "Gaussian noise needs an epsilon above 0 and a delta between 0 and 1").
			Hinted("give a delta, for instance 1e-9, or use Laplace noise, which needs none")
	}
	// Where the cost in floating point lies clearly on one side, intervals would say the
	// same; they decide near the bound, and what is returned.
	epsilon, _ := c.Float()
	lo := bisectRho(func(r Rho) bool {
		if near := r.approximate(c.Delta); math.Abs(near-epsilon) > 1e-6*epsilon+1e-7 {
			return near < epsilon
		}
		return r.within(c)
	})
	if !lo.within(c) {
		lo = bisectRho(func(r Rho) bool { return r.within(c) })
	}
	if lo == 0 {
		return 0, noren.Usagef(noren.Phrase("epsilon and delta"), "are too small for Gaussian noise").
			Hinted("give a larger epsilon or delta, or use Laplace noise")
	}
	return lo, nil
}

// within reports whether r costs at most c at its delta.
func (r Rho) within(c Cost) bool {
	got, err := r.Cost(c.Delta)
	return err == nil && got.Within(c)
}

// bisectRho returns the largest rho that is within, to a relative 1e-9 or so, where all
// below it are; 0 where none is found.
func bisectRho(within func(Rho) bool) Rho {
	// Over zCDP's range the cost grows with rho; bisect on its logarithm.
	lo, hi := Rho(0), Rho(math.MaxInt64)
	for hi-lo > 1+lo/1_000_000_000 {
		mid := lo + (hi-lo)/2
		if lo < mid/4 {
			mid = max(lo+1, Rho(math.Sqrt(float64(max(lo, 1))*float64(hi))))
		}
		if within(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// minimise returns nearly the x in [lo, hi] at which f, which falls and then
// rises, is least: golden section, 100 steps.
func minimise(f func(float64) float64, lo, hi float64) float64 {
	const ratio = 0.6180339887498949
	x, y := hi-ratio*(hi-lo), lo+ratio*(hi-lo)
	fx, fy := f(x), f(y)
	for range 100 {
		if fx <= fy {
			hi, y, fy = y, x, fx
			x = hi - ratio*(hi-lo)
			fx = f(x)
		} else {
			lo, x, fx = x, y, fy
			y = lo + ratio*(hi-lo)
			fy = f(y)
		}
	}
	return (lo + hi) / 2
}
