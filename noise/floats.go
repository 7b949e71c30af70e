package noise

import (
	"math"

	"github.com/noren-privacy/noren"
)

// The samplers of this file return float64 numbers. They are for mechanisms whose
// noise has no exact sampler here: noise in R^d scaled by a norm. Their results
// have the resolution of float64 and the rounding errors of its functions, so that
// a theorem about real-valued noise holds of them only as nearly as that. Who
// releases a sum of data and such noise must round it to a public grid that is
// coarse against those errors, and must say so as an assumption of the guarantee.
// Where an integer will do, use the exact samplers.

// Uniform returns a uniform real number of (0, 1), rounded down to a float64 and
// never 0: every float64 of the interval can come, each with the probability of
// the gap above it, so that all 53 bits are random wherever the number lies.
func Uniform(src *Source) (float64, error) {
	// The number is in [2^e, 2^(e+1)) with probability 2^e, e = -1, -2, ...
	for e := -1; e > -1022; e -= 64 {
		w, err := src.Uint64()
		if err != nil {
			return 0, err
		}
		if w == 0 {
			continue
		}
		for ; w>>63 == 0; w <<= 1 {
			e--
		}
		m, err := src.Bits(52)
		if err != nil {
			return 0, err
		}
		return math.Ldexp(1+float64(m)/(1<<52), e), nil
	}
	return math.SmallestNonzeroFloat64, nil // with probability 2^-1024
}

// Exponential returns an exponential variate of mean 1, with a relative error of a
// few units in the last place, near 0 as elsewhere.
func Exponential(src *Source) (float64, error) {
	u, err := Uniform(src)
	if err != nil {
		return 0, err
	}
	upper, err := src.Bool()
	if err != nil {
		return 0, err
	}
	// -ln V for V = u/2 or V = 1 - u/2: each half of (0, 1) from its own end, where
	// u has its full resolution.
	if upper {
		return -math.Log1p(-u / 2), nil
	}
	return math.Ln2 - math.Log(u), nil
}

// Normal returns a standard Gaussian variate (Box and Muller 1958).
func Normal(src *Source) (float64, error) {
	e, err := Exponential(src)
	if err != nil {
		return 0, err
	}
	// The angle in the first quadrant, and a fair sign.
	u, err := Uniform(src)
	if err != nil {
		return 0, err
	}
	negative, err := src.Bool()
	if err != nil {
		return 0, err
	}
	x := math.Sqrt(2*e) * math.Cos(math.Pi/2*u)
	if negative {
		return -x, nil
	}
	return x, nil
}

// Gamma returns a Gamma variate of the given shape > 0 and scale 1 (Marsaglia and
// Tsang 2000; below shape 1 by Gamma(shape) = Gamma(shape+1) U^(1/shape)).
// Error: [noren.Usage] for a shape that is not a finite number above 0.
func Gamma(src *Source, shape float64) (float64, error) {
	if !finite(shape) || shape <= 0 {
		return 0, &noren.Error{Kind: noren.Usage, What: "the shape of a Gamma variate must be a finite number above 0"}
	}
	if shape < 1 {
		x, err := Gamma(src, shape+1)
		if err != nil {
			return 0, err
		}
		e, err := Exponential(src) // U^(1/shape) = e^(-E/shape)
		if err != nil {
			return 0, err
		}
		return x * math.Exp(-e/shape), nil
	}
	d := shape - 1./3
	c := 1 / math.Sqrt(9*d)
	for {
		z, err := Normal(src)
		if err != nil {
			return 0, err
		}
		e, err := Exponential(src)
		if err != nil {
			return 0, err
		}
		v := 1 + c*z
		if v <= 0 {
			continue
		}
		v = v * v * v
		// ln U < z^2/2 + d - d v + d ln v
		if -e < z*z/2+d-d*v+d*math.Log(v) {
			return d * v, nil
		}
	}
}

// Direction fills dst with a point uniform on the unit sphere of R^d, d = len(dst)
// >= 1 (Muller 1959).
func Direction(src *Source, dst []float64) error {
	if len(dst) == 0 {
		return &noren.Error{Kind: noren.Usage, What: "a direction needs at least one dimension"}
	}
	for {
		for i := range dst {
			x, err := Normal(src)
			if err != nil {
				return err
			}
			dst[i] = x
		}
		norm := 0.0
		for _, x := range dst {
			norm = math.Hypot(norm, x)
		}
		if norm == 0 {
			continue
		}
		for i := range dst {
			dst[i] /= norm
		}
		return nil
	}
}

// L2Laplace fills dst with a point of R^d, d = len(dst) >= 1, of density
// proportional to e^(-|z|/scale), |z| the Euclidean norm: a uniform direction times
// a Gamma variate of shape d. Added to a vector of L2 sensitivity D it is
// (D/scale)-differentially private in real arithmetic (Chaudhuri, Monteleoni and
// Sarwate 2011; the K-norm mechanism of Hardt and Talwar 2010); see the top of the
// file for what floating point leaves of that. scale must be a finite number above
// 0. Error: [noren.Usage].
func L2Laplace(src *Source, dst []float64, scale float64) error {
	if !finite(scale) || scale <= 0 {
		return &noren.Error{Kind: noren.Usage, What: "the scale of noise must be a finite number above 0"}
	}
	if err := Direction(src, dst); err != nil {
		return err
	}
	r, err := Gamma(src, float64(len(dst)))
	if err != nil {
		clear(dst)
		return err
	}
	for i := range dst {
		dst[i] *= r * scale
	}
	return nil
}
