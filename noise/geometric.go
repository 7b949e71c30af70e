package noise

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/noren-privacy/noren"
)

// TwoSidedGeometric is the two-sided geometric distribution of a rational ratio
// alpha,
//
//	P(X = x) = (1-alpha)/(1+alpha) alpha^|x|,  0 < alpha < 1, x integer
//
// (Ghosh, Roughgarden and Sundararajan 2009). Added to an integer query of
// sensitivity 1 it is ln(1/alpha)-differentially private. [Laplace] of scale b is
// the same family at alpha = e^(-1/b): take that one for a rational epsilon, and
// this one for a rational alpha, such as 1/2. Each draw has exactly this
// distribution.
//
// The sampler is the one of [Laplace] with alpha^m in the place of 1/e, m a power
// of two with alpha^m <= 1/2: U uniform on 0..m-1 accepted with probability
// alpha^U, V the run of successes of probability alpha^m, and the magnitude V m + U.
type TwoSidedGeometric struct {
	alpha *big.Rat
	rest  float64 // 1 - alpha, to the nearest float64
	// powers[i] is 2^64 alpha^(2^i) rounded down; m = 2^(len(powers)-1).
	powers []uint64
}

// NewTwoSidedGeometric returns the distribution of a ratio 0 < alpha <= 1 - 2^-56.
// It may be shared by goroutines. Error: [noren.Usage].
func NewTwoSidedGeometric(alpha *big.Rat) (*TwoSidedGeometric, error) {
	one := big.NewRat(1, 1)
	if alpha == nil || alpha.Sign() <= 0 || alpha.Cmp(one) >= 0 {
		return nil, &noren.Error{Kind: noren.Usage, What: "the ratio of geometric noise must be between 0 and 1"}
	}
	rest := new(big.Rat).Sub(one, alpha)
	if rest.Cmp(powerOfTwo(-maxScaleBits)) < 0 {
		return nil, &noren.Error{
			Kind: noren.Usage,
			What: "the ratio of geometric noise is too close to 1 for 64-bit results",
			Hint: "use a coarser grid or a larger epsilon",
		}
	}
	g := &TwoSidedGeometric{alpha: new(big.Rat).Set(alpha)}
	g.rest, _ = rest.Float64()
	for i := uint(0); ; i++ {
		lo, _ := g.powerBounds(1<<i, 128)
		p := lo.Rsh(lo, 64).Uint64()
		g.powers = append(g.powers, p)
		if p < 1<<63 {
			return g, nil
		}
	}
}

// powerBounds returns lo <= 2^prec alpha^u <= hi.
//
// The 64 squarings at the most double the width of the bounds each time, and the
// products add to it: 96 guard bits leave it below a unit or two.
func (g *TwoSidedGeometric) powerBounds(u uint64, prec uint) (lo, hi *big.Int) {
	work := prec + 96
	lo = new(big.Int).Lsh(big.NewInt(1), work)
	hi = new(big.Int).Set(lo)
	slo := new(big.Int).Lsh(g.alpha.Num(), work)
	slo.Quo(slo, g.alpha.Denom())
	shi := new(big.Int).Add(slo, big.NewInt(1))
	for ; u > 0; u >>= 1 {
		if u&1 == 1 {
			lo, hi = mulDown(lo, slo, work), mulUp(hi, shi, work)
		}
		slo, shi = mulDown(slo, slo, work), mulUp(shi, shi, work)
	}
	lo.Rsh(lo, 96)
	hi.Add(hi.Rsh(hi, 96), big.NewInt(1))
	return lo, hi
}

// powerSlack bounds the error of power in units of 2^-64: of at most 57 factors
// each is rounded down, by less than 3 with powerBounds' width, and so is each
// product, by less than 1; the first stands for 1 and is short by 1.
const powerSlack = 57*4 + 1

// power is 2^64 alpha^u, 0 <= u < 2m, less at most powerSlack.
func (g *TwoSidedGeometric) power(u uint64) uint64 {
	p := uint64(math.MaxUint64)
	for ; u != 0; u &= u - 1 {
		p, _ = bits.Mul64(p, g.powers[bits.TrailingZeros64(u)])
	}
	return p
}

// bernoulliPower draws true with probability alpha^u, given p = power(u).
func (g *TwoSidedGeometric) bernoulliPower(src *Source, u, p uint64) (bool, error) {
	w, err := src.Uint64()
	if err != nil {
		return false, err
	}
	switch compareWord(w, p, powerSlack) {
	case yes:
		return true, nil
	case no:
		return false, nil
	}
	return decide(src, w, func(prec uint) (lo, hi *big.Int, err error) {
		lo, hi = g.powerBounds(u, prec)
		return lo, hi, nil
	})
}

// Alpha returns the ratio.
func (g *TwoSidedGeometric) Alpha() *big.Rat { return new(big.Rat).Set(g.alpha) }

// Draw draws one value. It fails when src fails, and when the value leaves
// int64, which has a probability of less than e^-127.
func (g *TwoSidedGeometric) Draw(src *Source) (int64, error) { return twoSided(src, g.magnitude) }

// Fill draws every entry of dst. After an error dst is not noise: it must not
// be used.
func (g *TwoSidedGeometric) Fill(src *Source, dst []int64) error { return fill(src, dst, g.Draw) }

func (g *TwoSidedGeometric) magnitude(src *Source) (int64, error) {
	k := uint(len(g.powers) - 1)
	m := uint64(1) << k
	var u uint64
	for k > 0 {
		var err error
		if u, err = src.Uint64n(m); err != nil {
			return 0, err
		}
		if u == 0 {
			break
		}
		accept, err := g.bernoulliPower(src, u, g.power(u))
		if err != nil {
			return 0, err
		}
		if accept {
			break
		}
	}
	for v := uint64(0); ; v++ {
		more, err := g.bernoulliPower(src, m, g.powers[k])
		if err != nil {
			return 0, err
		}
		if !more {
			if v > (math.MaxInt64-u)>>k {
				return 0, errOverflow()
			}
			return int64(v<<k + u), nil
		}
	}
}

// LogP returns ln P(X = x), to float64 precision.
func (g *TwoSidedGeometric) LogP(x int64) float64 {
	return math.Log(g.rest/(2-g.rest)) + math.Abs(float64(x))*g.logAlpha()
}

// logAlpha is ln alpha: from 1 - alpha where alpha is near 1, from alpha where it
// is near 0.
func (g *TwoSidedGeometric) logAlpha() float64 {
	if g.rest < 0.5 {
		return math.Log1p(-g.rest)
	}
	a, _ := g.alpha.Float64()
	return math.Log(a)
}

// Variance returns 2 alpha/(1-alpha)^2.
func (g *TwoSidedGeometric) Variance() float64 {
	a, _ := g.alpha.Float64()
	return 2 * a / (g.rest * g.rest)
}

// Interval returns the smallest w with P(|X| <= w) >= level, 0 <= level < 1: see
// [Laplace.Interval].
func (g *TwoSidedGeometric) Interval(level float64) int64 {
	if !(level >= 0 && level < 1) {
		return math.MaxInt64
	}
	// P(|X| > w) = 2 alpha^(w+1) / (1+alpha) <= 1 - level.
	need := (math.Log1p(-g.rest/2) + math.Log1p(-level)) / g.logAlpha()
	return wholeAbove(need) - 1
}
