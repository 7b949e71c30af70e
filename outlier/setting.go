package outlier

import (
	"fmt"
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// Coverage is the functional F that bounds how many points of a set one ball of
// radius r can hold. Every choice is admissible (design note, section 4):
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
		return usage("k", fmt.Sprintf("k must lie between 1 and %d", maxK), "")
	case s.Radius2 < 0 || s.Radius2 > maxRadius2:
		return usage("radius", "the squared radius must lie between 0 and 2^60 squared units", "choose a coarser step")
	case s.Neighbours > account.ReplaceOne:
		return usage("neighbours", "neighbours are add-remove or replace-one", "")
	case s.Coverage > CoverExact:
		return usage("coverage", "coverage is automatic, core or exact", "")
	case s.Coverage == CoverExact && d > 2:
		return usage("coverage", "exact coverage is for one and two dimensions", "use the core functional")
	}
	return nil
}

// IsOutlier reports whether a record with that many others within the radius is
// an outlier.
func (s Setting) IsOutlier(degree int) bool { return degree < s.K }

// Points are records as points of integer coordinates. Distances between them
// are exact.
type Points struct {
	dim    int
	coords []int32 // of the records that have a place, dim to a record
	alone  int     // records without a place
}

// NewPoints makes points of d coordinates from coords, record by record, which
// it keeps. alone records have no place: they have no neighbours, and are
// outliers whatever the radius.
func NewPoints(d int, coords []int32, alone int) (*Points, error) {
	switch {
	case d < 1 || len(coords)%d != 0:
		return nil, usage("points", "the number of coordinates must be a multiple of the dimension", "")
	case alone < 0 || int64(len(coords)/d)+int64(alone) > math.MaxInt32:
		return nil, usage("points", "there must be fewer than 2^31 records", "")
	}
	return &Points{dim: d, coords: coords, alone: alone}, nil
}

// Len is the number of records, those without a place among them.
func (p *Points) Len() int { return len(p.coords)/p.dim + p.alone }

// Dim is the number of coordinates.
func (p *Points) Dim() int { return p.dim }

func usage(where, what, hint string) error {
	return &noren.Error{Kind: noren.Usage, Where: where, What: what, Hint: hint}
}
