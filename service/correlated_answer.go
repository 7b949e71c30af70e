package service

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/release"
)

// CorrelatedAnswer answers a query on a data set that was granted under a model of
// dependent records. The cost is charged before the data is read.
func (s *Service) CorrelatedAnswer(ctx context.Context, r *api.CorrelatedAnswerRequest) (*api.CorrelatedAnswer, error) {
	q, err := s.correlatedAnswer(r)
	if err != nil {
		return nil, err
	}
	answer, receipt, m, err := pay[correlated.Answer](ctx, s, q)
	if err != nil {
		return nil, err
	}
	o := m.Options()
	return &api.CorrelatedAnswer{
		Schema: api.CorrelatedAnswerSchema, Answer: answer, CBP: m.Calibration().Leakage.Upper, Receipt: receipt,
		Asked: inWords(o.Query, o.Leakage),
	}, nil
}

// CorrelatedAnswerPrice computes what an answer would cost and its noise. Nothing is
// charged and no private file of a ledger is opened.
func (s *Service) CorrelatedAnswerPrice(ctx context.Context, r *api.CorrelatedAnswerRequest) (*api.Quote[correlated.Calibration], error) {
	q, err := s.correlatedAnswer(r)
	if err != nil {
		return nil, err
	}
	p, m, err := price(ctx, s, q)
	if err != nil {
		return nil, err
	}
	return &api.Quote[correlated.Calibration]{Price: p, Accuracy: m.Calibration()}, nil
}

// correlatedAnswer is the question of a request.
func (s *Service) correlatedAnswer(r *api.CorrelatedAnswerRequest) (requested[*correlated.Mechanism], error) {
	q := requested[*correlated.Mechanism]{ask: &r.Ask, schema: api.CorrelatedAnswerSchema, public: r.Files()}
	cost, err := account.ParseCost(r.Epsilon, r.Delta)
	q.build = func(ctx context.Context, a *openSet) (*correlated.Mechanism, error) {
		m := a.Model()
		if m == nil {
			return nil, noren.Usagef(noren.Textf("data set %s", a.Name), "has no model of dependent records").Coded(release.CodeModel)
		}
		query, o, err := s.modelQuery(ctx, &r.ModelQuery, m)
		if err != nil {
			return nil, err
		}
		return correlated.New(ctx, correlated.Options{Model: m, Query: query, Column: a.Definition.Model.Column, Cost: cost, Leakage: o})
	}
	return q, err
}
