package bound

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/noren-privacy/noren"
)

// ascent is the search for good prices: the heat of a [program] is lowered step
// by step; in between, pricing finds groups that the pool lacks, and cuts are
// added that the shares violate; a new heat lets them take effect.
type ascent struct {
	program
	o         *Options
	best      float64
	converged bool
}

const (
	// broad and thorough searches: groups a root, steps a root, candidates.
	firstGroups, firstSteps, firstCrowd = 10, 300, 30
	quickGroups, quickSteps, quickCrowd = 10, 1000, 60
	keepGroups, keepSteps, keepCrowd    = 20, 20_000_000, 2000
	// exploring is the share of the bound that the heat may cost when searches
	// begin to be thorough; below coldest it is raised again.
	exploring, coldest = 1e-2, 1e-4
	cooling, reheating = 0.8, 30
	// pricedEvery is after how many steps of slow cooling the pool is completed.
	pricedEvery = 4
	// gain is the share of the bound that a cycle of heating and cooling must
	// bring to be followed by another one like it.
	gain = 2e-5
)

// violations are by how much a cut must be violated to be added: the more at
// first, the less when nothing more is gained.
var violations = [...]float64{0.03, 0.01, 0.003}

func newAscent(f *frame, o *Options) *ascent {
	rng := rand.New(rand.NewPCG(o.Seed, 0x626f756e64))
	return &ascent{program: newProgram(f, sample(f.s, f.k, o.MostRecords, rng), rng), o: o}
}

// run raises the bound until the deadline, or until it rises no more, and
// returns the best that was certified.
func (a *ascent) run(ctx context.Context, deadline time.Time, progress noren.Progress) (float64, error) {
	began := time.Now()
	late, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	tell := func() {
		progress.Report("lower bound", time.Since(began).Milliseconds(), deadline.Sub(began).Milliseconds())
	}
	err := a.climb(late, tell)
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	if err != nil && late.Err() == nil {
		return 0, err
	}
	return a.best, nil
}

func (a *ascent) climb(ctx context.Context, tell func()) error {
	var total, fixed float64 // of the prices of the simple bound
	for _, x := range a.u {
		fixed += x
	}
	for _, i := range a.active {
		total += a.u[i]
	}
	fixed -= total
	if total == 0 {
		a.converged = true
		return nil // k records at every place
	}
	a.mu = total / float64(len(a.active)) * float64(a.f.k) / 2
	if _, err := a.complete(ctx, inf, firstGroups, firstSteps, firstCrowd); err != nil {
		return err
	}
	// A pool with which prices are about right, from hasty searches.
	for {
		tell()
		if err := a.fit(ctx, mostSweeps, settled); err != nil {
			return err
		}
		added, err := a.complete(ctx, 0, quickGroups, quickSteps, quickCrowd)
		if err != nil {
			return err
		}
		if added*5 >= len(a.active) {
			continue
		}
		if a.mu*a.entropy <= exploring*total {
			break
		}
		a.mu /= 2
	}
	level, before, known := 0, 0.0, false
	for step := 0; ; step++ {
		tell()
		if err := a.fit(ctx, mostSweeps, settled); err != nil {
			return err
		}
		lost := a.mu * a.entropy
		scale := max(a.best-fixed, total)
		if !known || step%pricedEvery == 0 || lost <= coldest*scale {
			added, err := a.complete(ctx, 2*a.mu, keepGroups, keepSteps, keepCrowd)
			if err != nil {
				return err
			}
			known = known || added*4 < len(a.active)
			if !known {
				continue // no use to cut what is better without these groups
			}
		}
		cut := a.separate(violations[level])
		a.mu *= cooling
		if lost > coldest*scale {
			continue
		}
		if cut == 0 && a.best < before*(1+gain) {
			if level++; level == len(violations) {
				a.converged = true
				return nil
			}
		}
		before = a.best
		a.mu *= reheating
	}
}

// complete searches all groups, adds those that the pool lacks, certifies what
// the prices are worth, and returns how many were added.
func (a *ascent) complete(ctx context.Context, below float64, keep, budget, breadth int) (int, error) {
	p := a.pricing(below, keep, budget, breadth)
	out, err := p.run(ctx, a.o.Workers)
	if err != nil {
		return 0, err
	}
	a.best = max(a.best, certify(p, out))
	return a.add(out), nil
}

// certify is a lower bound of the sum of squared errors, from prices of which
// all groups were searched. Prices are lowered until the groups that were found
// cost no less than their members' prices, and the first record of those that
// were not searched for by as much as these may be amiss. See
// docs/loss-bounds.md, Theorem 3.
func certify(p *pricing, out []outcome) float64 {
	u := slices.Clone(p.u)
	var bad []found
	for at := range out {
		for _, g := range out[at].groups {
			if g.cost < 0 {
				bad = append(bad, g)
			}
		}
	}
	slices.SortStableFunc(bad, func(a, b found) int { return cmp.Compare(a.cost, b.cost) })
	var met []int32
	for _, g := range bad {
		r := p.f.cost(g.members)
		met = p.cuts.met(met[:0], g.members)
		for _, t := range met {
			r += p.cuts.price[t]
		}
		for _, i := range g.members {
			r -= u[i]
		}
		if r < 0 {
			for _, i := range g.members {
				u[i] += r / float64(len(g.members))
			}
		}
	}
	for at := range out {
		if o := out[at].others; o < 0 {
			i := p.order[at]
			u[i] = min(u[i], p.u[i]+o)
		}
	}
	var sum, size float64
	for _, x := range u {
		sum += x
		size += math.Abs(x)
	}
	sum -= p.cuts.paid()
	size += p.cuts.paid()
	terms := float64(len(u) + len(p.cuts.price))
	return sum - terms*epsilon*size - terms/float64(p.f.k)*rounding(p)
}

// rounding is by how much the reduced cost of a group may be lower than the
// search has it (docs/loss-bounds.md, Lemma 4): a sum of distances and prices
// of which every one goes through fewer than `depth` additions, and whose
// prices add up to no more than (2k-1) times the greatest with its cuts.
func rounding(p *pricing) float64 {
	var greatest float64
	most := 0
	for i, u := range p.u {
		x := math.Abs(u)
		for _, t := range p.cuts.of[i] {
			x += p.cuts.price[t]
		}
		greatest = max(greatest, x)
		most = max(most, len(p.cuts.of[i]))
	}
	m := float64(p.f.largest)
	depth := 8*m + m*float64(most) + 32
	return 4 * depth * epsilon * m * greatest
}
