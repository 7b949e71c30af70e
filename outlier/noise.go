package outlier

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/noise"
)

// Noise names a family of noise.
type Noise string

const (
	// Lomax is two-sided Lomax noise on a smooth bound: pure epsilon, and the
	// least noise here. The default.
	Lomax Noise = "lomax"
	// StudentT is Student's t on a smooth bound: pure epsilon.
	StudentT Noise = "student-t"
	// Laplace is Laplace noise on a smooth bound: (epsilon, delta).
	Laplace Noise = "laplace"
	// Gaussian is Gaussian noise on a smooth bound: (epsilon, delta).
	Gaussian Noise = "gaussian"
	// GlobalLaplace is discrete Laplace noise on the global sensitivity: pure
	// epsilon, and nothing of the noise depends on the data.
	GlobalLaplace Noise = "global-laplace"
)

// Calibrated is noise with its parameters and what it guarantees: q + (S/Divisor) Z, where S is
// a Beta-smooth upper bound of the local sensitivity of q ([GlobalLaplace]: the
// global sensitivity itself), is (Epsilon, Delta)-differentially private. Make
// one with [LomaxNoise], [StudentNoise], [LaplaceNoise], [GaussianNoise] or
// [GlobalNoise].
type Calibrated struct {
	// Family is the family of the noise.
	Family Noise `json:"family"`
	// Epsilon of the guarantee.
	Epsilon float64 `json:"epsilon"`
	// Delta of the guarantee.
	Delta float64 `json:"delta,omitempty"`
	// Beta is the smoothness that the guarantee needs; 0 for `global-laplace`.
	Beta float64 `json:"beta,omitempty"`
	// Divisor is the divisor a of the noise scale S/a, where S is the upper bound of the
	// sensitivity.
	Divisor float64 `json:"divisor"`
	// Shape is the power p of the Lomax density, or the degrees of freedom.
	Shape float64 `json:"shape,omitempty"`
}

const (
	// minBeta keeps what rounding takes from beta below what smoothBeta sets
	// aside for it.
	minBeta    = 1e-6
	maxEpsilon = 100
	// shrink makes a divisor smaller, so the noise greater, by far more than
	// floating point has put into it.
	shrink = 1 - 1e-12
)

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= 1e-6 && epsilon <= maxEpsilon) {
		return noren.Usagef("epsilon", "epsilon must lie between 0.000001 and %d", maxEpsilon)
	}
	return nil
}

func checkBeta(beta float64) error {
	if !(beta >= minBeta && beta <= maxEpsilon) {
		return noren.Usagef("beta", "beta must lie between %g and %d", minBeta, maxEpsilon)
	}
	return nil
}

// LomaxNoise is noise of density (p-1)/2 (1+|z|)^-p: epsilon-differentially
// private with
//
//	a = min(e^{epsilon/p} - 1, e^beta (e^{(epsilon-beta)/p} - 1)),  (p-1) beta <= epsilon
//
// (docs/outliers.md, theorem 4). p lies between 3.25, so that the variance is finite,
// and 65; 4p is an integer, and so is p above 17.
func LomaxNoise(epsilon, beta, p float64) (Calibrated, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Calibrated{}, err
	}
	if err := checkBeta(beta); err != nil {
		return Calibrated{}, err
	}
	if !(p >= 3.25 && p <= 65) || p*4 != math.Floor(p*4) || p > 17 && p != math.Floor(p) {
		return Calibrated{}, noren.Usagef("p", "p must be a multiple of 1/4 from 3.25 to 17 or an integer up to 65")
	}
	if !lomaxAllows(epsilon, beta, p) {
		return Calibrated{}, noren.Usagef("beta", "(p-1) beta must not exceed epsilon").Hinted("take a smaller beta or a smaller p")
	}
	return Calibrated{Family: Lomax, Epsilon: epsilon, Beta: beta, Divisor: lomaxDivisor(epsilon, beta, p), Shape: p}, nil
}

// lomaxAllows decides (p-1) beta <= epsilon on the safe side of all rounding.
func lomaxAllows(epsilon, beta, p float64) bool {
	return (p-1)*beta <= epsilon*(1-1e-14)
}

func lomaxDivisor(epsilon, beta, p float64) float64 {
	return min(math.Expm1(epsilon/p), math.Exp(beta)*math.Expm1((epsilon-beta)/p)) * shrink
}

// DefaultLomax is Lomax noise with beta = epsilon/5, less what rounding takes,
// and p = 6.
func DefaultLomax(epsilon float64) (Calibrated, error) {
	return LomaxNoise(epsilon, epsilon/5*(1-1e-13), 6)
}

// StudentNoise is Student's t with nu >= 3 degrees of freedom:
// epsilon-differentially private with max(1, nu) beta + a (nu+1)/(2 sqrt nu) <=
// epsilon (Bun and Steinke 2019, in the sharper form of docs/outliers.md,
// section 7).
func StudentNoise(epsilon, beta float64, nu int) (Calibrated, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Calibrated{}, err
	}
	if err := checkBeta(beta); err != nil {
		return Calibrated{}, err
	}
	if nu < 3 || nu > 100 {
		return Calibrated{}, noren.Usagef("nu", "the degrees of freedom must lie between 3 and 100")
	}
	v := float64(nu)
	// beta is taken a little greater than it is, as the sum rounds.
	rest := epsilon - v*beta*(1+1e-15)
	if !(rest > epsilon*1e-6) {
		return Calibrated{}, noren.Usagef("beta", "nu beta must be less than epsilon").Hinted("take a smaller beta")
	}
	return Calibrated{Family: StudentT, Epsilon: epsilon, Beta: beta, Divisor: rest * 2 * math.Sqrt(v) / (v + 1) * (1 - 1e-9), Shape: v}, nil
}

// insideDelta is the delta at which the two steps of Nissim, Raskhodnikova and
// Smith (2007, lemma 2.6), a shift and a scaling with e^{epsilon/2} and delta/2
// each, compose to the delta that is guaranteed: together they give
// delta (1 + e^{epsilon/2})/2.
func insideDelta(epsilon, delta float64) float64 {
	return delta * 2 / (1 + math.Exp(epsilon/2)) * shrink
}

func checkApproximate(epsilon, delta float64) error {
	if err := checkEpsilon(epsilon); err != nil {
		return err
	}
	if epsilon > 2 {
		return noren.Usagef("epsilon", "this noise is for epsilon up to 2").Hinted("use Lomax noise")
	}
	if !(delta >= 1e-18 && delta <= 0.1) {
		return noren.Usagef("delta", "delta must lie between 1e-18 and 0.1 for this noise").Hinted("use Lomax noise, which needs none")
	}
	return nil
}

// LaplaceNoise is Laplace noise on a smooth bound: (epsilon, delta) with a =
// epsilon/2, beta = epsilon/(2 ln(2/delta')), where delta' is a little smaller
// than delta, so that what the proof's two steps compose to is delta itself
// (Nissim, Raskhodnikova and Smith 2007, lemma 2.6 and example 3).
func LaplaceNoise(epsilon, delta float64) (Calibrated, error) {
	if err := checkApproximate(epsilon, delta); err != nil {
		return Calibrated{}, err
	}
	beta := epsilon / (2 * math.Log(2/insideDelta(epsilon, delta))) * shrink
	if err := checkBeta(beta); err != nil {
		return Calibrated{}, err
	}
	return Calibrated{Family: Laplace, Epsilon: epsilon, Delta: delta, Beta: beta, Divisor: epsilon / 2 * shrink}, nil
}

// GaussianNoise is Gaussian noise of standard deviation 1 on a smooth bound:
// (epsilon, delta) with a = epsilon/(5 sqrt(2 ln(2/delta'))) and beta =
// epsilon/(4 (1 + ln(2/delta'))), delta' as for [LaplaceNoise] (Nissim,
// Raskhodnikova and Smith 2007, lemma 2.7, for an output of one dimension).
func GaussianNoise(epsilon, delta float64) (Calibrated, error) {
	if err := checkApproximate(epsilon, delta); err != nil {
		return Calibrated{}, err
	}
	l := math.Log(2 / insideDelta(epsilon, delta))
	beta := epsilon / (4 * (1 + l)) * shrink
	if err := checkBeta(beta); err != nil {
		return Calibrated{}, err
	}
	return Calibrated{Family: Gaussian, Epsilon: epsilon, Delta: delta, Beta: beta, Divisor: epsilon / (5 * math.Sqrt(2*l)) * shrink}, nil
}

// GlobalNoise is discrete Laplace noise of scale G/epsilon, where G is the global
// sensitivity: epsilon-differentially private (Dwork et al. 2006).
func GlobalNoise(epsilon float64) (Calibrated, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Calibrated{}, err
	}
	return Calibrated{Family: GlobalLaplace, Epsilon: epsilon, Divisor: epsilon}, nil
}

// smoothBeta is the beta that S is computed with: less than the noise allows by
// more than the rounding of S and of S/a, parts in 1e14, can take up.
func (n Calibrated) smoothBeta() float64 { return n.Beta * (1 - 1e-8) }

// continuous is the distribution of Z in package noise.
type continuous interface {
	AddTo(src *noise.Source, value, scale *big.Rat, g noise.Grid) (int64, error)
	Variance() float64
	Interval(level float64) float64
}

func (n Calibrated) distribution() (continuous, error) {
	switch n.Family {
	case Lomax:
		return noise.NewLomax(new(big.Rat).SetFloat64(n.Shape))
	case StudentT:
		return noise.NewStudentT(int(n.Shape))
	case Gaussian:
		return noise.ContinuousGaussian{}, nil
	case Laplace, GlobalLaplace:
		return noise.ContinuousLaplace{}, nil
	}
	return nil, noren.Usagef("noise", "unknown family of noise").Hinted("lomax, student-t, laplace, gaussian or global-laplace")
}

// SD is the standard deviation of the noise for a bound s, before rounding;
// infinite where the noise is none of the known.
func (n Calibrated) SD(s float64) float64 {
	d, err := n.distribution()
	if err != nil {
		return math.Inf(1)
	}
	return s / n.Divisor * math.Sqrt(d.Variance())
}

// Interval is the half-width w with P(|noise| <= w) >= level for a bound s, the
// rounding to whole numbers included.
func (n Calibrated) Interval(s, level float64) float64 {
	d, err := n.distribution()
	if err != nil {
		return math.Inf(1)
	}
	return s/n.Divisor*d.Interval(level) + 0.5
}

// words names the noise in a sentence.
func (n Calibrated) words() noren.Text {
	switch n.Family {
	case Lomax:
		return noren.Textf("two-sided Lomax noise, p = %g", n.Shape)
	case StudentT:
		return noren.Textf("Student's t noise, %g degrees of freedom", n.Shape)
	case Laplace:
		return noren.Textf("Laplace noise")
	case Gaussian:
		return noren.Textf("Gaussian noise")
	}
	return noren.Textf("discrete Laplace noise")
}

// add returns the integer nearest to value + (s/a) Z: the exact distribution,
// rounded once. The scale rounds up.
func (n Calibrated) add(src *noise.Source, value int64, s float64) (int64, error) {
	d, err := n.distribution()
	if err != nil {
		return 0, err
	}
	scale := new(big.Rat).SetFloat64(up(s / n.Divisor))
	return d.AddTo(src, new(big.Rat).SetInt64(value), scale, noise.Grid{})
}
