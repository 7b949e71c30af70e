package refine

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/space"
)

// Where persons count, and not records, a record may leave a group when its
// person has another record there or more than k persons are left with it, and a
// group may be divided where both parts hold records of k persons. Any record
// may join any group.

// membership knows whose records are in which group.
type membership struct {
	k      int
	person []uint32 // of each record
	count  []int    // distinct persons of each group
	seen   []int32  // by person: the last count that met it
	stamp  int32
}

// newCrowd numbers the persons of a cell anew, that its memory is the cell's.
func newCrowd(persons []uint32, groups, k int) *membership {
	c := &membership{k: k, person: make([]uint32, len(persons)), count: make([]int, groups)}
	number := map[uint32]uint32{}
	for i, person := range persons {
		if person == privacy.NoPerson {
			continue
		}
		n, ok := number[person]
		if !ok {
			n = uint32(len(number) + 1)
			number[person] = n
		}
		c.person[i] = n
	}
	c.seen = make([]int32, len(number)+1)
	return c
}

// distinct counts the persons of some records.
func (c *membership) distinct(records []int32) int {
	c.stamp++
	n := 0
	for _, i := range records {
		if person := c.person[i]; person != privacy.NoPerson && c.seen[person] != c.stamp {
			c.seen[person] = c.stamp
			n++
		}
	}
	return n
}

func (c *membership) renew(g int32, members []int32) {
	for int(g) >= len(c.count) {
		c.count = append(c.count, 0)
	}
	c.count[g] = c.distinct(members)
}

// has reports whether a record other than i in the group is of that person.
func (c *membership) has(members []int32, person uint32, i int32) bool {
	for _, j := range members {
		if c.person[j] == person && j != i {
			return true
		}
	}
	return false
}

// leaves reports whether record p may leave its group.
func (c *membership) leaves(d *descent, p int32) bool {
	g, person := d.group[p], c.person[p]
	if len(d.members[g]) < 2 {
		return false
	}
	return person == privacy.NoPerson || c.count[g] > c.k || c.has(d.members[g], person, p)
}

// swaps reports whether records p and q may change places.
func (c *membership) swaps(d *descent, p, q int32) bool {
	return c.replaces(d, p, q) && c.replaces(d, q, p)
}

// replaces reports whether p's group keeps k persons when q takes p's place.
func (c *membership) replaces(d *descent, p, q int32) bool {
	g := d.group[p]
	out, in := c.person[p], c.person[q]
	return c.count[g] > c.k || out == in || out == privacy.NoPerson ||
		c.has(d.members[g], out, p) || in != privacy.NoPerson && !c.has(d.members[g], in, p)
}

// splitPersons divides a group, where both sides have records of k persons, if
// the sum of squares falls: between two of its records that are far apart, or
// along a numeric axis, whatever lowers it most. Persons whose records differ on
// one axis alone are divided by that one.
func (d *descent) splitPersons(g int32) {
	members := d.members[g]
	if len(members) < 2*d.k || !d.splitsAgain(g) {
		return
	}
	var before float64
	for _, i := range members {
		before += d.own[i]
	}
	var right []int32
	least := before - d.guard
	try := func(order []int32, natural int) {
		// Of the order, first is the shortest beginning with k persons, last the
		// longest whose rest has.
		first := d.membership.beginning(order)
		slices.Reverse(order)
		last := len(order) - d.membership.beginning(order)
		slices.Reverse(order)
		if first > last {
			return
		}
		at := min(max(natural, first), last)
		if after := d.sse(order[:at]) + d.sse(order[at:]); after < least {
			least, right = after, slices.Clone(order[at:])
		}
	}
	try(d.ends(g))
	order := slices.Clone(members)
	for _, x := range d.s.Numbers() {
		slices.SortFunc(order, func(i, j int32) int { return cmp.Or(cmp.Compare(x[i], x[j]), cmp.Compare(i, j)) })
		if x[order[0]] < x[order[len(order)-1]] {
			try(order, len(order)/2)
		}
	}
	if right == nil {
		return
	}
	d.open(right)
	d.renew(g)
}

// sse is the sum of squared distances of records to their centre.
func (d *descent) sse(records []int32) float64 {
	c := d.s.NewCentroid()
	for _, i := range records {
		c.Add(i)
	}
	var t float64
	for _, i := range records {
		t += c.Distance2(i)
	}
	return t
}

// splitsAgain reports whether a group changed since it was last tried to
// dissolve it, which is done after each trial to split it.
func (d *descent) splitsAgain(g int32) bool { return d.changed[g] > d.tried[g] }

// beginning is the length of the shortest beginning of records with k persons,
// more than all where there is none.
func (c *membership) beginning(records []int32) int {
	c.stamp++
	n := 0
	for at, i := range records {
		if person := c.person[i]; person != privacy.NoPerson && c.seen[person] != c.stamp {
			c.seen[person] = c.stamp
			if n++; n == c.k {
				return at + 1
			}
		}
	}
	return len(records) + 1
}

// ends orders the records of a group from the one farthest from its centre to
// the one farthest from that, and tells how many are nearer to the first.
func (d *descent) ends(g int32) (order []int32, nearer int) {
	far := func(distance func(int32) float64) int32 {
		best, most := int32(-1), -1.0
		for _, i := range d.members[g] {
			if v := distance(i); v > most || v == most && i < best {
				best, most = i, v
			}
		}
		return best
	}
	a := far(func(i int32) float64 { return d.own[i] })
	b := far(func(i int32) float64 { return d.s.Distance2(int(a), int(i)) })
	type end struct {
		i   int32
		key float64
	}
	ends := make([]end, len(d.members[g]))
	for n, i := range d.members[g] {
		ends[n] = end{i, d.s.Distance2(int(a), int(i)) - d.s.Distance2(int(b), int(i))}
		if ends[n].key < 0 {
			nearer++
		}
	}
	slices.SortFunc(ends, func(x, y end) int { return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(x.i, y.i)) })
	for _, e := range ends {
		order = append(order, e.i)
	}
	return order, nearer
}

// ValidatePersons reports whether each group of p has records of k persons.
func ValidatePersons(p space.Partition, persons []uint32, k int) error {
	list, start := p.Members()
	seen := map[uint32]bool{}
	for g := range p.Groups {
		clear(seen)
		for _, i := range list[start[g]:start[g+1]] {
			if persons[i] != privacy.NoPerson {
				seen[persons[i]] = true
			}
			if len(seen) >= k {
				break
			}
		}
		if len(seen) < k {
			return noren.Reasonf("group %d has records of %d {person|persons}, fewer than %d", g, len(seen), k)
		}
	}
	return nil
}

func personsOf(persons []uint32, records []int32) []uint32 {
	out := make([]uint32, len(records))
	for j, i := range records {
		out[j] = persons[i]
	}
	return out
}

func descendedPersons(ctx context.Context, s *space.Space, p space.Partition, k int, persons []uint32) (space.Partition, error) {
	near, err := s.NearLists(ctx, nearRecords, space.NearOptions{Ties: space.Cyclic, Workers: 1})
	if err != nil {
		return p, err
	}
	return descendFrom(ctx, s, p, k, persons, near)
}

func descendFrom(ctx context.Context, s *space.Space, p space.Partition, k int, persons []uint32, near *space.Near) (space.Partition,
	error,
) {
	d := newDescent(s, p, near, k)
	d.membership = newCrowd(persons, p.Groups, k)
	for g, members := range d.members {
		d.membership.renew(int32(g), members)
	}
	if err := d.run(ctx); err != nil {
		return p, err
	}
	return d.partition(), nil
}

// Kicks of a search by persons: the share of the groups of a cell that are
// joined with the group of a near record before the descent begins again
// (iterated local search), and after how many kicks of every cell without a
// gain the search is over.
var kicks = [...]float64{0.05, 0.02, 0.1, 0.01}

const vainKicks = 40

// kicked betters a partition by persons for some time: cell by cell, groups are
// joined at random and the descent, which divides them again, goes on from
// there; of before and after the better is taken place by place.
func kicked(ctx context.Context, s *space.Space, p space.Partition, o *Options, began time.Time, progress noren.Progress) (space.Partition,
	int, error,
) {
	late, cancel := context.WithDeadlineCause(ctx, began.Add(o.Effort.Duration), errLate)
	defer cancel()
	rounds, vain := 0, 0
	for vain < vainKicks {
		cells := cutCells(s, p, cellRecords, rounds)
		results := make([]cellResult, len(cells))
		gained := make([]bool, len(cells))
		err := space.Parallel(late, len(cells), "refine", space.ParallelOptions{Workers: o.Workers}, func() func(int) {
			return func(task int) {
				c := &cell{s: s, p: p, records: cells[task], k: o.K}
				results[task], gained[task] = c.kick(late, o, rounds, task)
			}
		})
		out := space.Partition{Group: make([]uint32, s.Len())}
		for c, records := range cells {
			r := results[c]
			if r.err != nil || r.p.Group == nil {
				if r.err != nil && !errors.Is(context.Cause(late), errLate) {
					return p, rounds, r.err
				}
				_, r.p = (&cell{s: s, p: p, records: records, k: o.K}).own()
				gained[c] = false
			}
			for j, i := range records {
				out.Group[i] = uint32(out.Groups) + r.p.Group[j]
			}
			out.Groups += r.p.Groups
		}
		p = out
		rounds++
		vain++
		if slices.Contains(gained, true) {
			vain = 0
		}
		if ctx.Err() != nil {
			return p, rounds, ctx.Err()
		}
		if errors.Is(context.Cause(late), errLate) {
			break
		}
		if err != nil {
			return p, rounds, err
		}
		progress.Report("refine", time.Since(began).Milliseconds(), o.Effort.Duration.Milliseconds())
	}
	return p, rounds, nil
}

// kick joins some groups of the cell with near ones and descends from there.
func (c *cell) kick(ctx context.Context, o *Options, round, task int) (cellResult, bool) {
	sub, inner := c.own()
	persons := personsOf(o.Persons, c.records)
	near, err := sub.NearLists(ctx, nearRecords, space.NearOptions{Ties: space.Cyclic, Workers: 1})
	if err != nil {
		return cellResult{err: err}, false
	}
	best, least, gained := inner, sub.SSE(inner), false
	rng := rand.New(rand.NewPCG(o.Seed, uint64(round)<<32|uint64(task)))
	for _, share := range kicks {
		into := make([]uint32, best.Groups)
		for g := range into {
			into[g] = uint32(g)
		}
		for range max(1, int(share*float64(best.Groups))) {
			p := int32(rng.IntN(sub.Len()))
			others, _ := near.Of(p)
			if len(others) == 0 {
				continue
			}
			q := others[rng.IntN(len(others))]
			from, to := into[best.Group[p]], into[best.Group[q]]
			for g := range into {
				if into[g] == from {
					into[g] = to
				}
			}
		}
		next := space.Partition{Group: make([]uint32, len(best.Group)), Groups: best.Groups}
		for i, g := range best.Group {
			next.Group[i] = into[g]
		}
		next, err := descendFrom(ctx, sub, next.Canonical(), c.k, persons, near)
		if err != nil {
			break // out of time: the best so far counts
		}
		next = combine(sub, best, next.Canonical())
		if sse := sub.SSE(next); sse < least*(1-gainShare) {
			best, least, gained = next, sse, true
		}
	}
	return cellResult{p: best}, gained
}
