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
	byShaking                // exchanges from groups that were shaken
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
	err := space.Parallel(ctx, a.o.Workers, len(attempts), "refine", nil, func() func(int) {
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
		a.favour(inner, sub)
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
	t.p = a.partition()
	before := sub.SSE(inner)
	t.gain = before - sub.SSE(t.p)
	if t.gain < gainShare*before {
		t.gain = 0
	}
	t.done = true
}
