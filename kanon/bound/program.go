package bound

import (
	"context"
	"math/rand/v2"
	"slices"
)

// program is the linear program that chooses shares of the groups of a pool such
// that every record is in groups with shares of one in all, and no cut is
// violated.
//
// Its entropic regularisation with heat mu is solved row by row (pool.sweep): at
// the fixed point x_S = exp(-r(S)/mu) is a fractional partition, so that x_S <= 1,
// no group of the pool has a reduced cost below 0, and all prices together fall
// short of the program's value by mu times the entropy of x.
type program struct {
	f       *frame
	u       []float64 // prices of the records
	cuts    *cuts
	pool    *pool
	active  []int32 // the records whose prices are looked for
	gone    []bool  // where not nil, the other records: they are not there
	rng     *rand.Rand
	mu      float64
	entropy float64
	rows    []int32
}

const (
	// over is the factor by which a price goes beyond where its row is kept. The
	// sweep knows that it is one and a half.
	over = 1.5
	// mostSweeps is how many times all prices are fitted before the next step.
	mostSweeps = 300
	// settled is how much rows may be off on average, in the logarithm.
	settled = 0.002
	// counted is up to how many times mu a reduced cost may be for a group to
	// count.
	counted = 25
)

// newProgram begins with the prices of the simple bound and an empty pool.
func newProgram(f *frame, active []int32, rng *rand.Rand) program {
	p := program{f: f, u: make([]float64, f.n), cuts: newCuts(f.n), pool: newPool(f), active: active, rng: rng}
	for i := range p.u {
		p.u[i] = f.near.price(f.k, f.places.of[i])
	}
	return p
}

// lacks reports whether one of the members is not there.
func (p *program) lacks(members []int32) bool {
	if p.gone == nil {
		return false
	}
	for _, i := range members {
		if p.gone[i] {
			return true
		}
	}
	return false
}

// fit fits all prices to the pool at the present heat, until rows are off by no
// more than that, in the logarithm and on average, or after so many sweeps.
func (p *program) fit(ctx context.Context, sweeps int, off float64) error {
	p.rows = append(p.rows[:0], p.active...)
	for t, set := range p.cuts.set {
		if !p.lacks(set) {
			p.rows = append(p.rows, int32(p.f.n+t))
		}
	}
	for sweep := range sweeps {
		if err := ctx.Err(); err != nil {
			return err
		}
		if sweep%20 == 0 {
			p.pool.index(p, counted*p.mu)
		}
		p.rng.Shuffle(len(p.rows), func(i, j int) { p.rows[i], p.rows[j] = p.rows[j], p.rows[i] })
		if p.pool.sweep(p.u, p.cuts, p.mu, p.rows) < off*float64(len(p.active)) {
			break
		}
	}
	p.entropy = p.pool.entropy()
	return nil
}

// pricing is a search for groups at the present prices.
func (p *program) pricing(below float64, keep, budget, breadth int) *pricing {
	return &pricing{
		f: p.f, u: p.u, cuts: p.cuts, active: p.active, only: p.gone != nil, below: below, keep: keep, budget: budget,
		breadth: breadth,
	}
}

// add adds the groups that were found to the pool and returns how many it lacked.
func (p *program) add(out []outcome) int {
	added := 0
	for at := range out {
		for _, g := range out[at].groups {
			if p.pool.add(g.members) {
				added++
			}
		}
	}
	return added
}

// reduced is the reduced cost of a group.
func (p *program) reduced(members []int32) float64 {
	r := p.f.cost(members)
	for _, i := range members {
		r -= p.u[i]
	}
	p.pool.met = p.cuts.met(p.pool.met[:0], members)
	for _, t := range p.pool.met {
		r += p.cuts.price[t]
	}
	return r
}

// value is what all prices together are worth: a lower bound of what the records
// that are there lose, as far as no group has a reduced cost below 0.
func (p *program) value() float64 {
	var sum float64
	for _, i := range p.active {
		sum += p.u[i]
	}
	return sum - p.cuts.paid()
}

// addAll adds groups to the pool, in copies.
func (p *program) addAll(groups [][]int32) {
	for _, members := range groups {
		p.pool.add(slices.Clone(members))
	}
}
