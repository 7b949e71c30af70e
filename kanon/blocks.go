package kanon

import (
	"context"
	"sync"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/block"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// A large table is released block by block: a tree of cuts through the space,
// made from a sample, gives every record its block, and each block is divided,
// refined and published by itself, as if it were the table. What is held in
// memory is then, beside the records (or none of them, see package records),
// the group of each record, what the groups publish, and the blocks at work.
//
// The groups of a block are made by package kanon/block.

// recordBytes is about what is held of a record in any case: its group, its place in
// the release, and its share of what its group publishes.
const recordBytes = 24

// blockSize is the least number of records of a block in a table of n, 0 where
// the table is worked on as a whole.
func (r *run) blockSize(chosen partition.Chosen) int {
	cell := chosen.Coarse
	if cell <= 0 || r.job.K < 2 || r.job.Partition.CoarseCut != partition.Spread || r.job.needsWhole() != "" {
		return 0
	}
	return block.Size(int64(r.held.Rows), cell, r.job.K, r.job.Block)
}

// matchBytes is about what is held of a record until values are matched: of its
// group the order of visits, and in each column its own values and its bin.
func (r *run) matchBytes() int {
	if r.job.Publish != publish.Matched {
		return 0
	}
	return (24 + 12*len(r.quasi)) / r.job.K
}

// piece is what became of a block.
type piece struct {
	*block.Made
	records []uint32
	err     error
}

// blocks divides, refines and publishes the table block by block.
func (r *run) blocks(ctx context.Context, size int, chosen partition.Chosen) error {
	if err := r.needs(recordBytes+r.matchBytes(), noren.Textf("allow more")); err != nil {
		return err
	}
	began := time.Now()
	frame, plan, err := r.survey(ctx)
	if err != nil {
		return err
	}
	if err := r.sampleOutsiders(ctx); err != nil {
		return err
	}
	tree, err := r.cutTree(ctx, frame, size)
	if err != nil {
		return err
	}
	sst := frame.NewSST()
	arranged, err := r.held.Arrange(ctx, tree.Cells(), func(columns []*table.Column, out []uint32) error {
		s, err := frame.Space(columns[:len(r.quasi)])
		if err != nil {
			return err
		}
		var wg sync.WaitGroup
		wg.Go(func() { sst.Add(s) })
		tree.Route(s, out, r.job.Workers)
		wg.Wait()
		return nil
	})
	if err != nil {
		return err
	}
	defer arranged.Close()
	bounds := partition.Bounds(arranged.Counts, size)
	if r.job.Unit != "" {
		bounds, err = block.JoinShort(bounds, r.job.K, func(from, to int64) ([]uint32, error) {
			_, columns, err := arranged.Load(from, to)
			if err != nil {
				return nil, err
			}
			return PersonsOf(columns[len(columns)-1]), nil
		})
		if err != nil {
			return err
		}
	}
	timed(&r.result.Seconds.Partition, began)

	began = time.Now()
	var work block.Seconds
	maker := r.maker(frame, plan, chosen)
	c := &collector{run: r, waiting: map[int]*piece{}}
	r.groups = space.Partition{Group: make([]uint32, r.held.Rows)}
	r.result.GroupSize.Min = r.held.Rows
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make([]int64, 1)
	var mu sync.Mutex
	err = space.Parallel(ctx, len(bounds)-1, "blocks", space.ParallelOptions{Workers: r.job.Workers}, func() func(int) {
		return func(i int) {
			b := r.block(ctx, maker, arranged, bounds[i], bounds[i+1], &work)
			mu.Lock()
			defer mu.Unlock()
			done[0] += bounds[i+1] - bounds[i]
			r.job.Progress.Report("partition", done[0], int64(r.held.Rows))
			c.take(i, b)
			if c.err != nil {
				cancel()
			}
		}
	})
	if c.err != nil {
		return c.err
	}
	if err != nil {
		return err
	}
	divided, refined, published := work.Share(time.Since(began).Seconds())
	r.result.Seconds.Partition += divided
	r.result.Seconds.Refine += refined
	r.result.Seconds.Publish += published
	began = time.Now()
	if err := plan.Finish(ctx, r.published, r.groups.Group); err != nil {
		return err
	}
	timed(&r.result.Seconds.Publish, began)
	if r.outsiders != nil {
		r.result.Excluded, r.outsiders = r.outsiders.Excluded(), nil
	}
	r.result.SSE, r.result.SST = c.after, sst.Sum()
	if r.result.SST > 0 {
		r.result.RefinedFrom = c.before / r.result.SST
	}
	return nil
}

// survey looks at all records, for what must be known of the whole table.
func (r *run) survey(ctx context.Context) (*space.Frame, *publish.Plan, error) {
	plan, err := publish.NewPlan(r.held.Columns[:len(r.quasi)], r.storedQuasi(), r.publishing())
	if err != nil {
		return nil, nil, err
	}
	fields := make([]table.Field, len(r.quasi))
	for j, i := range r.quasi {
		fields[j] = r.job.Schema.Fields[i]
	}
	survey, err := space.NewSurvey(fields, r.job.Scale)
	if err != nil {
		return nil, nil, err
	}
	err = r.held.Runs(ctx, func(_ int, columns []*table.Column) error {
		var wg sync.WaitGroup
		wg.Go(func() { plan.Look(columns[:len(r.quasi)]) })
		survey.Look(columns[:len(r.quasi)])
		wg.Wait()
		return nil
	})
	if err == nil && (survey.Twice() || plan.Twice()) {
		if survey.Twice() {
			survey.Again()
		}
		if plan.Twice() {
			plan.Again()
		}
		err = r.held.Runs(ctx, func(_ int, columns []*table.Column) error {
			var wg sync.WaitGroup
			if plan.Twice() {
				wg.Go(func() { plan.Look(columns[:len(r.quasi)]) })
			}
			if survey.Twice() {
				survey.Look(columns[:len(r.quasi)])
			}
			wg.Wait()
			return nil
		})
	}
	if err != nil {
		return nil, nil, err
	}
	frame, err := survey.Frame(r.held.Columns[:len(r.quasi)])
	if err != nil {
		return nil, nil, r.noSpace(err)
	}
	return frame, plan, nil
}

func (r *run) noSpace(err error) error { return block.NoSpace(r.job.Source.Name(), err) }

// sampleOutsiders picks the records that are left out to count whom boxes exclude.
func (r *run) sampleOutsiders(ctx context.Context) error {
	if !r.job.Publish.Boxes() {
		return nil
	}
	sample := publish.SampleOutsiders[uint32](r.held.Rows, r.seed())
	columns, err := r.held.Select(ctx, sample)
	if err != nil {
		return err
	}
	r.outsiders = publish.NewOutsiders(sample, columns[:len(r.quasi)], r.publishing())
	return nil
}

// cutTree makes the tree that blocks are cut by.
func (r *run) cutTree(ctx context.Context, frame *space.Frame, size int) (*partition.CellTree, error) {
	sample, err := r.held.Select(ctx, partition.SampleRecords(r.held.Rows))
	if err != nil {
		return nil, err
	}
	s, err := frame.Space(sample[:len(r.quasi)])
	if err != nil {
		return nil, r.noSpace(err)
	}
	return partition.NewCellTree(ctx, s, r.held.Rows, size, partition.Frequent(r.job.K))
}

// maker makes the groups of blocks.
func (r *run) maker(frame *space.Frame, plan *publish.Plan, chosen partition.Chosen) *block.Maker {
	m := r.job.Maker(r.job.Source.Name(), int64(r.held.Rows), frame, plan, r.partition, chosen)
	m.Outsiders = r.outsiders
	return m
}

// block makes the groups of the records at places from..to-1.
func (r *run) block(ctx context.Context, m *block.Maker, arranged *records.Arranged, from, to int64, work *block.Seconds) *piece {
	b := &piece{}
	ids, columns, err := arranged.Load(from, to)
	if err != nil {
		b.err = err
		return b
	}
	var of []uint32 // persons
	if r.job.Unit != "" {
		of = PersonsOf(columns[len(columns)-1])
	}
	b.records = ids
	b.Made, b.err = m.Make(ctx, columns[:len(r.quasi)], of, ids, work)
	return b
}

// collector puts the blocks together, in their order.
type collector struct {
	run           *run
	next          int
	waiting       map[int]*piece
	before, after float64
	err           error
}

// take takes block i; calls follow each other.
func (c *collector) take(i int, b *piece) {
	c.waiting[i] = b
	for c.err == nil {
		b, ok := c.waiting[c.next]
		if !ok {
			return
		}
		delete(c.waiting, c.next)
		c.next++
		c.add(b)
	}
}

func (c *collector) add(b *piece) {
	r := c.run
	if b.err != nil {
		c.err = b.err
		return
	}
	base := uint32(r.groups.Groups)
	for j, record := range b.records {
		r.groups.Group[record] = base + b.Groups.Group[j]
	}
	r.groups.Groups += b.Groups.Groups
	for _, n := range b.Groups.Sizes() {
		r.result.GroupSize.Min, r.result.GroupSize.Max = min(r.result.GroupSize.Min, n), max(r.result.GroupSize.Max, n)
	}
	r.published = publish.Append(r.published, b.Published)
	c.before += b.Before
	c.after += b.After
}
