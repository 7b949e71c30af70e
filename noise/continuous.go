package noise

import (
	"math"
	"math/big"
)

// The continuous Laplace and Gaussian distributions, rounded to a public grid.
// Where the scale is public, the discrete ones serve better and faster.

// ContinuousLaplace is the Laplace distribution of scale 1, of density
// e^(-|z|)/2. The zero value is ready for use.
type ContinuousLaplace struct{}

// AddTo returns the index of the point of g nearest to value + scale Z: see
// [Lomax.AddTo], which it is like in all but the distribution.
func (ContinuousLaplace) AddTo(src *Source, value, scale *big.Rat, g Grid) (int64, error) {
	if err := checkRounded(value, scale); err != nil {
		return 0, err
	}
	z, err := newExponential(src)
	if err != nil {
		return 0, err
	}
	return addRounded(src, z, value, scale, g)
}

// CDF returns P(Z <= z).
func (ContinuousLaplace) CDF(z float64) float64 {
	if z < 0 {
		return math.Exp(z) / 2
	}
	return 1 - math.Exp(-z)/2
}

// Variance returns 2.
func (ContinuousLaplace) Variance() float64 { return 2 }

// Interval returns -ln(1 - level): see [Lomax.Interval].
func (ContinuousLaplace) Interval(level float64) float64 {
	return halfWidth(level, -math.Log1p(-level))
}

// ContinuousGaussian is the standard Gaussian distribution. The zero value is
// ready for use.
type ContinuousGaussian struct{}

// AddTo returns the index of the point of g nearest to value + scale Z: see
// [Lomax.AddTo], which it is like in all but the distribution.
//
// |Z| is an exponential variate Y accepted with probability e^(-(Y-1)^2/2): the
// product of that and e^-y is proportional to e^(-y^2/2).
func (ContinuousGaussian) AddTo(src *Source, value, scale *big.Rat, g Grid) (int64, error) {
	if err := checkRounded(value, scale); err != nil {
		return 0, err
	}
	for {
		y, err := newExponential(src)
		if err != nil {
			return 0, err
		}
		w, err := src.Uint64()
		if err != nil {
			return 0, err
		}
		accept, err := y.acceptGaussian(src, w)
		if err != nil {
			return 0, err
		}
		if accept {
			return addRounded(src, y, value, scale, g)
		}
	}
}

// acceptGaussian decides whether the uniform that begins with w is below
// e^-x, x = (Y-1)^2/2.
//
// The first 53 bits of U and one rounding put Y-1 in float64 off by at most
// u + u|Y-1|, u = 2^-53: less than what Gaussian.accept allows for its z, from
// which the same bound follows.
func (e *exponential) acceptGaussian(src *Source, w uint64) (bool, error) {
	first := new(big.Int).Rsh(e.u.n, e.u.bits-53).Uint64()
	diff := float64(e.k) - 1 + float64(first)/(1<<53)
	switch compareWord(w, expNegFloat(diff*diff/2), acceptSlack) {
	case yes:
		return true, nil
	case no:
		return false, nil
	}
	return decide(src, w, func(prec uint) (lo, hi *big.Int, err error) {
		near, far, err := e.squareBounds(src, prec)
		if err != nil {
			return nil, nil, err
		}
		lo, _ = expNegBounds(far, prec)
		_, hi = expNegBounds(near, prec)
		return lo, hi, nil
	})
}

// CDF returns P(Z <= z).
func (ContinuousGaussian) CDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// Variance returns 1.
func (ContinuousGaussian) Variance() float64 { return 1 }

// Interval returns the level's quantile of |Z|: see [Lomax.Interval].
func (ContinuousGaussian) Interval(level float64) float64 {
	return halfWidth(level, math.Sqrt2*math.Erfcinv(1-level)*(1+1e-12))
}

// exponential is an exponential variate k + U: k geometric with ratio 1/e, U of
// density proportional to e^-u on [0, 1).
type exponential struct {
	k uint64
	u lazyUniform
}

func newExponential(src *Source) (*exponential, error) {
	e := new(exponential)
	for {
		var err error
		if e.u, err = newLazyUniform(src); err != nil {
			return nil, err
		}
		w, err := src.Uint64()
		if err != nil {
			return nil, err
		}
		// U is at most 2^-64 above its first word.
		verdict := compareWord(w, expNeg(0, e.u.n.Uint64()), expSlack+1)
		accept := verdict == yes
		if verdict == unsure {
			if accept, err = e.acceptSlow(src, w); err != nil {
				return nil, err
			}
		}
		if accept {
			e.k, err = geometricE(src)
			return e, err
		}
	}
}

// acceptSlow decides whether the uniform that begins with w is below e^-U, with
// more bits of both.
func (e *exponential) acceptSlow(src *Source, w uint64) (bool, error) {
	return decide(src, w, func(prec uint) (lo, hi *big.Int, err error) {
		for e.u.bits < prec {
			if err := e.u.refine(src); err != nil {
				return nil, nil, err
			}
		}
		unit := new(big.Int).Lsh(big.NewInt(1), e.u.bits)
		lo, _ = expNegBounds(new(big.Rat).SetFrac(e.u.above(), unit), prec)
		_, hi = expNegBounds(new(big.Rat).SetFrac(e.u.n, unit), prec)
		return lo, hi, nil
	})
}

func (e *exponential) refine(src *Source) error { return e.u.refine(src) }

func (e *exponential) bounds() (lo, hi *big.Int, prec uint) {
	lo = new(big.Int).SetUint64(e.k)
	lo.Lsh(lo, e.u.bits)
	lo.Add(lo, e.u.n)
	return lo, new(big.Int).Add(lo, big.NewInt(1)), e.u.bits
}

// squareBounds returns near <= (Y-1)^2/2 <= far from prec bits of Y or more.
func (e *exponential) squareBounds(src *Source, prec uint) (near, far *big.Rat, err error) {
	for e.u.bits < prec {
		if err := e.refine(src); err != nil {
			return nil, nil, err
		}
	}
	lo, hi, bits := e.bounds()
	one := new(big.Int).Lsh(big.NewInt(1), bits)
	// Y-1 does not change its sign between lo and hi, as 1 is one of the points.
	a, b := lo.Sub(lo, one), hi.Sub(hi, one)
	if a.Sign() < 0 {
		a, b = b, a
	}
	half := new(big.Int).Lsh(big.NewInt(1), 2*bits+1)
	near = new(big.Rat).SetFrac(a.Mul(a, a), half)
	far = new(big.Rat).SetFrac(b.Mul(b, b), half)
	return near, far, nil
}
