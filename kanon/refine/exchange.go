package refine

import (
	"context"

	"github.com/noren-privacy/noren/kanon/space"
)

// After a descent, Auto makes exchanges along many groups (chains.go): in the whole
// table up to twice shakenRecords, in cells of a larger one. It ends by counts
// alone: no pass begins after exchangePairs looks a record, or after a pass that
// lowered the sum of squares by less than exchangePays of it. No clock decides, so
// that the result is the same on every machine and with any number of workers.
const (
	// exchangePairs is how many records of other groups exchanges look at for
	// each record: about 20 microseconds on one processor.
	exchangePairs = 400
	exchangePays  = 1.0 / 400
	// exchangeMost is the largest k for which Auto makes exchanges: a step looks
	// at every record of the groups beside it, so that a pass costs k times as
	// much as for groups of one.
	exchangeMost = 64
)

// exchanges reports whether a refinement by these options makes exchanges.
func (o *Options) exchanges() bool {
	return o.Effort.Exchange && o.Effort.Duration == 0 && o.Persons == nil && o.K <= exchangeMost
}

// exchanged makes exchanges in every cell and keeps what lowers the sum of
// squares.
func exchanged(ctx context.Context, s *space.Space, p space.Partition, o *Options, number int) (space.Partition, error) {
	cells := cutCells(s, p, shakenRecords, number)
	results := make([]cellResult, len(cells))
	err := space.Parallel(ctx, len(cells), "refine", space.ParallelOptions{Workers: o.Workers}, func() func(int) {
		return func(task int) {
			c := &cell{s: s, p: p, records: cells[task], k: o.K}
			results[task] = c.exchange(ctx)
		}
	})
	if err != nil {
		return space.Partition{}, err
	}
	return joined(s.Len(), cells, results)
}

// exchange makes exchanges among the groups of a cell.
func (c *cell) exchange(ctx context.Context) cellResult {
	sub, inner := c.own()
	near, err := newNeighbours(ctx, sub, chainNear)
	if err != nil {
		return cellResult{inner, err}
	}
	a := newAnnealer(sub, inner, near, c.k, 0)
	if err := a.exchangeWhilePays(ctx); err != nil {
		return cellResult{inner, err}
	}
	p := a.partition()
	if sub.SSE(p) >= sub.SSE(inner) {
		p = inner // rounding
	}
	return cellResult{p, nil}
}

// exchangeWhilePays makes exchanges along many groups, pass by pass.
func (a *annealer) exchangeWhilePays(ctx context.Context) error {
	a.renewAll()
	c := newChains(a, shortSteps)
	most := exchangePairs * len(a.group)
	for before := a.cost(); c.turn < mostPasses && c.pairs < most; c.turn++ {
		if err := c.search(ctx); err != nil {
			return err
		}
		if !c.exchange() {
			break
		}
		after := a.cost()
		if before-after < exchangePays*before {
			break
		}
		before = after
	}
	return nil
}

// cost is the sum of squares of all groups.
func (a *annealer) cost() float64 {
	var sum float64
	for g := range a.groups {
		sum += a.groups[g].cost()
	}
	return sum
}

// joined puts the groups of cells together.
func joined(n int, cells [][]int32, results []cellResult) (space.Partition, error) {
	out := space.Partition{Group: make([]uint32, n)}
	for c, records := range cells {
		r := results[c]
		if r.err != nil {
			return space.Partition{}, r.err
		}
		for j, i := range records {
			out.Group[i] = uint32(out.Groups) + r.p.Group[j]
		}
		out.Groups += r.p.Groups
	}
	return out, nil
}
