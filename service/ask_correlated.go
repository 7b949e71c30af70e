package service

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/release"
)

// correlatedForm is a query under the data set's model of dependent records.
type correlatedForm struct {
	options correlated.Options
	made    *correlated.Mechanism
}

func (s *Service) newCorrelatedForm(ctx context.Context, a *openSet, q *kinds.Correlated) (form, error) {
	m := a.Model()
	if m == nil {
		return nil, noren.Usagef(noren.Textf("data set %s", a.Name), "has no model of dependent records").Coded(release.CodeModel)
	}
	if q.Noise != "" && q.Noise != string(correlated.Laplace) {
		return nil, noren.Usagef("noise", "expected laplace, got another")
	}
	asked, o, err := s.modelQuery(ctx, &api.ModelQuery{Query: q.Query, Adversaries: q.Adversaries}, m)
	if err != nil {
		return nil, err
	}
	return &correlatedForm{options: correlated.Options{Model: m, Query: asked, Column: a.Definition.Model.Column, Leakage: o}}, nil
}

func (f *correlatedForm) at(ctx context.Context, p payment) (form, error) {
	o := f.options
	o.Cost, o.Noise = account.Cost{Epsilon: p.cost.Epsilon, Delta: p.cost.Delta}, correlated.Noise(p.noise)
	m, err := correlated.New(ctx, o)
	if err != nil {
		return nil, err
	}
	return &correlatedForm{options: f.options, made: m}, nil
}

func (f *correlatedForm) mechanism() release.Mechanism { return f.made }

func (f *correlatedForm) noises() []string { return []string{string(correlated.Laplace)} }

// accuracy is that of the coordinate with the most noise.
func (f *correlatedForm) accuracy(level float64, _ int64) (accuracy, error) {
	a, err := f.made.Accuracy(level, 0)
	if err != nil {
		return accuracy{}, err
	}
	most := slices.Max(a.Within)
	return accuracy{within: &most}, nil
}

func (f *correlatedForm) needsAbout() bool { return false }

func (f *correlatedForm) cells() (groups, values int) {
	if a, err := f.made.Accuracy(0.95, 0); err == nil {
		return 1, len(a.Within)
	}
	return 1, 1
}

func (f *correlatedForm) cares(json.RawMessage) []api.Message { return nil }
