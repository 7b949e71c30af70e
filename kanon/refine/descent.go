package refine

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// descent is a partition under change, going by the sum of squares. Numeric axes are
// worked out from centres, categories from pairs of records: with W the sum of what
// the categories of all pairs of a group of m records differ by and U that from a
// record to each of them, they add U/m - W/m² to its squared distance from the centre.
type descent struct {
	watched
	s          *space.Space
	rows       *space.Rows
	k          int
	dims       int
	centre     []float64 // groups*dims
	words      []float64 // by group: W
	own        []float64 // squared distance of each record to its group's centre
	guard      float64   // a gain below this is rounding
	membership *membership
	unlike     []float64 // of the record at hand, by member of the group at hand
	took       []taken
}

// taken is a group that took records in for trial, and what it was before.
type taken struct {
	g      int32
	size   int
	words  float64
	centre []float64
}

func newDescent(s *space.Space, p space.Partition, near *space.Near, k int) *descent {
	s = nearZero(s)
	n := s.Len()
	d := &descent{
		watched: newWatched(n, near), s: s, rows: s.NewRows(), k: k, own: make([]float64, n),
		guard: 1e-11 * s.SST() / float64(n),
	}
	d.dims = d.rows.Dims()
	list, start := p.Members()
	for g := range p.Groups {
		d.add(slices.Clone(list[start[g]:start[g+1]]))
		d.renew(int32(g))
	}
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

// middle is the numeric part of a group's centre.
func (d *descent) middle(g int32) []float64 { return d.centre[int(g)*d.dims:][:d.dims:d.dims] }

// renew recomputes what is known of a group from its members, so that rounding
// does not add up over many changes.
func (d *descent) renew(g int32) {
	for len(d.words) <= int(g) {
		d.words = append(d.words, 0)
		d.centre = append(d.centre, make([]float64, d.dims)...)
	}
	members, centre := d.members[g], d.middle(g)
	m := float64(len(members))
	clear(centre)
	for _, i := range members {
		for a, v := range d.rows.Point(i) {
			centre[a] += v
		}
	}
	for a := range centre {
		centre[a] /= m
	}
	d.words[g] = 0
	if d.rows.HasWords() {
		var twice float64
		for _, i := range members {
			u := d.rows.DifferAll(i, members, nil)
			d.own[i] = u
			twice += u
		}
		w := twice / 2
		d.words[g] = w
		for _, i := range members {
			d.own[i] = max(0, (d.own[i]-w/m)/m)
		}
	} else {
		for _, i := range members {
			d.own[i] = 0
		}
	}
	for _, i := range members {
		d.own[i] += squared(d.rows.Point(i), centre)
	}
	if d.membership != nil {
		d.membership.renew(g, members)
	}
	d.touch(g)
}

// apart is the squared distance of record p from the centre of group g; what p's
// categories differ by from each member's is kept in d.unlike.
func (d *descent) apart(p, g int32) float64 {
	far := squared(d.rows.Point(p), d.middle(g))
	if d.rows.HasWords() {
		members := d.members[g]
		if len(d.unlike) < len(members) {
			d.unlike = make([]float64, 2*len(members))
		}
		m := float64(len(members))
		far += max(0, (d.rows.DifferAll(p, members, d.unlike)-d.words[g]/m)/m)
	}
	return far
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
	g := d.group[p]
	mates := d.members[g]
	a := float64(len(mates))
	best := -d.guard
	to, with := int32(-1), int32(-1)
	leaves := len(mates) > d.k
	if d.membership != nil {
		leaves = d.membership.leaves(d, p)
	}
	x, centre, own, words := d.rows.Point(p), d.middle(g), d.own[p], d.rows.HasWords()
	for _, h := range d.candidates {
		members := d.members[h]
		b := float64(len(members))
		far := d.apart(p, h)
		if leaves {
			if change := b/(b+1)*far - a/(a-1)*own; change < best {
				best, to, with = change, h, -1
			}
		}
		share := 1/a + 1/b
		for j, q := range members {
			// |q-c_A|² >= 0 and |p-q|² <= (|p-c_B| + |q-c_B|)² <= 2(far + own):
			// most pairs cannot pay.
			ownQ := d.own[q]
			change := far - own - ownQ
			if change-2*(far+ownQ)*share >= best {
				continue
			}
			y := d.rows.Point(q)
			pq := squared(x, y)
			if words {
				pq += d.unlike[j]
			}
			change -= pq * share
			if change >= best {
				continue
			}
			change += squared(y, centre)
			if change >= best {
				continue
			}
			if words {
				change += max(0, (d.rows.DifferAll(q, mates, nil)-d.words[g]/a)/a)
			}
			if change < best && (d.membership == nil || d.membership.swaps(d, p, q)) {
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
	d.took = d.took[:0]
	for _, p := range members {
		d.around(p)
		best, to := 0.0, int32(-1)
		for _, h := range d.candidates {
			b := float64(len(d.members[h]))
			if rise := b / (b + 1) * d.apart(p, h); to < 0 || rise < best {
				best, to = rise, h
			}
		}
		// No rise is below zero: once nothing is left to gain, it stays so.
		change += best
		if to < 0 || change >= -d.guard {
			d.undo()
			return
		}
		d.take(p, to)
	}
	for _, t := range d.took {
		for _, p := range d.members[t.g][t.size:] {
			d.group[p] = t.g
		}
		d.renew(t.g)
	}
	d.drop(g)
}

// take puts a record into a group for trial.
func (d *descent) take(p, to int32) {
	centre := d.middle(to)
	if !slices.ContainsFunc(d.took, func(t taken) bool { return t.g == to }) {
		var before []float64
		if n := len(d.took); n < cap(d.took) {
			before = d.took[:n+1][n].centre // its memory is used again
		}
		d.took = append(d.took, taken{to, len(d.members[to]), d.words[to], append(before[:0], centre...)})
	}
	if d.rows.HasWords() {
		d.words[to] += d.rows.DifferAll(p, d.members[to], nil)
	}
	d.members[to] = append(d.members[to], p)
	shift(centre, d.rows.Point(p), 1/float64(len(d.members[to])))
}

// undo takes all records out again.
func (d *descent) undo() {
	for _, t := range d.took {
		d.members[t.g] = d.members[t.g][:t.size]
		d.words[t.g] = t.words
		copy(d.middle(t.g), t.centre)
	}
}

// most is up to how many records a group is tried to be dissolved.
func (d *descent) most() int {
	if d.membership != nil {
		return 8 * d.k // persons have several records
	}
	return 2 * d.k
}

// drop removes an empty group; the last one takes its number.
func (d *descent) drop(g int32) {
	if last := int32(len(d.members) - 1); g != last {
		copy(d.middle(g), d.middle(last))
		d.words[g] = d.words[last]
		if d.membership != nil {
			d.membership.count[g] = d.membership.count[last]
		}
	}
	d.remove(g)
}

// open makes a new group of the given records, which leave their groups.
func (d *descent) open(records []int32) int32 {
	g := d.add(nil)
	for _, p := range records {
		d.move(p, g)
	}
	d.renew(g)
	return g
}
