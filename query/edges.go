package query

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// Edges asks for the inner edges of bins that hold about equally many values of a
// number column: the L-1 quantiles of ranks 1/L .. (L-1)/L, in one answer for one cost.
// Make one with [NewEdges]; it fits package release by its methods.
//
// Each quantile is drawn by the exponential mechanism at its own share of epsilon. The
// shares are whole units of 1e-9: epsilon divided by L-1 and rounded down, and one unit
// more for the first few quantiles, so that the shares sum to epsilon exactly.
//
// Guarantee: epsilon-private, epsilon that of the cost. Neighbours: the query's, in its
// unit. Proof: the records that count are picked once, by rules that look at one unit at
// a time (unit.go), and all quantiles are of their values. Quantile i is private for its
// share e_i as [Quantile] by [Exponential] is (quantile.go), and its noise is
// independent of that of the others: given the data, the probability of all L-1 values is
// the product of theirs, and each factor changes by at most e^(e_i) between neighbours.
// So the product changes by at most e^(e_1 + .. + e_(L-1)) = e^epsilon (basic
// composition, Dwork and Roth 2014, theorem 3.14). Sorting the values looks at them alone.
// Assumptions: column, bounds, grid, predicate and L are public.
type Edges struct {
	q     *Query
	parts []*quantile
	least int64 // units of epsilon of the smallest share
	more  int   // how many shares have one unit more
}

// EdgesFormat names the form of [EdgesResult] as JSON.
const EdgesFormat = "noren.query.edges/1"

// maxBins is how many bins may be asked for.
const maxBins = 1000

// NewEdges validates o for L = bins, 2 to 1,000. Of o, Kind, Noise and Rank are left
// out, and there are no groups. Error: [noren.Usage], of public parameters alone.
func NewEdges(ctx context.Context, o Options, bins int) (*Edges, error) {
	o.Kind = Quantile
	switch {
	case bins < 2 || bins > maxBins:
		return nil, noren.Usagef("count", "expected 2 to %d bins, got %d", maxBins, bins)
	case len(o.By) > 0 || len(o.Keys) > 0:
		return nil, noren.Usagef("groups", "expected none: edges are of one group").Hinted("select the records of a group by a predicate")
	case o.Rank != "":
		return nil, noren.Usagef("rank", "expected none: the ranks follow from the number of bins")
	case o.Noise != "" && o.Noise != Exponential:
		return nil, noren.Usagef("mechanism", "expected exponential, got %q", string(o.Noise))
	}
	q, err := New(ctx, o)
	if err != nil {
		return nil, err
	}
	front, ok := q.kernel.(*quantile)
	if !ok {
		return nil, &noren.Error{What: "a quantile by another mechanism"}
	}
	n := int64(bins - 1)
	share, err := q.o.Cost.Split(bins - 1)
	if err != nil {
		return nil, err
	}
	e := &Edges{q: q, least: share.Epsilon, more: int(q.o.Cost.Epsilon - share.Epsilon*n)}
	for i := int64(1); i <= n; i++ {
		cost := share
		if i <= int64(e.more) {
			cost.Epsilon++
		}
		by := divisor(i, int64(bins))
		e.parts = append(e.parts, newExponential(q, front.grid, i/by, int64(bins)/by, cost))
	}
	return e, nil
}

// divisor is the greatest common divisor of a and b.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Name is "query.edges".
func (e *Edges) Name() string { return "query.edges" }

// Bins is L.
func (e *Edges) Bins() int { return len(e.parts) + 1 }

// Columns are those that [Edges.Answer] needs.
func (e *Edges) Columns() []table.Field { return e.q.Columns() }

// Cost is the privacy cost of all edges together, as for [Query.Cost].
func (e *Edges) Cost(n account.Neighbours, unit string) (account.Cost, error) {
	return e.q.Cost(n, unit)
}

// Covers is as for [Query.Covers].
func (e *Edges) Covers(atMost, records int64) error { return e.q.Covers(atMost, records) }

// Guarantee is the guarantee of [Edges.Answer], for [Edges.Cost].
func (e *Edges) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	g, err := e.q.Guarantee(n, unit)
	if err == nil {
		g.Assumptions = append(g.Assumptions,
			noren.Textf("epsilon is that of all %d edges together: each was drawn at its share, and the shares add up to it", len(e.parts)))
	}
	return g, err
}

// EdgesParameters are the public parameters of [Edges], as certificates state them.
type EdgesParameters struct {
	Parameters
	Bins int `json:"count"`
	// Share is the epsilon of one edge, and More how many of the first edges have
	// 0.000000001 more.
	Share string `json:"epsilon_each"`
	More  int    `json:"one_unit_more,omitempty"`
}

// Parameters returns what is public: an [EdgesParameters].
func (e *Edges) Parameters() any {
	p := e.q.public()
	// Every edge has its own rank and weight, which follow from the others.
	p.Query, p.Rank, p.Choice = "edges", "", nil
	return EdgesParameters{Parameters: p, Bins: e.Bins(), Share: account.Decimal(e.least, 9), More: e.more}
}

// EdgesResult is an answer. All of it was released.
type EdgesResult struct {
	Format string `json:"format"` // [EdgesFormat]
	Column string `json:"column"`
	// Edges are the L-1 inner edges, rising; some may be equal. The outer edges are the
	// public bounds.
	Edges []Number `json:"edges"`
	// Texts are Edges as the column writes them, for dates.
	Texts []string `json:"texts,omitempty"`
	// RankWithin is by how many records the ranks of the edges are off at most: of all
	// of them at once with confidence Level.
	RankWithin float64 `json:"rank_within"`
	Level      float64 `json:"level"`
}

// Answer answers from t, which holds at least the columns of [Edges.Columns]; the answer
// is an [*EdgesResult]. Errors are those of [Query.Answer].
func (e *Edges) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	if t.Rows > maxRecords {
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has more than 2^31 records"}
	}
	records, err := e.q.records(ctx, t)
	if err != nil {
		return nil, err
	}
	values, err := e.parts[0].grid.values(ctx, e.q, t, records)
	if err != nil {
		return nil, err
	}
	drawn := make([]int64, len(e.parts))
	for i, p := range e.parts {
		if drawn[i], err = choose(ctx, p.segments(values[0]), p.powers, src); err != nil {
			return nil, err
		}
	}
	slices.Sort(drawn)
	r := &EdgesResult{Format: EdgesFormat, Column: e.q.o.Column, RankWithin: e.rankWithin(e.q.o.Level), Level: e.q.o.Level}
	for _, k := range drawn {
		v := e.parts[0].grid.Value(k)
		r.Edges = append(r.Edges, Number(v))
		if e.q.isDate() {
			r.Texts = append(r.Texts, e.q.field.Layout.Format(int64(math.Round(v))))
		}
	}
	return r, nil
}

// rankWithin holds for all edges at once, by the union bound.
//
// Sorting keeps it. Let d be the bound: for each drawn value y_j at least n j/L - d of n
// records are at most y_j and at most n j/L + d are below it. Let s be the i-th of the
// sorted values. i of the drawn values are at most s, one of them y_j with j >= i: so at
// least n i/L - d records are at most s. And L-i of them are at least s, one of them y_j
// with j <= i: so at most n i/L + d records are below s.
func (e *Edges) rankWithin(level float64) float64 {
	within := 0.0
	for _, p := range e.parts {
		within = max(within, p.rankWithin(1-(1-level)/float64(len(e.parts))))
	}
	return within
}

// Accuracy is how far the ranks of the edges will be off at most, of all of them at once
// with confidence level, 0 < level < 1. records is a public guess of the number of
// records, at least 1, for EvenSpread. Error: [noren.Usage].
func (e *Edges) Accuracy(level float64, records int64) (Accuracy, error) {
	one, err := e.q.Accuracy(level, records)
	if err != nil {
		return Accuracy{}, err
	}
	within, g := e.rankWithin(level), e.parts[0].grid
	length := g.Value(g.width())
	one.HalfWidth, one.EvenSpread = finite(within), finite(min(length, length*within/float64(records)+g.half()))
	return one, nil
}
