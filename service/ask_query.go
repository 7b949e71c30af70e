package service

import (
	"context"
	"encoding/json"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/release"
)

// queryForm is a count, sum, mean, variance, histogram or quantile.
type queryForm struct {
	kind    query.Kind
	zcdp    bool
	options *query.Options
	query   *query.Query
}

// usual is a cost at which every question can be made, before its own is known.
func usual(q api.Question) account.Cost {
	c := account.Cost{Epsilon: account.EpsilonUnits}
	if needsDelta(&q) {
		c.Delta = account.DeltaUnits / 1_000_000_000
	}
	return c
}

func newQueryForm(ctx context.Context, a *openSet, q *api.Question, level float64) (form, error) {
	k, ok := q.Query()
	if !ok {
		return nil, noren.Bug("a question of a kind that nothing answers")
	}
	r := &api.QueryRequest{
		Kind: k.Kind, Column: k.Column, Where: k.Where, By: k.By, Keys: k.Keys, Bounds: k.Bounds, Bins: k.Bins,
		Values: k.Values, Rank: k.Rank, Noise: query.Noise(k.Noise), MaxRows: k.MaxRows, GridBits: k.GridBits, Level: level,
	}
	o, err := a.queryOptions(r, usual(*q))
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

func (f *queryForm) at(_ context.Context, p payment) (form, error) {
	q, err := f.query.At(query.Payment{Noise: query.Noise(p.noise), Cost: p.cost, Rho: p.rho})
	if err != nil {
		return nil, err
	}
	out := *f
	out.query = q
	return &out, nil
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

func (f *queryForm) cares(json.RawMessage) []api.Message { return nil }
