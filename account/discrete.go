package account

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
)

// DiscreteGaussian is the least variance sigma^2, on a grid of relative steps of
// 2^-31, for which discrete Gaussian noise, P(Y = k) proportional to
// e^(-k^2/(2 sigma^2)), makes an integer query of the given sensitivity
// (epsilon, delta)-private. It comes as a rational of 32 significant bits, and its
// delta was bounded from above (discreteDelta) and found to fit. Errors:
// [noren.Usage].
//
// The continuous calibration is not trusted here: the delta of discrete noise lies
// now below, now above that of continuous noise of the same sigma, by much where
// sigma is small.
func DiscreteGaussian(c Cost, sensitivity int64) (*big.Rat, error) {
	if err := checkGaussian(c, new(big.Rat).SetInt64(sensitivity)); err != nil {
		return nil, err
	}
	if sensitivity > maxSensitivity {
		return nil, noren.Usagef(noren.Phrase("the sensitivity"), "is above 2^53 grid steps").Hinted("use a coarser grid or tighter bounds")
	}
	sigma := approximateSigma(c) * float64(sensitivity)
	sigma2 := leastUp(sigma*sigma, c, func(s *big.Rat) interval { return discreteDelta(c, sensitivity, s) })
	if sigma2 == nil {
		return nil, noren.Usagef(noren.Phrase("epsilon and delta"), "lie outside what can be calibrated").
			Hinted("use an epsilon between 1e-6 and 100")
	}
	return sigma2, nil
}

const maxSensitivity = 1 << 53

// discreteDelta holds the delta at which discrete Gaussian noise of variance
// parameter sigma2 makes an integer query of the given sensitivity private, for
// epsilon in units of 1e-9:
//
//	delta = P(Y > eps sigma^2/D - D/2) - e^eps P(Y > eps sigma^2/D + D/2)
//
// (Canonne, Kamath and Steinke 2020, theorem 7), which is the least one. Queries
// that differ by d < D are covered: the likelihood ratio of Y and Y + d is
// monotone, so that the sets that tell them apart best are half-lines, and
// P(Y <= t) - e^eps P(Y <= t - d) grows with d for every t.
func discreteDelta(c Cost, sensitivity int64, sigma2 *big.Rat) interval {
	a := arith{160}
	d := new(big.Rat).SetInt64(sensitivity)
	middle := new(big.Rat).Quo(new(big.Rat).Mul(c.EpsilonRat(), sigma2), d)
	half := new(big.Rat).Mul(d, big.NewRat(1, 2))
	g := newTheta(a, sigma2)
	near := g.above(new(big.Rat).Sub(middle, half))
	far := g.above(new(big.Rat).Add(middle, half))
	return a.sub(near, a.mul(a.exp(a.rat(c.EpsilonRat())), far))
}

// theta sums f(k) = e^(-k^2/(2 sigma^2)) over integers.
type theta struct {
	arith
	sigma2, sigma interval
	square        *big.Rat // sigma^2
	direct        bool     // tails are summed term by term
	total         interval
}

// directSigma is the sigma from which on tails are computed by Euler-Maclaurin.
const directSigma = 64

func newTheta(a arith, sigma2 *big.Rat) *theta {
	g := &theta{arith: a, square: sigma2, sigma2: a.rat(sigma2)}
	g.sigma = a.sqrt(g.sigma2)
	g.direct = sigma2.Cmp(big.NewRat(directSigma*directSigma, 1)) < 0
	if sigma2.Cmp(big.NewRat(16, 1)) < 0 {
		g.total = a.add(a.int(1), a.mul(a.int(2), g.sum(big.NewInt(1))))
		return g
	}
	// Poisson: the sum is sigma sqrt(2 pi) (1 + 2 sum_(n>=1) e^(-2 pi^2 sigma^2 n^2)),
	// the second part positive and, as 2 pi^2 sigma^2 > 315, at most e^-314.
	g.total = a.mul(g.mass(), interval{a.int(1).lo, a.up().Add(a.int(1).hi, a.exp(a.int(-314)).hi)})
	return g
}

// mass is sigma sqrt(2 pi), the integral of f.
func (g *theta) mass() interval { return g.mul(g.sigma, g.sqrt(g.mul(g.int(2), g.pi()))) }

// above is P(Y > x).
func (g *theta) above(x *big.Rat) interval {
	// The least integer above x is floor(x) + 1.
	m := new(big.Int).Div(x.Num(), x.Denom())
	m.Add(m, big.NewInt(1))
	if m.Sign() > 0 {
		return g.div(g.sum(m), g.total)
	}
	// P(Y >= m) = 1 - P(Y >= 1-m), by symmetry.
	return g.sub(g.int(1), g.div(g.sum(m.Sub(big.NewInt(1), m)), g.total))
}

// sum is the sum of f(k) over k >= m, m >= 1.
func (g *theta) sum(m *big.Int) interval {
	if g.direct {
		return g.sumTerms(m)
	}
	return g.sumEulerMaclaurin(m)
}

// sumTerms adds f(k+1) = f(k) r(k), r(k) = e^(-(2k+1)/(2 sigma^2)), until what is
// left, at most f(k) r(k)/(1-r(k)) as r falls, is small beside the first term.
func (g *theta) sumTerms(m *big.Int) interval {
	k := new(big.Rat).SetInt(m)
	twice := new(big.Rat).Mul(g.square, big.NewRat(2, 1))
	exponent := func(n *big.Rat) interval { return g.neg(g.rat(n.Quo(n, twice))) }
	term := g.exp(exponent(new(big.Rat).Mul(k, k)))
	ratio := g.exp(exponent(new(big.Rat).Add(new(big.Rat).Add(k, k), one)))
	step := g.exp(exponent(big.NewRat(2, 1)))
	sum, least := term, term.hi.MantExp(nil)-int(g.prec)
	for {
		term = g.mul(term, ratio)
		ratio = g.mul(ratio, step)
		// Once the ratio is at most 1/2 what follows is at most the term itself.
		rest := g.sub(g.int(1), ratio)
		if rest.lo.Sign() > 0 {
			if tail := g.up().Quo(term.hi, rest.lo); tail.Sign() == 0 || tail.MantExp(nil) < least {
				return interval{sum.lo, g.up().Add(sum.hi, tail)}
			}
		}
		sum = g.add(sum, term)
	}
}

// sumEulerMaclaurin is the sum over k >= m >= 0 from the integral. On each unit
// step, by parts,
//
//	int_0^1 f = (f(0)+f(1))/2 - (f'(1)-f'(0))/12 + 1/24 int_0^1 x^2 (1-x)^2 f4(x) dx,
//
// and, added up,
//
//	sum_(k>=m) f(k) = int_m^inf f + f(m)/2 - f'(m)/12 - E,
//	E = 1/24 sum over the steps of int x^2 (1-x)^2 f4, where 0 <= x^2(1-x)^2 <= 1/16.
//
// With t = m/sigma, the third and fourth derivatives f3 and f4 are -(t^3 - 3t) f/sigma^3 and (t^4 - 6t^2 + 3) f/sigma^4.
// From t^2 >= 3 + sqrt(6) = 5.4495 on the fourth derivative is positive, so that 0 <= E
// <= -f3(m)/384. Before, |E| <= 1/384 int_0^inf |f4| = C/(384 sigma^3), where C,
// the variation of (t^3 - 3t) e^(-t^2/2) with its turning points at t^2 = 3 -+ sqrt(6),
// is 2 (1.3801 + 0.3749) < 3.6.
func (g *theta) sumEulerMaclaurin(m *big.Int) interval {
	k := g.rat(new(big.Rat).SetInt(m))
	t := g.div(k, g.sigma)
	f := g.exp(g.neg(g.half(g.mul(t, t))))
	sum := g.mul(g.mass(), g.tail(t))
	sum = g.add(sum, g.half(f))
	sum = g.add(sum, g.div(g.mul(g.div(t, g.sigma), f), g.int(12)))
	cube := g.mul(g.sigma, g.sigma2)
	square := new(big.Rat).SetInt(new(big.Int).Mul(m, m))
	if square.Cmp(new(big.Rat).Mul(g.square, big.NewRat(545, 100))) >= 0 {
		third := g.mul(g.mul(t, g.sub(g.mul(t, t), g.int(3))), f)
		e := g.div(third, g.mul(g.int(384), cube))
		return g.sub(sum, interval{g.int(0).lo, e.hi})
	}
	e := g.div(g.div(g.rat(big.NewRat(36, 10)), g.int(384)), cube)
	return g.add(sum, interval{g.down().Neg(e.hi), e.hi})
}

// SigmaFloat is the root of a variance, rounded up: for display.
func SigmaFloat(sigma2 *big.Rat) float64 {
	f, _ := sigma2.Float64()
	return math.Nextafter(math.Sqrt(math.Nextafter(f, math.Inf(1))), math.Inf(1))
}
