package noise

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
)

// Lomax is the two-sided Lomax distribution of shape p > 1, of density
//
//	h(z) = (p-1)/2 (1 + |z|)^(-p),
//
// the noise of smooth sensitivity under pure differential privacy: with S a
// beta-smooth upper bound of the local sensitivity of q, q + (S/a) Z is
// epsilon-differentially private for
//
//	a = min(e^(epsilon/p) - 1, e^beta (e^((epsilon-beta)/p) - 1)),  p <= 1 + epsilon/beta
//
// (docs/differential-privacy.md, theorem on two-sided Lomax noise; the same
// family as PolyPlace of Hladik and Tetek, FORC 2025). The variance is finite for
// p > 3.
//
// |Z| = V^(-1/(p-1)) - 1 with V uniform on (0, 1].
type Lomax struct {
	p *big.Rat
	// 1/(p-1) = power/root in lowest terms.
	power, root int
}

// maxLomaxTerm bounds the terms of p-1: roots of that degree are still cheap.
const maxLomaxTerm = 64

// NewLomax returns the two-sided Lomax distribution of shape p > 1, where p-1 is
// a quotient of two integers of at most 64, such as 5 or 7/2. It may be shared by
// goroutines. Error: [noren.Usage].
func NewLomax(p *big.Rat) (*Lomax, error) {
	if p == nil || p.Cmp(big.NewRat(1, 1)) <= 0 {
		return nil, &noren.Error{Kind: noren.Usage, What: "the shape of Lomax noise must be above 1"}
	}
	m := new(big.Rat).Sub(p, big.NewRat(1, 1))
	limit := big.NewInt(maxLomaxTerm)
	if m.Num().Cmp(limit) > 0 || m.Denom().Cmp(limit) > 0 {
		return nil, &noren.Error{
			Kind: noren.Usage,
			What: "the shape of Lomax noise less 1 must be a quotient of integers of at most 64",
			Hint: "use 6, or another simple number",
		}
	}
	return &Lomax{p: new(big.Rat).Set(p), power: int(m.Denom().Int64()), root: int(m.Num().Int64())}, nil
}

// P returns the shape p.
func (l *Lomax) P() *big.Rat { return new(big.Rat).Set(l.p) }

// AddTo returns the index of the point of g nearest to value + scale Z, computed
// from as many random bits as it takes to be sure of it: exactly the continuous
// mechanism, rounded once. An index that does not fit int64 becomes the end of
// int64 that it passes, which is post-processing as the rounding is.
//
// value and scale > 0 may depend on private data; g must not. Where scale rounds
// a real number, it is the caller's to see that the rounded one is still smooth.
// It fails when src fails, or when scale is not above 0.
func (l *Lomax) AddTo(src *Source, value, scale *big.Rat, g Grid) (int64, error) {
	if err := checkRounded(value, scale); err != nil {
		return 0, err
	}
	v, err := newLazyUniform(src)
	if err != nil {
		return 0, err
	}
	z := &lomaxDraw{l, v}
	for z.v.n.Sign() == 0 { // |Z| has no upper bound yet
		if err := z.v.refine(src); err != nil {
			return 0, err
		}
	}
	return addRounded(src, z, value, scale, g)
}

// lomaxDraw is V^(-power/root) - 1 for V in [n, n+1] / 2^bits, n > 0.
type lomaxDraw struct {
	*Lomax
	v lazyUniform
}

func (z *lomaxDraw) refine(src *Source) error { return z.v.refine(src) }

func (z *lomaxDraw) bounds() (lo, hi *big.Int, prec uint) {
	// The width of |Z| is about |Z|+1 times 2^-bits/V: bits are digits enough.
	prec = z.v.bits
	one := new(big.Int).Lsh(big.NewInt(1), prec)
	lo = z.quantile(z.v.above(), prec)
	hi = z.quantile(z.v.n, prec)
	lo.Sub(lo, one)
	hi.Sub(hi, one)
	return lo, hi.Add(hi, big.NewInt(1)), prec
}

// quantile is floor(2^prec (2^bits/n)^(power/root)), exactly: the floor of a root
// of a floor is the floor of the root.
func (z *lomaxDraw) quantile(n *big.Int, prec uint) *big.Int {
	y := new(big.Int).Lsh(big.NewInt(1), prec*uint(z.root)+z.v.bits*uint(z.power))
	y.Quo(y, new(big.Int).Exp(n, big.NewInt(int64(z.power)), nil))
	return rootFloor(y, z.root)
}

// rootFloor is floor(y^(1/k)), y >= 1, k >= 1, by Newton's method.
//
// From any x > 0 the step x' = floor(((k-1) x + floor(y/x^(k-1))) / k) is no less
// than the floor of the root, by the inequality of the means; and while x is above
// it, x' < x. So after a first step from a float64 guess, the steps fall, and the
// first that does not fall stands on the floor of the root.
func rootFloor(y *big.Int, k int) *big.Int {
	switch k {
	case 1:
		return new(big.Int).Set(y)
	case 2:
		return new(big.Int).Sqrt(y)
	}
	// y = m 2^e with m in [1/2, 1), so y^(1/k) = 2^((log2(m) + e)/k).
	m := new(big.Float).SetInt(y)
	e := m.MantExp(m)
	f, _ := m.Float64()
	guess := (math.Log2(f) + float64(e)) / float64(k)
	whole := math.Floor(guess)
	x := new(big.Int)
	new(big.Float).SetMantExp(big.NewFloat(math.Exp2(guess-whole)), int(whole)).Int(x)
	if x.Sign() == 0 {
		x.SetInt64(1)
	}
	kLess, kBig := big.NewInt(int64(k-1)), big.NewInt(int64(k))
	power, next := new(big.Int), new(big.Int)
	for first := true; ; first = false {
		power.Exp(x, kLess, nil)
		power.Quo(y, power)
		next.Mul(x, kLess)
		next.Add(next, power)
		next.Quo(next, kBig)
		if !first && next.Cmp(x) >= 0 {
			return x
		}
		x, next = next, x
	}
}

// Tail returns P(|Z| > z) = (1+z)^(-(p-1)), z >= 0.
func (l *Lomax) Tail(z float64) float64 {
	if z <= 0 {
		return 1
	}
	return math.Exp(-math.Log1p(z) * float64(l.root) / float64(l.power))
}

// CDF returns P(Z <= z).
func (l *Lomax) CDF(z float64) float64 {
	if z < 0 {
		return l.Tail(-z) / 2
	}
	return 1 - l.Tail(z)/2
}

// Variance returns the variance of Z, 2/((p-2)(p-3)) for p > 3, otherwise
// infinite; of the noise, times the square of the scale.
func (l *Lomax) Variance() float64 {
	p, _ := l.p.Float64()
	if p <= 3 {
		return math.Inf(1)
	}
	return 2 / ((p - 2) * (p - 3))
}

// Interval returns w with P(|Z| <= w) >= level, 0 <= level < 1, no more than a
// part in 10^12 above the smallest; for the rounded noise, w times the scale and
// half a step of the grid. Outside [0, 1) it is infinite.
func (l *Lomax) Interval(level float64) float64 {
	return halfWidth(level, math.Expm1(-math.Log1p(-level)*float64(l.power)/float64(l.root)))
}
