package service

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ratio"
)

// RatioCheck compares means of a weighted public table with those of the private table,
// which are released with noise for a privacy cost.
func (s *Service) RatioCheck(ctx context.Context, r *api.RatioCheckRequest) (*api.RatioCheck, error) {
	c := &ratioCheck{service: s, request: r}
	defer c.close()
	question, err := c.question()
	if err != nil {
		return nil, err
	}
	sums, receipt, m, err := pay[ratio.Sums](ctx, s, question)
	if err != nil {
		return nil, err
	}
	compared, err := m.Compare(sums)
	if err != nil {
		return nil, err
	}
	out := &api.RatioCheck{
		Schema: api.RatioCheckSchema, Input: r.Weights, Off: compared.Off, Nearer: compared.Nearer, Verdict: "nothing found",
		Warnings: append([]noren.Text{}, compared.Warnings...), FitCheck: c.weighted.meta.Check, Receipt: receipt,
	}
	switch {
	case compared.Off > 0:
		out.Verdict = "off"
	case !compared.Nearer:
		out.Verdict = "no help"
	}
	for _, t := range compared.Tests {
		out.Tests = append(out.Tests, api.RatioTest{Compared: t, Z: finite((t.Private - t.Weighted) / t.SE)})
	}
	return out, nil
}

// RatioCheckPrice computes what a check would cost. Nothing is charged, and no private file
// of a ledger is opened.
func (s *Service) RatioCheckPrice(ctx context.Context, r *api.RatioCheckRequest) (*api.Quote[struct{}], error) {
	c := &ratioCheck{service: s, request: r}
	defer c.close()
	question, err := c.question()
	if err != nil {
		return nil, err
	}
	p, _, err := price(ctx, s, question)
	if err != nil {
		return nil, err
	}
	return &api.Quote[struct{}]{Price: p}, nil
}

// ratioCheck is a check in progress.
type ratioCheck struct {
	service  *Service
	request  *api.RatioCheckRequest
	cost     account.Cost
	weighted *weighted
}

func (c *ratioCheck) close() { c.weighted.close() }

func (c *ratioCheck) question() (q requested[*ratio.Check], err error) {
	r := c.request
	if c.cost, err = account.ParseCost(r.Epsilon, r.Delta); err != nil {
		return q, err
	}
	return requested[*ratio.Check]{
		ask: &r.Ask, schema: api.RatioCheckSchema, public: []string{r.Weights, r.Meta}, build: c.build,
	}, nil
}

// build makes the mechanism of public facts.
func (c *ratioCheck) build(ctx context.Context, a *openSet) (*ratio.Check, error) {
	q := c.request
	o, err := publicForm(q.PublicDelimiter, q.PublicEncoding)
	if err != nil {
		return nil, err
	}
	if c.weighted, err = c.service.openWeighted(ctx, &q.RatioWeights, o); err != nil {
		return nil, err
	}
	records, err := a.records(q.Records)
	if err != nil {
		return nil, err
	}
	v := c.weighted
	return ratio.NewCheck(ratio.CheckOptions{
		Weights: v.weights, Frame: v.frame, Public: v.points, Cost: c.cost, Neighbours: a.neighbours(),
		Records: records,
	})
}
