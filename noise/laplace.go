package noise

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/noren-privacy/noren"
)

// maxScaleBits bounds the scale of the discrete samplers: at 2^56 and below, a
// draw leaves int64 with a probability of less than e^-127. minScaleBits bounds
// it from below: at 2^-64 noise is zero, surely enough.
const (
	maxScaleBits = 56
	minScaleBits = 64
)

// Laplace is the discrete Laplace distribution of scale b,
//
//	P(X = x) = (1-q)/(1+q) q^|x|,  q = e^(-1/b),  x integer,
//
// also called the two-sided geometric distribution. Added to an integer query
// of sensitivity D it is (D/b)-differentially private (Ghosh, Roughgarden and
// Sundararajan 2009). Each draw has exactly this distribution.
//
// The sampler is that of Canonne, Kamath and Steinke (2020, algorithm 2): with
// b = t/s, U uniform on 0..t-1 accepted with probability e^(-U/t), V geometric
// with ratio 1/e, the magnitude is floor((V t + U) / s), since V t + U is
// geometric with ratio e^(-1/t); a sign; and minus zero is drawn again.
type Laplace struct {
	scale      *big.Rat
	t, s       uint64   // scale = t/s, where both fit; otherwise t = 0
	tBig, sBig *big.Int // set where t = 0
	b          float64  // scale, to the nearest float64
}

// NewLaplace returns the discrete Laplace distribution of a scale b,
// 2^-64 <= b <= 2^56. It may be shared by goroutines. Error: [noren.Usage].
func NewLaplace(scale *big.Rat) (*Laplace, error) {
	if err := checkScale(scale, 1, "the scale of Laplace noise"); err != nil {
		return nil, err
	}
	l := &Laplace{scale: new(big.Rat).Set(scale)}
	l.b, _ = l.scale.Float64()
	if l.scale.Num().IsUint64() && l.scale.Denom().IsUint64() {
		l.t, l.s = l.scale.Num().Uint64(), l.scale.Denom().Uint64()
	} else {
		l.tBig, l.sBig = l.scale.Num(), l.scale.Denom()
	}
	return l, nil
}

// checkScale refuses what is not in [2^-64, 2^56]; for the power-th power of a
// scale, what is not in those bounds to that power.
func checkScale(scale *big.Rat, power uint, what noren.Phrase) error {
	if scale == nil || scale.Sign() <= 0 {
		return &noren.Error{Kind: noren.Usage, What: "%s must be above 0", Args: []any{what}}
	}
	if scale.Cmp(powerOfTwo(maxScaleBits*int(power))) > 0 {
		return &noren.Error{
			Kind: noren.Usage,
			What: "%s is too large for 64-bit results", Args: []any{what},
			Hint: "use a coarser grid or a larger epsilon",
		}
	}
	if scale.Cmp(powerOfTwo(-minScaleBits*int(power))) < 0 {
		return &noren.Error{
			Kind: noren.Usage,
			What: "%s is so small that there would be no noise", Args: []any{what},
			Hint: "use a finer grid or a smaller epsilon",
		}
	}
	return nil
}

// powerOfTwo returns 2^e.
func powerOfTwo(e int) *big.Rat {
	p := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(e, -e))))
	if e < 0 {
		p.Inv(p)
	}
	return p
}

// errOverflow says that a draw left int64. It depends on the noise alone, never
// on data, and has a probability of less than e^-127.
func errOverflow() error {
	return &noren.Error{What: "a draw of noise does not fit 64 bits", Hint: "ask again"}
}

// Scale returns b.
func (l *Laplace) Scale() *big.Rat { return new(big.Rat).Set(l.scale) }

// Draw draws one value. It fails when src fails, and when the value leaves
// int64, which has a probability of less than e^-127.
func (l *Laplace) Draw(src *Source) (int64, error) { return twoSided(src, l.magnitude) }

// twoSided draws a magnitude and a sign, and begins again at -0, so that P(x) is
// in proportion to the magnitude's P(|x|).
func twoSided(src *Source, magnitude func(*Source) (int64, error)) (int64, error) {
	for {
		m, err := magnitude(src)
		if err != nil {
			return 0, err
		}
		negative, err := src.Bool()
		if err != nil {
			return 0, err
		}
		if !negative {
			return m, nil
		}
		if m != 0 {
			return -m, nil
		}
	}
}

// Fill draws every entry of dst. After an error dst is not noise: it must not
// be used.
func (l *Laplace) Fill(src *Source, dst []int64) error { return fill(src, dst, l.Draw) }

func fill(src *Source, dst []int64, draw func(*Source) (int64, error)) error {
	for i := range dst {
		x, err := draw(src)
		if err != nil {
			return err
		}
		dst[i] = x
	}
	return nil
}

// magnitude draws from P(m) proportional to e^(-m s/t), 0 <= m < 2^63.
func (l *Laplace) magnitude(src *Source) (int64, error) {
	if l.t == 0 {
		return l.magnitudeBig(src)
	}
	u, err := belowT(src, l.t)
	if err != nil {
		return 0, err
	}
	v, err := geometricE(src)
	if err != nil {
		return 0, err
	}
	hi, lo := bits.Mul64(v, l.t)
	lo, carry := bits.Add64(lo, u, 0)
	hi += carry
	if l.s != 1 {
		if hi >= l.s {
			return 0, errOverflow()
		}
		lo, _ = bits.Div64(hi, lo, l.s)
		hi = 0
	}
	if hi != 0 || lo > math.MaxInt64 {
		return 0, errOverflow()
	}
	return int64(lo), nil
}

// belowT draws u from 0..t-1 with probability proportional to e^(-u/t).
func belowT(src *Source, t uint64) (uint64, error) {
	if t == 1 {
		return 0, nil
	}
	for {
		u, err := src.Uint64n(t)
		if err != nil || u == 0 {
			return 0, err
		}
		accept, err := bernoulliFraction(src, u, t)
		if err != nil {
			return 0, err
		}
		if accept {
			return u, nil
		}
	}
}

// bernoulliFraction draws true with probability e^(-u/t), u < t.
func bernoulliFraction(src *Source, u, t uint64) (bool, error) {
	w, err := src.Uint64()
	if err != nil {
		return false, err
	}
	// u/t is less than 2^-64 above its fraction, and e^-x no steeper than 1.
	switch compareWord(w, expNeg(0, fraction64(u, t)), expSlack+1) {
	case yes:
		return true, nil
	case no:
		return false, nil
	default:
		return decideExp(src, w, new(big.Rat).SetFrac(new(big.Int).SetUint64(u), new(big.Int).SetUint64(t)))
	}
}

// magnitudeBig is magnitude for a scale whose terms do not fit 64 bits.
func (l *Laplace) magnitudeBig(src *Source) (int64, error) {
	x := new(big.Rat)
	f := new(big.Int)
	for {
		u, err := uniformBig(src, l.tBig)
		if err != nil {
			return 0, err
		}
		if u.Sign() != 0 {
			w, err := src.Uint64()
			if err != nil {
				return 0, err
			}
			f.Quo(f.Lsh(u, 64), l.tBig)
			verdict := compareWord(w, expNeg(0, f.Uint64()), expSlack+1)
			accept := verdict == yes
			if verdict == unsure {
				if accept, err = decideExp(src, w, x.SetFrac(u, l.tBig)); err != nil {
					return 0, err
				}
			}
			if !accept {
				continue
			}
		}
		v, err := geometricE(src)
		if err != nil {
			return 0, err
		}
		m := new(big.Int).SetUint64(v)
		m.Quo(m.Add(m.Mul(m, l.tBig), u), l.sBig)
		if !m.IsInt64() {
			return 0, errOverflow()
		}
		return m.Int64(), nil
	}
}

// LogP returns ln P(X = x), to float64 precision.
func (l *Laplace) LogP(x int64) float64 {
	// (1-q)/(1+q) = tanh(1/(2b))
	return math.Log(math.Tanh(1/(2*l.b))) - math.Abs(float64(x))/l.b
}

// Variance returns 2q/(1-q)^2, q = e^(-1/b), which is 1/(2 sinh^2(1/(2b))).
func (l *Laplace) Variance() float64 {
	s := math.Sinh(1 / (2 * l.b))
	return 1 / (2 * s * s)
}

// Interval returns the smallest w with P(|X| <= w) >= level, 0 <= level < 1: the
// half-width of an interval that holds the truth with that confidence. It is
// computed from public parameters alone; where rounding cannot tell, it is one
// wider, never narrower. Outside [0, 1) it returns MaxInt64.
func (l *Laplace) Interval(level float64) int64 {
	if !(level >= 0 && level < 1) {
		return math.MaxInt64
	}
	// P(|X| > w) = 2 q^(w+1) / (1+q) <= 1 - level.
	// Both logarithms are of the same sign: nothing cancels.
	need := -l.b * (math.Log1p(math.Expm1(-1/l.b)/2) + math.Log1p(-level))
	return wholeAbove(need) - 1
}

// wholeAbove is the smallest integer n >= 1 that is surely >= x, for x computed
// with a relative error of less than 1e-12.
func wholeAbove(x float64) int64 {
	n := math.Ceil(x + 1e-12*math.Abs(x))
	if n >= math.MaxInt64 {
		return math.MaxInt64
	}
	return max(1, int64(n))
}
