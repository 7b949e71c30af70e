package query

import (
	"context"
	"math"

	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// Trial is what answers about a made-up table came to.
type Trial struct {
	// Result is one of the answers.
	Result *Result
	// Within is how many values of all runs are off by at most the margin, and Of how many
	// values there are.
	Within, Of int
}

// Try answers runs times about a table that was made up, and counts the values whose error
// is at most margin: of the value, or of the rank for quantiles by the exponential
// mechanism. A value that there is not, of a mean or variance of no records, is not
// counted; Of is 0 for a mechanism whose error has no bound.
//
// No guarantee holds for what it returns: the counts tell of the exact answer. It must
// not be given private data.
func (q *Query) Try(ctx context.Context, madeUp *table.Table, margin float64, runs int, src *noise.Source) (*Trial, error) {
	records, err := q.records(ctx, madeUp)
	if err != nil {
		return nil, err
	}
	out := &Trial{}
	draw, off, err := q.kernel.trial(ctx, madeUp, records)
	if err != nil {
		return nil, err
	}
	for run := range runs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		groups, err := draw(src)
		if err != nil {
			return nil, err
		}
		for i := range groups {
			if e := off(i, &groups[i]); !math.IsNaN(e) {
				out.Of++
				if e <= margin {
					out.Within++
				}
			}
		}
		if run == 0 {
			out.Result = q.result(groups)
		}
	}
	return out, nil
}

// trial reads a made-up table once. draw answers about it, and off is by how much value i
// of an answer is off, infinite where an answer is missing and NaN where there is nothing
// to compare it with.
func (s *sums) trial(ctx context.Context, t *table.Table, records *scan) (draw func(src *noise.Source) ([]Group, error),
	off func(i int, g *Group) float64, err error,
) {
	exact, err := s.exact(ctx, t, records)
	if err != nil {
		return nil, nil, err
	}
	plain := make([]int64, len(exact))
	for i := range exact {
		plain[i] = exact[i].Saturated()
	}
	truth := s.groups(plain)
	draw = func(src *noise.Source) ([]Group, error) { return s.noisy(exact, src) }
	return draw, func(i int, g *Group) float64 { return distance(truth[i].Value, g.Value) }, nil
}

func (k *quantile) trial(ctx context.Context, t *table.Table, records *scan) (draw func(src *noise.Source) ([]Group, error),
	off func(i int, g *Group) float64, err error,
) {
	values, err := k.grid.values(ctx, k.q, t, records)
	if err != nil {
		return nil, nil, err
	}
	cut := make([][]segment, len(values))
	for i, v := range values {
		cut[i] = k.segments(v)
	}
	draw = func(src *noise.Source) ([]Group, error) { return k.drawn(ctx, cut, src) }
	off = func(i int, g *Group) float64 {
		place := int64(math.Round(float64(*g.Value) / k.grid.Value(1)))
		for _, s := range cut[i] {
			if place < s.from+s.size {
				return float64(s.loss) / float64(k.b)
			}
		}
		return math.Inf(1)
	}
	return draw, off, nil
}

func (s *smooth) trial(ctx context.Context, t *table.Table, records *scan) (draw func(src *noise.Source) ([]Group, error),
	off func(i int, g *Group) float64, err error,
) {
	draw = func(src *noise.Source) ([]Group, error) { return s.answer(ctx, t, records, src) }
	return draw, func(int, *Group) float64 { return math.NaN() }, nil
}

// distance is |x - y|, infinite where only y is missing.
func distance(x, y *Number) float64 {
	switch {
	case x == nil:
		return math.NaN()
	case y == nil:
		return math.Inf(1)
	}
	return math.Abs(float64(*x - *y))
}
