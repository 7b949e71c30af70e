package service

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/correlated/harm"
)

// unlimited is the privacy loss up to which noise is searched where no limit is stated.
const unlimited = 1000

func readCosts(ctx context.Context, r *api.HarmCosts) (*harm.Costs, error) {
	if len(r.Costs) == 0 && r.CostsFile == "" {
		return nil, noren.Usagef("costs", "the costs are missing")
	}
	in, name, err := openJSON(ctx, r.Costs, "costs", r.CostsFile, "the costs")
	if err != nil {
		return nil, err
	}
	return harm.ParseCosts(in, name)
}

// HarmEvaluate computes the expected damage, concealment and credit of noise from
// public costs.
func (s *Service) HarmEvaluate(ctx context.Context, r *api.HarmEvaluateRequest) (*api.HarmEvaluate, error) {
	costs, err := readCosts(ctx, &r.HarmCosts)
	if err != nil {
		return nil, err
	}
	if (r.Scale == 0) == (r.Geometric == 0) {
		return nil, noren.Usagef("scale", "expected a scale of Laplace noise or an epsilon of two-sided geometric noise").
			Hinted("give one of the two")
	}
	loss := 0.0
	if r.Dependence != nil {
		m, q, o, err := s.dependence(ctx, r.Dependence)
		if err != nil {
			return nil, err
		}
		b := r.Scale
		if b == 0 {
			b = 1 / r.Geometric
		}
		l, err := correlated.ComputeLeakage(ctx, m.Model, q, b, o)
		if err != nil {
			return nil, err
		}
		loss = l.Upper
	}
	var e *harm.Evaluation
	if r.Scale != 0 {
		e, err = costs.Evaluate(r.Scale, loss)
	} else {
		e, err = costs.EvaluateGeometric(r.Geometric, loss)
	}
	if err != nil {
		return nil, err
	}
	return &api.HarmEvaluate{Schema: api.HarmEvaluateSchema, Evaluation: e, Costs: costs}, nil
}

// HarmOptimise finds the scale of noise with the smallest expected harm and cost of
// identification together, from public costs.
func (s *Service) HarmOptimise(ctx context.Context, r *api.HarmOptimiseRequest) (*api.HarmOptimise, error) {
	costs, err := readCosts(ctx, &r.HarmCosts)
	if err != nil {
		return nil, err
	}
	search := harm.Search{EpsilonMax: unlimited, Points: r.Points, Progress: s.Progress}
	if r.EpsilonMax != nil {
		search.EpsilonMax = *r.EpsilonMax
	}
	if r.Dependence != nil {
		m, q, o, err := s.dependence(ctx, r.Dependence)
		if err != nil {
			return nil, err
		}
		found, err := correlated.Calibrate(ctx, m.Model, q, search.EpsilonMax, o)
		if err != nil {
			return nil, err
		}
		search.Least = found.Scale
		search.Leakage = func(ctx context.Context, b float64) (float64, error) {
			l, err := correlated.ComputeLeakage(ctx, m.Model, q, b, o)
			if err != nil {
				return 0, err
			}
			return l.Upper, nil
		}
	}
	best, err := costs.Optimise(ctx, search)
	if err != nil {
		return nil, err
	}
	return &api.HarmOptimise{Schema: api.HarmOptimiseSchema, Optimum: best}, nil
}

// HarmThreshold finds the smallest answer that should be an alarm, from public costs.
func (s *Service) HarmThreshold(ctx context.Context, r *api.HarmThresholdRequest) (*api.HarmThreshold, error) {
	costs, err := readCosts(ctx, &r.HarmCosts)
	if err != nil {
		return nil, err
	}
	best, err := costs.BestThreshold(r.Scale)
	if err != nil {
		return nil, err
	}
	return &api.HarmThreshold{Schema: api.HarmThresholdSchema, Threshold: best}, nil
}
