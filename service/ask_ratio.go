package service

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/identity"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
)

// ratioForm is an estimate of a figure of the private table from a public one: a share, a
// mean or a quantile over the public records, each with the weight by which they match the
// private records in some columns. What is paid for is the fit of the weights
// ([ratio.Mechanism]); the estimate is computed from what that releases and from the
// public table, at no further cost. Answers from weights that were paid for before are
// free ([Service.RatioAnswer]) and are no question of this kind.
type ratioForm struct {
	options ratio.Options
	public  publicFigure
	made    *ratioMechanism
}

// publicFigure is what is estimated: f of every public record, over those in among.
type publicFigure struct {
	Of     string `json:"of"`
	Column string `json:"column,omitempty"`
	Where  string `json:"where,omitempty"`
	Rank   string `json:"rank,omitempty"`

	// Level is the confidence of the interval, Values the SHA-256 of what was read of the
	// public table: f and among.
	Level  float64 `json:"level"`
	Values string  `json:"values_sha256"`

	rank  float64
	f     []float64
	among []bool // nil for all
}

func (s *Service) newRatioForm(ctx context.Context, a *openSet, q *kinds.Ratio, level float64) (form, error) {
	p := publicFigure{Of: q.Of, Column: q.Column, Where: q.Where, Rank: q.Rank, Level: level}
	if err := p.check(q); err != nil {
		return nil, err
	}
	if err := s.public(ctx, a, q.Public); err != nil {
		return nil, err
	}
	space, err := s.openSpace(ctx, &api.RatioSpace{Public: q.Public, Columns: q.Columns}, a.Definition, "")
	if err != nil {
		return nil, err
	}
	defer space.close()
	if err := p.read(ctx, s, space); err != nil {
		return nil, err
	}
	if err := space.unchanged(ctx); err != nil {
		return nil, err
	}
	f := &ratioForm{public: p, options: ratio.Options{
		Public: space.points, PublicTable: space.public, Frame: space.frame, Neighbours: a.neighbours(), Noise: ratio.ParseNoise(q.Noise),
	}}
	if q.Noise == "" {
		f.options.Features = ratio.PreferredFeatures(space.frame)
	}
	if f.options.Records, err = a.records(0); err != nil {
		return nil, err
	}
	f.options.CountShare, f.options.OutsideShare, err = ratio.Shares(nil, nil, f.options.Neighbours)
	return f, err
}

// check finds what does not need the public table.
func (p *publicFigure) check(q *kinds.Ratio) (err error) {
	switch {
	case q.Public == "":
		return noren.Usagef("public", "expected the public table, got none")
	case len(q.Columns) == 0:
		return noren.Usagef("columns", "expected the columns in which the tables are compared, got none")
	case p.Of != "share" && p.Of != "mean" && p.Of != "quantile":
		return noren.Usagef("of", "expected share, mean or quantile, got another")
	case p.Of == "share" && (p.Where == "" || p.Column != ""):
		return noren.Usagef("where", "expected a condition and no column: the share is of the records that meet it")
	case p.Of != "share" && p.Column == "":
		return noren.Usagef("column", "expected the column of the %s, got none", p.Of)
	case p.Of != "quantile" && p.Rank != "":
		return noren.Usagef("rank", "is for a quantile")
	}
	p.rank = 0.5
	if p.Rank != "" {
		if p.rank, err = strconv.ParseFloat(p.Rank, 64); err != nil || !(p.rank > 0 && p.rank < 1) {
			return noren.Usagef("rank", "expected a decimal above 0 and below 1, got another")
		}
	}
	return nil
}

// read reads the figure of every public record.
func (p *publicFigure) read(ctx context.Context, s *Service, space *ratioSpace) error {
	err := p.values(ctx, s, space)
	d := identity.NewData("noren.ratio.figure/1")
	d.Floats(p.f)
	d.Bools(p.among)
	p.Values = d.ID().String()
	return err
}

func (p *publicFigure) values(ctx context.Context, s *Service, space *ratioSpace) error {
	r := &ratioAnswer{
		service: s, request: &api.RatioAnswerRequest{Column: p.Column, Where: p.Where}, weighted: &weighted{
			source: space.source, frame: space.frame,
		},
		sheet: &spec.Spec{Columns: map[string]spec.Column{}, Input: spec.Input{Missing: slices.Clone(space.missing)}},
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	if p.Of == "share" {
		p.f = make([]float64, len(r.among))
		for i, holds := range r.among {
			if holds {
				p.f[i] = 1
			}
		}
		return nil
	}
	c := r.table.Column(p.Column)
	if !c.Field.Type.IsNumber() {
		return noren.Usagef("column", "expected a column of numbers, got %s", c.Field.Type)
	}
	p.f, p.among = ratio.Numbers(c), r.among
	return nil
}

// estimate is the figure by weights; nil where it cannot be computed from them.
func (p *publicFigure) estimate(w *ratio.Weights) *ratio.Answer {
	var err error
	if p.among != nil {
		if w, err = w.Among(p.among); err != nil {
			return nil
		}
	}
	var a *ratio.Answer
	if p.Of == "quantile" {
		a, err = w.Quantile(p.f, p.rank)
	} else {
		a, err = w.Mean(p.f)
	}
	if err != nil {
		return nil
	}
	return a
}

// possible is the value of an estimate. A share outside of 0 to 1 by less than two standard
// errors counts as the nearer of them, and one further outside is none: the weights do not
// fit.
func (p *publicFigure) possible(a *ratio.Answer) *float64 {
	v := a.Value
	if p.Of == "share" {
		within := min(max(v, 0), 1)
		if !(math.Abs(v-within) <= 2*a.SE) {
			return nil
		}
		v = within
	}
	return finite(v)
}

// ratioMechanism is a fit of weights with an estimate from them.
//
// Guarantee: that of the fit. The estimate sees what the fit releases and the public table
// alone: it is post-processing.
type ratioMechanism struct {
	*ratio.Mechanism
	figure *publicFigure
}

// Name is "ratio.estimate".
func (m *ratioMechanism) Name() string { return "ratio.estimate" }

// Parameters are those of the fit, with the public table, and the figure.
func (m *ratioMechanism) Parameters() any {
	return struct {
		Fit    any           `json:"fit"`
		Figure *publicFigure `json:"figure"`
	}{m.Mechanism.Parameters(), m.figure}
}

// Answer fits weights to a private table and estimates the figure by them. It answers every
// table: where no figure follows from the weights the value is null, and that depends on
// what was released alone.
func (m *ratioMechanism) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	released, err := m.Mechanism.Answer(ctx, t, src)
	if err != nil {
		return nil, err
	}
	payload, err := json.Marshal(released)
	if err != nil {
		return nil, err
	}
	out := &kinds.Estimate{Released: released, Warnings: []noren.Text{}}
	sums, err := m.Decode(payload)
	if err != nil {
		return nil, err
	}
	w, err := m.Weights(ctx, sums)
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return out, nil
	}
	if a := m.figure.estimate(w); a != nil {
		out.Value, out.SE = m.figure.possible(a), finite(a.SE)
		out.Warnings = append(out.Warnings, a.Warnings...)
	}
	return out, nil
}

func (f *ratioForm) at(ctx context.Context, p payment) (form, error) {
	o := f.options
	o.Cost = account.Cost{Epsilon: p.cost.Epsilon, Delta: p.cost.Delta}
	o.Noise = ratio.ParseNoise(p.noise)
	m, err := ratio.New(ctx, o)
	if err != nil {
		return nil, err
	}
	out := *f
	out.made = &ratioMechanism{m, &out.public}
	return &out, nil
}

func (f *ratioForm) mechanism() release.Mechanism { return f.made }

func (f *ratioForm) noises() []string { return []string{""} }

func (f *ratioForm) accuracy(float64, int64) (accuracy, error) { return accuracy{}, nil }

func (f *ratioForm) needsAbout() bool { return false }

func (f *ratioForm) cells() (groups, values int) { return 1, 1 }

func (f *ratioForm) label() string {
	if f.public.Of == "share" {
		return "share"
	}
	return f.public.Column
}

func (f *ratioForm) columns(*openSet) []api.ColumnUse {
	var out []api.ColumnUse
	for _, field := range f.made.Columns() {
		out = append(out, api.ColumnUse{Name: field.Name, Outside: text.Outside(field.Name, "weights", "", "", 0)})
	}
	return out
}

// cares are the warnings about the weights and the estimate.
func (f *ratioForm) cares(answer json.RawMessage) []api.Message {
	var r kinds.Estimate
	if json.Unmarshal(answer, &r) != nil {
		return nil
	}
	out := []api.Message{text.HiddenBias(noren.Textf(excluded))}
	for _, w := range r.Warnings {
		out = append(out, text.FitWarning(w))
	}
	return out
}

func (f *ratioForm) twin(_ *openSet, rows int) twin {
	if f.options.Neighbours == account.ReplaceOne {
		return twin{rows: f.options.Records}
	}
	return twin{rows: min(rows, slowRows)}
}

func (f *ratioForm) try(ctx context.Context, t *table.Table, _ float64, src *noise.Source) (*trial, error) {
	a, err := f.made.Answer(ctx, t, src)
	if err != nil {
		return nil, err
	}
	return &trial{rows: a.(*kinds.Estimate).Rows(f.public.Level)}, nil
}
