package refine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// attempt is a region or a cell and what is tried on it.
type attempt struct {
	by        means
	records   []int32 // ascending
	heat      float64
	scale     scale
	way       int // of ways, or of jolts
	near      int // places
	proposals int // in the end with what exchanges are worth
	seed      uint64
	nodes     int  // a region by prices
	thorough  bool // whether these are fitted as those of a bound
	// result
	done bool
	gain float64
	p    space.Partition // of records
	err  error
}

// means are what an attempt is made by.
type means uint8

const (
	byRegion    means = iota // annealing of a region
	byCell                   // annealing of a cell, and exchanges
	byExchanges              // exchanges from groups as they are
	byShaking                // exchanges from groups that were perturbed
	byPrices
)

// take makes attempts, the longest first, so that no worker waits long for
// another, and takes over what is better. When time is over on the way, they
// count up to the first that is not done.
func (a *search) take(ctx context.Context, attempts []attempt) error {
	within := 1
	if len(attempts) == 1 {
		within = a.o.Workers
	}
	slices.SortStableFunc(attempts, func(x, y attempt) int { return cmp.Compare(y.proposals, x.proposals) })
	err := space.Parallel(ctx, len(attempts), "refine", space.ParallelOptions{Workers: a.o.Workers}, func() func(int) {
		return func(i int) {
			if attempts[i].by == byPrices {
				attempts[i].price(ctx, a.s, a.p, a.k, within, a.tell)
				return
			}
			attempts[i].make(ctx, a.s, a.p, a.k)
		}
	})
	if err != nil && !errors.Is(context.Cause(ctx), errLate) {
		return err
	}
	group, groups := slices.Clone(a.p.Group), a.p.Groups
	for i := range attempts {
		t := &attempts[i]
		if t.err != nil && !errors.Is(context.Cause(ctx), errLate) {
			return t.err
		}
		if !t.done {
			break
		}
		a.idle += int64(t.proposals)
		a.proposed += int64(t.proposals)
		counts := t.gain > 0
		if t.by == byCell || t.by == byExchanges || t.by == byShaking {
			// There may have been another attempt at the cell.
			sub, inner := (&cell{s: a.s, p: space.Partition{Group: group, Groups: groups}, records: t.records, k: a.k}).own()
			t.p = combine(sub, inner, t.p)
			before := sub.SSE(inner)
			t.gain = before - sub.SSE(t.p)
			counts = t.gain >= gainShare*before
		}
		switch t.by {
		case byRegion:
			a.byWay.learn(t.way, t.gain, float64(t.proposals))
		case byShaking:
			a.byJolt.learn(t.way, t.gain, float64(t.proposals))
		}
		if counts {
			a.idle = 0
		}
		if t.gain > 0 {
			for j, r := range t.records {
				group[r] = uint32(groups) + t.p.Group[j]
			}
			groups += t.p.Groups
		}
	}
	a.p = space.Partition{Group: group, Groups: groups}.Canonical()
	a.rounds++
	return err
}

// make makes the attempt. When time is over on the way, what was done to a cell
// counts: the better of it is taken place by place.
func (t *attempt) make(ctx context.Context, s *space.Space, p space.Partition, k int) {
	c := &cell{s: s, p: p, records: t.records, k: k}
	sub, inner := c.own()
	near, err := newNeighbours(ctx, sub, t.near)
	if err != nil {
		t.err = err
		return
	}
	a := newAnnealer(sub, inner, near, k, t.seed)
	a.scale = t.scale
	switch t.by {
	case byCell:
		a.often = aliases(weights(sub, inner, 1e-9))
		t.err = a.cool(ctx, t.heat, coolest, t.proposals)
	case byShaking:
		t.err = a.shake(ctx, t.heat, t.proposals)
	case byRegion:
		t.err = a.cool(ctx, t.heat, coolest, t.proposals)
	}
	if t.by != byRegion && t.err == nil {
		if t.near != chainNear {
			if a.near, t.err = newNeighbours(ctx, sub, chainNear); t.err != nil {
				return
			}
		}
		var work int
		work, t.err = a.exchangeAll(ctx)
		t.proposals += work
	}
	if t.err != nil && (t.by == byRegion || !errors.Is(context.Cause(ctx), errLate)) {
		return
	}
	t.p, t.done = a.partition(), true
	if t.by == byRegion { // of a cell, take knows against what
		before := sub.SSE(inner)
		t.gain = before - sub.SSE(t.p)
		if t.gain < gainShare*before {
			t.gain = 0
		}
	}
}
