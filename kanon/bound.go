package kanon

import (
	"context"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/bound"
	"github.com/noren-privacy/noren/kanon/records"
	"github.com/noren-privacy/noren/kanon/space"
)

// boundedPlaces is up to how many different points the lower bound of the loss
// by nearest neighbours is computed unasked: beyond, it would cost as much time
// as the release. From boundedRecords on they are not even counted.
const (
	boundedPlaces  = 50_000
	boundedRecords = 200_000
)

// boundLarge is bound for a table that was released block by block.
func (r *run) boundLarge(ctx context.Context, in *records.Table) error {
	switch {
	case r.job.Gap == 0 && in.Rows > boundedRecords:
		r.unbounded("more than %d records; state a duration to compute it all the same", boundedRecords)
		return nil
	case in.Rows > wholeRecords && r.job.needs(in.Rows, 64+16*len(in.Columns), noren.Text{}) != nil:
		r.unbounded("the records do not fit the memory that is allowed; allow more")
		return nil
	}
	began := time.Now()
	columns, err := in.All(ctx)
	if err != nil {
		return err
	}
	s, err := space.FromTable(columns[:len(r.quasi)], r.job.Scale)
	if err != nil {
		return r.noSpace(err)
	}
	timed(&r.result.Seconds.Bound, began)
	return r.bound(ctx, s)
}

// bound finds a lower bound of the loss.
func (r *run) bound(ctx context.Context, s *space.Space) error {
	defer timed(&r.result.Seconds.Bound, time.Now())
	if r.job.lowersBoxes() {
		r.unbounded("ranges are published: the groups have small boxes, and the bound is one of sums of squares")
		return nil
	}
	if r.result.Suppressed > 0 {
		r.unbounded("records were suppressed: the bound is one of groupings of all records")
		return nil
	}
	o := bound.Options{K: r.job.K, Duration: r.job.Gap, Seed: r.job.SearchSeed(), Workers: r.job.Workers, Progress: r.job.Progress}
	if r.job.Gap == 0 {
		o.MostPlaces = boundedPlaces
	}
	b, err := bound.Lower(ctx, s, o)
	if err != nil {
		return err
	}
	if b.Method == bound.None {
		r.unbounded("more than %d different points; state a duration to compute it all the same", boundedPlaces)
		return nil
	}
	r.result.LowerBound, r.result.Gap = min(b.Loss, r.result.Loss), b.Gap(r.result.SSE)
	r.result.Bound = Bound{Method: b.Method.String(), Records: b.Records, Converged: b.Converged}
	switch {
	case r.job.Gap == 0:
	case s.Len() > bound.MostSampled:
		r.result.Bound.Reason = noren.Textf("prices are not looked for beyond %d records", bound.MostSampled)
	case b.Method == bound.Simple && !b.Converged && r.job.K > 1:
		r.result.Bound.Reason = noren.Textf("no better prices were found in this time")
	case b.Records < s.Len() && r.job.K > 1:
		r.result.Bound.Reason = noren.Textf("prices for a sample of cells, %d of %d {record|records}", b.Records, s.Len())
	}
	return nil
}

// unbounded says why nothing better than 0 is known.
func (r *run) unbounded(format noren.Format, args ...any) {
	r.result.Bound = Bound{Method: bound.None.String(), Reason: noren.Textf(format, args...)}
	if r.result.Loss > 0 {
		r.result.Gap = 1
	}
}
