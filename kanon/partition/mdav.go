package partition

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/space"
)

// grouping collects groups as they are made.
type grouping struct {
	p space.Partition
}

func newGrouping(n int) *grouping {
	return &grouping{p: space.Partition{Group: make([]uint32, n)}}
}

func (g *grouping) add(ids ...int32) {
	for _, i := range ids {
		g.p.Group[i] = uint32(g.p.Groups)
	}
	g.p.Groups++
}

// checkEvery is after how many groups a context is looked at and progress
// told.
const checkEvery = 64

// mdav is MDAV (Domingo-Ferrer and Torra 2005). While 3k records remain: r is
// the one farthest from the centre of the remaining, s the one farthest from r;
// a group of the k nearest around each. When s is among r's nearest, the
// farthest that is left from r replaces it. Then one group more around the
// farthest if 2k remain, and the rest is the last. Time n²/k.
func mdav(ctx context.Context, s *space.Space, k int, progress noren.Progress) (space.Partition, error) {
	g := newGrouping(s.Len())
	p := newPool(s)
	centre := s.NewCentroid()
	for i := range s.Len() {
		centre.Add(int32(i))
	}
	take := func(ids []int32) {
		for _, i := range ids {
			centre.Remove(i)
		}
		p.take(ids...)
		g.add(ids...)
	}
	for p.left >= 3*k {
		if g.p.Groups%checkEvery < 2 {
			if err := ctx.Err(); err != nil {
				return space.Partition{}, err
			}
			progress.Report("partition", int64(s.Len()-p.left), int64(s.Len()))
		}
		r := p.farthest(centre)
		first, opposite := p.around(s, r, k)
		take(first)
		if p.gone[opposite] {
			opposite = p.farthestFrom(s, r)
		}
		second, _ := p.around(s, opposite, k)
		take(second)
	}
	if p.left >= 2*k {
		group, _ := p.around(s, p.farthest(centre), k)
		take(group)
	}
	if p.left > 0 {
		var rest []int32
		for _, i := range p.points.ID {
			if !p.gone[i] {
				rest = append(rest, i)
			}
		}
		g.add(rest...)
	}
	return g.p, nil
}

// farthestFrom is the record here farthest from record r, the lowest of
// several.
func (p *pool) farthestFrom(s *space.Space, r int32) int32 {
	s.Target(&p.target, r)
	best, far := int32(-1), -1.0
	p.scan(func(lo int, out []float64) { p.points.Distances2(&p.target, lo, out) }, func(id int32, d float64) {
		if d > far {
			best, far = id, d
		}
	})
	return best
}
