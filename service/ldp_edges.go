package service

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/query"
)

// LDPEdges computes the edges of bins that hold about equally many values of a column,
// with differential privacy: the guarantee is that of [query.Edges]. The cost is
// charged before the data is read.
func (s *Service) LDPEdges(ctx context.Context, r *api.LDPEdgesRequest) (*api.LDPEdges, error) {
	var bounds query.Bounds
	q, err := edgesQuestion(r, &bounds)
	if err != nil {
		return nil, err
	}
	result, receipt, _, err := pay[query.EdgesResult](ctx, s, q)
	if err != nil {
		return nil, err
	}
	edges := []float64{bounds.Lo}
	for _, e := range result.Edges {
		edges = append(edges, min(max(float64(e), bounds.Lo), bounds.Hi))
	}
	// Merging edges that coincide looks at no data.
	bins, err := ldp.PaidBins(append(edges, bounds.Hi), receipt.Guarantee.Epsilon)
	if err != nil {
		return nil, err
	}
	if bins.Len() < binCount(r) {
		s.note(api.Info, "edges-coincide", "%d of %d {bin|bins} {1|is|are} left: some edges coincide", bins.Len(), binCount(r))
	}
	return &api.LDPEdges{
		Schema: q.schema, Column: r.Column, Edges: bins.Edges(), RankWithin: result.RankWithin, Level: result.Level,
		EdgesEpsilon: receipt.Epsilon, Receipt: receipt,
	}, nil
}

// LDPEdgesPrice computes the cost and the expected accuracy of edges from public facts.
// Nothing is charged, and no private file is opened.
func (s *Service) LDPEdgesPrice(ctx context.Context, r *api.LDPEdgesRequest) (*api.LDPEdgesQuote, error) {
	q, err := edgesQuestion(r, new(query.Bounds))
	if err != nil {
		return nil, err
	}
	var size publicSize
	build := q.build
	q.build = func(ctx context.Context, a *openSet) (*query.Edges, error) {
		size = sizeOf(a.Definition, 0)
		return build(ctx, a)
	}
	p, m, err := price(ctx, s, q)
	if err != nil {
		return nil, err
	}
	about := r.Records
	if about == 0 {
		about, _ = size.ofGroup(1, "")
	}
	accuracy, err := m.Accuracy(level(edgesQuery(r)), about)
	if err != nil {
		return nil, err
	}
	return &api.LDPEdgesQuote{Price: p, Accuracy: &accuracy}, nil
}

// edgesQuery is the quantile query whose edges are asked for.
func edgesQuery(r *api.LDPEdgesRequest) *api.QueryRequest {
	return &api.QueryRequest{
		Ask: r.Ask, Kind: query.Quantile, Column: r.Column, Bounds: r.Bounds, MaxRows: r.MaxRows, Level: r.Level,
		Records: r.Records,
	}
}

func binCount(r *api.LDPEdgesRequest) int {
	if r.Count == 0 {
		return 5
	}
	return r.Count
}

// edgesQuestion is the question of a request. It sets bounds once the data set is open.
func edgesQuestion(r *api.LDPEdgesRequest, bounds *query.Bounds) (requested[*query.Edges], error) {
	q := requested[*query.Edges]{ask: &r.Ask, schema: api.LDPEdgesSchema}
	if r.Column == "" {
		return q, noren.Usagef("column", "expected the column that is divided into bins")
	}
	cost, err := account.ParseCost(r.Epsilon, r.Delta)
	q.build = func(ctx context.Context, a *openSet) (*query.Edges, error) {
		o, err := a.queryOptions(edgesQuery(r), cost)
		if err != nil {
			return nil, err
		}
		m, err := query.NewEdges(ctx, *o, binCount(r))
		if err != nil {
			return nil, err
		}
		*bounds = *o.Bounds
		return m, nil
	}
	return q, err
}
