package refine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"noren"
	"noren/kanon/space"
)

// search betters a partition for some time, in rounds of attempts at parts of
// it: exchanges along many groups from groups that were shaken (shake.go),
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
	idle   int // proposals since the last gain
	// proposed is how many proposals were made, and due after how many there is a
	// first search by prices at the latest.
	proposed, due int
	priced        int // such searches
	// what the ways, the jolts, and annealing regions against shaking, have gained
	// by proposals.
	byWay, byJolt, byKind yields
	taken                 [kinds]int // proposals, by kind
	again                 restarts
	tell                  func()  // how far time has come
	floor                 float64 // times proposals a record: a gain that is next to none
}

const (
	// rate is about how many proposals a second two processors make.
	rate = 8e6
	// idleProposals is after how many proposals a record without a gain the
	// search ends.
	idleProposals = 100_000
	// gainShare is the least gain that counts, as a share of what the region
	// loses.
	gainShare = 1e-7
)

func newSearch(s *space.Space, p space.Partition, o *Options) *search {
	a := &search{s: s, p: p, k: o.K, o: o, floor: 2.5e-9 * s.SSE(p)}
	if a.pricing() {
		first := pricedAfter / min(1, a.pricedShare())
		a.due = max(int(first*o.Effort.Duration.Seconds()*rate), annealedFirst*s.Len())
	}
	floor := a.floor / float64(s.Len())
	a.byWay = newYields(len(ways), 0.99, 0.2, floor)
	a.byJolt = newYields(len(jolts), 0.9, 0.2, floor)
	a.byKind = newYields(kinds, 0.8, 0.2, floor)
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
	for a.floor > 0 && a.idle < idleProposals*a.s.Len() && a.again.vain < mostVain {
		var err error
		switch whole := a.wholeProposals(); {
		case a.rounds == 0 && whole > 0:
			err = a.whole(late, whole)
		case a.pricing() && !a.again.priced && (a.halted() || a.priced == 0 && a.proposed >= a.due):
			err = a.price(late)
		case a.halted() && whole > 0:
			err = a.restart(late)
		default:
			err = a.next(late)
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

// errLate says that the time is over.
var errLate = errors.New("refine: out of time")

// attempt is a region and what is tried on it.
type attempt struct {
	records   []int32 // ascending
	heat      float64
	scale     scale
	way       int
	near      int // records
	proposals int
	seed      uint64
	whole     bool // a whole cell
	shaken    bool // a whole cell, by exchanges
	priced    bool // a whole cell, by prices,
	nodes     int  // with so many nodes a region
	// result
	done bool
	gain float64
	p    space.Partition // of records
	err  error
}

// take makes attempts, the longest first, so that no worker waits long for
// another, and takes over what is better. When time is over on the way, they
// count up to the first that is not done.
func (a *search) take(ctx context.Context, attempts []attempt) error {
	within := 1
	if len(attempts) == 1 {
		within = a.o.Workers
	}
	slices.SortStableFunc(attempts, func(x, y attempt) int { return cmp.Compare(y.proposals, x.proposals) })
	err := space.Parallel(ctx, a.o.Workers, len(attempts), "refine", nil, func() func(int) {
		return func(i int) {
			if attempts[i].priced {
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
		a.idle += t.proposals
		a.proposed += t.proposals
		switch {
		case t.shaken:
			a.byJolt.learn(t.way, t.gain, float64(t.proposals))
		case !t.whole && !t.priced:
			a.byWay.learn(t.way, t.gain, float64(t.proposals))
		}
		if t.whole || t.shaken {
			// There may be other attempts at the cell.
			sub, inner := (&cell{s: a.s, p: space.Partition{Group: group, Groups: groups}, records: t.records, k: a.k}).own()
			t.p = combine(sub, inner, t.p)
			t.gain = sub.SSE(inner) - sub.SSE(t.p)
		}
		if t.gain > 0 {
			a.idle = 0
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
