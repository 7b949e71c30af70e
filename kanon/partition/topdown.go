package partition

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/cost"
	"github.com/noren-privacy/noren/kanon/space"
)

// topDown cuts the records by [cost.Cutter], level by level, the sets of a level in
// parallel. Where not even all records as one group are allowed, the judge is not
// asked: groups are merged afterwards.
func topDown(ctx context.Context, s *space.Space, o *Options, progress noren.Progress) (space.Partition, error) {
	m, judge := o.Measure, o.Judge
	if m == nil {
		m = cost.Squares(s)
	}
	cutter := cost.NewCutter(m, o.K, judge)
	all := cutter.All()
	if judge != nil && !judge.Holds(all) {
		cutter = cost.NewCutter(m, o.K, nil)
	}
	sets := [][]int32{all}
	var done [][]int32
	finished := 0
	for len(sets) > 0 {
		left, right := make([][]int32, len(sets)), make([][]int32, len(sets))
		err := space.Parallel(ctx, len(sets), "partition", space.ParallelOptions{Workers: o.Workers}, func() func(int) {
			return func(j int) { left[j], right[j] = cutter.Cut(sets[j]) }
		})
		if err != nil {
			return space.Partition{}, err
		}
		var next [][]int32
		for j, set := range sets {
			if left[j] == nil {
				done = append(done, set)
				finished += len(set)
				continue
			}
			next = append(next, left[j], right[j])
		}
		sets = next
		progress.Report("partition", int64(finished), int64(s.Len()))
	}
	g := newGrouping(s.Len())
	for _, set := range done {
		g.add(set...)
	}
	return g.p, nil
}
