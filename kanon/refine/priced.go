package refine

import (
	"context"
	"slices"
	"time"

	"github.com/noren-privacy/noren/kanon/bound"
	"github.com/noren-privacy/noren/kanon/space"
)

// A search by prices goes beyond annealing: prices of the records, those that
// bound what any partition loses, tell which groups of a partition cost too much
// and which others there could be, and regions of many groups are divided anew by
// branch and price (package bound).

const (
	// mostPricedK is up to which k prices are looked for: beyond it there are too
	// many groups to search.
	mostPricedK = 7
	// pricedTime is, times k², how much time a record a search by prices takes;
	// with less than leastPriced of it there is none. pricedAfter is the share of
	// the time, or of that time if it is more, after which prices are looked for at
	// the latest: as long as changes gain, they gain faster.
	pricedTime               = 450 * time.Microsecond
	leastPriced, pricedAfter = 0.4, 0.3
	// pricedWell is how many times that time there must be for prices to be fitted
	// as thoroughly as those of a bound are, every other time.
	pricedWell = 20
	// pricedGroups is how many groups a region has to begin with; when no region
	// gets better any more it is half as many again, up to about mostPricedRecords.
	pricedGroups, growth, mostPricedRecords = 48, 1.5, 540
	// pricedNodes is the largest number of nodes for a region of pricedGroups
	// the first time, and mostPricedNodes later, twice as many every other time.
	pricedNodes, mostPricedNodes = 40, 160
	// roughHeat, roughNear and roughProposals are how rough divisions are
	// annealed.
	roughHeat, roughNear, roughProposals = 0.25, 2.2, 240
)

// pricing reports whether there is a search by prices.
func (a *search) pricing() bool {
	return a.k <= mostPricedK && a.o.Effort.Duration.Seconds() >= leastPriced*a.pricedTime().Seconds()
}

// pricedTime is how much time a search by prices takes.
func (a *search) pricedTime() time.Duration {
	return pricedTime * time.Duration(a.k*a.k) * time.Duration(a.s.Len())
}

// price divides whole cells anew by prices.
func (a *search) price(ctx context.Context) error {
	cells := cutCells(a.s, a.p, cellRecords, a.rounds)
	attempts := make([]attempt, len(cells))
	rng := draws(a.o.Seed ^ uint64(a.rounds)<<32)
	thorough := a.priced%2 == 1 && a.o.Effort.Duration >= pricedWell*a.pricedTime()
	for i := range attempts {
		nodes := min(pricedNodes<<min(a.priced/2, 10), mostPricedNodes)
		attempts[i] = attempt{records: cells[i], seed: rng.next(), by: byPrices, nodes: nodes, thorough: thorough}
	}
	a.priced++
	a.again.priced = true
	return a.take(ctx, attempts)
}

// price divides the cell anew by prices. What is better when the context ends
// counts.
func (t *attempt) price(ctx context.Context, s *space.Space, p space.Partition, k, workers int, tell func()) {
	sub, inner := (&cell{s: s, p: p, records: t.records, k: k}).own()
	t.p, t.err = redivide(ctx, sub, inner, k, t.seed, t.thorough, t.nodes, workers, tell)
	t.gain = sub.SSE(inner) - sub.SSE(t.p)
	t.done = true
}

// redivide divides the groups of p anew where prices say that it may pay, until
// nothing gets better, and returns what it comes to, also with an error. It
// calls tell now and then.
func redivide(ctx context.Context, s *space.Space, p space.Partition, k int, seed uint64, thorough bool, nodes, workers int,
	tell func(),
) (space.Partition, error) {
	prices, err := bound.NewPrices(ctx, s, p, bound.PriceOptions{
		K: k, Seed: seed, Thorough: thorough, Workers: workers,
		Progress: func(string, int64, int64) { tell() },
	})
	if err != nil {
		return p, err
	}
	for size := pricedGroups; ; {
		regions, err := prices.Regions(ctx, p, size)
		if err != nil {
			return p, err
		}
		if len(regions) == 0 {
			if size >= min(p.Groups, mostPricedRecords/k) {
				return p, nil
			}
			size = int(growth * float64(size))
			continue
		}
		if p, err = divide(ctx, s, regions, p, k, nodes*size/pricedGroups, workers); err != nil {
			return p, err
		}
		tell()
	}
}

// divide divides regions of p anew and takes over what is better.
func divide(ctx context.Context, s *space.Space, regions []*bound.Region, p space.Partition, k, nodes, workers int) (space.Partition,
	error,
) {
	results := make([]space.Partition, len(regions))
	errs := make([]error, len(regions))
	err := space.Parallel(ctx, len(regions), "refine", space.ParallelOptions{Workers: workers}, func() func(int) {
		return func(i int) {
			sub, inner := (&cell{s: s, p: p, records: regions[i].Records, k: k}).own()
			results[i], errs[i] = divided(ctx, sub, inner, regions[i], k, nodes)
		}
	})
	out := space.Partition{Group: slices.Clone(p.Group), Groups: p.Groups}
	for i, r := range results {
		if err == nil {
			err = errs[i]
		}
		for j, g := range r.Group {
			out.Group[regions[i].Records[j]] = uint32(out.Groups) + g
		}
		out.Groups += r.Groups
	}
	return out.Canonical(), err
}

// divided is a division of a region that is better than p, or none. Rough
// divisions are annealed a little.
func divided(ctx context.Context, s *space.Space, p space.Partition, r *bound.Region, k, nodes int) (space.Partition, error) {
	better, rough, err := r.Regroup(ctx, nodes)
	if err != nil {
		return space.Partition{}, err
	}
	best := p
	if better != nil {
		best = combine(s, p, *better)
	}
	near, err := newNeighbours(ctx, s, int(roughNear*float64(k)))
	if err != nil {
		return space.Partition{}, err
	}
	for n, q := range rough {
		a := newAnnealer(s, q, near, k, uint64(n))
		if err := a.cool(ctx, roughHeat, coolest, roughProposals*s.Len()); err != nil {
			return space.Partition{}, err
		}
		best = combine(s, best, a.partition())
	}
	if s.SSE(best) < s.SSE(p)*(1-gainShare) {
		return best, nil
	}
	return space.Partition{}, nil
}
