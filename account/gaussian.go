package account

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
)

// The least noise that meets a guarantee is sought on a grid of numbers with 32
// significant bits (relative steps of 2^-31): few enough bits for samplers that
// work in words.
const sigmaBits = 32

// GaussianSigma is the least standard deviation of continuous Gaussian noise, up
// to a relative 1e-9, rounded up, that makes a query of the given L2 sensitivity
// (epsilon, delta)-private: the analytic calibration of Balle and Wang (2018,
// theorem 8). With s = sigma/sensitivity, the least s with
//
//	Phi(1/(2s) - eps s) - e^eps Phi(-1/(2s) - eps s) <= delta,
//
// which is exact: the left side is the least delta at eps. It comes as a rational
// of 32 significant bits times the sensitivity, and was itself checked with
// intervals. Errors: [noren.Usage].
//
// Discrete noise of the same sigma may have a slightly larger delta: use
// [DiscreteGaussian] for integers.
func GaussianSigma(c Cost, sensitivity *big.Rat) (*big.Rat, error) {
	if err := checkGaussian(c, sensitivity); err != nil {
		return nil, err
	}
	s := leastUp(approximateSigma(c), c, func(s *big.Rat) interval { return continuousDelta(c, s) })
	if s == nil {
		return nil, noren.Usagef(noren.Phrase("epsilon and delta"), "lie outside what can be calibrated").
			Hinted("use an epsilon between 1e-6 and 100")
	}
	return s.Mul(s, sensitivity), nil
}

func checkGaussian(c Cost, sensitivity *big.Rat) error {
	switch {
	case c.Epsilon <= 0 || c.Epsilon > 100*EpsilonUnits:
		return noren.Usagef("epsilon", "must be above 0 and at most 100 for Gaussian noise")
	case c.Delta <= 0 || c.Delta >= DeltaUnits:
		return noren.Usagef("delta", "must be above 0 and below 1 for Gaussian noise").
			Hinted("give a delta, for instance 1e-9, or use Laplace noise, which needs none")
	case sensitivity == nil || sensitivity.Sign() <= 0:
		return noren.Usagef(noren.Phrase("the sensitivity"), "must be above 0")
	}
	return nil
}

// continuousDelta is the delta of Gaussian noise with sigma = s times the
// sensitivity.
func continuousDelta(c Cost, s *big.Rat) interval {
	a := arith{160}
	si := a.rat(s)
	shift := a.mul(a.rat(c.EpsilonRat()), si)
	half := a.half(a.div(a.int(1), si))
	return a.sub(a.tail(a.sub(shift, half)), a.mul(a.exp(a.rat(c.EpsilonRat())), a.tail(a.add(shift, half))))
}

// approximateSigma is GaussianSigma for sensitivity 1 in floating point. It is a
// place to start from and guarantees nothing.
func approximateSigma(c Cost) float64 {
	epsilon, delta := c.Float()
	at := func(s float64) float64 {
		x, y := epsilon*s-0.5/s, epsilon*s+0.5/s
		// e^eps Q(y), with the exponent inside where Q is tiny.
		second := math.Exp(epsilon) * math.Erfc(y/math.Sqrt2) / 2
		if y > 30 {
			second = math.Exp(epsilon-y*y/2) / (y * math.Sqrt(2*math.Pi))
		}
		return math.Erfc(x/math.Sqrt2)/2 - second
	}
	lo, hi := 1e-3, 1e12
	for range 200 {
		mid := math.Sqrt(lo * hi)
		if at(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// leastUp returns the least number on the grid of sigmaBits significant bits at which
// the upper end of delta is at most that of c, as far as delta falls; it is at most that
// for what is returned in any case. It looks near start first. Nil where nothing is
// found up to 2^40 start.
func leastUp(start float64, c Cost, delta func(*big.Rat) interval) *big.Rat {
	if !(start > 0) || math.IsInf(start, 1) {
		return nil
	}
	bound := c.DeltaRat()
	// over is nearly the logarithm of delta in terms of the bound, at most 0 where delta
	// fits. Its sign is exact, and its size alone decides where to look next.
	over := func(k int64) float64 {
		d := delta(gridNumber(k)).hiRat()
		ratio, _ := new(big.Rat).Quo(d, bound).Float64()
		if d.Cmp(bound) <= 0 {
			return min(0, math.Log(max(ratio, math.SmallestNonzeroFloat64)))
		}
		return max(math.SmallestNonzeroFloat64, math.Log(ratio))
	}
	// Widen in both directions until delta does not fit below and fits above.
	index := gridIndex(start)
	lo, hi := index, index
	below := over(lo)
	above := below
	for step := int64(4); below <= 0; step *= 64 {
		hi, above = lo, below
		lo -= step
		if step > 40<<sigmaBits {
			return nil
		}
		below = over(lo)
	}
	for step := int64(4); above > 0; step *= 64 {
		lo, below = hi, above
		hi += step
		if step > 40<<sigmaBits {
			return nil
		}
		above = over(hi)
	}
	for turn := 0; hi-lo > 1; turn++ {
		mid := lo + (hi-lo)/2
		// Over so little the logarithm is nearly a line. Every third look halves what is left,
		// whatever it is.
		if at := below / (below - above); turn%3 < 2 && at >= 0 && at <= 1 {
			mid = min(max(lo+int64(at*float64(hi-lo)), lo+1), hi-1)
		}
		if got := over(mid); got <= 0 {
			hi, above = mid, got
		} else {
			lo, below = mid, got
		}
	}
	return gridNumber(hi)
}

// gridNumber is the k-th number of the grid: (2^31 + k mod 2^31) 2^(k div 2^31 -
// 31).
func gridNumber(k int64) *big.Rat {
	const half = int64(1) << (sigmaBits - 1)
	e, m := k>>(sigmaBits-1), half+(k&(half-1))
	r := new(big.Rat).SetInt64(m)
	shift := e - (sigmaBits - 1)
	power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(shift, -shift))))
	if shift < 0 {
		return r.Quo(r, power)
	}
	return r.Mul(r, power)
}

// gridIndex is the place of the number of the grid at or below x > 0.
func gridIndex(x float64) int64 {
	m, e := math.Frexp(x) // x = m 2^e, 1/2 <= m < 1
	return int64(e-1)<<(sigmaBits-1) + int64((m-0.5)*(1<<sigmaBits))
}
