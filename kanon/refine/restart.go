package refine

import (
	"context"

	"github.com/noren-privacy/noren/kanon/space"
)

// Where a search comes to is decided early. When it has come to a halt, and prices
// were asked where they are (priced.go), it begins again: whole cells are annealed
// from the start of the search, that goes on to where it halts in turn, and of
// this and of what has been best so far the better is taken place by place. That
// is searched again, and so on.

// mostVain is after how many times that beginning again, and what follows, was in
// vain the search is over.
const mostVain = 8

// restarts are the times that the search began again.
type restarts struct {
	start  space.Partition
	best   space.Partition // empty before the first time
	fresh  bool            // whether the search is not at the best but at another
	priced bool            // whether prices were asked since
	vain   int
}

// restart begins again, or goes on at the best so far: where that is the same as
// before there is nothing to go on with but prices.
func (a *search) restart(ctx context.Context) error {
	r := &a.again
	before := r.best
	a.keep()
	switch {
	case before.Group != nil && a.s.SSE(r.best) < a.s.SSE(before)*(1-gainShare):
		r.vain = 0
	case r.fresh:
		r.vain++
	}
	a.idle, r.priced = 0, false
	if r.fresh && (r.vain == 0 || a.pricing()) {
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
