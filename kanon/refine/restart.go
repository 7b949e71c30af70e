package refine

import (
	"context"

	"noren/kanon/space"
)

// Where a search comes to is decided early. When it has come to a halt, and prices
// were asked where they are (priced.go), it begins again: whole cells are annealed
// from the start of the search, that goes on to where it halts in turn, and of
// this and of what has been best so far the better is taken place by place. That
// is searched again, and so on.

const (
	// halting is after how many proposals a record without a gain the search has
	// come to a halt, and mostVain after how many times that beginning again was in
	// vain it is over.
	halting, mostVain = 20_000, 4
)

// restarts are the times that the search began again.
type restarts struct {
	start  space.Partition
	best   space.Partition // empty before the first time
	fresh  bool            // whether the search is not at the best but at another
	priced bool            // whether prices were asked since
	vain   int
}

// halted reports whether the search has come to a halt.
func (a *search) halted() bool { return a.idle >= halting*a.s.Len() }

// restart begins again, or goes on at the best so far.
func (a *search) restart(ctx context.Context) error {
	r := &a.again
	before := a.s.SSE(a.p)
	if r.best.Group != nil {
		before = a.s.SSE(r.best)
	}
	a.keep()
	a.idle, r.priced = 0, false
	if r.fresh {
		if r.vain++; a.s.SSE(r.best) < before*(1-gainShare) {
			r.vain = 0
		}
		a.p, r.fresh = r.best, false
		return nil
	}
	a.p, r.fresh = r.start, true
	return a.whole(ctx, a.wholeProposals())
}

// keep makes the best of the best so far and of where the search is.
func (a *search) keep() {
	if a.again.best.Group == nil {
		a.again.best = a.p
	}
	a.again.best = combine(a.s, a.again.best, a.p)
}
