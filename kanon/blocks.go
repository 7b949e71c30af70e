package kanon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/enforce"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/persons"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// A large table is released block by block: a tree of cuts through the space,
// made from a sample, gives every record its block, and each block is divided,
// refined and published by itself, as if it were the table. What is held in
// memory is then, beside the records (or none of them, see package records),
// the group of each record, what the groups publish, and the blocks at work.
//
// A block of a table of some size holds cells of the coarse step, and refinement
// goes over it twice, so that the cells' borders are mended; beyond, blocks are
// cells and it goes over them once.
const (
	// blockRecords is the least number of records of a block of several cells.
	blockRecords = 20_000
	// twiceRecords is up to how many records blocks are of several cells.
	twiceRecords = 2_000_000
	// descentNear is how many near records refinement looks at.
	descentNear = 24
	// recordBytes is about what is held of a record in any case: its group, its
	// place in the release, and its share of what its group publishes.
	recordBytes = 24
)

// blockSize is the least number of records of a block in a table of n, 0 where
// the table is worked on as a whole.
func (r *run) blockSize(chosen partition.Chosen) int {
	n, cell := r.held.Rows, chosen.Coarse
	switch {
	case cell <= 0 || r.job.K < 2 || r.job.Partition.CoarseCut != partition.Spread:
		return 0
	case r.job.Refine.Duration > 0 || len(r.sensitive) > 0 || r.job.Linkage == LinkAll || r.job.Suppress != Suppression{}:
		return 0
	case r.job.Block > 0:
		return max(r.job.Block, r.job.K)
	case n > twiceRecords:
		return cell
	}
	return max(blockRecords, 4*cell)
}

// matchBytes is about what is held of a record until values are matched: of its
// group the order of visits, and in each column its own values and its bin.
func (r *run) matchBytes() int {
	if r.job.Publish != publish.Matched {
		return 0
	}
	return (24 + 12*len(r.quasi)) / r.job.K
}

// block is what became of one.
type block struct {
	records       []uint32
	groups        space.Partition
	published     []publish.Column
	before, after float64 // the sum of squared errors, before and after refinement
	err           error
}

// blocks divides, refines and publishes the table block by block.
func (r *run) blocks(ctx context.Context, size int, chosen partition.Chosen) error {
	if err := r.needs(recordBytes+r.matchBytes(), "allow more"); err != nil {
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
	bounds, err := r.joinShort(partition.Bounds(arranged.Counts, size), arranged.Load)
	if err != nil {
		return err
	}
	timed(&r.result.Seconds.Partition, began)

	began = time.Now()
	var work blockSeconds
	c := &collector{run: r, waiting: map[int]*block{}}
	r.groups = space.Partition{Group: make([]uint32, r.held.Rows)}
	r.result.GroupSize.Min = r.held.Rows
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make([]int64, 1)
	var mu sync.Mutex
	err = space.Parallel(ctx, len(bounds)-1, "blocks", space.ParallelOptions{Workers: r.job.Workers}, func() func(int) {
		return func(i int) {
			b := r.block(ctx, frame, plan, chosen, arranged.Load, bounds[i], bounds[i+1], &work)
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
	work.share(time.Since(began).Seconds(), &r.result.Seconds)
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

func (r *run) noSpace(err error) error {
	return &noren.Error{Kind: noren.KindOf(err), Where: r.job.Source.Name(), What: "the quasi-identifiers make no space", Err: err}
}

// sampleOutsiders picks the records that are left out to count whom boxes exclude.
func (r *run) sampleOutsiders(ctx context.Context) error {
	if !r.job.Publish.Boxes() {
		return nil
	}
	sample := publish.SampleOutsiders(r.held.Rows, r.seed())
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

// block makes the groups of the records at places from..to-1.
func (r *run) block(ctx context.Context, frame *space.Frame, plan *publish.Plan, chosen partition.Chosen, load func(from, to int64) ([]uint32, []*table.Column, error), from, to int64, work *blockSeconds) *block {
	b := &block{}
	fail := func(err error) *block {
		b.err = err
		return b
	}
	began := time.Now()
	records, columns, err := load(from, to)
	if err != nil {
		return fail(err)
	}
	b.records = records
	var of []uint32 // persons
	if r.job.Unit != "" {
		of = PersonsOf(columns[len(columns)-1])
	}
	columns = columns[:len(r.quasi)]
	s, err := frame.Space(columns)
	if err != nil {
		return fail(r.noSpace(err))
	}
	o := r.partition
	o.K, o.Workers, o.Method, o.Coarse = r.job.K, 1, chosen.Method, partition.CoarseOff
	o.Progress = nil // blocks are reported, from several goroutines
	if r.job.lowersBoxes() {
		o.Measure = cost.Boxes(frame, columns)
	}
	if of != nil && r.judges() {
		o.Judge = enforce.NewJudge(r.job.requirement(), nil, &enforce.Persons{Of: of, Requirement: r.job.requirement()})
	}
	if s.Len() >= 2*chosen.Coarse {
		o.Coarse = chosen.Coarse
	} else if r.job.Refine.Descend {
		// Found once, for the method and for the descent.
		if err := s.KeepNear(ctx, descentNear, o.Ties, 1); err != nil {
			return fail(err)
		}
	}
	lowers, asked := o.Measure, o.Judge
	if of != nil {
		o.Measure, o.Judge = nil, nil // of records; refinement goes by them
		b.groups, err = persons.Divide(ctx, s, of, o)
	} else {
		b.groups, _, err = partition.Partition(ctx, s, o)
	}
	if err != nil {
		return fail(err)
	}
	work.add(&work.partition, &began)
	effort := r.job.Refine
	if r.held.Rows > twiceRecords {
		effort.Exchange = false // in blocks of one cell exchanges cost more than they gain
	}
	groups, stats, err := refine.Refine(ctx, s, b.groups, refine.Options{K: r.job.K, Effort: effort, Seed: r.seed(), Workers: 1, Persons: of, Measure: lowers, Judge: asked})
	if err != nil {
		return fail(err)
	}
	b.before, b.after = stats.Before, stats.After
	if lowers != nil {
		b.before, b.after = s.SSE(b.groups), s.SSE(groups)
	}
	b.groups = groups
	if err := enoughInGroups(b.groups, of, r.job.K); err != nil {
		return fail(&noren.Error{What: fmt.Sprintf("a block was not divided into groups of k: %v", err), Err: errors.New("this is a fault in noren")})
	}
	work.add(&work.refine, &began)
	b.published, err = plan.Groups(ctx, columns, b.groups.Group, b.groups.Groups)
	if err == nil && r.outsiders != nil {
		err = r.outsiders.Look(ctx, columns, records, b.groups.Group, b.groups.Groups)
	}
	work.add(&work.publish, &began)
	b.err = err
	return b
}

// collector puts the blocks together, in their order.
type collector struct {
	run           *run
	next          int
	waiting       map[int]*block
	before, after float64
	err           error
}

// take takes block i; calls follow each other.
func (c *collector) take(i int, b *block) {
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

func (c *collector) add(b *block) {
	r := c.run
	if b.err != nil {
		c.err = b.err
		return
	}
	base := uint32(r.groups.Groups)
	for j, record := range b.records {
		r.groups.Group[record] = base + b.groups.Group[j]
	}
	r.groups.Groups += b.groups.Groups
	for _, n := range b.groups.Sizes() {
		r.result.GroupSize.Min, r.result.GroupSize.Max = min(r.result.GroupSize.Min, n), max(r.result.GroupSize.Max, n)
	}
	r.published = publish.Append(r.published, b.published)
	c.before += b.before
	c.after += b.after
}

// blockSeconds adds up, over all workers, what each step took.
type blockSeconds struct{ partition, refine, publish atomic.Int64 }

func (w *blockSeconds) add(to *atomic.Int64, began *time.Time) {
	now := time.Now()
	to.Add(int64(now.Sub(*began)))
	*began = now
}

// share divides the time that the workers took together.
func (w *blockSeconds) share(took float64, s *Seconds) {
	p, f, b := float64(w.partition.Load()), float64(w.refine.Load()), float64(w.publish.Load())
	if sum := p + f + b; sum > 0 {
		s.Partition += took * p / sum
		s.Refine += took * f / sum
		s.Publish += took * b / sum
	}
}
