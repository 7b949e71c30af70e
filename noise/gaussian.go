package noise

import (
	"math"
	"math/big"
)

// Gaussian is the discrete Gaussian distribution of parameter sigma^2,
//
//	P(X = x) = e^(-x^2 / (2 sigma^2)) / sum over y of e^(-y^2 / (2 sigma^2)),  x integer.
//
// Its variance is at most sigma^2, and equal to it within 3e-7 from sigma = 1
// on. Added to an integer query of sensitivity D it satisfies
// (D^2 / (2 sigma^2))-zCDP (Canonne, Kamath and Steinke 2020, theorem 4); added
// to each of d coordinates the same holds with D the L2 sensitivity of the
// vector (theorem 14). Each draw has exactly this distribution.
//
// The sampler is that of the same paper (algorithm 3): with t = floor(sigma)+1,
// Y discrete Laplace of scale t, accepted with probability
// e^(-(|Y| - sigma^2/t)^2 / (2 sigma^2)).
type Gaussian struct {
	sigma2   *big.Rat
	proposal *Laplace // of scale t
	centre   float64  // sigma^2/t, to the nearest float64
	double   float64  // 2 sigma^2, likewise
	sigma    float64  // sqrt of the nearest float64 of sigma^2
}

// NewGaussian returns the discrete Gaussian distribution of sigma2 = sigma^2,
// 2^-128 <= sigma^2 < 2^112. It may be shared by goroutines. Error: [noren.Usage].
func NewGaussian(sigma2 *big.Rat) (*Gaussian, error) {
	if err := checkScale(sigma2, 2, "the variance of Gaussian noise"); err != nil {
		return nil, err
	}
	g := &Gaussian{sigma2: new(big.Rat).Set(sigma2)}
	// floor(sqrt(n/d)) = floor(sqrt(floor(n/d))).
	t := new(big.Int).Quo(sigma2.Num(), sigma2.Denom())
	t.Sqrt(t)
	t.Add(t, big.NewInt(1))
	scale := new(big.Rat).SetInt(t)
	var err error
	if g.proposal, err = NewLaplace(scale); err != nil {
		return nil, err
	}
	g.centre, _ = new(big.Rat).Quo(sigma2, scale).Float64()
	g.double, _ = new(big.Rat).Add(sigma2, sigma2).Float64()
	s2, _ := sigma2.Float64()
	g.sigma = math.Sqrt(s2)
	return g, nil
}

// Sigma2 returns sigma^2.
func (g *Gaussian) Sigma2() *big.Rat { return new(big.Rat).Set(g.sigma2) }

// Draw draws one value. It fails when src fails, and when a draw leaves int64,
// which has a probability of less than e^-127.
func (g *Gaussian) Draw(src *Source) (int64, error) {
	for {
		y, err := g.proposal.Draw(src)
		if err != nil {
			return 0, err
		}
		ok, err := g.accept(src, y)
		if err != nil {
			return 0, err
		}
		if ok {
			return y, nil
		}
	}
}

// Fill draws every entry of dst. After an error dst is not noise: it must not
// be used.
func (g *Gaussian) Fill(src *Source, dst []int64) error { return fill(src, dst, g.Draw) }

// acceptSlack bounds the error of the acceptance probability as accept computes
// it, in units of 2^-64.
const acceptSlack = 1 << 15

// accept draws true with probability e^-x, x = (|y| - c)^2 / (2 sigma^2),
// c = sigma^2/t.
//
// The first word is compared with e^-x computed from a float64 of x. Let
// u = 2^-53, the rounding error of one operation, which a fused one only makes
// smaller, and z = (|y| - c)/sigma, so that x = z^2/2. The conversions of |y|
// and c and their subtraction put the difference off by at most
// u|y| + u c + u||y|-c|(1+2u), that is by 2u(c + ||y|-c|)(1+2u); as c < sigma,
// z is off by at most d = 2u(1 + |z|)(1+2u). The square, the product with itself,
// the quotient and the rounded 2 sigma^2 add a relative error of at most 4u. So x
// is off by at most
//
//	|z| d + d^2/2 + 4u x <= u (2|z| + 2z^2 + 2z^2)(1 + 2^-40) + 2^-103 (1+|z|)^2
//
// and e^-x, by the mean value theorem, by at most that times e^(-x + that). For
// |z| <= 2^20 the factor e^that is at most e^(2^-10), and
// (2|z| + 4z^2) e^(-z^2/2) is at most 4.03 (near |z| = 1.32), so e^-x is off by
// less than 5u = 5 * 2^11 units; with splitting x into k and f (1 unit) and
// expSlack, below 2^14 < acceptSlack. Where |z| > 2^20 the float64
// of x is above 2^38 and expNeg gives 0, which is right within a unit.
func (g *Gaussian) accept(src *Source, y int64) (bool, error) {
	w, err := src.Uint64()
	if err != nil {
		return false, err
	}
	diff := math.Abs(float64(y)) - g.centre
	switch compareWord(w, expNegFloat(diff*diff/g.double), acceptSlack) {
	case yes:
		return true, nil
	case no:
		return false, nil
	default:
		return decideExp(src, w, g.exponent(y))
	}
}

// expNegFloat is expNeg of x >= 0, one unit worse.
func expNegFloat(x float64) uint64 {
	if x >= 64 {
		return 0
	}
	k := uint64(x)
	// Exact: k has at most 6 bits, and x - k no more than x.
	f := x - float64(k)
	return expNeg(k, uint64(f*(1<<64)))
}

// exponent is (|y| - sigma^2/t)^2 / (2 sigma^2), exactly.
func (g *Gaussian) exponent(y int64) *big.Rat {
	x := new(big.Rat).SetInt(new(big.Int).Abs(big.NewInt(y)))
	x.Sub(x, new(big.Rat).Quo(g.sigma2, g.proposal.scale))
	x.Mul(x, x)
	return x.Quo(x, new(big.Rat).Add(g.sigma2, g.sigma2))
}

// smallSigma is up to where sums over the integers are taken term by term. Above
// it integrals with their corrections stand for the sums.
const smallSigma = 64

// weight is e^(-x^2 / (2 sigma^2)).
func (g *Gaussian) weight(x float64) float64 {
	z := x / g.sigma
	return math.Exp(-z * z / 2)
}

// reach is beyond what no weight counts: e^(-39^2/2) < 1e-330.
func (g *Gaussian) reach() float64 { return math.Ceil(39*g.sigma) + 1 }

// total is the sum of the weights. By Poisson summation it is
// sigma sqrt(2 pi) (1 + 2e^(-2 pi^2 sigma^2) + ...); at sigma = 64 the second
// term is below e^-80000.
func (g *Gaussian) total() float64 {
	if g.sigma > smallSigma {
		return g.sigma * math.Sqrt(2*math.Pi)
	}
	return 1 + 2*g.tail(1)
}

// tail is the sum of the weights of m, m+1, ..., m >= 1. For a large sigma it is
// the Euler-Maclaurin formula,
//
//	sum_{x >= m} w(x) = int_m^inf w + w(m)/2 - w'(m)/12 + w'''(m)/720 - ...
//
// whose next term, w^(5)(m)/30240, is for z = m/sigma of a size |He_5(z)| /
// (30240 sigma^5) against w(m): below 1e-9 of the tail for z <= 9, which is
// further out than any level below 1 in float64. Interval allows for 1e-7.
func (g *Gaussian) tail(m float64) float64 {
	if g.sigma <= smallSigma {
		sum := 0.0
		for x := g.reach(); x >= m; x-- { // the smallest first
			sum += g.weight(x)
		}
		return sum
	}
	z, w := m/g.sigma, g.weight(m)
	integral := g.sigma * math.Sqrt(math.Pi/2) * math.Erfc(z/math.Sqrt2)
	first := z / g.sigma                                   // -w'/w
	third := (3*z - z*z*z) / (g.sigma * g.sigma * g.sigma) // w'''/w
	return integral + w*(0.5+first/12+third/720)
}

// LogP returns ln P(X = x), to float64 precision.
func (g *Gaussian) LogP(x int64) float64 {
	z := float64(x) / g.sigma
	return -z*z/2 - math.Log(g.total())
}

// Variance returns the variance of a draw, at most sigma^2.
func (g *Gaussian) Variance() float64 {
	if g.sigma > smallSigma {
		return g.sigma * g.sigma
	}
	sum := 0.0
	for x := g.reach(); x >= 1; x-- {
		sum += x * x * g.weight(x)
	}
	return 2 * sum / g.total()
}

// Interval returns the smallest w with P(|X| <= w) >= level, 0 <= level < 1: the
// half-width of an interval that holds the truth with that confidence. It is
// computed from public parameters alone; where rounding cannot tell, it is one
// wider, never narrower. Outside [0, 1) it returns MaxInt64.
func (g *Gaussian) Interval(level float64) int64 {
	if !(level >= 0 && level < 1) {
		return math.MaxInt64
	}
	allowed := (1 - level) * g.total() * (1 - 1e-7)
	// P(|X| > w) = 2 tail(w+1) / total: the smallest w that surely fits.
	low, high := int64(-1), int64(min(g.reach(), math.MaxInt64/2))
	for high-low > 1 {
		mid := low + (high-low)/2
		if 2*g.tail(float64(mid)+1) <= allowed {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}
