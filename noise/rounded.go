package noise

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
)

// Continuous noise whose scale depends on data cannot be replaced by a discrete
// one: the grid of the noise would tell the scale. So the continuous variate is
// taken as the real number that it is, known by bounds that further random bits
// make as narrow as needed, and value + scale Z is rounded once, when only one
// grid point is left for it. What comes out is the real-valued mechanism followed
// by a rounding, which is post-processing: no more than the real-valued theorem is
// needed for its privacy.

// magnitude is |Z|, known by bounds.
type magnitude interface {
	// bounds returns lo <= 2^prec |Z| <= hi, lo >= 0.
	bounds() (lo, hi *big.Int, prec uint)
	// refine draws more bits, so that the bounds close in on each other.
	refine(src *Source) error
}

// lazyUniform is a uniform U in [0, 1) of which the first bits are known: U lies
// in [n, n+1] / 2^bits.
type lazyUniform struct {
	n    *big.Int
	bits uint
}

func newLazyUniform(src *Source) (lazyUniform, error) {
	w, err := src.Uint64()
	return lazyUniform{new(big.Int).SetUint64(w), 64}, err
}

func (u *lazyUniform) refine(src *Source) error {
	w, err := src.Uint64()
	if err != nil {
		return err
	}
	u.n.Lsh(u.n, 64)
	u.n.Or(u.n, new(big.Int).SetUint64(w))
	u.bits += 64
	return nil
}

// above is n+1.
func (u *lazyUniform) above() *big.Int { return new(big.Int).Add(u.n, big.NewInt(1)) }

// addRounded returns the index of the point of g nearest to value + scale Z, Z
// being |Z| with a fair sign. An index beyond int64 becomes the end of int64.
func addRounded(src *Source, z magnitude, value, scale *big.Rat, g Grid) (int64, error) {
	negative, err := src.Bool()
	if err != nil {
		return 0, err
	}
	return roundTo(src, z, negative, value, scale, g)
}

func roundTo(src *Source, z magnitude, negative bool, value, scale *big.Rat, g Grid) (int64, error) {
	// In steps, value is A/D and scale is B/D. The index is
	// floor((A +- B |Z|)/D + 1/2) = floor((2A +- 2B |Z| + D) / (2D)).
	v, s := value, scale
	if g.j != 0 {
		inverse := powerOfTwo(g.j)
		v, s = new(big.Rat).Mul(value, inverse), new(big.Rat).Mul(scale, inverse)
	}
	start := new(big.Int).Mul(v.Num(), s.Denom())
	slope := new(big.Int).Mul(s.Num(), v.Denom())
	whole := new(big.Int).Mul(v.Denom(), s.Denom())
	start.Lsh(start, 1).Add(start, whole)
	slope.Lsh(slope, 1)
	if negative {
		slope.Neg(slope)
	}
	whole.Lsh(whole, 1)
	index := func(z *big.Int, prec uint) *big.Int {
		n := new(big.Int).Lsh(start, prec)
		n.Add(n, new(big.Int).Mul(slope, z))
		return n.Div(n, new(big.Int).Lsh(whole, prec)) // rounds down, as whole > 0
	}
	for {
		lo, hi, prec := z.bounds()
		a, b := index(lo, prec), index(hi, prec)
		if a.Cmp(b) == 0 {
			return saturate(a), nil
		}
		if err := z.refine(src); err != nil {
			return 0, err
		}
	}
}

func saturate(x *big.Int) int64 {
	switch {
	case x.IsInt64():
		return x.Int64()
	case x.Sign() > 0:
		return math.MaxInt64
	default:
		return math.MinInt64
	}
}

func checkRounded(value, scale *big.Rat) error {
	if value == nil {
		return &noren.Error{What: "no value to add noise to"}
	}
	if scale == nil || scale.Sign() <= 0 {
		return &noren.Error{What: "the scale of noise must be above 0"}
	}
	return nil
}

// halfWidth makes a bound of a computed half-width: up by more than its rounding
// errors, and infinite where there is no finite one.
func halfWidth(level, w float64) float64 {
	if !(level >= 0 && level < 1) {
		return math.Inf(1)
	}
	return max(0, w) * (1 + 1e-12)
}
