package partition

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// pool holds the records that are not in a group yet, in ascending order, laid
// out for scanning.
type pool struct {
	points *space.Points
	gone   []bool // by record
	left   int    // records still here; positions may hold some that are gone
	target space.Target
	out    []float64

	// For farthest: how far the centre has come since the first one that was
	// asked about, and for each position what its distance was when it was last
	// measured, less how far the centre had come by then.
	centre *space.Centroid
	way    float64
	bound  []float64
	meter  space.Meter
}

func newPool(s *space.Space) *pool {
	return &pool{points: s.NewPoints(nil), gone: make([]bool, s.Len()), left: s.Len(), out: make([]float64, block)}
}

// newPoolOf is a pool of the given records alone; gone, one entry a record of
// the space, is memory that pools may share one after the other.
func newPoolOf(s *space.Space, ids []int32, gone []bool) *pool {
	for _, i := range ids {
		gone[i] = false
	}
	return &pool{points: s.NewPoints(slices.Clone(ids)), gone: gone, left: len(ids), out: make([]float64, block)}
}

// take takes records out.
func (p *pool) take(ids ...int32) {
	for _, i := range ids {
		p.gone[i] = true
	}
	p.left -= len(ids)
	// Scans skip what is gone; when it is a sixth of all, it is dropped.
	if len(p.points.ID)-p.left > len(p.points.ID)/6 {
		if p.bound != nil {
			to := 0
			for at, id := range p.points.ID {
				if !p.gone[id] {
					p.bound[to] = p.bound[at]
					to++
				}
			}
			p.bound = p.bound[:to]
		}
		p.points.Keep(func(at int) bool { return !p.gone[p.points.ID[at]] })
	}
}

// block is the number of positions that are scanned at a time.
const block = 512

// scan calls see for every record here with its squared distance to a point,
// in ascending order of records. fill writes the distances of a run.
func (p *pool) scan(fill func(lo int, out []float64), see func(id int32, d float64)) {
	for lo := 0; lo < len(p.points.ID); lo += block {
		out := p.out[:min(block, len(p.points.ID)-lo)]
		fill(lo, out)
		ids := p.points.ID[lo : lo+len(out)]
		for i, d := range out {
			if !p.gone[ids[i]] {
				see(ids[i], d)
			}
		}
	}
}

// farthest is the record farthest from a centre, the lowest of several.
//
// From one call to the next the centre moves a little, and no distance can grow
// by more than that: what was measured before bounds what it can be now, and
// only the records that may be the farthest are measured again.
func (p *pool) farthest(c *space.Centroid) int32 {
	switch {
	case p.bound == nil:
		p.bound = make([]float64, len(p.points.ID))
		for at := range p.bound {
			p.bound[at] = math.Inf(1)
		}
	default:
		p.way += math.Sqrt(max(0, c.Between(p.centre))) * (1 + bounded)
	}
	p.centre = c.CopyTo(p.centre)
	p.points.Meter(&p.meter, c)
	best, far := int32(-1), -1.0
	measure := func(at int) {
		d := p.points.Measure(&p.meter, at)
		p.bound[at] = math.Sqrt(d)*(1+bounded) - p.way
		if id := p.points.ID[at]; d > far || d == far && id < best {
			best, far = id, d
		}
	}
	// The record of the largest bound first: most others then need no look.
	first := -1
	for at, id := range p.points.ID {
		if !p.gone[id] && (first < 0 || p.bound[at] > p.bound[first]) {
			first = at
		}
	}
	measure(first)
	least := math.Sqrt(far) - p.way
	for at, id := range p.points.ID {
		if p.bound[at] < least || at == first || p.gone[id] {
			continue
		}
		measure(at)
		least = math.Sqrt(far) - p.way
	}
	return best
}

// bounded is more than the share by which a bound may be off by rounding: of
// sums of at most thousands of terms, and of as many ways.
const bounded = 1e-9

// around is the k-1 records nearest to record r, after r itself, and the
// record farthest from r. Equal distances go by record.
func (p *pool) around(s *space.Space, r int32, k int) (group []int32, farthest int32) {
	s.Target(&p.target, r)
	near := newNearest(k - 1)
	far := -1.0
	farthest = -1
	p.scan(func(lo int, out []float64) { p.points.Distances2(&p.target, lo, out) }, func(id int32, d float64) {
		if id == r {
			return
		}
		near.offer(id, d)
		if d > far {
			farthest, far = id, d
		}
	})
	return append([]int32{r}, near.ids...), farthest
}

// nearest keeps the q records of smallest distance that it was offered, those
// offered first among equals.
type nearest struct {
	q   int
	ids []int32
	d   []float64
}

func newNearest(q int) *nearest { return &nearest{q: q} }

func (n *nearest) offer(id int32, d float64) {
	if len(n.ids) == n.q {
		if n.q == 0 || d >= n.d[n.q-1] {
			return
		}
		n.ids, n.d = n.ids[:n.q-1], n.d[:n.q-1]
	}
	at := len(n.ids)
	n.ids, n.d = append(n.ids, id), append(n.d, d)
	for at > 0 && d < n.d[at-1] {
		n.ids[at], n.d[at] = n.ids[at-1], n.d[at-1]
		at--
	}
	n.ids[at], n.d[at] = id, d
}
