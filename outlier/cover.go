package outlier

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren/internal/geom"
)

// cover is a coverage functional on runs of records in order of degree.
type cover interface {
	// most returns the smaller of limit and F of the records at [first, end)
	// of the profile's order. first < end and limit > 0.
	most(ctx context.Context, first, end, limit int) (int, error)
}

// lineCover is exact coverage on a line: the largest number of points that an
// interval of length 2r holds.
type lineCover struct {
	p     *profile
	place []int32 // where in the profile's order the points stand, from left to right
}

func newLineCover(p *profile) *lineCover {
	c := &lineCover{p: p, place: make([]int32, len(p.order))}
	for i := range c.place {
		c.place[i] = int32(i)
	}
	x := p.points.Data
	slices.SortFunc(c.place, func(a, b int32) int {
		return int(int64(x[p.order[a]]) - int64(x[p.order[b]]))
	})
	return c
}

// most slides a window over the points, in O(n).
func (c *lineCover) most(ctx context.Context, first, end, limit int) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	p := c.p
	reach := 4 * p.set.Radius2
	inside := make([]int64, 0, end-first)
	for _, at := range c.place {
		if int(at) >= first && int(at) < end {
			inside = append(inside, int64(p.points.Data[p.order[at]]))
		}
	}
	best, left := 0, 0
	for right, x := range inside {
		for (x-inside[left])*(x-inside[left]) > reach {
			left++
		}
		best = max(best, right-left+1)
	}
	return min(best, limit), nil
}

// coreCover is the core functional: the largest c such that some of the points
// form a set in which each has c points, itself among them, within 2r. A ball
// of radius r is such a set, so it is never too small; it is monotone, and one
// point more raises it by at most one (docs/outliers.md, section 4).
type coreCover struct {
	p      *profile
	graph  *geom.Lists // on the first records of the profile's order
	peeler geom.Peeler
}

// graphMemory is about how many bytes of the near graph are kept.
const graphMemory = 3 << 29

func (c *coreCover) most(ctx context.Context, first, end, limit int) (int, error) {
	if err := c.grow(ctx, end); err != nil {
		return 0, err
	}
	return c.graph.Core(first, end, limit, &c.peeler), ctx.Err()
}

// grow makes the graph of points within 2r hold the first end records in order
// of degree at least.
func (c *coreCover) grow(ctx context.Context, end int) error {
	if c.graph != nil && c.graph.Len() >= end {
		return nil
	}
	p := c.p
	// Small sets are taken whole, so that they are built once.
	if n := len(p.order); n <= 1<<12 {
		end = n
	}
	d := p.dim
	coords := make([]int32, 0, end*d)
	for _, i := range p.order[:end] {
		coords = append(coords, p.points.Data[int(i)*d:][:d]...)
	}
	c.graph = nil
	tree, err := geom.NewTree(d, coords)
	if err != nil {
		return err
	}
	c.graph, err = geom.NewLists(ctx, tree, 4*p.set.Radius2, graphMemory)
	return err
}
