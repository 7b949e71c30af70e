package bound

import (
	"cmp"
	"context"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// pricing is one search of all groups of k..2k-1 records for those of low
// reduced cost
//
//	r(S) = c_S - sum over i in S of u_i + sum over cuts T of w_T floor(|S ∩ T|/2).
//
// A group is looked for from its first record in an order of falling prices:
// the records that are far from all others come first, while few others are
// worth a look beside them, and are out of the way of all later ones. Records
// whose prices are fixed come last: groups of these alone are not looked for.
type pricing struct {
	f      *frame
	u      []float64 // by record
	cuts   *cuts
	active []int32 // the records whose prices are not fixed
	only   bool    // the others are not there

	below   float64 // groups of a reduced cost below this are found,
	keep    int     // but no more than this for each root: the lowest
	budget  int     // steps that a root may take
	breadth int     // candidates that a root may have for a size

	order  []int32   // position -> record
	price  []float64 // by position
	points *space.Points
	// rest[m-k][p] is what position p adds at least to the reduced cost of
	// a group of m, beside its distance from the first record:
	// half its distances to m-2 others over m, less its price.
	rest [][]float64
}

// found is a group and its reduced cost.
type found struct {
	members []int32
	cost    float64
}

// outcome is what the search from a root came to: groups of low reduced cost,
// lowest first, and a lower bound of that of all others with this first record.
type outcome struct {
	groups []found
	others float64
}

func (p *pricing) prepare() {
	f := p.f
	p.order = slices.Clone(p.active)
	slices.SortStableFunc(p.order, func(i, j int32) int { return cmp.Compare(p.u[j], p.u[i]) })
	if len(p.active) < f.n && !p.only {
		isActive := make([]bool, f.n)
		for _, i := range p.active {
			isActive[i] = true
		}
		for i := range int32(f.n) {
			if !isActive[i] {
				p.order = append(p.order, i)
			}
		}
	}
	p.points = f.s.NewPoints(p.order)
	p.price = make([]float64, len(p.order))
	for at, i := range p.order {
		p.price[at] = p.u[i]
	}
	p.rest = p.rest[:0]
	for m := f.k; m <= f.largest; m++ {
		rest := make([]float64, len(p.order))
		for at, i := range p.order {
			rest[at] = f.nearest(i, m-2)/float64(2*m) - p.u[i]
		}
		p.rest = append(p.rest, rest)
	}
}

// run searches from every root. It does not depend on the number of workers;
// when the context ends, so does the search, with its error.
func (p *pricing) run(ctx context.Context, workers int) ([]outcome, error) {
	p.prepare()
	out := make([]outcome, len(p.active))
	err := space.Parallel(ctx, len(out), "lower bound", space.ParallelOptions{Workers: workers}, func() func(int) {
		s := newSearcher(ctx, p)
		return func(at int) { out[at] = s.root(at) }
	})
	return out, err
}
