package partition

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/space"
)

// vmdav is V-MDAV (Solanas and Martínez-Ballesté 2006). The seed of a group is
// the unassigned record farthest from the centre of all; its k-1 nearest join,
// then the unassigned record nearest to any member, as long as that distance is
// less than gamma times its distance to its own nearest unassigned record and
// the group has fewer than limit records (2k-1; the paper prints 2k). Fewer
// than k left over go to the groups with the nearest centres, which stay where
// they are. Distances are Euclidean, not squared. Time n²/k.
func vmdav(ctx context.Context, s *space.Space, k int, gamma float64, limit int, progress noren.Progress) (space.Partition, error) {
	g := newGrouping(s.Len())
	p := newPool(s)
	seeds := byDistanceFromCentre(s, p)
	near := make([]float64, s.Len()) // squared distance to the group in the making
	var centres []*space.Centroid
	for p.left >= k {
		if g.p.Groups%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return space.Partition{}, err
			}
			progress.Report("partition", int64(s.Len()-p.left), int64(s.Len()))
		}
		for p.gone[seeds[0]] {
			seeds = seeds[1:]
		}
		group, _ := p.around(s, seeds[0], k)
		p.take(group...)
		for _, i := range p.points.ID {
			near[i] = math.Inf(1)
		}
		for _, i := range group {
			p.approach(s, i, near)
		}
		for len(group) < limit && p.left > 0 {
			next := p.nearestOf(near)
			if !(math.Sqrt(near[next]) < gamma*math.Sqrt(p.nearestTo(s, next))) {
				break
			}
			group = append(group, next)
			p.take(next)
			p.approach(s, next, near)
		}
		g.add(group...)
		c := s.NewCentroid()
		for _, i := range group {
			c.Add(i)
		}
		centres = append(centres, c)
	}
	for _, i := range p.points.ID {
		if p.gone[i] {
			continue
		}
		best, far := 0, math.Inf(1)
		for j, c := range centres {
			if d := c.Distance2(i); d < far {
				best, far = j, d
			}
		}
		g.p.Group[i] = uint32(best)
	}
	return g.p, nil
}

// byDistanceFromCentre lists all records, the farthest from the centre of all
// first, the lowest of several.
func byDistanceFromCentre(s *space.Space, p *pool) []int32 {
	centre := s.NewCentroid()
	order := make([]int32, s.Len())
	for i := range order {
		order[i] = int32(i)
		centre.Add(int32(i))
	}
	distance := make([]float64, s.Len())
	p.scan(func(lo int, out []float64) { p.points.CentreDistances2(centre, lo, out) }, func(id int32, d float64) { distance[id] = d })
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(distance[b], distance[a]), cmp.Compare(a, b))
	})
	return order
}

// approach lowers near to the squared distance of record i, where that is
// less.
func (p *pool) approach(s *space.Space, i int32, near []float64) {
	s.Target(&p.target, i)
	p.scan(func(lo int, out []float64) { p.points.Distances2(&p.target, lo, out) }, func(id int32, d float64) {
		near[id] = min(near[id], d)
	})
}

// nearestOf is the record here of the least near, the lowest of several.
func (p *pool) nearestOf(near []float64) int32 {
	best, d := int32(-1), math.Inf(1)
	for _, i := range p.points.ID {
		if !p.gone[i] && (best < 0 || near[i] < d) {
			best, d = i, near[i]
		}
	}
	return best
}

// nearestTo is the squared distance of record i to the nearest other here,
// infinite when there is none.
func (p *pool) nearestTo(s *space.Space, i int32) float64 {
	s.Target(&p.target, i)
	best := math.Inf(1)
	p.scan(func(lo int, out []float64) { p.points.Distances2(&p.target, lo, out) }, func(id int32, d float64) {
		if id != i {
			best = min(best, d)
		}
	})
	return best
}
