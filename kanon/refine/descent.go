package refine

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// descent is a partition under change.
type descent struct {
	s       *space.Space
	k       int
	near    *space.Near
	group   []int32
	members [][]int32
	centre  []*space.Centroid
	own     []float64 // squared distance of each record to its group's centre
	// A record is looked at again only when its group, or one that it might go
	// to, has changed since it was last looked at.
	clock      int64
	changed    []int64     // by group
	looked     []int64     // by record
	tried      []int64     // by group: when it was last tried to dissolve it
	guard      float64     // a gain below this is rounding
	membership *membership // who the records belong to; nil where records count
	// candidates of the record at hand
	marked     []int32
	mark       int32
	candidates []int32
}

func newDescent(s *space.Space, p space.Partition, near *space.Near, k int) *descent {
	s = nearZero(s)
	d := &descent{
		s: s, k: k, near: near, group: make([]int32, s.Len()), members: make([][]int32, p.Groups),
		centre: make([]*space.Centroid, p.Groups), own: make([]float64, s.Len()),
		changed: make([]int64, p.Groups), tried: make([]int64, p.Groups), looked: make([]int64, s.Len()), marked: make([]int32, p.Groups),
		clock: 1,
	}
	for i, g := range p.Group {
		d.group[i] = int32(g)
		d.members[g] = append(d.members[g], int32(i))
	}
	for g := range d.members {
		d.centre[g] = s.NewCentroid()
		d.renew(int32(g))
	}
	d.guard = 1e-11 * s.SST() / float64(s.Len())
	return d
}

// nearZero is the space with every numeric axis moved that lies far from zero
// for its span, which no distance notices. The rounding of a centre is in
// proportion to its distance from zero: unscaled instants, say, would give
// gains above the guard that are rounding alone, and a descent without end.
//
// With R an axis's span, its values are at most 64 R from zero, and R is at most
// sqrt(n) deviations; in a cell of n = 8000 a squared distance is then rounded
// by a few times 64 sqrt(n) 2^-53 = 6e-13 mean squared deviations, the guard
// being 1e-11 of them.
func nearZero(s *space.Space) *space.Space {
	const spans = 64
	numbers := slices.Clone(s.Numbers())
	moved := false
	for a, x := range numbers {
		lo, hi := slices.Min(x), slices.Max(x)
		if max(-lo, hi) <= spans*(hi-lo) {
			continue
		}
		moved = true
		numbers[a] = make([]float64, len(x))
		for i, v := range x {
			numbers[a][i] = v - lo
		}
	}
	if !moved {
		return s
	}
	t, err := space.New(s.Len(), numbers, s.Words())
	if err != nil {
		return s // cannot be: differences of near values are finite
	}
	return t
}

// renew recomputes what is known of a group from its members, so that rounding
// does not add up over many changes.
func (d *descent) renew(g int32) {
	c := d.centre[g]
	c.Reset()
	for _, i := range d.members[g] {
		c.Add(i)
	}
	for _, i := range d.members[g] {
		d.own[i] = c.Distance2(i)
	}
	if d.membership != nil {
		d.membership.renew(g, d.members[g])
	}
	d.clock++
	d.changed[g] = d.clock
}

// run changes the partition until nothing betters it.
func (d *descent) run(ctx context.Context) error {
	for {
		before := d.clock
		for i := range d.group {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			for d.improve(int32(i)) {
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
		for g := 0; g < len(d.members); g++ {
			switch {
			case d.membership != nil:
				d.splitPersons(int32(g))
			case len(d.members[g]) >= 2*d.k:
				d.split(int32(g))
			}
			d.dissolve(int32(g))
		}
		if d.clock == before {
			return nil
		}
	}
}

// look lists the groups other than its own that a record's near ones are in,
// and reports whether any of them, or its own, has changed since it was last
// looked at.
func (d *descent) look(p int32) bool {
	own := d.group[p]
	fresh := d.changed[own] > d.looked[p]
	d.mark++
	d.marked[own] = d.mark
	d.candidates = d.candidates[:0]
	records, _ := d.near.Of(p)
	for _, q := range records {
		if g := d.group[q]; d.marked[g] != d.mark {
			d.marked[g] = d.mark
			d.candidates = append(d.candidates, g)
			fresh = fresh || d.changed[g] > d.looked[p]
		}
	}
	return fresh
}

// improve makes the change of record p, a move or a swap, that lowers the sum
// of squares most, if any does. With a and b records in p's group A and the
// other group B, a move of p changes it by
//
//	b/(b+1) |p-c_B|² - a/(a-1) |p-c_A|²
//
// and a swap with q of B by
//
//	|q-c_A|² - |p-c_A|² - |p-q|²/a + |p-c_B|² - |q-c_B|² - |p-q|²/b.
func (d *descent) improve(p int32) bool {
	if !d.look(p) {
		return false
	}
	d.looked[p] = d.clock
	g := d.group[p]
	a := float64(len(d.members[g]))
	best := -d.guard
	to, with := int32(-1), int32(-1)
	leaves := len(d.members[g]) > d.k
	if d.membership != nil {
		leaves = d.membership.leaves(d, p)
	}
	for _, h := range d.candidates {
		b := float64(len(d.members[h]))
		far := d.centre[h].Distance2(p)
		if leaves {
			if change := b/(b+1)*far - a/(a-1)*d.own[p]; change < best {
				best, to, with = change, h, -1
			}
		}
		for _, q := range d.members[h] {
			// |q-c_A|² >= 0 and |p-q|² <= (|p-c_B| + |q-c_B|)² <= 2(far + own):
			// most pairs cannot pay.
			base := far - d.own[p] - d.own[q]
			if base-2*(far+d.own[q])*(1/a+1/b) >= best {
				continue
			}
			pq := d.s.Distance2(int(p), int(q))
			if base-pq*(1/a+1/b) >= best {
				continue
			}
			if change := d.centre[g].Distance2(q) + base - pq/a - pq/b; change < best && (d.membership == nil || d.membership.swaps(d, p, q)) {
				best, to, with = change, h, q
			}
		}
	}
	if to < 0 {
		return false
	}
	d.move(p, to)
	if with >= 0 {
		d.move(with, g)
	}
	d.renew(g)
	d.renew(to)
	return true
}

// move changes membership alone; renew must follow.
func (d *descent) move(p, to int32) {
	from := d.group[p]
	at := slices.Index(d.members[from], p)
	d.members[from] = slices.Delete(d.members[from], at, at+1)
	d.members[to] = append(d.members[to], p)
	d.group[p] = to
}

// dissolve gives each member of a group to the nearest group of its near
// records, one after the other, and takes it back when that raises the sum of
// squares.
func (d *descent) dissolve(g int32) {
	if len(d.members[g]) == 0 || len(d.members[g]) > d.most() || len(d.members) < 2 {
		return
	}
	if !d.fresh(g) {
		return
	}
	d.tried[g] = d.clock
	members := slices.Clone(d.members[g])
	slices.Sort(members) // whichever way they came in
	var change float64
	for _, p := range members {
		change -= d.own[p]
	}
	type step struct{ p, to int32 }
	var steps []step
	for _, p := range members {
		d.look(p)
		best, to := 0.0, int32(-1)
		for _, h := range d.candidates {
			b := float64(d.centre[h].N)
			if rise := b / (b + 1) * d.centre[h].Distance2(p); to < 0 || rise < best {
				best, to = rise, h
			}
		}
		if to < 0 {
			change = 0
			break
		}
		change += best
		if change >= -d.guard && len(steps)+1 == len(members) {
			break
		}
		d.centre[to].Add(p)
		steps = append(steps, step{p, to})
	}
	for _, s := range steps {
		d.centre[s.to].Remove(s.p)
	}
	if change >= -d.guard || len(steps) < len(members) {
		return
	}
	for _, s := range steps {
		d.move(s.p, s.to)
	}
	for _, s := range steps {
		d.renew(s.to)
	}
	d.drop(g)
}

// most is up to how many records a group is tried to be dissolved.
func (d *descent) most() int {
	if d.membership != nil {
		return 8 * d.k // persons have several records
	}
	return 2 * d.k
}

// fresh reports whether a group or one beside it has changed since it was last
// tried to dissolve it.
func (d *descent) fresh(g int32) bool {
	if d.changed[g] > d.tried[g] {
		return true
	}
	for _, p := range d.members[g] {
		d.look(p)
		for _, h := range d.candidates {
			if d.changed[h] > d.tried[g] {
				return true
			}
		}
	}
	return false
}

// drop removes an empty group; the last one takes its number.
func (d *descent) drop(g int32) {
	last := int32(len(d.members) - 1)
	if g != last {
		d.members[g], d.centre[g], d.changed[g], d.tried[g] = d.members[last], d.centre[last], d.changed[last], d.tried[last]
		if d.membership != nil {
			d.membership.count[g] = d.membership.count[last]
		}
		for _, i := range d.members[g] {
			d.group[i] = g
		}
	}
	d.members, d.centre, d.changed, d.tried = d.members[:last], d.centre[:last], d.changed[:last], d.tried[:last]
	d.clock++
	if g != last {
		d.changed[g] = d.clock
	}
}

// open makes a new group of the given records, which leave their groups.
func (d *descent) open(records []int32) int32 {
	g := int32(len(d.members))
	d.members = append(d.members, nil)
	d.centre = append(d.centre, d.s.NewCentroid())
	d.changed = append(d.changed, 0)
	d.tried = append(d.tried, 0)
	if len(d.marked) < len(d.members) {
		d.marked = append(d.marked, 0)
	}
	for _, p := range records {
		d.move(p, g)
	}
	d.renew(g)
	return g
}

// partition is the state as a partition.
func (d *descent) partition() space.Partition {
	p := space.Partition{Group: make([]uint32, len(d.group)), Groups: len(d.members)}
	for i, g := range d.group {
		p.Group[i] = uint32(g)
	}
	return p
}
