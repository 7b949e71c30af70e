package refine

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/space"
)

// LargeGroup is how many times k records a group has at most where the groups must
// be diverse or close, unless no division of it was found that is.
const LargeGroup = 10

// inLarge is how many records are in groups that are larger than that.
func inLarge(p space.Partition, k int) (records int) {
	for _, n := range p.Sizes() {
		if n > LargeGroup*k {
			records += n
		}
	}
	return records
}

// ruling tells whether groups may change by a record, and remembers it where the
// strata of the records decide.
type ruling struct {
	judge  cost.Judge
	strata []uint32
	kinds  int      // of changes of a record: one for each stratum, and none; 0 to remember nothing
	known  [][]int8 // by group: of every change out and in, 0 unknown, 1 allowed, -1 not
	list   []int32
}

// mostStrata is up to how many strata rulings are remembered.
const mostStrata = 24

func newRuling(judge cost.Judge) *ruling {
	r := &ruling{judge: judge}
	var exact bool
	r.strata, exact = judge.Strata()
	if exact && len(r.strata) > 0 {
		if s := int(slices.Max(r.strata)) + 1; s <= mostStrata {
			r.kinds = s + 1
		}
	}
	return r
}

// renew forgets what is known of a group.
func (r *ruling) renew(g int32) {
	if r.kinds == 0 {
		return
	}
	for int(g) >= len(r.known) {
		r.known = append(r.known, make([]int8, r.kinds*r.kinds))
	}
	clear(r.known[g])
}

// allows reports whether group g of these members may go on without out and with
// in, either of which may be -1 for none.
func (r *ruling) allows(members []int32, g, out, in int32) bool {
	if r.kinds == 0 {
		return r.asks(members, out, in)
	}
	kind := func(i int32) int {
		if i < 0 {
			return r.kinds - 1
		}
		return int(r.strata[i])
	}
	a, b := kind(out), kind(in)
	if a == b {
		return true // as it is
	}
	known := &r.known[g][a*r.kinds+b]
	if *known == 0 {
		*known = -1
		if r.asks(members, out, in) {
			*known = 1
		}
	}
	return *known > 0
}

func (r *ruling) asks(members []int32, out, in int32) bool {
	r.list = r.list[:0]
	for _, i := range members {
		if i != out {
			r.list = append(r.list, i)
		}
	}
	if in >= 0 {
		r.list = append(r.list, in)
	}
	return r.judge.Holds(r.list)
}

// shrinks is with how many groups beside it a large group is divided together.
const shrinks = 24

// shrink divides groups that are larger than they may be, alone, together with a
// group beside them, or with records that other groups spare, whatever the measure
// says, and reports whether it divided any. Groups that go to the limit of what is
// allowed often have no allowed division, and have one with a few records more.
func (d *costDescent) shrink(ctx context.Context) (bool, error) {
	shrunk := false
	for g := int32(0); int(g) < len(d.members); g++ {
		if err := ctx.Err(); err != nil {
			return shrunk, err
		}
		if len(d.members[g]) <= d.most || d.costs[g].Cost() <= d.m.Guard() {
			continue
		}
		if parts, ok := d.cutter.Halve(sorted(d.members[g]), d.most); ok {
			d.divide(g, -1, parts)
			shrunk = true
			continue
		}
		var best [][]int32
		with, least := int32(-1), 0.0
		for _, h := range d.beside(g, shrinks) {
			parts, ok := d.cutter.Halve(sorted(slices.Concat(d.members[g], d.members[h])), d.most)
			if !ok {
				continue
			}
			rise := -d.costs[h].Cost()
			for _, part := range parts {
				rise += cost.Of(d.m, part)
			}
			if with < 0 || rise < least {
				best, with, least = parts, h, rise
			}
		}
		switch {
		case with >= 0:
			d.divide(g, with, best)
			shrunk = true
		case d.borrow(g):
			shrunk = true
			g-- // a part of it may still be too large
		}
	}
	return shrunk, nil
}

// divide puts groups in the place of g and, where it is not -1, h.
func (d *costDescent) divide(g, h int32, parts [][]int32) {
	take := func(g int32, records []int32) {
		d.members[g] = slices.Clone(records)
		for _, i := range records {
			d.group[i] = g
		}
		d.renew(g)
	}
	take(g, parts[0])
	parts = parts[1:]
	if h >= 0 {
		take(h, parts[0])
		parts = parts[1:]
	}
	for _, part := range parts {
		d.open(slices.Clone(part))
	}
}

func sorted(records []int32) []int32 {
	records = slices.Clone(records)
	slices.Sort(records)
	return records
}
