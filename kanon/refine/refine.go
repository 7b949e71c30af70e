// Package refine betters a k-partition by local search, which no greedy method
// does: it moves single records, swaps pairs, dissolves groups and splits them
// whenever the sum of squared errors falls. Given time, it goes on by annealing:
// again and again the best partition found is heated a little and cooled down,
// and wherever the outcome is better, place by place, it is taken over. A group
// never has fewer than k records at any time.
//
// The result is a function of the space, the partition, k and the seed, and
// not of the number of workers. With a duration the search stops on time, but
// only between rounds whose results do not depend on the clock.
package refine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"noren"
	"noren/kanon/space"
)

// Effort says how long to search.
type Effort struct {
	// Descend goes down to a partition that no single change betters.
	Descend bool
	// Duration, beyond that, is how long to anneal at the most.
	Duration time.Duration
}

// Off leaves a partition as it is; Fast descends.
var (
	Off  = Effort{}
	Fast = Effort{Descend: true}
)

// String is "off", "fast" or the duration.
func (e Effort) String() string {
	switch {
	case e.Duration > 0:
		return e.Duration.String()
	case e.Descend:
		return "fast"
	}
	return "off"
}

// ParseEffort is the inverse of [Effort.String].
func ParseEffort(s string) (Effort, error) {
	switch s {
	case "off":
		return Off, nil
	case "fast":
		return Fast, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return Effort{}, &noren.Error{Kind: noren.Usage, What: fmt.Sprintf("unknown effort %q", s), Hint: "off, fast, or a duration such as 20s or 2m"}
	}
	return Effort{Descend: true, Duration: d}, nil
}

// Options are the parameters of [Refine].
type Options struct {
	// K is the least number of records of a group. Required.
	K int
	// Effort defaults to Off.
	Effort Effort
	// Seed fixes the random choices of the longer search.
	Seed uint64
	// Workers is the number of parallel workers. Defaults to one a processor.
	Workers int
}

// Stats tells what was done.
type Stats struct {
	Before float64 // the sum of squared errors at the start
	After  float64 // and at the end
	Rounds int     // passes over the table
}

const (
	// nearRecords is how many near records a record looks at in a descent.
	nearRecords = 24
	// cellRecords is about how many records are searched as one piece. A
	// larger table falls into cells of whole groups, which are searched in
	// parallel; the next round cuts other cells, so that their borders move.
	cellRecords = 4000
	// attempts is how many times a cell is annealed in a round, each from the
	// same partition.
	attempts = 2
	// coolest is the heat at which next to nothing is accepted any more that
	// costs something.
	coolest = 0.1
	// idleRounds is after how many rounds without a gain the search ends.
	idleRounds = 24
)

// heats are what attempts begin with, in turn. Which one serves depends on the
// data and on how far the search has come: heat that is too high forgets, too
// little does not get out.
var heats = [...]float64{0.8, 0.5, 0.65, 0.35, 0.5, 0.25}

// proposals is how many changes an attempt of a round proposes for each record:
// more from round to round, since ever longer annealing is needed.
func proposals(round int) int { return int(200 * math.Pow(1.3, float64(min(round, 16)))) }

// Refine returns a partition that is no worse. Groups are numbered by their
// lowest record. The partition must be a k-partition of the space. When the
// context ends, its error is returned.
func Refine(ctx context.Context, s *space.Space, p space.Partition, o Options, progress noren.Progress) (space.Partition, Stats, error) {
	if len(p.Group) != s.Len() {
		return space.Partition{}, Stats{}, errors.New("refine: the partition is of another space")
	}
	if err := p.Validate(o.K); err != nil {
		return space.Partition{}, Stats{}, fmt.Errorf("refine: not a k-partition: %w", err)
	}
	stats := Stats{Before: s.SSE(p)}
	stats.After = stats.Before
	if !o.Effort.Descend || o.K < 2 || p.Groups < 2 && s.Len() < 2*o.K {
		return p, stats, nil
	}
	deadline := time.Now().Add(o.Effort.Duration)
	descents, idle := fastRounds(s.Len()), 0
	for {
		annealed := stats.Rounds - descents // rounds of annealing before this one
		if annealed >= 0 && (idle == idleRounds || !time.Now().Before(deadline)) {
			break
		}
		next, err := round(ctx, s, p, &o, stats.Rounds, annealed, deadline, progress)
		if errors.Is(err, errLate) {
			break
		}
		if err != nil {
			return space.Partition{}, Stats{}, err
		}
		// Sums of many small gains are checked against the whole.
		sse := s.SSE(next)
		stats.Rounds++
		idle++
		if sse < stats.After {
			if sse < stats.After*(1-1e-7) {
				idle = 0
			}
			p, stats.After = next, sse
		}
	}
	return p.Canonical(), stats, nil
}

// fastRounds is how many rounds a descent takes: one where the table is one
// cell, two where cells have borders to mend.
func fastRounds(n int) int {
	if n <= 2*cellRecords {
		return 1
	}
	return 2
}

// errLate says that a round was not over in time: its work is not used, so that
// what is used does not depend on the clock.
var errLate = errors.New("refine: out of time")

// round betters every cell: by a descent, and from annealed 0 on by annealing.
func round(ctx context.Context, s *space.Space, p space.Partition, o *Options, number, annealed int, deadline time.Time, progress noren.Progress) (space.Partition, error) {
	cells := cutCells(s, p, cellRecords, number)
	tasks := len(cells)
	if annealed >= 0 {
		tasks *= attempts
		late, cancel := context.WithDeadlineCause(ctx, deadline, errLate)
		defer cancel()
		ctx = late
	}
	results := make([]cellResult, tasks)
	err := space.Parallel(ctx, o.Workers, tasks, "refine", progress, func() func(int) {
		return func(task int) {
			c := &cell{s: s, p: p, records: cells[task%len(cells)], k: o.K}
			if annealed < 0 {
				results[task] = c.descend(ctx)
				return
			}
			rng := rand.New(rand.NewPCG(o.Seed, uint64(number)<<32|uint64(task)))
			heat := heats[(annealed*attempts+task/len(cells))%len(heats)]
			results[task] = c.anneal(ctx, heat, proposals(annealed), rng)
		}
	})
	if cause := context.Cause(ctx); errors.Is(cause, errLate) {
		return space.Partition{}, errLate
	}
	if err != nil {
		return space.Partition{}, err
	}
	for t := range results {
		if results[t].err != nil {
			return space.Partition{}, results[t].err
		}
	}
	out := space.Partition{Group: make([]uint32, s.Len())}
	for c, records := range cells {
		r := results[c]
		for t := c + len(cells); t < tasks; t += len(cells) {
			r.p = combine(r.sub, r.p, results[t].p)
		}
		for j, i := range records {
			out.Group[i] = uint32(out.Groups) + r.p.Group[j]
		}
		out.Groups += r.p.Groups
	}
	return out, nil
}

// cell is a set of whole groups that is searched by itself.
type cell struct {
	s       *space.Space
	p       space.Partition
	records []int32
	k       int
}

type cellResult struct {
	sub *space.Space
	p   space.Partition
	err error
}

// own is the cell's space, in memory of its own, and its groups.
func (c *cell) own() (*space.Space, space.Partition) {
	sub := c.s
	if len(c.records) < c.s.Len() {
		sub = c.s.Subset(c.records)
	}
	inner := space.Partition{Group: make([]uint32, len(c.records)), Groups: c.p.Groups}
	for j, i := range c.records {
		inner.Group[j] = c.p.Group[i]
	}
	return sub, inner.Canonical()
}

// descend changes the cell's groups until nothing betters them.
func (c *cell) descend(ctx context.Context) cellResult {
	sub, inner := c.own()
	p, err := descended(ctx, sub, inner, c.k)
	return cellResult{sub, p, err}
}

func descended(ctx context.Context, s *space.Space, p space.Partition, k int) (space.Partition, error) {
	near, err := s.NearLists(ctx, nearRecords, space.Cyclic, 1, nil)
	if err != nil {
		return p, err
	}
	d := newDescent(s, p, near, k)
	if err := d.run(ctx); err != nil {
		return p, err
	}
	return d.partition(), nil
}

// anneal heats the cell and cools it down, and takes over what is better.
func (c *cell) anneal(ctx context.Context, heat float64, proposals int, rng *rand.Rand) cellResult {
	sub, inner := c.own()
	near, err := sub.NearLists(ctx, 2*c.k+2, space.Cyclic, 1, nil)
	if err != nil {
		return cellResult{sub, inner, err}
	}
	a := newAnnealer(sub, inner, near, c.k, rng)
	if err := a.cool(ctx, heat, proposals*sub.Len()); err != nil {
		return cellResult{sub, inner, err}
	}
	q, err := descended(ctx, sub, a.partition(), c.k)
	if err != nil {
		return cellResult{sub, inner, err}
	}
	return cellResult{sub, combine(sub, inner, q), nil}
}
