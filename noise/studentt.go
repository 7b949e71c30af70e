package noise

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren"
)

// StudentT is Student's t distribution with n degrees of freedom, of density
// proportional to
//
//	f(z) = (1 + z^2/n)^(-(n+1)/2).
//
// As noise q + (S/a) Z of smooth sensitivity it is epsilon-differentially private
// for n beta + a (n+1)/(2 sqrt n) <= epsilon (Bun and Steinke 2019, with the
// sharper constant of docs/differential-privacy.md); [Lomax] is better.
//
// Sampler: the ratio of uniforms (Kinderman and Monahan 1977). For (U, V) uniform
// on the part of the square (0,1]^2 with U^2 <= f(V/U), |Z| = V/U. The square is
// large enough: f <= 1, and z^2 f(z) <= 1. The latter has its maximum at
// z^2 = 2n/(n-1); with s = 1/n its logarithm there is
// ln 2 - ((1+s) ln(1+s) - (1-s) ln(1-s))/(2s), where the bracket is concave in s
// and 0 at s = 0, so that its quotient with s falls towards 2 ln 2 at s = 1.
//
// U^2 <= f(V/U) is (n U^2 + V^2)^(n+1) <= n^(n+1) U^(2n-2), both sides of which
// rise in U and V: integers decide it from the first bits of both.
type StudentT struct{ n int }

// maxFreedom bounds the degrees of freedom: beyond, powers become long and the
// distribution is a Gaussian's.
const maxFreedom = 100

// NewStudentT returns the t distribution with 1 to 100 degrees of freedom. Error:
// [noren.Usage].
func NewStudentT(freedom int) (*StudentT, error) {
	if freedom < 1 || freedom > maxFreedom {
		return nil, &noren.Error{Kind: noren.Usage, What: "a t distribution needs 1 to 100 degrees of freedom"}
	}
	return &StudentT{freedom}, nil
}

// Freedom returns the degrees of freedom.
func (s *StudentT) Freedom() int { return s.n }

// AddTo returns the index of the point of g nearest to value + scale Z: see
// [Lomax.AddTo], which it is like in all but the distribution.
func (s *StudentT) AddTo(src *Source, value, scale *big.Rat, g Grid) (int64, error) {
	if err := checkRounded(value, scale); err != nil {
		return 0, err
	}
	for {
		z := &ratioDraw{n: s.n}
		var err error
		if z.u, err = newLazyUniform(src); err != nil {
			return 0, err
		}
		if z.v, err = newLazyUniform(src); err != nil {
			return 0, err
		}
		accept, err := z.accept(src)
		if err != nil {
			return 0, err
		}
		if accept {
			return addRounded(src, z, value, scale, g)
		}
	}
}

// ratioDraw is V/U.
type ratioDraw struct {
	n    int
	u, v lazyUniform // of equally many bits
}

func (z *ratioDraw) refine(src *Source) error {
	if err := z.u.refine(src); err != nil {
		return err
	}
	return z.v.refine(src)
}

// accept tells whether (U, V) lies in the region. When it does, the first bits of
// U are not all zero.
func (z *ratioDraw) accept(src *Source) (bool, error) {
	for {
		// The box is inside if the left side at its upper corner is no more than
		// the right side at its lower, and outside if the other way round.
		if z.u.n.Sign() > 0 && z.left(z.u.above(), z.v.above()).Cmp(z.right(z.u.n)) <= 0 {
			return true, nil
		}
		if z.left(z.u.n, z.v.n).Cmp(z.right(z.u.above())) > 0 {
			return false, nil
		}
		if err := z.refine(src); err != nil {
			return false, err
		}
	}
}

// left is (n u^2 + v^2)^(n+1), right is n^(n+1) u^(2n-2) 2^(4 bits): the two sides
// times 2^(2 bits (n+1)).
func (z *ratioDraw) left(u, v *big.Int) *big.Int {
	x := new(big.Int).Mul(u, u)
	x.Mul(x, big.NewInt(int64(z.n)))
	x.Add(x, new(big.Int).Mul(v, v))
	return x.Exp(x, big.NewInt(int64(z.n+1)), nil)
}

func (z *ratioDraw) right(u *big.Int) *big.Int {
	n := big.NewInt(int64(z.n))
	x := new(big.Int).Exp(u, big.NewInt(int64(2*z.n-2)), nil)
	x.Mul(x, n.Exp(n, big.NewInt(int64(z.n+1)), nil))
	return x.Lsh(x, 4*z.u.bits)
}

func (z *ratioDraw) bounds() (lo, hi *big.Int, prec uint) {
	prec = z.u.bits
	lo = new(big.Int).Lsh(z.v.n, prec)
	lo.Quo(lo, z.u.above())
	hi = new(big.Int).Lsh(z.v.above(), prec)
	hi.Quo(hi, z.u.n)
	return lo, hi.Add(hi, big.NewInt(1)), prec
}

// CDF returns P(Z <= z).
func (s *StudentT) CDF(z float64) float64 {
	n := float64(s.n)
	tail := 0.5 * mathext.RegIncBeta(n/2, 0.5, n/(n+z*z))
	if z < 0 {
		return tail
	}
	return 1 - tail
}

// Variance returns the variance of Z, n/(n-2) for n > 2, otherwise infinite.
func (s *StudentT) Variance() float64 {
	if s.n <= 2 {
		return math.Inf(1)
	}
	return float64(s.n) / float64(s.n-2)
}

// Interval returns w with P(|Z| <= w) >= level up to rounding in the last digits:
// see [Lomax.Interval].
func (s *StudentT) Interval(level float64) float64 {
	if !(level > 0 && level < 1) {
		return halfWidth(level, 0)
	}
	// P(|Z| > w) falls from 1 to 0.
	lo, hi := 0.0, 1.0
	for 2*s.CDF(-hi) > 1-level {
		lo, hi = hi, 2*hi
	}
	for range 100 {
		mid := lo + (hi-lo)/2
		if 2*s.CDF(-mid) > 1-level {
			lo = mid
		} else {
			hi = mid
		}
	}
	return halfWidth(level, hi*(1+1e-9))
}
