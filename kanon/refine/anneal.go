package refine

import (
	"context"
	"math"

	"github.com/noren-privacy/noren/kanon/space"
)

// annealer changes a partition of a cell at a temperature: it also takes
// changes that raise the sum of squares by D, with probability exp(-D/T)
// (Kirkpatrick, Gelatt and Vecchi 1983).
//
// T is a share of what a record costs: of the two groups, so that outliers and
// dense places are searched alike, of the whole cell, or in between.
//
// Numeric axes are worked out from centres, the few words of a group's members
// directly. Centres and sums of squares follow each change by its own formula;
// [annealer.renewAll] works them out afresh now and then.
type annealer struct {
	k, limit int
	rows     *space.Rows
	dims     int
	words    bool // whether there are categories
	near     *neighbours
	group    []int32
	groups   []cluster
	centre   []float64 // groups*dims
	free     []int32   // empty groups
	slope    []float64 // dims
	records  []int32   // for use by one change at a time
	sources  []int32
	gains    []float64
	often    []alias // how often records are proposed; nil: all alike
	rng      draws
	heat     float64 // the temperature, as a share
	scale    scale   // of what
	mean     float64 // what a record of the cell costs at the start
}

// scale is what the temperature is a share of.
type scale uint8

const (
	local  scale = iota // what a record of the two groups costs
	middle              // the geometric mean of both
	global              // what a record of the cell costs
)

// cluster is a group under change.
type cluster struct {
	members []int32
	squares float64 // sum of squares of the numeric axes
	words   float64 // sum over pairs of what their words differ by
}

// cost is the sum of squares of the group: with W a sum of squared distances
// over pairs, that of m records is W/m.
func (c *cluster) cost() float64 {
	if len(c.members) == 0 {
		return 0
	}
	return c.squares + c.words/float64(len(c.members))
}

// newAnnealer takes over a partition; groups of 2k or more are divided, which
// raises no sum of squares.
func newAnnealer(s *space.Space, p space.Partition, near *neighbours, k int, seed uint64) *annealer {
	n := s.Len()
	rows := s.NewRows()
	a := &annealer{
		k: k, limit: 2*k - 1, near: near, rng: draws(seed), rows: rows, dims: rows.Dims(), words: rows.HasWords(),
		group: make([]int32, n), groups: make([]cluster, 0, p.Groups),
	}
	a.mean = s.SSE(p) / float64(n)
	a.slope = make([]float64, a.dims)
	list, start := p.Members()
	for g := range p.Groups {
		rest := list[start[g]:start[g+1]]
		for len(rest) > a.limit {
			a.set(a.empty(), rest[:k])
			rest = rest[k:]
		}
		a.set(a.empty(), rest)
	}
	return a
}

// point is the numeric part of a record.
func (a *annealer) point(i int32) []float64 { return a.rows.Point(i) }

// middle is the numeric part of a group's centre.
func (a *annealer) middle(g int32) []float64 { return a.centre[int(g)*a.dims:][:a.dims:a.dims] }

// differ is what the words of two records add to their squared distance.
func (a *annealer) differ(i, j int32) float64 { return a.rows.Differ(i, j) }

// differAll is what they add to those from p to all of some records.
func (a *annealer) differAll(p int32, records []int32) float64 {
	if !a.words {
		return 0
	}
	return a.rows.DifferAll(p, records, nil)
}

func (a *annealer) distance(i, j int32) float64 { return distance(a.rows, i, j) }

// renew works out all that is known of a group from its members.
func (a *annealer) renew(g int32) {
	c, centre := &a.groups[g], a.middle(g)
	clear(centre)
	for _, i := range c.members {
		for j, v := range a.point(i) {
			centre[j] += v
		}
	}
	m := float64(len(c.members))
	for j := range centre {
		centre[j] /= m
	}
	c.squares, c.words = 0, 0
	for n, i := range c.members {
		c.squares += squared(a.point(i), centre)
		c.words += a.differAll(i, c.members[:n])
	}
}

// renewAll renews every group, so that rounding does not add up.
func (a *annealer) renewAll() {
	for g := range a.groups {
		if len(a.groups[g].members) > 0 {
			a.renew(int32(g))
		}
	}
}

// joining is by how much the cost of a group rises with p, and leaving by how
// much without: with m records b/(b+1) |p-c|² and -m/(m-1) |p-c|² of the
// numeric axes.
func (a *annealer) joining(p, g int32) float64 {
	c := &a.groups[g]
	m := float64(len(c.members))
	d := m / (m + 1) * squared(a.point(p), a.middle(g))
	if a.words {
		d += (c.words+a.differAll(p, c.members))/(m+1) - c.words/m
	}
	return d
}

func (a *annealer) leaving(p, g int32) float64 {
	c := &a.groups[g]
	m := float64(len(c.members))
	d := -m / (m - 1) * squared(a.point(p), a.middle(g))
	if a.words {
		d += (c.words-a.differAll(p, c.members))/(m-1) - c.words/m
	}
	return d
}

// accepts decides on a change by d of groups with together m records and
// the sum of squares now.
func (a *annealer) accepts(d, now float64, m int) bool {
	if d <= 0 {
		return true
	}
	t := now / float64(m)
	switch a.scale {
	case middle:
		t = math.Sqrt(t * a.mean)
	case global:
		t = a.mean
	}
	t *= a.heat
	return d < 12*t && a.rng.float() < math.Exp(-d/t)
}

// cool anneals from a heat down to another, with that many proposals in all,
// and then without heat.
func (a *annealer) cool(ctx context.Context, from, to float64, proposals int) error {
	const steps = 40
	for step := range steps {
		a.heat = from * math.Pow(to/from, float64(step)/(steps-1))
		a.renewAll()
		if err := a.run(ctx, proposals/steps); err != nil {
			return err
		}
	}
	a.heat = 0
	a.renewAll()
	return a.run(ctx, proposals/steps)
}

// run makes that many proposals.
func (a *annealer) run(ctx context.Context, proposals int) error {
	n := uint64(len(a.group))
	for step := range proposals {
		if step&4095 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r := a.rng.next()
		p := int32(r & 0xffffffff * n >> 32)
		if a.often != nil {
			if e := a.often[p]; a.rng.next()>>32 > e.keep {
				p = e.other
			}
		}
		q := a.near.pick(p, uint32(r>>32&0xffff), &a.rng)
		coin := uint32(r >> 48)
		from, to := a.group[p], a.group[q]
		if from == to {
			continue
		}
		sizeA, sizeB := len(a.groups[from].members), len(a.groups[to].members)
		switch {
		case sizeA > a.k && sizeB < a.limit && coin&1 == 0:
			a.move(p, to)
		case sizeA > a.k && sizeB == a.limit && coin&3 == 0:
			a.moveAndSplit(p, to)
		case sizeA > a.k && coin&15 == 7:
			a.gather(p)
		case sizeA == a.k && coin&15 == 0:
			a.dissolve(from)
		default:
			a.swap(p, to)
		}
	}
	return nil
}

// move proposes to move p to another group.
func (a *annealer) move(p, to int32) {
	from := a.group[p]
	d := a.leaving(p, from) + a.joining(p, to)
	A, B := &a.groups[from], &a.groups[to]
	if a.accepts(d, A.cost()+B.cost(), len(A.members)+len(B.members)) {
		a.take(p)
		a.put(p, to)
	}
}

// take takes p out of its group, of two records at least, and put puts it into
// one that it is not in.
func (a *annealer) take(p int32) {
	g := a.group[p]
	c := &a.groups[g]
	last := len(c.members) - 1
	for m, i := range c.members {
		if i == p {
			c.members[m] = c.members[last]
			break
		}
	}
	c.members = c.members[:last]
	m := float64(last)
	c.squares -= (m + 1) / m * shift(a.middle(g), a.point(p), -1/m)
	c.words -= a.differAll(p, c.members)
}

func (a *annealer) put(p, g int32) {
	c := &a.groups[g]
	m := float64(len(c.members))
	c.squares += m / (m + 1) * shift(a.middle(g), a.point(p), 1/(m+1))
	c.words += a.differAll(p, c.members)
	c.members = append(c.members, p)
	a.group[p] = g
}

// swap proposes to exchange p of A with the member q of another group B that
// fits best. With a and b records it changes the numeric part by
//
//	|q-c_A|² - |p-c_A|² - |p-q|²/a + |p-c_B|² - |q-c_B|² - |p-q|²/b
//	= (p-q)·(2 (c_A-c_B) - (1/a + 1/b) (p-q))
//
// and the sums over pairs of words in the same way as those of distances.
func (a *annealer) swap(p, to int32) {
	from := a.group[p]
	A, B := &a.groups[from], &a.groups[to]
	sa, sb := float64(len(A.members)), float64(len(B.members))
	x, share := a.point(p), 1/sa+1/sb
	double(a.slope, a.middle(from), a.middle(to))
	best, with := math.Inf(1), -1
	if !a.words {
		for m, q := range B.members {
			if d := exchange(x, a.point(q), a.slope, share); d < best {
				best, with = d, m
			}
		}
	} else {
		pa, pb := a.differAll(p, A.members), a.differAll(p, B.members)
		for m, q := range B.members {
			pq := a.differ(p, q)
			d := exchange(x, a.point(q), a.slope, share)
			d += (a.differAll(q, A.members)-pq-pa)/sa + (pb-pq-a.differAll(q, B.members))/sb
			if d < best {
				best, with = d, m
			}
		}
	}
	if !a.accepts(best, A.cost()+B.cost(), len(A.members)+len(B.members)) {
		return
	}
	q := B.members[with]
	for m, i := range A.members {
		if i == p {
			A.members[m] = q
			break
		}
	}
	B.members[with] = p
	a.group[p], a.group[q] = to, from
	y := a.point(q)
	A.squares += replace(a.middle(from), x, y, 1/sa)
	B.squares += replace(a.middle(to), y, x, 1/sb)
	if a.words {
		pq := a.differ(p, q)
		A.words += a.differAll(q, A.members) - a.differAll(p, A.members) + pq
		B.words += a.differAll(p, B.members) - a.differAll(q, B.members) + pq
	}
}

// partition is the state.
func (a *annealer) partition() space.Partition {
	p := space.Partition{Group: make([]uint32, len(a.group)), Groups: len(a.groups)}
	for i, g := range a.group {
		p.Group[i] = uint32(g)
	}
	return p.Canonical()
}
