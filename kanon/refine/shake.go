package refine

import "context"

// Exchanges along many groups come to an end where none pays. From there the
// search goes on by shaking: all groups are heated for a moment, so that single
// changes worsen them here and there, and bettered by exchanges again; of before
// and after the better is taken place by place (iterated local search; Lourenço,
// Martin and Stützle 2003).

const (
	// shakenRecords is about how many records are shaken as one piece. Exchanges
	// go far, so that pieces are large.
	shakenRecords = 20_000
	// shakesAtOnce is how many cells are shaken at the same time at the least: where
	// there are fewer, each several times.
	shakesAtOnce = 2
)

// jolts are how groups are shaken: the heat, and for how many proposals a record.
var jolts = [...]struct{ heat, proposals float64 }{
	{0.3, 10}, {0.3, 30}, {0.3, 100}, {0.4, 30}, {0.6, 10}, {1, 5},
}

// The kinds of rounds.
const (
	anneals = iota
	shakes
	kinds
)

// next makes a round of the kind that has had less time than it should have, by
// what both have gained lately.
func (a *search) next(ctx context.Context) error {
	kind, total := shakes, a.taken[anneals]+a.taken[shakes]
	if a.taken[shakes] > 0 && float64(a.taken[shakes]) >= a.byKind.share(shakes)*float64(total) {
		kind = anneals
	}
	before, proposed := a.s.SSE(a.p), a.proposed
	var err error
	if kind == shakes {
		err = a.shake(ctx)
	} else {
		err = a.round(ctx)
	}
	spent := a.proposed - proposed
	a.taken[kind] += spent
	a.byKind.learn(kind, before-a.s.SSE(a.p), float64(spent))
	return err
}

// shake shakes every cell and betters it by exchanges.
func (a *search) shake(ctx context.Context) error {
	cells := cutCells(a.s, a.p, shakenRecords, a.rounds)
	times := (shakesAtOnce + len(cells) - 1) / len(cells)
	attempts := make([]attempt, times*len(cells))
	rng := draws(a.o.Seed ^ uint64(a.rounds)<<32)
	for i := range attempts {
		with := a.byJolt.choose(rng.float())
		t := attempt{records: cells[i%len(cells)], seed: rng.next(), shaken: true, way: with}
		t.heat, t.near, t.proposals = jolts[with].heat, chainNear, int(jolts[with].proposals*float64(len(t.records)))
		attempts[i] = t
	}
	return a.take(ctx, attempts)
}

// shake makes so many proposals at a heat and as many without.
func (a *annealer) shake(ctx context.Context, heat float64, proposals int) error {
	a.heat = heat
	if err := a.run(ctx, proposals); err != nil {
		return err
	}
	a.heat = 0
	a.renewAll()
	return a.run(ctx, proposals)
}
