package service

import (
	"context"
	"encoding/json"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report/text"
)

// outliersForm is a count of distance-based outliers.
type outliersForm struct {
	options outlier.Options
	made    *outlier.Mechanism
}

func newOutliersForm(ctx context.Context, a *openSet, q *kinds.Outliers) (form, error) {
	r := &api.OutliersCountRequest{
		Columns: q.Columns, K: q.K, Radius: q.Radius, Step: q.Step, Box: q.Box, Scale: q.Scale, Guess: q.Guess, IntervalShare: q.IntervalShare,
		Noise: outlier.Noise(q.Noise),
	}
	o, err := a.outlierOptions(r)
	if err != nil {
		return nil, err
	}
	f := &outliersForm{options: *o}
	return f.at(ctx, payment{noise: q.Noise, cost: usual(api.Question{Of: *q})})
}

func (f *outliersForm) at(ctx context.Context, p payment) (form, error) {
	o := f.options
	o.Noise, o.Cost = outlier.Noise(p.noise), p.cost
	m, err := outlier.New(ctx, o)
	if err != nil {
		return nil, err
	}
	return &outliersForm{options: f.options, made: m}, nil
}

func (f *outliersForm) mechanism() release.Mechanism { return f.made }

// noises is the choice of the plan.
func (f *outliersForm) noises() []string { return []string{""} }

func (f *outliersForm) accuracy(level float64, _ int64) (accuracy, error) {
	a, err := f.made.Accuracy(level, 0)
	out := accuracy{within: &a.MostHalfWidth}
	if f.options.Guess != 0 && a.HalfWidth < a.MostHalfWidth {
		out = accuracy{within: &a.HalfWidth, guess: true}
	}
	return out, err
}

func (f *outliersForm) needsAbout() bool { return false }

func (f *outliersForm) cells() (groups, values int) { return 1, 1 }

func (f *outliersForm) cares(json.RawMessage) []api.Message { return []api.Message{text.CareBox()} }
