// Package refine betters a k-partition by local search, which no greedy method
// does: it moves single records, swaps pairs, dissolves groups and splits them,
// and cuts a few adjacent groups anew, whenever the sum of squared errors
// falls. A group never has fewer than k records at any time.
//
// The result is a function of the space, the partition, k and the seed, and
// not of the number of workers. With a duration the search stops on time, but
// only between rounds whose results do not depend on the clock.
package refine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"noren"
	"noren/kanon/space"
)

// Effort says how long to search.
type Effort struct {
	// Descend goes down to a partition that no single change betters.
	Descend bool
	// Duration, beyond that, is how long to cut small neighbourhoods anew.
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
	// nearRecords is how many near records a record looks at.
	nearRecords = 24
	// cellRecords is about how many records are searched as one piece. A
	// larger table falls into cells of whole groups, which are searched in
	// parallel; the next round cuts other cells, so that their borders move.
	cellRecords = 4000
)

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
	for {
		recuts := 0
		if stats.Rounds >= fastRounds(s.Len()) {
			if o.Effort.Duration == 0 || !time.Now().Before(deadline) {
				break
			}
			recuts = 4
		}
		next, err := round(ctx, s, p, &o, stats.Rounds, recuts, progress)
		if err != nil {
			return space.Partition{}, Stats{}, err
		}
		// Sums of many small gains are checked against the whole: a round
		// that bettered nothing by more than rounding is the last of a descent.
		sse := s.SSE(next)
		stats.Rounds++
		if sse < stats.After {
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

// round descends in every cell, then makes about recuts attempts a group to cut
// neighbourhoods anew.
func round(ctx context.Context, s *space.Space, p space.Partition, o *Options, number, recuts int, progress noren.Progress) (space.Partition, error) {
	cells := cutCells(s, p, number)
	type result struct {
		p   space.Partition
		err error
	}
	results := make([]result, len(cells))
	err := space.Parallel(ctx, o.Workers, len(cells), "refine", progress, func() func(int) {
		return func(c int) {
			rng := rand.New(rand.NewPCG(o.Seed, uint64(number)<<32|uint64(c)))
			results[c].p, results[c].err = refineCell(ctx, s, p, cells[c], o.K, recuts, rng)
		}
	})
	if err != nil {
		return space.Partition{}, err
	}
	out := space.Partition{Group: make([]uint32, s.Len())}
	for c, records := range cells {
		if results[c].err != nil {
			return space.Partition{}, results[c].err
		}
		for j, i := range records {
			out.Group[i] = uint32(out.Groups) + results[c].p.Group[j]
		}
		out.Groups += results[c].p.Groups
	}
	return out, nil
}

// refineCell searches the groups of one cell, on memory of its own.
func refineCell(ctx context.Context, s *space.Space, p space.Partition, records []int32, k, recuts int, rng *rand.Rand) (space.Partition, error) {
	sub := s
	if len(records) < s.Len() {
		sub = s.Subset(records)
	}
	inner := space.Partition{Group: make([]uint32, len(records)), Groups: p.Groups}
	for j, i := range records {
		inner.Group[j] = p.Group[i]
	}
	near, err := sub.NearLists(ctx, nearRecords, space.Cyclic, 1, nil)
	if err != nil {
		return space.Partition{}, err
	}
	d := newDescent(sub, inner.Canonical(), near, k)
	if err := d.run(ctx); err != nil {
		return space.Partition{}, err
	}
	if recuts > 0 {
		if err := d.recut(ctx, recuts, rng); err != nil {
			return space.Partition{}, err
		}
		if err := d.run(ctx); err != nil {
			return space.Partition{}, err
		}
	}
	return d.partition(), nil
}
