package query

import (
	"context"
	"math"
	"math/big"
	"slices"

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

// values are the places on the grid of the values of each group, in order.
func (g grid) values(q *Query, t *table.Table, each func(func(i, group int)) error) ([][]int64, error) {
	place, err := g.placeOf(t, q.field)
	if err != nil {
		return nil, err
	}
	out := make([][]int64, len(q.groups.texts))
	err = each(func(i, group int) {
		if k, ok := place(i); ok {
			out[group] = append(out[group], k)
		}
	})
	for _, v := range out {
		slices.Sort(v)
	}
	return out, err
}

func (k *quantile) answer(ctx context.Context, t *table.Table, each func(func(i, group int)) error, src *noise.Source) ([]Group, error) {
	values, err := k.grid.values(k.q, t, each)
	if err != nil {
		return nil, err
	}
	within := k.rankWithin(k.q.o.Level)
	groups := make([]Group, len(values))
	for i, v := range values {
		y, err := k.draw(ctx, v, src)
		if err != nil {
			return nil, err
		}
		groups[i] = Group{Value: number(k.grid.Value(y)), RankWithin: finite(within)}
	}
	return groups, nil
}

// draw draws a candidate for values in order.
func (k *quantile) draw(ctx context.Context, values []int64, src *noise.Source) (int64, error) {
	return choose(ctx, k.segments(values), k.powers, src)
}

// segments cuts the candidates at the values, which are in order.
func (k *quantile) segments(values []int64) []segment {
	n := int64(len(values))
	loss := func(below, same int64) int64 {
		above := n - below - same
		return max(0, (k.b-k.a)*below-k.a*(above+same), k.a*above-(k.b-k.a)*(below+same))
	}
	var out []segment
	next := k.grid.Lo() // the first candidate that is in no segment yet
	for i := 0; i < len(values); {
		v, j := values[i], i+1
		for j < len(values) && values[j] == v {
			j++
		}
		if v > next {
			out = append(out, segment{next, v - next, loss(int64(i), 0)})
		}
		out = append(out, segment{v, 1, loss(int64(i), int64(j-i))})
		next, i = v+1, j
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

func (k *quantile) assumptions() []string { return k.grid.assumptions(k.q.o.Column) }
