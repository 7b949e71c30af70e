package service

import (
	"context"
	"encoding/json"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report/text"
)

// queryForm is a count, sum, mean, variance, histogram or quantile.
type queryForm struct {
	kind    query.Kind
	zcdp    bool
	options *query.Options
	query   *query.Query
}

// usual is a cost at which every question can be made, before its own is known.
func usual(q *api.Question) account.Cost {
	c := account.Cost{Epsilon: account.EpsilonUnits}
	if needsDelta(q) {
		c.Delta = account.DeltaUnits / 1_000_000_000
	}
	return c
}

func newQueryForm(ctx context.Context, a *asked, q *api.Question, level float64) (form, error) {
	r := &api.QueryRequest{
		Kind: query.Kind(q.Kind), Column: q.Column, Where: q.Where, By: q.By, Keys: q.Keys, Bounds: q.Bounds, Bins: q.Bins,
		Values: q.Values, Rank: q.Rank, Noise: query.Noise(q.Noise), MaxRows: q.MaxRows, GridBits: q.GridBits, Level: level,
	}
	o, err := a.queryOptions(r, usual(q))
	if err != nil {
		return nil, err
	}
	f := &queryForm{kind: o.Kind, options: o}
	_, f.zcdp = a.zcdp()
	if f.query, err = query.New(ctx, *o); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *queryForm) at(_ context.Context, p payment) error {
	q, err := f.query.At(query.Payment{Noise: query.Noise(p.noise), Cost: p.cost, Rho: p.rho})
	if err == nil {
		f.query = q
	}
	return err
}

func (f *queryForm) mechanism() release.Mechanism { return f.query }

func (f *queryForm) noises() []string {
	switch {
	case f.kind == query.Quantile:
		return []string{string(query.Exponential)}
	case f.zcdp:
		return []string{string(query.Laplace), gaussian}
	}
	return []string{string(query.Laplace)}
}

func (f *queryForm) accuracy(level float64, about int64) (accuracy, error) {
	a, err := f.query.Accuracy(level, about)
	return accuracy{within: a.HalfWidth, rank: a.Rank, about: f.needsAbout()}, err
}

func (f *queryForm) needsAbout() bool { return f.kind == query.Mean || f.kind == query.Variance }

func (f *queryForm) cells() (groups, values int) { return f.query.Groups(), f.query.Cells() }

func (f *queryForm) rows(answer json.RawMessage) ([]api.AnswerRow, error) {
	var r query.Result
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, &noren.Error{What: "the stored answer cannot be read", Err: err}
	}
	return queryRows(&r), nil
}

// queryRows are the values of the answer to a query.
func queryRows(r *query.Result) []api.AnswerRow {
	groups := r.Groups
	if r.Group != nil {
		groups = []query.Group{*r.Group}
	}
	rows := make([]api.AnswerRow, len(groups))
	for i := range groups {
		rows[i] = queryRow(&groups[i])
	}
	return rows
}

// queryRow is the value of a group or a bin.
func queryRow(g *query.Group) api.AnswerRow {
	row := api.AnswerRow{Keys: append([]string{}, g.Key...), Value: g.Value, Text: g.Text}
	switch {
	case g.Bin != nil:
		row.Keys = append(row.Keys, "["+text.Figure(g.Bin[0])+", "+text.Figure(g.Bin[1])+")")
	case g.Of != nil:
		row.Keys = append(row.Keys, *g.Of)
	}
	if g.Interval != nil {
		low, high := g.Interval[0], g.Interval[1]
		row.Low, row.High = &low, &high
		half := float64(high-low) / 2
		row.Noise = &half
	}
	if g.Records != nil {
		records := float64(*g.Records)
		row.Records = &records
	}
	if g.RankWithin != nil {
		within := *g.RankWithin
		row.Noise = &within
	}
	return row
}

func (f *queryForm) cares(json.RawMessage) []api.Message { return nil }
