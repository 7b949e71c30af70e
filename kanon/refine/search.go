package refine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/space"
)

// search improves a partition for some time, in rounds of attempts at parts of
// it: exchanges along many groups from groups that were perturbed (shake.go),
// annealing region by region (annealing.go), and prices (priced.go). When it
// has come to a halt it begins again (restart.go).
//
// What is attempted in a round, and what comes of it, depends on the partition and
// the seed alone; so the clock only decides how far the search gets in a fixed
// order of work.
type search struct {
	s      *space.Space
	p      space.Partition
	k      int
	o      *Options
	rounds int
	idle   int64 // proposals since the last gain
	// proposed is how many proposals were made, and due after how many there is a
	// first search by prices at the latest.
	proposed, due int64
	priced        int // such searches
	// what the ways, the jolts, and annealing regions against shaking, have gained
	// by proposals.
	byWay, byJolt, byKind yields
	again                 restarts
	tell                  func()  // how far time has come
	floor                 float64 // times proposals a record: a gain that is next to none
}

const (
	// rate is about how many proposals a second two processors make.
	rate = 8e6
	// halting is after how many proposals a record without a gain the search has
	// come to a halt.
	halting = 20_000
	// gainShare is the least gain that counts, as a share of what was attempted
	// loses.
	gainShare = 1e-7
)

func newSearch(s *space.Space, p space.Partition, o *Options) *search {
	a := &search{s: s, p: p, k: o.K, o: o, floor: 2.5e-9 * s.SSE(p)}
	a.due = int64(pricedAfter * rate * max(o.Effort.Duration, a.pricedTime()).Seconds())
	floor := a.floor / float64(s.Len())
	a.byWay = newYields(len(ways), 0.99, 0.2, floor)
	a.byJolt = newYields(len(jolts), 0.9, 0.2, floor)
	a.byKind = newYields(kinds, 0.95, 0.2, floor)
	a.again = restarts{start: p}
	return a
}

// run goes on until the time is over or it no longer pays.
func (a *search) run(ctx context.Context, began time.Time, progress noren.Progress) error {
	late, cancel := context.WithDeadlineCause(ctx, began.Add(a.o.Effort.Duration), errLate)
	defer cancel()
	var telling sync.Mutex
	a.tell = func() {
		telling.Lock()
		defer telling.Unlock()
		progress.Report("refine", time.Since(began).Milliseconds(), a.o.Effort.Duration.Milliseconds())
	}
	defer func() {
		a.keep()
		a.p = a.again.best
	}()
	for a.floor > 0 && a.again.vain < mostVain {
		var err error
		switch whole := a.wholeProposals(); {
		case a.rounds == 0:
			err = a.exchange(late)
		case a.rounds == 1 && whole > 0:
			err = a.whole(late, whole)
		case a.pricing() && !a.again.priced && (a.halted() || a.priced == 0 && a.proposed >= a.due):
			err = a.price(late)
		case !a.halted():
			err = a.next(late)
		case whole > 0:
			err = a.restart(late)
		default:
			return nil
		}
		if ctx.Err() == nil && errors.Is(context.Cause(late), errLate) {
			return nil
		}
		if err != nil {
			return err
		}
		a.tell()
	}
	return nil
}

// halted reports whether the search has come to a halt.
func (a *search) halted() bool { return a.idle >= halting*int64(a.s.Len()) }

// The kinds of rounds that a search goes on by.
const (
	anneals = iota
	shakes
	kinds
)

// next makes a round of the kind that has had less of the time lately than it
// should have by what both have gained.
func (a *search) next(ctx context.Context) error {
	kind, spent := anneals, a.byKind.spent
	if spent[shakes] <= a.byKind.share(shakes)*(spent[anneals]+spent[shakes]) {
		kind = shakes
	}
	before, proposed := a.s.SSE(a.p), a.proposed
	var err error
	if kind == shakes {
		err = a.shake(ctx)
	} else {
		err = a.round(ctx)
	}
	a.byKind.learn(kind, before-a.s.SSE(a.p), float64(a.proposed-proposed))
	return err
}

// errLate says that the time is over.
var errLate = errors.New("refine: out of time")
