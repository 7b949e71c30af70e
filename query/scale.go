package query

import (
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
)

// additive says what one record adds to the vector of exact figures that noise is
// added to: cells times coords whole numbers, of which a record touches the coords
// of one cell. A record that is left out (by the predicate, the keys, a missing
// value) adds nothing.
type additive struct {
	cells, coords int
	// lo <= 0 <= hi bound what one record adds where coords is 1. Where it is more,
	// lo is 0 and what a record adds are numbers of at least 0 with sum hi.
	lo, hi int64
}

// sensitivity is by how much one unit changes the vector.
type sensitivity struct {
	l1       *big.Int
	l2Square *big.Int
	// single: only one coordinate changes, by l1.
	single bool
}

// sensitivity bounds the change for units of at most rows records.
//
// Let K be the convex hull of what one record can add, with 0. A unit adds a point
// of rows*K (a Minkowski sum of convex sets). The vectors of neighbours differ by u
// - v with u in rows*K and v = 0 in add-remove, with both in rows*K in replace-one;
// norms are convex, so that their maxima are at the vertices of rows*K, where all
// records of a unit are alike.
//
// One coordinate a cell: the vertices are 0, rows*hi and rows*lo in one cell. With m
// = max(hi, -lo) and r = hi - lo,
//
//	add-remove   L1 = rows m, L2 = rows m, in one coordinate alone if the unit's
//	             records lie in one cell (one cell, or rows = 1)
//	replace-one  same cell: rows r; two cells: L1 = 2 rows m, L2^2 = 2 (rows m)^2
//
// Several coordinates: what a record adds is >= 0 with sum hi, so that L2 <= L1 = hi.
//
//	add-remove   L1 = rows hi, L2^2 <= (rows hi)^2
//	replace-one  L1 <= 2 rows hi, L2^2 = |u|^2 + |v|^2 - 2uv <= 2 (rows hi)^2, as uv >= 0
func (a additive) sensitivity(n account.Neighbours, rows int64) sensitivity {
	times := func(x *big.Int, y int64) *big.Int { return new(big.Int).Mul(x, big.NewInt(y)) }
	most := times(big.NewInt(rows), max(a.hi, -a.lo))
	square := new(big.Int).Mul(most, most)
	if n == account.AddRemove {
		return sensitivity{most, square, a.coords == 1 && (a.cells == 1 || rows == 1)}
	}
	two := sensitivity{l1: times(most, 2), l2Square: times(square, 2)}
	if a.coords > 1 {
		return two
	}
	spread := times(big.NewInt(rows), a.hi-a.lo)
	within := new(big.Int).Mul(spread, spread)
	if a.cells == 1 {
		return sensitivity{spread, within, true}
	}
	if within.Cmp(two.l2Square) > 0 {
		two.l2Square = within
	}
	return two
}

// sampler is discrete noise, the same for every coordinate.
type sampler interface {
	Draw(src *noise.Source) (int64, error)
	Interval(level float64) int64
	Variance() float64
}

// NoiseParameters are the public parameters of a sampler.
type NoiseParameters struct {
	// Scale of Laplace, in steps of the grid, as a quotient of whole numbers.
	Scale string `json:"scale,omitempty"`
	// Sigma2, the variance parameter of Gaussian, likewise.
	Sigma2 string `json:"sigma2,omitempty"`
	// L1 or L2 squared, in steps of the grid.
	L1       string `json:"l1_sensitivity,omitempty"`
	L2Square string `json:"l2_sensitivity_squared,omitempty"`
	// Rho is the zCDP loss that the variance was taken from; empty where the exact
	// account of one coordinate was used.
	Rho string `json:"rho,omitempty"`
}

// newSampler makes the noise that meets cost for s:
//
//   - Laplace of scale L1/epsilon, exactly: epsilon-private (Dwork et al. 2006;
//     discrete: Ghosh, Roughgarden and Sundararajan 2009).
//   - Gaussian where one coordinate changes: the least variance by the exact delta of
//     discrete noise ([account.DiscreteGaussian]).
//   - Gaussian otherwise: the largest rho that [account.Rho.Cost] keeps within cost,
//     and sigma^2 = L2^2/(2 rho) (Canonne, Kamath and Steinke 2020, theorem 14).
//   - Gaussian where rho is stated: sigma^2 = L2^2/(2 rho), as above, and cost follows from
//     rho.
func newSampler(m Noise, cost account.Cost, rho account.Rho, s sensitivity) (sampler, NoiseParameters, error) {
	var p NoiseParameters
	if m == Laplace {
		scale, err := noise.ScaleFor(new(big.Rat).SetInt(s.l1), cost.Epsilon)
		if err != nil {
			return nil, p, err
		}
		l, err := noise.NewLaplace(scale)
		p.Scale, p.L1 = scale.RatString(), s.l1.String()
		return l, p, err
	}
	p.L2Square = s.l2Square.String()
	var sigma2 *big.Rat
	if rho > 0 {
		p.Rho = account.Decimal(int64(rho), 15)
		sigma2 = gaussianVariance(s, rho)
	} else if s.single && s.l1.IsInt64() {
		var err error
		if sigma2, err = account.DiscreteGaussian(cost, s.l1.Int64()); err != nil {
			return nil, p, err
		}
	} else {
		rho, err := account.RhoWithin(cost)
		if err != nil {
			return nil, p, err
		}
		p.Rho = account.Decimal(int64(rho), 15)
		sigma2 = gaussianVariance(s, rho)
	}
	p.Sigma2 = sigma2.RatString()
	g, err := noise.NewGaussian(sigma2)
	return g, p, err
}

// gaussianVariance is L2^2/(2 rho), the variance parameter of discrete Gaussian noise
// that is rho-zCDP.
func gaussianVariance(s sensitivity, rho account.Rho) *big.Rat {
	sigma2 := new(big.Rat).SetInt(s.l2Square)
	sigma2.Mul(sigma2, big.NewRat(account.RhoUnits, 2))
	return sigma2.Quo(sigma2, new(big.Rat).SetInt64(int64(rho)))
}

// gaussianRho is the zCDP loss of discrete Gaussian noise of that variance parameter,
// L2^2/(2 sigma^2), rounded up (CKS, theorem 14).
func gaussianRho(s sensitivity, sigma2 string) (account.Rho, error) {
	twice, ok := new(big.Rat).SetString(sigma2)
	if !ok || twice.Sign() <= 0 {
		return 0, &noren.Error{Where: "noise", What: "its variance is not a number above 0"}
	}
	twice.Add(twice, twice)
	return account.RhoUp(new(big.Rat).Quo(new(big.Rat).SetInt(s.l2Square), twice))
}

// grid brings the values of a column to whole numbers.
type grid struct {
	noise.Range
}

// width is the number of steps between the bounds.
func (g grid) width() int64 { return g.Hi() - g.Lo() }

// half is half a step, the most that rounding moves a value by.
func (g grid) half() float64 { return g.Value(1) / 2 }

// newGrid chooses the grid from the bounds, the kind and the type alone.
func newGrid(o *Options, whole bool) (grid, error) {
	steps, weight := int64(1)<<20, int64(maxWeight)
	switch o.Kind {
	case Variance:
		// What a record adds is the square of the width.
		steps, weight = 1<<12, 1<<15
	case Quantile:
		steps = 1 << 16
	}
	j := 0
	if o.GridBits != nil {
		j = *o.GridBits
	} else {
		if !whole {
			j = 400
		}
		for ; j > -64; j-- {
			g, err := noise.NewGrid(j)
			if err != nil {
				return grid{}, err
			}
			width, most := (o.Bounds.Hi-o.Bounds.Lo)/g.Value(1), max(-o.Bounds.Lo, o.Bounds.Hi)/g.Value(1)
			fits := width <= float64(weight) && (most <= maxWeight || o.Kind != Sum && most <= maxBound)
			if fits && (whole || width <= float64(steps)) {
				break
			}
		}
	}
	base, err := noise.NewGrid(j)
	if err != nil {
		return grid{}, err
	}
	r, err := base.Range(o.Bounds.Lo, o.Bounds.Hi)
	if err != nil {
		return grid{}, err
	}
	g := grid{r}
	switch {
	case g.width() < 1:
		return g, noren.Usagef("grid", "there is one point of the grid between the bounds: nothing would be asked").
			Hinted("use a finer grid or wider bounds")
	case g.width() > weight || o.Kind == Sum && max(-g.Lo(), g.Hi()) > maxWeight:
		return g, noren.Usagef("grid", "the bounds are more than %d steps of the grid", weight).Hinted("use a coarser grid or narrower bounds")
	}
	return g, nil
}
