package query

import (
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// quantile answers quantiles by the exponential mechanism on the points of the public
// grid between the public bounds.
//
// Let the rank asked for be a/b. For a candidate y, of n values L are below, E equal
// and G above. Its loss
//
//	d(y) = max(0, (b-a)L - a(G+E), aG - (b-a)(L+E))
//
// is b times the number of records by which y misses being an a/b-quantile: 0 where
// L <= n a/b <= L+E. A value more or less changes each of the terms, and so d, by at
// most c = max(a, b-a); a value that is replaced by another changes it by at most b.
// y is drawn with probability proportional to e^(-eps d(y)/(2D)), D the most that one
// unit changes the loss by:
//
//	add-remove            D = rows c
//	replace-one           D = rows b, for one group
//	                      D = 2 rows c, for several: a record may change its group
//
// Guarantee: epsilon-private (McSherry and Talwar 2007, theorem 6): the weight of every
// y changes by at most e^(eps/2), and so does their sum. Over several groups the
// changes of the loss add up to at most D, the number of records of a unit.
// The draw is exact ([choose]).
//
// Utility: P(d(Y) > t) <= |candidates| e^(-eps t/(2D)), as there is a candidate of loss
// 0; so with confidence level the rank is off by at most (2D/eps) ln(|candidates| /
// (1-level)) / b records.
type quantile struct {
	q      *Query
	grid   grid
	a, b   int64
	most   *big.Int // D
	weight *big.Rat // eps/(2D)
	powers *powers  // of weight
}

// ChoiceParameters are the public parameters of the exponential mechanism.
type ChoiceParameters struct {
	Candidates int64 `json:"candidates"`
	// Weight is eps/(2D), as a quotient of whole numbers.
	Weight string `json:"weight"`
}

func newQuantile(q *Query) (kernel, error) {
	g, err := newGrid(&q.o, q.field.Type != table.Decimal)
	if err != nil {
		return nil, err
	}
	a, b, err := parseRank(q.o.Rank)
	if err != nil {
		return nil, err
	}
	if q.o.Noise == Smooth {
		return newSmooth(q, g, a, b)
	}
	return newExponential(q, g, a, b, q.o.Cost), nil
}

// newExponential is the mechanism for the rank a/b in lowest terms, at the given cost.
func newExponential(q *Query, g grid, a, b int64, cost account.Cost) *quantile {
	k := &quantile{q: q, grid: g, a: a, b: b}
	change := max(a, b-a)
	switch {
	case q.o.Neighbours == account.AddRemove:
	case len(q.groups.texts) == 1:
		change = b
	default:
		change *= 2
	}
	k.most = new(big.Int).Mul(big.NewInt(change), big.NewInt(q.o.MaxRows))
	k.weight = cost.EpsilonRat()
	k.weight.Quo(k.weight, new(big.Rat).SetInt(new(big.Int).Lsh(k.most, 1)))
	k.powers = newPowers(k.weight, 128)
	return k
}

// run is a place on the grid and the number of values there, at least 1.
type run struct{ place, count int64 }

// largestTable is the number of counters up to which values are counted by place.
const largestTable = 1 << 22

// manyPlaces is the number of places for each record from which values are sorted.
const manyPlaces = 16

// values are the places on the grid of the values of each group, in order. The memory
// that this takes grows with the number of places between the bounds, and with the number
// of records only where there are more than [largestTable] places in all groups, or many more
// places than records: the time is at most proportional to the number of records.
func (g grid) values(ctx context.Context, q *Query, t *table.Table, records *scan) ([][]run, error) {
	place, err := g.placesOf(t, q.field)
	if err != nil {
		return nil, err
	}
	places := make([]int64, min(blockRows, t.Rows))
	var has selection
	lo, width := g.Lo(), g.width()+1
	groups := int64(len(q.groups.texts))
	if width > min(largestTable, manyPlaces*int64(t.Rows+1000))/groups {
		all := make([][]int64, groups)
		err = records.run(ctx, func(b *block) {
			place(b.from, places[:b.rows], &has)
			b.and(&has)
			for i, k := range places[:b.rows] {
				group := b.groupOf(i)
				if group >= 0 {
					all[group] = append(all[group], k)
				}
			}
		})
		out := make([][]run, groups)
		for i, v := range all {
			slices.Sort(v)
			out[i] = runsOf(v)
		}
		return out, err
	}
	// The number of values of group g at place lo+k is at 1 + g width + k; values of no
	// group are counted at 0.
	counts := make([]uint32, 1+groups*width)
	err = records.run(ctx, func(b *block) {
		place(b.from, places[:b.rows], &has)
		if !complete(&has, b.rows) {
			b.and(&has)
		}
		if b.all {
			for _, k := range places[:b.rows] {
				counts[1+k-lo]++
			}
			return
		}
		for i, k := range places[:b.rows] {
			group := int64(b.groupOf(i))
			// at 0 where the group is -1
			counts[(1+group*width+k-lo)&^(group>>63)]++
		}
	})
	out := make([][]run, groups)
	for i := range out {
		for k, n := range counts[1+int64(i)*width : 1+int64(i+1)*width] {
			if n > 0 {
				out[i] = append(out[i], run{lo + int64(k), int64(n)})
			}
		}
	}
	return out, err
}

// groupOf is the group of record i of the block, -1 where it is not selected.
func (b *block) groupOf(i int) int32 {
	if b.groups != nil {
		return b.groups[i]
	}
	return int32(b.selected[i/64]>>(i%64)&1) - 1
}

// runsOf are the runs of values in order.
func runsOf(values []int64) []run {
	var out []run
	for i, v := range values {
		if i > 0 && v == values[i-1] {
			out[len(out)-1].count++
		} else {
			out = append(out, run{v, 1})
		}
	}
	return out
}

// total is the number of values.
func total(runs []run) int64 {
	n := int64(0)
	for _, r := range runs {
		n += r.count
	}
	return n
}

func (k *quantile) answer(ctx context.Context, t *table.Table, records *scan, src *noise.Source) ([]Group, error) {
	values, err := k.grid.values(ctx, k.q, t, records)
	if err != nil {
		return nil, err
	}
	cut := make([][]segment, len(values))
	for i, v := range values {
		cut[i] = k.segments(v)
	}
	return k.drawn(ctx, cut, src)
}

// drawn draws a candidate for each group.
func (k *quantile) drawn(ctx context.Context, cut [][]segment, src *noise.Source) ([]Group, error) {
	within := k.rankWithin(k.q.o.Level)
	groups := make([]Group, len(cut))
	for i, segments := range cut {
		y, err := choose(ctx, segments, k.powers, src)
		if err != nil {
			return nil, err
		}
		groups[i] = Group{Value: number(k.grid.Value(y)), RankWithin: finite(within)}
	}
	return groups, nil
}

// segments cuts the candidates at the values, which are in order.
func (k *quantile) segments(values []run) []segment {
	n := total(values)
	loss := func(below, same int64) int64 {
		above := n - below - same
		return max(0, (k.b-k.a)*below-k.a*(above+same), k.a*above-(k.b-k.a)*(below+same))
	}
	var out []segment
	next, below := k.grid.Lo(), int64(0) // the first candidate that is in no segment yet
	for _, v := range values {
		if v.place > next {
			out = append(out, segment{next, v.place - next, loss(below, 0)})
		}
		out = append(out, segment{v.place, 1, loss(below, v.count)})
		next, below = v.place+1, below+v.count
	}
	if last := k.grid.Hi(); next <= last {
		out = append(out, segment{next, last - next + 1, loss(n, 0)})
	}
	return out
}

func (k *quantile) rankWithin(level float64) float64 {
	weight, _ := k.weight.Float64()
	candidates := float64(k.grid.width() + 1)
	return min(maxRecords, math.Log(candidates/(1-level))/(weight*float64(k.b))*(1+1e-12))
}

func (k *quantile) accuracy(level float64, records int64) (Accuracy, error) {
	within := k.rankWithin(level)
	length := k.grid.Value(k.grid.width())
	return Accuracy{
		Level: level, HalfWidth: finite(within), Rank: true, Records: records,
		EvenSpread: finite(min(length, length*within/float64(records)+k.grid.half())),
	}, nil
}

func (k *quantile) parameters(p *Parameters) {
	j := k.grid.J()
	p.GridBits = &j
	p.Choice = &ChoiceParameters{k.grid.width() + 1, k.weight.RatString()}
}

func (k *quantile) assumptions() noren.Texts { return k.grid.assumptions(k.q.o.Column) }
