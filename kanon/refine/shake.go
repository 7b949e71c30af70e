package refine

import "context"

// A search begins with exchanges along many groups (chains.go), which come to an
// end where none is found that pays. From there it goes on by perturbing: all groups
// are heated for a moment, so that single changes worsen them here and there, and
// improved by exchanges again; of before and after the better is taken place by
// place (iterated local search; Lourenço, Martin and Stützle 2003).

const (
	// shakenRecords is about how many records are perturbed as one piece. Exchanges
	// go far, so that pieces are large.
	shakenRecords = 20_000
	// shakesAtOnce is the smallest number of cells perturbed at the same time: where
	// there are fewer, each several times.
	shakesAtOnce = 2
)

// jolts are how groups are perturbed: the heat, and for how many proposals a record.
var jolts = [...]struct{ heat, proposals float64 }{
	{0.3, 10}, {0.3, 30}, {0.3, 100}, {0.4, 30}, {0.6, 10}, {1, 5},
}

// exchange betters every cell by exchanges.
func (a *search) exchange(ctx context.Context) error {
	var attempts []attempt
	for _, records := range cutCells(a.s, a.p, shakenRecords, a.rounds) {
		attempts = append(attempts, attempt{by: byExchanges, records: records, near: chainNear})
	}
	return a.take(ctx, attempts)
}

// shake shakes every cell and betters it by exchanges.
func (a *search) shake(ctx context.Context) error {
	cells := cutCells(a.s, a.p, shakenRecords, a.rounds)
	times := (shakesAtOnce + len(cells) - 1) / len(cells)
	attempts := make([]attempt, times*len(cells))
	rng := draws(a.o.Seed ^ uint64(a.rounds)<<32)
	for i := range attempts {
		with := a.byJolt.choose(rng.float())
		t := attempt{by: byShaking, records: cells[i%len(cells)], near: chainNear, seed: rng.next(), way: with}
		t.heat, t.proposals = jolts[with].heat, int(2*jolts[with].proposals*float64(len(t.records)))
		attempts[i] = t
	}
	return a.take(ctx, attempts)
}

// shake makes half of so many proposals at a heat, and half without.
func (a *annealer) shake(ctx context.Context, heat float64, proposals int) error {
	a.heat = heat
	if err := a.run(ctx, proposals/2); err != nil {
		return err
	}
	a.heat = 0
	a.renewAll()
	return a.run(ctx, proposals/2)
}
