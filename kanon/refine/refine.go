// Package refine improves a k-partition by local search, which no greedy method
// does: it moves single records, swaps pairs, dissolves groups and splits them
// whenever the sum of squared errors falls. Given time, it goes on by exchanges
// along many groups (chains.go) from groups that are perturbed again and again
// (shake.go), and by annealing region by region (annealing.go). For small k it
// asks prices, which tell what groups there should be (priced.go; package bound).
// When all of this has come to a halt it begins again (restart.go). A group never
// has fewer than k records.
//
// The result is a function of the space, the partition, k, the effort and the
// seed, and not of the number of workers. With a duration the clock decides how
// far the search gets, in an order of work that does not depend on it.
package refine

import (
	"context"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/space"
)

// Effort says how long to search.
type Effort struct {
	// Descend goes down to a partition that no single change improves.
	Descend bool
	// Exchange then makes exchanges along many groups, as many as pay; it does
	// nothing where records are counted by persons.
	Exchange bool
	// Duration, beyond that, is the longest time to search; the search ends
	// sooner when it no longer pays.
	Duration time.Duration
}

// Off leaves a partition as it is; Fast descends; Auto descends and makes
// exchanges where they pay, limited by counted steps.
var (
	Off  = Effort{}
	Fast = Effort{Descend: true}
	Auto = Effort{Descend: true, Exchange: true}
)

// String is "off", "fast", "auto" or the duration.
func (e Effort) String() string {
	switch {
	case e.Duration > 0:
		return e.Duration.String()
	case e.Exchange:
		return "auto"
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
	case "auto":
		return Auto, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return Effort{}, &noren.Error{
			Kind: noren.Usage, What: "unknown effort %q", Args: []any{s},
			Hint: "off, fast, auto, or a duration such as 20s or 2m",
		}
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
	// Persons, where it is not nil, is the person of each record,
	// [privacy.NoPerson] for none: a group then needs records of K distinct
	// persons, and not K records.
	Persons []uint32
	// Measure is what refinement lowers. Defaults to the sum of squares of the
	// space.
	Measure cost.Measure
	// Judge, where it is not nil, is asked of every group that changes. The groups
	// of the partition must hold. With Persons it must demand K persons.
	Judge cost.Judge
	// Progress receives progress. Optional.
	Progress noren.Progress
}

// measure is what refinement lowers.
func (o *Options) measure(s *space.Space) cost.Measure {
	if o.Measure != nil {
		return o.Measure
	}
	return cost.Squares(s)
}

// Stats tells what was done.
type Stats struct {
	Before float64 // what refinement lowers, at the start
	After  float64 // and at the end
	Rounds int     // passes over the table
}

const (
	// nearRecords is how many near records a record looks at in a descent.
	nearRecords = 24
	// descentRecords is about how many records a descent goes over as one piece,
	// twice as many at most. A larger table falls into cells of whole groups, which
	// are searched in parallel; the next round cuts other cells, so that their
	// borders move. At the borders of smaller cells much is lost that the next round
	// does not find.
	descentRecords = 20_000
	// cellRecords is likewise how many records are annealed as one piece, or descend
	// by a measure.
	cellRecords = 4000
)

// Refine returns a partition that is no worse. Groups are numbered by their
// lowest record. The partition must be a k-partition of the space. When the
// context ends, its error is returned.
func Refine(ctx context.Context, s *space.Space, p space.Partition, o Options) (space.Partition, Stats, error) {
	if len(p.Group) != s.Len() {
		return space.Partition{}, Stats{}, noren.Bug("refine: the partition is of another space")
	}
	if err := o.validate(p); err != nil {
		return space.Partition{}, Stats{}, noren.Reasonf("refine: not a k-partition: %s", err)
	}
	if o.Measure != nil || o.Judge != nil {
		return refineCosts(ctx, s, p, &o, o.Progress)
	}
	stats := Stats{Before: s.SSE(p)}
	stats.After = stats.Before
	if !o.Effort.Descend || o.K < 2 || p.Groups < 2 && s.Len() < 2*o.K {
		return p, stats, nil
	}
	began := time.Now()
	if s.Len() <= 2*descentRecords {
		// One cell: found once, by all workers, for all that follows.
		var err error
		if s, err = s.WithNear(ctx, nearRecords, space.Cyclic, o.Workers); err != nil {
			return space.Partition{}, Stats{}, err
		}
	}
	for range fastRounds(s.Len(), descentRecords) {
		next, err := descend(ctx, s, p, &o, stats.Rounds, o.Progress)
		if err != nil {
			return space.Partition{}, Stats{}, err
		}
		stats.Rounds++
		// Sums of many small gains are checked against the whole.
		if sse := s.SSE(next); sse < stats.After {
			p, stats.After = next, sse
		}
	}
	switch {
	case o.exchanges():
		next, err := exchanged(ctx, s, p, &o, stats.Rounds)
		if err != nil {
			return space.Partition{}, Stats{}, err
		}
		stats.Rounds++
		if sse := s.SSE(next); sse < stats.After {
			p, stats.After = next, sse
		}
	case o.Effort.Duration == 0:
	case o.Persons != nil:
		next, rounds, err := kicked(ctx, s, p, &o, began, o.Progress)
		if err != nil {
			return space.Partition{}, Stats{}, err
		}
		stats.Rounds += rounds
		if sse := s.SSE(next); sse < stats.After {
			p, stats.After = next, sse
		}
	default:
		a := newSearch(s, p, &o)
		if err := a.run(ctx, began, o.Progress); err != nil {
			return space.Partition{}, Stats{}, err
		}
		stats.Rounds += a.rounds
		if sse := s.SSE(a.p); sse < stats.After {
			p, stats.After = a.p, sse
		}
	}
	return p.Canonical(), stats, nil
}

// validate demands of every group what k asks for.
func (o *Options) validate(p space.Partition) error {
	if o.Persons == nil {
		return p.Validate(o.K)
	}
	if len(o.Persons) != len(p.Group) {
		return noren.Reasonf("persons of %d {record|records}, expected %d", len(o.Persons), len(p.Group))
	}
	return ValidatePersons(p, o.Persons, o.K)
}

// fastRounds is how many rounds a descent in cells of a size takes: one where the
// table is one cell, two where cells have borders to mend.
func fastRounds(n, size int) int {
	if n <= 2*size {
		return 1
	}
	return 2
}

// descend betters every cell by a descent.
func descend(ctx context.Context, s *space.Space, p space.Partition, o *Options, number int, progress noren.Progress) (space.Partition,
	error,
) {
	cells := cutCells(s, p, descentRecords, number)
	results := make([]cellResult, len(cells))
	err := space.Parallel(ctx, len(cells), "refine", space.ParallelOptions{Workers: o.Workers, Progress: progress}, func() func(int) {
		return func(task int) {
			c := &cell{s: s, p: p, records: cells[task], k: o.K}
			results[task] = c.descend(ctx, o.Persons)
		}
	})
	if err != nil {
		return space.Partition{}, err
	}
	return joined(s.Len(), cells, results)
}

// cell is a set of whole groups that is searched by itself.
type cell struct {
	s       *space.Space
	p       space.Partition
	records []int32
	k       int
}

type cellResult struct {
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
func (c *cell) descend(ctx context.Context, persons []uint32) cellResult {
	sub, inner := c.own()
	if persons != nil {
		p, err := descendedPersons(ctx, sub, inner, c.k, personsOf(persons, c.records))
		return cellResult{p, err}
	}
	p, err := descended(ctx, sub, inner, c.k)
	return cellResult{p, err}
}

func descended(ctx context.Context, s *space.Space, p space.Partition, k int) (space.Partition, error) {
	near, err := s.NearLists(ctx, nearRecords, space.NearOptions{Ties: space.Cyclic, Workers: 1})
	if err != nil {
		return p, err
	}
	d := newDescent(s, p, near, k)
	if err := d.run(ctx); err != nil {
		return p, err
	}
	return d.partition(), nil
}
