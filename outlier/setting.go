package outlier

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table/axis"
)

// Coverage is the functional F that bounds how many points of a set one ball of
// radius r can hold. Every choice is admissible (docs/outliers.md, "Smooth bounds"):
// monotone, 1-Lipschitz, and never too small. It must be chosen from public
// facts.
type Coverage uint8

const (
	// CoverAuto is exact on a line, where it costs nothing, and the core
	// functional elsewhere.
	CoverAuto Coverage = iota
	// CoverCore is 1 + the degeneracy of the graph of points within 2r.
	CoverCore
	// CoverExact is the largest number itself. For one and two dimensions
	// only; in the plane it takes time O(n^2 log n) at the worst.
	CoverExact
)

// Setting is the query and the relation it is protected for; all of it public.
type Setting struct {
	// K: a record with fewer than K others within the radius is an outlier.
	// Required, 1 at least.
	K int
	// Radius2 is the squared radius, in squared units of the coordinates.
	// Required, 0 at least.
	Radius2 int64
	// Neighbours is the relation. Defaults to add-remove.
	Neighbours account.Neighbours
	// Coverage defaults to CoverAuto.
	Coverage Coverage
}

const (
	maxRadius2 = int64(1) << 60 // keeps 4 r^2 within an int64
	maxK       = 1 << 30
)

func (s Setting) validate(d int) error {
	switch {
	case s.K < 1 || s.K > maxK:
		return noren.Usagef("k", "k must lie between 1 and %d", maxK)
	case s.Radius2 < 0 || s.Radius2 > maxRadius2:
		return noren.Usagef("radius", "the squared radius must lie between 0 and 2^60 squared units").Hinted("choose a coarser step")
	case s.Neighbours > account.ReplaceOne:
		return noren.Usagef("neighbours", "neighbours are add-remove or replace-one")
	case s.Coverage > CoverExact:
		return noren.Usagef("coverage", "coverage is automatic, core or exact")
	case s.Coverage == CoverExact && d > 2:
		return noren.Usagef("coverage", "exact coverage is for one and two dimensions").Hinted("use the core functional")
	}
	return nil
}

// IsOutlier reports whether a record with that many others within the radius is
// an outlier.
func (s Setting) IsOutlier(degree int) bool { return degree < s.K }

// NewPoints makes points of d integer coordinates from coords, record by record, which
// it keeps. Distances between them are exact. unplaced records have no point: they have
// no neighbours, and are outliers whatever the radius. Error: [noren.Usage].
func NewPoints(d int, coords []int32, unplaced int) (*axis.Points[int32], error) {
	p := &axis.Points[int32]{Dim: d, Data: coords, Unplaced: unplaced}
	if d >= 1 {
		p.Rows = len(coords) / d
	}
	if err := checkPoints(p); err != nil {
		return nil, err
	}
	return p, nil
}

// checkPoints refuses points that are none.
func checkPoints(p *axis.Points[int32]) error {
	switch {
	case p.Dim < 1 || p.Rows < 0 || len(p.Data) != p.Rows*p.Dim:
		return noren.Usagef("points", "the number of coordinates must be a multiple of the dimension")
	case p.Unplaced < 0 || int64(p.Rows)+int64(p.Unplaced) > math.MaxInt32:
		return noren.Usagef("points", "there must be fewer than 2^31 records")
	}
	return nil
}
