package service

import (
	"context"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/file"
)

// RatioPlan estimates the errors of weighted answers before a fit, for a private table that
// is distributed as the public one. It reads the public table only and charges nothing. A
// table that a reachable ledger has granted is refused (code private).
func (s *Service) RatioPlan(ctx context.Context, r *api.RatioPlanRequest) (*api.RatioPlan, error) {
	if len(r.Columns) == 0 {
		return nil, noren.Usagef("columns", "expected the columns of the space, got none").Hinted("for instance age,sex")
	}
	if r.Records < 1 {
		return nil, noren.Usagef("records", "expected the number of private records, at least 1, got %d", r.Records).Hinted("for instance 2000")
	}
	cost, err := account.ParseCost(r.Epsilon, r.Delta)
	if err != nil {
		return nil, err
	}
	var neighbours account.Neighbours
	if r.Neighbours != "" {
		if neighbours, err = account.ParseNeighbours(r.Neighbours); err != nil {
			return nil, inField("neighbours", err)
		}
	}
	if err := s.refusePrivate(ctx, r.Public, r.PublicScale, r.SpecFile); err != nil {
		return nil, err
	}
	filled := *r // with the form of the public table
	r = &filled
	schema, err := s.publicSchema(ctx, r)
	if err != nil {
		return nil, err
	}
	v, err := s.openSpace(ctx, &r.RatioSpace, schema, "")
	if err != nil {
		return nil, err
	}
	defer v.close()
	out := &api.RatioPlan{Schema: api.RatioPlanSchema, Input: r.Public, Records: r.Records, Questions: 2}
	out.Epsilon, _ = cost.Float()
	var values [][]float64
	for _, c := range v.table.Columns {
		one := ratio.Typical(c)
		values = append(values, one.Values)
		out.Answers = append(out.Answers, api.RatioPlanned{Question: one.Name, SD: one.SD, By: map[ratio.Feature]ratio.Plan{}})
	}
	count, outside, err := ratio.Shares(nil, nil, neighbours)
	if err != nil {
		return nil, err
	}
	best := math.Inf(1)
	for _, kind := range []ratio.Feature{ratio.KernelFeatures, ratio.MarginalFeatures, ratio.BothFeatures} {
		o := ratio.Options{
			Cost: cost, Public: v.points, Frame: v.frame, Neighbours: neighbours, Records: r.Records, Features: kind,
			Noise: ratio.ParseNoise(r.Noise), Centres: r.Centres, CountShare: count, OutsideShare: outside,
		}
		if kind == ratio.MarginalFeatures {
			o.Noise, o.Cost.Delta = "", 0
		}
		m, err := ratio.New(ctx, o)
		if err != nil {
			return nil, err
		}
		plans, err := m.Plan(ctx, r.Records, values)
		if err != nil {
			return nil, err
		}
		mean := 0.0
		for i, p := range plans {
			out.Answers[i].By[kind] = p
			if sd := out.Answers[i].SD; sd > 0 {
				mean += p.SE / sd / float64(len(plans))
			}
		}
		if mean < best {
			best, out.Take = mean, kind
		}
	}
	out.Why = noren.Textf("their mean standard error is %s standard deviations of the public column", text.Figure(best))
	for _, a := range out.Answers {
		if p := a.By[out.Take]; p.Direct > 0 && p.SE/p.Direct < 1e6 {
			out.Questions = max(out.Questions, int(math.Ceil(p.SE/p.Direct)))
		}
	}
	return out, nil
}

// publicSchema is a definition of the columns of the space as the public table has them,
// where the request does not state them.
func (s *Service) publicSchema(ctx context.Context, r *api.RatioPlanRequest) (*dataset.Definition, error) {
	sheet, err := s.publicSheet(r.SpecFile, r.Spec)
	if err != nil {
		return nil, err
	}
	if _, err := sheet.StrictForm(); err != nil {
		return nil, err
	}
	if r.PublicDelimiter == "" {
		r.PublicDelimiter = sheet.Input.Delimiter
	}
	if r.PublicEncoding == "" {
		r.PublicEncoding = sheet.Input.Encoding
	}
	o, err := publicForm(r.PublicDelimiter, r.PublicEncoding)
	if err != nil {
		return nil, err
	}
	src, err := file.Open(ctx, r.Public, o)
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	fields, err := s.publicFields(ctx, sheet, src, r.Columns)
	if err != nil {
		return nil, err
	}
	d := &dataset.Definition{Missing: sheet.Input.Missing}
	for _, f := range fields {
		c := dataset.Column{Name: f.Name, Type: f.Type.String(), Levels: f.Levels, Bounds: sheet.Columns[f.Name].Bounds}
		if f.Type == table.Date {
			c.Layout = string(f.Layout)
		}
		d.Columns = append(d.Columns, c)
	}
	return d.Complete()
}

// publicSheet is the specification of a public table: that of a file with what the request
// states laid over it.
func (s *Service) publicSheet(path string, over *spec.Spec) (*spec.Spec, error) {
	return merged(&api.Ask{SpecFile: path, Spec: over})
}

// publicFields describes columns of a public table, and puts the texts for missing values
// that were inferred into sheet.
func (s *Service) publicFields(ctx context.Context, sheet *spec.Spec, src table.Source, names []string) ([]table.Field, error) {
	fields, missing, err := sheet.PublicFields(ctx, src, names, spec.PublicOptions{Progress: s.Progress})
	if len(missing) > 0 {
		sheet.Input.Missing = missing
		s.note(api.Info, "missing-inferred", "taken for missing values: %s", strings.Join(missing, ", "))
	}
	return fields, err
}
