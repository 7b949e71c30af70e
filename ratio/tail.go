package ratio

import "math"

// twoSided is P(|X| > c) for X the sum of independent Laplace noise of the scales s1 and s2
// and of a normal error of standard deviation sigma. The density of the sum of two Laplace
// variables is (s1 e^(-|x|/s1) - s2 e^(-|x|/s2)) / (2 (s1^2 - s2^2)), a signed mixture of the
// two, so that the tail is that mixture of the tails with one of them.
func twoSided(c, s1, s2, sigma float64) float64 {
	s1, s2 = max(s1, s2), min(s1, s2)
	if s2 <= 0 {
		return laplaceNormal(c, s1, sigma)
	}
	s1 = max(s1, s2*(1+1e-4)) // the mixture is a limit where both are equal
	p := (s1*s1*laplaceNormal(c, s1, sigma) - s2*s2*laplaceNormal(c, s2, sigma)) / (s1*s1 - s2*s2)
	return min(1, max(0, p))
}

// laplaceNormal is P(|X| > c) for X the sum of Laplace noise of scale s and of a normal error
// of standard deviation sigma: with z = c/sigma and r = sigma/s,
//
//	2 Q(z) + e^(r^2/2 - r z) Q(r - z) - e^(r^2/2 + r z) Q(r + z),   Q the normal upper tail,
//
// the integral of the Laplace tail over the normal density. The products are computed by
// e^(x^2/2) Q(x), which neither overflows nor underflows.
func laplaceNormal(c, s, sigma float64) float64 {
	switch {
	case s <= 0 && sigma <= 0:
		return 0
	case s <= 0:
		return math.Erfc(c / sigma / math.Sqrt2)
	case sigma <= s*1e-6:
		return math.Exp(-c / s)
	}
	z, r := c/sigma, sigma/s
	near := math.Exp(r*r/2-r*z) * upper(r-z)
	if r > z {
		near = math.Exp(-z*z/2) * scaledUpper(r-z)
	}
	return min(1, max(0, 2*upper(z)+near-math.Exp(-z*z/2)*scaledUpper(r+z)))
}

// upper is the upper tail of the standard normal distribution.
func upper(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }

// scaledUpper is e^(x^2/2) times the upper tail, for x of at least 0.
func scaledUpper(x float64) float64 {
	if x > 30 {
		return (1 - 1/(x*x)) / (x * math.Sqrt(2*math.Pi))
	}
	return math.Exp(x*x/2) * upper(x)
}
