package outlier

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/geom"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/outlier/paper"
)

// Curve is how a sensitivity bound grows with t, for replace-one neighbours.
type Curve struct {
	Dataset string  `json:"dataset"`
	N       int     `json:"n"`
	D       int     `json:"d"`
	K       int     `json:"k"`
	Radius  float64 `json:"r"`
	Query   int     `json:"query"`
	// U is ours, up to the t at which it is N.
	U []int64 `json:"U"`
	// Paper is the paper's bound, equation (23), capped by N, with the core
	// functional for its maxima over the domain. It is not smooth.
	Paper []int64 `json:"paper"`
}

// Sensitivity computes both curves for a set at a radius.
func Sensitivity(ctx context.Context, s *Set, r float64) (*Curve, error) {
	points, err := s.points()
	if err != nil {
		return nil, err
	}
	set := outlier.Setting{K: K, Radius2: radius2(r), Neighbours: account.ReplaceOne}
	d, err := outlier.Diagnose(ctx, points, set, s.Len(), nil)
	if err != nil {
		return nil, err
	}
	c := &Curve{Dataset: s.Name, N: s.Len(), D: s.Dimension, K: K, Radius: r, Query: d.Query, U: d.U}
	n := int64(s.Len())
	if at := slices.Index(c.U, n); at >= 0 {
		c.U = c.U[:at+1]
	}
	bound, err := paperBound(ctx, s.Dimension, s.coords, K, set.Radius2)
	if err != nil {
		return nil, err
	}
	for t := range s.Len() + 1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c.Paper = append(c.Paper, min(n, int64(bound(t))))
		if c.Paper[t] == n {
			break
		}
	}
	return c, nil
}

// paperBound is the paper's bound with the core functional for the maxima over
// the domain: an enumeration of balls in 30 dimensions would not end.
func paperBound(ctx context.Context, d int, coords []int32, k int, r2 int64) (func(t int) int, error) {
	n := len(coords) / d
	rows := make([][]int64, n)
	for i := range rows {
		for _, x := range coords[i*d : i*d+d] {
			rows[i] = append(rows[i], int64(x))
		}
	}
	data := paper.New(rows, k, r2)
	points, err := outlier.NewPoints(d, coords, 0)
	if err != nil {
		return nil, err
	}
	degrees, err := outlier.Degrees(ctx, points, r2, n)
	if err != nil {
		return nil, err
	}
	// In order of degree every window is a run.
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(degrees[a]) - int(degrees[b]) })
	place := make([]int, n)
	sorted := make([]int32, 0, len(coords))
	for at, i := range order {
		place[i] = at
		sorted = append(sorted, coords[i*d:i*d+d]...)
	}
	tree, err := geom.NewTree(d, sorted)
	if err != nil {
		return nil, err
	}
	near, err := geom.NewLists(ctx, tree, 4*r2, 1<<28)
	if err != nil {
		return nil, err
	}
	var p geom.Peeler
	core := func(window []int) int {
		if len(window) == 0 {
			return 0
		}
		first, last := n, 0
		for _, i := range window {
			first, last = min(first, place[i]), max(last, place[i])
		}
		return near.Core(first, last+1, n, &p)
	}
	return func(t int) int { return data.Bound(t, core) }, nil
}

// Smooth is max_t e^{-beta t} U_t for a curve whose last value is its largest.
func Smooth(u []int64, beta float64) float64 {
	best := 0.0
	for t, v := range u {
		best = max(best, math.Exp(-beta*float64(t))*float64(v))
	}
	return best
}
