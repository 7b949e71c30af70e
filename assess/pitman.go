package assess

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren"
)

// pitman is Pitman's model fitted by maximum likelihood (Hoshino, Applying
// Pitman's sampling formula to microdata disclosure risk assessment, Journal
// of Official Statistics 17:499-520, 2001). The sample's partition into
// classes has, with 0 <= alpha < 1 and theta > -alpha, the log-likelihood
//
//	L = sum_{i=1}^{u-1} log(theta + i alpha) - sum_{i=1}^{n-1} log(theta + i)
//	    + sum_j s_j sum_{i=1}^{j-1} log(i - alpha)  + const.
//
// The sums of the two derivatives are differences of digamma functions psi:
//
//	A = sum 1/(theta + i alpha) = (psi(theta/alpha + u) - psi(theta/alpha + 1))/alpha
//	dL/dtheta = A - (psi(theta + n) - psi(theta + 1))
//	dL/dalpha = (u - 1 - theta A)/alpha - sum_j s_j (psi(j - alpha) - psi(1 - alpha))
//
// For each alpha the root in theta is bracketed and bisected, and then the
// root of the profile in alpha, so that convergence is not a matter of luck.
// The estimate is the expected number of uniques of the population given the
// sample. (Hoshino takes the unconditional mean, Gamma(theta+1)/Gamma(theta+
// alpha) N^alpha; theta is poorly known when it is small, and the sample says
// more.) By the prediction rule of the model, record i+1 starts a new class
// with probability (theta + alpha classes)/(theta + i) and joins a class of
// one record with (1 - alpha)/(theta + i). A unique of the sample thus stays
// alone in the population with probability
//
//	R = prod_{i=n}^{N-1} (theta + i - 1 + alpha)/(theta + i)
//	  = Gamma(theta+alpha+N-1) Gamma(theta+n) / (Gamma(theta+alpha+n-1) Gamma(theta+N)),
//
// and since the records that are still to come are exchangeable, each is alone
// with the probability that the last one is new, (theta + alpha u) R /
// (theta + alpha + n - 1). Together
//
//	uniques = R (s_1 + (N - n) (theta + alpha u)/(theta + alpha + n - 1)).
func (s *sample) pitman() Estimate {
	switch {
	case s.uniques == s.records:
		return absent(noren.Textf("every record of the sample is unique, which leaves nothing to fit a model to"))
	case s.classes < 2:
		return absent(noren.Textf("the sample has a single class"))
	}
	theta, alpha, ok := s.fitPitman()
	if !ok {
		return absent(noren.Textf("the likelihood has no maximum inside the model"))
	}
	n, total := s.records, s.population
	fresh := theta + alpha*s.classes
	// Good and Turing's estimate of the chance that a next record is new,
	// s_1/n, rests on no model: the model has to agree with it.
	if !s.fits(n * fresh / (theta + n)) {
		return absent(noren.Textf("the model's best fit does not agree with the number of unique records that the sample has"))
	}
	stays := math.Exp(logGammaRatio(theta+alpha+total-1, theta+total) - logGammaRatio(theta+alpha+n-1, theta+n))
	uniques := stays * (s.uniques + (total-n)*fresh/(theta+alpha+n-1))
	if math.IsNaN(uniques) || uniques < 0 || uniques > s.population {
		return absent(noren.Textf("the fitted model gives no usable figure"))
	}
	return s.estimate(uniques)
}

// alphaLeast is the alpha below which the model is its limit alpha = 0
// (Ewens), and alphaMost the largest that is searched.
const (
	alphaLeast = 1e-4
	alphaMost  = 1 - 1e-9
)

// fitPitman maximises the likelihood.
func (s *sample) fitPitman() (theta, alpha float64, ok bool) {
	slope := func(a float64) (theta, slope float64, ok bool) {
		theta, ok = s.pitmanTheta(a)
		if !ok {
			return 0, 0, false
		}
		u := s.classes
		sum := harmonic(theta, a, u)
		slope = (u - 1 - theta*sum) / a
		psi1 := mathext.Digamma(1 - a)
		for _, c := range s.counts {
			if c.size > 1 {
				slope -= float64(c.classes) * (mathext.Digamma(float64(c.size)-a) - psi1)
			}
		}
		return theta, slope, true
	}
	low, high := alphaLeast, alphaMost
	theta, at, ok := slope(low)
	if !ok {
		return 0, 0, false
	}
	if at <= 0 {
		// The likelihood falls from alpha = 0 on: Ewens' formula.
		theta, ok = s.pitmanTheta(0)
		return theta, 0, ok
	}
	_, at, ok = slope(high)
	if !ok || at >= 0 {
		return 0, 0, false
	}
	for range 100 {
		alpha = (low + high) / 2
		theta, at, ok = slope(alpha)
		if !ok {
			return 0, 0, false
		}
		if at > 0 {
			low = alpha
		} else {
			high = alpha
		}
		if high-low < 1e-13 {
			break
		}
	}
	return theta, alpha, true
}

// harmonic is sum_{i=1}^{u-1} 1/(theta + i alpha), alpha >= alphaLeast or 0.
func harmonic(theta, alpha, u float64) float64 {
	if alpha == 0 {
		return (u - 1) / theta
	}
	// psi(x+1) - psi(y+1), one step up so that no argument is near zero:
	// theta > -alpha allows x > -1.
	x := theta / alpha
	if x < 1 {
		return (1/(x+1) + mathext.Digamma(x+u) - mathext.Digamma(x+2)) / alpha
	}
	return (mathext.Digamma(x+u) - mathext.Digamma(x+1)) / alpha
}

// pitmanTheta is the root of dL/dtheta for one alpha. The derivative goes to
// +infinity at -alpha and is negative for large theta, as u < n.
func (s *sample) pitmanTheta(alpha float64) (float64, bool) {
	n, u := s.records, s.classes
	slope := func(theta float64) float64 {
		return harmonic(theta, alpha, u) - (mathext.Digamma(theta+n) - mathext.Digamma(theta+1))
	}
	// theta = exp(t) - alpha keeps it inside.
	low, high := -30.0, 1.0
	for slope(math.Exp(high)-alpha) > 0 {
		low = high
		high += 4
		if high > 80 {
			return 0, false
		}
	}
	for range 100 {
		t := (low + high) / 2
		if slope(math.Exp(t)-alpha) > 0 {
			low = t
		} else {
			high = t
		}
		if high-low < 1e-13 {
			break
		}
	}
	theta := math.Exp((low+high)/2) - alpha
	return theta, theta > -alpha
}

// logGammaRatio is log Gamma(a) - log Gamma(b) for a, b > 0 that lie within 1
// of each other. The plain difference loses all digits when both are large;
// from 1e4 on Stirling's series, whose next term is below 1e-13, is used:
// log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + 1/(12x) - ...
func logGammaRatio(a, b float64) float64 {
	if math.Min(a, b) < 1e4 {
		x, _ := math.Lgamma(a)
		y, _ := math.Lgamma(b)
		return x - y
	}
	d := a - b
	// (a-1/2) log a - (b-1/2) log b = d log a + (b-1/2) log(1 + d/b)
	return d*math.Log(a) + (b-0.5)*math.Log1p(d/b) - d + (1/a-1/b)/12
}
