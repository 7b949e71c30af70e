package refine

import (
	"context"

	"noren/kanon/space"
)

// Without prices the search begins again now and then, since where annealing
// comes to is decided early: whole cells are annealed from the start of the
// search, and their regions, and of what has been best so far and of this the
// better is taken place by place; that is annealed in turn.

const (
	// restartAfter is after how many proposals a record the search begins again,
	// and mostVain after how many times in vain it is over.
	restartAfter, mostVain = 80_000, 4
	// annealedAgain is what part of that the best so far is annealed for.
	annealedAgain = 4
)

// restarts are the times that the search began again.
type restarts struct {
	start space.Partition
	best  space.Partition // empty before the first time
	fresh bool            // whether the search is not at the best but at another
	vain  int
	next  int // after how many proposals it begins again
}

// restarting reports whether it is time to begin again.
func (a *annealing) restarting() bool {
	return !a.pricing() && a.proposed >= a.again.next && a.wholeProposals() > 0
}

// restart begins again, or goes on at the best so far.
func (a *annealing) restart(ctx context.Context) error {
	r := &a.again
	before := a.s.SSE(a.p)
	if r.best.Group != nil {
		before = a.s.SSE(r.best)
	}
	fresh := r.fresh
	a.keep()
	a.idle = 0
	if fresh {
		if r.vain++; a.s.SSE(r.best) < before*(1-gainShare) {
			r.vain = 0
		}
		a.p, r.fresh = r.best, false
		r.next = a.proposed + restartAfter/annealedAgain*a.s.Len()
		return nil
	}
	a.p, r.fresh = r.start, true
	err := a.whole(ctx, a.wholeProposals())
	r.next = a.proposed + restartAfter*a.s.Len()
	return err
}

// keep makes the best of the best so far and of where the search is.
func (a *annealing) keep() {
	if a.again.best.Group == nil {
		a.again.best = a.p
	}
	a.again.best = combine(a.s, a.again.best, a.p)
}
