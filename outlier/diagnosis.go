package outlier

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table/axis"
)

// Diagnosis is the sensitivity from which the noise of a release is made. It is computed
// from private data without noise: it must not be released.
type Diagnosis struct {
	// Degrees are the numbers of others within the radius, one per record with a place, in the
	// order of the points.
	Degrees []int32 `json:"degrees"`
	// Query is the number of outliers.
	Query int `json:"query"`
	// U is a list of bounds: for each t from 0 on, a bound on the local sensitivity of all
	// data sets that differ from this one in t records.
	U []int64 `json:"U"`
	// G is a bound on the global sensitivity.
	G int64 `json:"G"`
	// S are smooth bounds, one per requested beta.
	S []SmoothBound `json:"S"`
}

// SmoothBound is S = max_t e^{-beta t} U_t.
type SmoothBound struct {
	// Beta is the smoothness.
	Beta float64 `json:"beta"`
	// S is the bound.
	S float64 `json:"S"`
}

// Diagnose computes everything for a set of points: degrees, the query, U_t for
// t = 0..upTo (none if upTo < 0) and S for each beta > 0. The result is private.
func Diagnose(ctx context.Context, points *axis.Points[int32], set Setting, upTo int, betas []float64) (*Diagnosis, error) {
	for _, b := range betas {
		if !(b > 0) || math.IsInf(b, 1) {
			return nil, noren.Usagef("beta", "beta must be greater than 0 and finite")
		}
	}
	p, err := newProfile(ctx, points, set, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	d := &Diagnosis{Degrees: p.degree, Query: p.query(), G: p.cap, U: []int64{}, S: []SmoothBound{}}
	for t := 0; t <= upTo; t++ {
		u := p.cap
		// U_t does not fall with t and does not exceed the cap.
		if t == 0 || d.U[t-1] < p.cap {
			if u, err = p.bound(ctx, t); err != nil {
				return nil, err
			}
		}
		d.U = append(d.U, u)
	}
	for _, b := range betas {
		s, err := p.smooth(ctx, b)
		if err != nil {
			return nil, err
		}
		d.S = append(d.S, SmoothBound{b, s})
	}
	return d, nil
}

// Degrees returns, for each record with a place, the smaller of limit and the
// number of others within the squared radius. It is private.
func Degrees(ctx context.Context, points *axis.Points[int32], radius2 int64, limit int) ([]int32, error) {
	set := Setting{K: 1, Radius2: radius2}
	if err := set.validate(points.Dim); err != nil {
		return nil, err
	}
	p, err := newProfile(ctx, points, set, limit)
	if err != nil {
		return nil, err
	}
	return p.degree, nil
}

// Cover returns F of all points: how many of them one ball of the squared radius
// can hold at most, as coverage bounds it. It is private.
func Cover(ctx context.Context, points *axis.Points[int32], radius2 int64, coverage Coverage) (int, error) {
	p, err := newProfile(ctx, points, Setting{K: 1, Radius2: radius2, Coverage: coverage}, 0)
	if err != nil {
		return 0, err
	}
	c, err := p.covered(ctx, 0, 0, int64(p.n))
	return int(c), err
}

// MaxRecords is the largest number of records for d columns: it bounds time and
// memory by public facts, as no computation is ever cut short.
func MaxRecords(d int) int {
	switch {
	case d <= 3:
		return 20_000_000
	case d <= 8:
		return 1_000_000
	}
	return 200_000
}

func checkRecords(n, d int) error {
	if most := MaxRecords(d); n > most {
		return &noren.Error{
			Kind: noren.Usage, Where: "records", Code: codeTooMany, What: "expected at most %d records for %d {column|columns}",
			Args: []any{most, d}, Hint: "use fewer columns, or sample the records first",
		}
	}
	return nil
}
