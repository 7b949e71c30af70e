package service

import (
	"context"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/report/leakage"
)

// CorrelatedLeakage bounds what an answer with Laplace noise of a scale reveals about
// one of the dependent records of a public model.
func (s *Service) CorrelatedLeakage(ctx context.Context, r *api.CorrelatedLeakageRequest) (*api.CorrelatedLeakage, error) {
	m, q, o, err := s.dependence(ctx, &r.Dependence)
	if err != nil {
		return nil, err
	}
	l, err := correlated.ComputeLeakage(ctx, m.Model, q, r.Scale, o)
	if err != nil {
		return nil, err
	}
	l = l.Decimal()
	return &api.CorrelatedLeakage{
		Schema: api.CorrelatedLeakageSchema, Scale: r.Scale, Leakage: l, Bounds: api.Bounds{Lower: l.Lower, Upper: l.Upper}, Asked: inWords(q, o),
	}, nil
}

// CorrelatedCalibrate finds the smallest scale of Laplace noise for a leakage under a
// public model, and compares it with the scales of other methods.
func (s *Service) CorrelatedCalibrate(ctx context.Context, r *api.CorrelatedCalibrateRequest) (*api.CorrelatedCalibrate, error) {
	m, q, o, err := s.dependence(ctx, &r.Dependence)
	if err != nil {
		return nil, err
	}
	found, err := correlated.Calibrate(ctx, m.Model, q, r.Epsilon, o)
	if err != nil {
		return nil, err
	}
	other, err := correlated.Compare(ctx, m.Model, q, r.Epsilon, o)
	if err != nil {
		return nil, err
	}
	l := found.Leakage.Decimal()
	return &api.CorrelatedCalibrate{
		Schema: api.CorrelatedCalibrateSchema, Epsilon: r.Epsilon, Scale: found.Scale, Leakage: l, Bounds: api.Bounds{
			Lower: l.Lower, Upper: l.Upper,
		},
		Evaluations: found.Evaluations, Baselines: other, Asked: inWords(q, o),
	}, nil
}

// CorrelatedExplain makes a page with pictures about a public model and a query: the
// noise of several methods, who learns most, and the leakage over the scale.
func (s *Service) CorrelatedExplain(ctx context.Context, r *api.CorrelatedExplainRequest) (*report.Page, error) {
	m, q, o, err := s.dependence(ctx, &r.Dependence)
	if err != nil {
		return nil, err
	}
	return leakage.Page(ctx, m, q, r.Epsilon, o)
}
