package outlier

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren/account"
)

// strictKissing holds bounds of tau'_d, the largest number of points of a closed
// unit ball of R^d with pairwise distances > 1, for d = 1, 2, ..: two points of
// at most unit length at an angle of at most 60 degrees are at most 1 apart, so
// that tau'_d is at most the kissing number. d = 1, 2: exact (six directions
// cannot all be more than 60 degrees apart). 3-12: the semidefinite bounds of
// Mittelmann and Vallentin (2010), exact for 3, 4 and 8. 13-40: Levenshtein's
// bound at s = 1/2, recomputed in testdata/golden.json.
var strictKissing = [...]int64{
	0, 2, 5, 12, 24, 44, 78, 134, 240, 364, 554, 870, 1357,
	2328, 3546, 5460, 8364, 12373, 18199, 26771, 39655, 59693, 88391, 130340, 196560,
	282687, 403767, 575641, 823484, 1189516, 1749877, 2544312, 3675672, 5435486, 7708395,
	10814753, 15139956, 21249596, 30064145, 43178460, 63102780,
}

// StrictKissing returns an upper bound of the largest number of points of a
// closed unit ball of R^d, d >= 1, with pairwise distances greater than 1. From
// d = 41 on it is the smaller of two safe bounds: [capBound] and 3^d - 1, as
// balls of half the radius about the points are disjoint. It stops at 2^62.
func StrictKissing(d int) int64 {
	if d < len(strictKissing) {
		return strictKissing[max(d, 0)]
	}
	const most = int64(1) << 62
	if v := math.Min(capBound(d), math.Pow(3, float64(d))-1); v < float64(most) {
		return int64(v)
	}
	return most
}

// capBound is floor(2 / I_{1/4}((d-1)/2, 1/2)), d >= 2, with I the regularised
// incomplete beta function: caps of 30 degrees about the points of a kissing
// arrangement are disjoint, and this is how often the share of one goes into
// the sphere. The error of I is far below the part in 1e9 that is added.
func capBound(d int) float64 {
	return math.Floor(2 / mathext.RegIncBeta(float64(d-1)/2, 0.5, 0.25) * (1 + 1e-9))
}

// GlobalSensitivity returns an upper bound of how much the number of outliers
// can differ between neighbouring data sets, whatever the data: for replace-one
// with n records 0 if n <= k, else min(n, tau'_d k + 1); for add-remove, where
// n is not used, tau'_d k (docs/outliers.md, theorem 1). It stops at 2^62.
func GlobalSensitivity(neighbours account.Neighbours, n, d, k int) int64 {
	const most = int64(1) << 62
	g := most
	if tau := StrictKissing(d); tau <= (most-1)/int64(k) {
		g = tau * int64(k)
	}
	if neighbours == account.AddRemove {
		return g
	}
	if n <= k {
		return 0
	}
	return min(int64(n), g+1)
}
