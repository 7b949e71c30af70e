package assess

import (
	"math"

	"github.com/noren-privacy/noren"
)

// snb is the slide negative binomial model of Chen and Keller-McNulty
// (Estimation of identification disclosure risk in microdata, Journal of
// Official Statistics 14:79-95, 1998). A class of the population has
// F = 1 + X records, X negative binomial with P(X=0) = beta^alpha, so that K
// classes hold K beta^alpha uniques. Records enter the sample with
// probability f each; let d = (1-beta)(1-f) and D = 1 - d. With
// G(z) = (beta/(1-(1-beta)z))^alpha, the expected numbers of sample classes of
// one and two records are
//
//	g1 = K f (G + zG')         at z=1-f = K f (beta/D)^alpha (alpha d/D + 1)
//	g2 = K f^2/2 (2G' + zG'')  at z=1-f
//	   = K f^2/2 alpha (1-beta) beta^alpha (2 - (1-alpha)d) / D^(alpha+2).
//
// They are set equal to s_1 and s_2, and the size of the population to N:
// K (1 + alpha (1-beta)/beta) = N. (The literature puts Shlosser's estimate in
// the place of K. It is not consistent under this model: with Haas and Stokes'
// Sh3 the estimate was off by 17, 13, 2 and 57 % in the four simulations of the
// tests, where this stays within their noise. Beware when comparing with ARX:
// its ModelSNB multiplies by D^(alpha+2) in the second equation; the division
// above is what follows from the model.)
//
// Given beta, g2/g1 = s_2/s_1 is a quadratic equation in alpha with one
// positive root, which leaves one equation in beta: it is solved by scanning
// (0,1) for changes of sign and bisecting. The number of sample classes
//
//	K (1 - (1-f) G(1-f)) = K (1 - (1-f) (beta/D)^alpha)
//
// was not used and tells whether the model fits: within a twentieth and four
// Poisson standard deviations of u. Of several roots the closest is taken.
func (s *sample) snb() Estimate {
	switch {
	case s.pairs == 0:
		return absent(noren.Textf("the sample has no class of two records, which the model is fitted to"))
	case s.uniques == s.records:
		return absent(noren.Textf("every record of the sample is unique, which leaves nothing to fit a model to"))
	}
	best, off := 0.0, math.Inf(1)
	miss := func(logit float64) float64 { return s.snbGivenBeta(logit).g1 - s.uniques }
	const step = 0.05
	before := miss(-14)
	for x := -14.0; x < 14; x += step {
		after := miss(x + step)
		if before*after <= 0 && before != after {
			low, high := x, x+step
			for range 60 {
				if mid := (low + high) / 2; miss(mid)*before > 0 {
					low = mid
				} else {
					high = mid
				}
			}
			fit := s.snbGivenBeta((low + high) / 2)
			if o := math.Abs(fit.sampleClasses - s.classes); o < off {
				best, off = fit.uniques, o
			}
		}
		before = after
	}
	switch {
	case math.IsInf(off, 1):
		return absent(noren.Textf("no parameters of the model give the sample's classes of one and two records"))
	case off > 0.05*s.classes+4*math.Sqrt(s.classes):
		return absent(noren.Textf("the model's best fit does not give the number of classes that the sample has"))
	case math.IsNaN(best) || best < 0 || best > s.population:
		return absent(noren.Textf("the fitted model gives no usable figure"))
	}
	return s.estimate(best)
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// snbFit is the model with beta given and alpha and K chosen for it.
type snbFit struct{ alpha, uniques, g1, sampleClasses float64 }

// snbGivenBeta solves g2/g1 = s_2/s_1 for alpha, and N for K. With r = s_2/s_1
// the first is
//
//	f (1-beta) alpha (2 - d + alpha d) = 2 D r (alpha d + D),
//
// a quadratic whose constant term is negative and whose leading one is
// positive: exactly one positive root. beta is given as log(beta/(1-beta)).
func (s *sample) snbGivenBeta(logit float64) snbFit {
	beta, rest := logistic(logit), logistic(-logit) // rest = 1 - beta, to full precision
	f := s.fraction
	d := rest * (1 - f)
	dd := beta + rest*f // D = 1 - d
	r := s.pairs / s.uniques
	a := f * rest * d
	b := f*rest*(2-d) - 2*dd*r*d
	c := -2 * dd * dd * r
	alpha, root := 0.0, math.Sqrt(b*b-4*a*c)
	if b > 0 {
		alpha = -2 * c / (b + root)
	} else {
		alpha = (root - b) / (2 * a)
	}
	k := s.population / (1 + alpha*rest/beta)
	g := math.Pow(beta/dd, alpha)
	return snbFit{
		alpha:         alpha,
		uniques:       k * math.Pow(beta, alpha),
		g1:            k * f * g * (alpha*d/dd + 1),
		sampleClasses: k * (1 - (1-f)*g),
	}
}
