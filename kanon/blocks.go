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
func (o *Options) blockSize(n int, chosen partition.Chosen) int {
	cell := chosen.Coarse
	if cell <= 0 || o.K < 2 || o.Partition.CoarseCut != partition.Spread || o.needsWhole() != "" {
		return 0
	}
	return block.Size(int64(n), cell, o.K, o.Block)
}

// matchBytes is about what is held of a record until values are matched: of its
// group the order of visits, and in each column its own values and its bin.
func (r *run) matchBytes() int {
	if r.job.Publish != publish.Matched {
		return 0
	}
	return (24 + 12*len(r.quasi)) / r.job.K
}

// blocks divides, refines and publishes the table block by block.
func (r *run) blocks(ctx context.Context, in *records.Table, size int, how partition.Options, chosen partition.Chosen) (*made, error) {
	if err := r.job.needs(in.Rows, recordBytes+r.matchBytes(), noren.Textf("allow more")); err != nil {
		return nil, err
	}
	began := time.Now()
	frame, plan, err := r.survey(ctx, in)
	if err != nil {
		return nil, err
	}
	maker := r.job.Maker(table.PlaceOf(r.job.Source), int64(in.Rows), frame, plan, how, chosen)
	if maker.Outsiders, err = r.outsiders(ctx, in); err != nil {
		return nil, err
	}
	arranged, sst, err := r.arrange(ctx, in, frame, size)
	if err != nil {
		return nil, err
	}
	defer arranged.Close()
	bounds, err := r.bounds(arranged, size)
	if err != nil {
		return nil, err
	}
	timed(&r.result.Seconds.Partition, began)
	began = time.Now()
	var work block.Seconds
	c, err := r.collect(ctx, maker, arranged, bounds, &work)
	if err != nil {
		return nil, err
	}
	divided, refined, published := work.Share(time.Since(began).Seconds())
	r.result.Seconds.Partition += divided
	r.result.Seconds.Refine += refined
	r.result.Seconds.Publish += published
	began = time.Now()
	if err := plan.Finish(ctx, c.made.published, c.made.groups.Group); err != nil {
		return nil, err
	}
	timed(&r.result.Seconds.Publish, began)
	if maker.Outsiders != nil {
		r.result.Excluded = maker.Outsiders.Excluded()
	}
	r.result.SST, r.result.GroupSize = sst, c.size
	r.losses(c.made.groups.Groups, c.before, c.after)
	return &c.made, r.boundLarge(ctx, in)
}

// arrange puts the records in the order of the cells that blocks are cut by, and returns the
// SST of the table.
func (r *run) arrange(ctx context.Context, in *records.Table, frame *space.Frame, size int) (*records.Arranged, float64, error) {
	tree, err := r.cutTree(ctx, in, frame, size)
	if err != nil {
		return nil, 0, err
	}
	sst := frame.NewSST()
	arranged, err := in.Arrange(ctx, tree.Cells(), func(columns []*table.Column, out []uint32) error {
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
		return nil, 0, err
	}
	return arranged, sst.Sum(), nil
}

// bounds are the places where blocks begin, and the end of the last.
func (r *run) bounds(arranged *records.Arranged, size int) ([]int64, error) {
	bounds := partition.Bounds(arranged.Counts, size)
	if r.job.Unit == "" {
		return bounds, nil
	}
	return block.JoinShort(bounds, r.job.K, func(from, to int64) ([]uint32, error) {
		_, columns, err := arranged.Load(from, to)
		if err != nil {
			return nil, err
		}
		return PersonsOf(columns[len(columns)-1]), nil
	})
}

// survey looks at all records, for what must be known of the whole table.
func (r *run) survey(ctx context.Context, in *records.Table) (*space.Frame, *publish.Plan, error) {
	heads := in.Columns[:len(r.quasi)]
	plan, err := publish.NewPlan(heads, r.storedQuasi(), r.publishing())
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
	look := func(places, values bool) error {
		return in.Runs(ctx, func(_ int, columns []*table.Column) error {
			var wg sync.WaitGroup
			if values {
				wg.Go(func() { plan.Look(columns[:len(r.quasi)]) })
			}
			if places {
				survey.Look(columns[:len(r.quasi)])
			}
			wg.Wait()
			return nil
		})
	}
	if err := look(true, true); err != nil {
		return nil, nil, err
	}
	places, values := survey.Twice(), plan.Twice()
	if places {
		survey.Again()
	}
	if values {
		plan.Again()
	}
	if places || values {
		if err := look(places, values); err != nil {
			return nil, nil, err
		}
	}
	frame, err := survey.Frame(heads)
	if err != nil {
		return nil, nil, r.noSpace(err)
	}
	return frame, plan, nil
}

func (r *run) noSpace(err error) error { return block.NoSpace(table.PlaceOf(r.job.Source), err) }

// outsiders are the records that are left out to count whom boxes exclude, nil where no
// boxes are published.
func (r *run) outsiders(ctx context.Context, in *records.Table) (*publish.Outsiders, error) {
	if !r.job.Publish.Boxes() {
		return nil, nil
	}
	sample := publish.SampleOutsiders[uint32](in.Rows, r.job.SearchSeed())
	columns, err := in.Select(ctx, sample)
	if err != nil {
		return nil, err
	}
	return publish.NewOutsiders(sample, columns[:len(r.quasi)], r.publishing()), nil
}

// cutTree makes the tree that blocks are cut by.
func (r *run) cutTree(ctx context.Context, in *records.Table, frame *space.Frame, size int) (*partition.CellTree, error) {
	sample, err := in.Select(ctx, partition.SampleRecords(in.Rows))
	if err != nil {
		return nil, err
	}
	s, err := frame.Space(sample[:len(r.quasi)])
	if err != nil {
		return nil, r.noSpace(err)
	}
	return partition.NewCellTree(ctx, s, in.Rows, size, partition.Frequent(r.job.K))
}

// collect makes the groups of all blocks, and puts them together.
func (r *run) collect(ctx context.Context, maker *block.Maker, arranged *records.Arranged, bounds []int64, work *block.Seconds) (
	*collector, error,
) {
	rows := bounds[len(bounds)-1]
	c := &collector{
		made:    made{groups: space.Partition{Group: make([]uint32, rows)}},
		size:    GroupSize{Min: int(rows)},
		waiting: map[int]*piece{},
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := int64(0)
	var mu sync.Mutex
	err := space.Parallel(ctx, len(bounds)-1, "blocks", space.ParallelOptions{Workers: r.job.Workers}, func() func(int) {
		return func(i int) {
			b := r.block(ctx, maker, arranged, bounds[i], bounds[i+1], work)
			mu.Lock()
			defer mu.Unlock()
			done += bounds[i+1] - bounds[i]
			r.job.Progress.Report("partition", done, rows)
			c.add(i, b)
			if c.err != nil {
				cancel()
			}
		}
	})
	if c.err != nil {
		return nil, c.err
	}
	return c, err
}

// piece is what became of a block.
type piece struct {
	*block.Made
	records []uint32
	err     error
}

// block makes the groups of the records at places from..to-1.
func (r *run) block(ctx context.Context, m *block.Maker, arranged *records.Arranged, from, to int64, work *block.Seconds) *piece {
	ids, columns, err := arranged.Load(from, to)
	if err != nil {
		return &piece{err: err}
	}
	var of []uint32 // persons
	if r.job.Unit != "" {
		of = PersonsOf(columns[len(columns)-1])
	}
	b := &piece{records: ids}
	b.Made, b.err = m.Make(ctx, columns[:len(r.quasi)], of, ids, work)
	return b
}

// collector puts the blocks together, in their order.
type collector struct {
	made          made
	size          GroupSize
	before, after float64 // the SSE before and after refinement
	next          int
	waiting       map[int]*piece
	err           error
}

// add adds block i; calls follow each other.
func (c *collector) add(i int, b *piece) {
	c.waiting[i] = b
	for c.err == nil {
		b, ok := c.waiting[c.next]
		if !ok {
			return
		}
		delete(c.waiting, c.next)
		c.next++
		if c.err = b.err; c.err != nil {
			return
		}
		groups := &c.made.groups
		for j, record := range b.records {
			groups.Group[record] = uint32(groups.Groups) + b.Groups.Group[j]
		}
		groups.Groups += b.Groups.Groups
		for _, n := range b.Groups.Sizes() {
			c.size.Min, c.size.Max = min(c.size.Min, n), max(c.size.Max, n)
		}
		c.made.published = publish.Append(c.made.published, b.Published)
		c.before += b.Before
		c.after += b.After
	}
}
