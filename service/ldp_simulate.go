package service

import (
	"context"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/simulate"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/noise"
)

// LDPSimulate simulates a collection: estimates against the truth, and the error by
// epsilon and by the number of people. A simulation protects nothing; with a table its
// result is private.
func (s *Service) LDPSimulate(ctx context.Context, r *api.LDPSimulateRequest) (*api.LDPSimulate, error) {
	sv, err := compileSurvey(&r.Survey)
	if err != nil {
		return nil, err
	}
	if r.Trials < 0 {
		return nil, noren.Usagef("trials", "expected 1 or more")
	}
	if !(r.Level >= 0 && r.Level < 1) {
		return nil, noren.Usagef("level", "must lie between 0 and 1")
	}
	for _, name := range r.Compare {
		if !slices.Contains(survey.Mechanisms(), name) {
			return nil, noren.Usagef("compare", "%q is not known", name).Hinted("one of %s", strings.Join(survey.Mechanisms(), ", "))
		}
	}
	o := simulate.Options{
		Spec: r.Survey.Spec, N: r.N, Shape: r.Population, Shares: r.Shares, Words: r.Words, Trials: r.Trials, Epsilons: r.Epsilons, Ns: r.Ns,
		Compare: r.Compare, Level: r.Level, Workers: r.Workers, Progress: s.Progress,
	}
	if o.Seed, err = seedOf(r.Seed); err != nil {
		return nil, err
	}
	if o.Trials == 0 {
		o.Trials = simulate.DefaultTrials
	}
	input := ""
	if r.Table != nil {
		input = r.Table.Input
		if err := s.people(ctx, r, sv, &o); err != nil {
			return nil, err
		}
	}
	result, err := simulate.Run(ctx, o)
	if err != nil {
		if r.Table != nil {
			return nil, placed(noren.File(input), err)
		}
		return nil, err
	}
	return simulated(result, &o, input), nil
}

// seedOf is the seed of a request, drawn where it has none: short enough to be typed
// again.
func seedOf(seed *uint64) (uint64, error) {
	if seed != nil {
		return *seed, nil
	}
	word, err := noise.NewSource().Uint64()
	return word >> 32, err
}

// people are the records of a table.
func (s *Service) people(ctx context.Context, r *api.LDPSimulateRequest, sv *survey.Survey, o *simulate.Options) error {
	if slices.Contains(sv.Columns(), "") {
		return noren.Usagef("column", "expected the column from which people are drawn")
	}
	tab, err := s.readTexts(ctx, r.Table, sv.Columns())
	if err != nil {
		return err
	}
	if tab.Rows == 0 {
		return &noren.Error{Kind: noren.BadData, Where: noren.File(r.Table.Input), What: "has no records"}
	}
	o.Values = survey.Records(tab)
	if o.N == 0 {
		o.N = tab.Rows
	}
	return nil
}

// simulated is a simulation as its document.
func simulated(r *simulate.Result, o *simulate.Options, input string) *api.LDPSimulate {
	out := &api.LDPSimulate{
		Schema: api.LDPSimulateSchema, Input: input, Mechanism: r.Survey.Mechanism(), N: o.N, Seed: o.Seed, Trials: o.Trials,
		Error: r.Error, Attributes: truths(r), Privacy: r.Survey.Privacy(), Kind: r.Survey.Kind(),
	}
	out.Privacy.NotProtected = append(out.Privacy.NotProtected,
		noren.Textf(
			"the people of this simulation: it shows the truth, and its draws follow from a seed; the guarantee is what real reports would hold"))
	if input != "" {
		out.Private = "do not release"
	}
	for _, c := range r.Curves {
		curve := api.LDPErrorCurve{Mechanism: c.Mechanism, Over: c.Over, Points: []api.LDPErrorPoint{}}
		for _, p := range c.Points {
			curve.Points = append(curve.Points, api.LDPErrorPoint{X: p.X, Error: finite(p.Error), Expected: finite(p.Expected)})
		}
		out.Curves = append(out.Curves, curve)
	}
	return out
}

// truths are true and estimated values of each attribute.
func truths(r *simulate.Result) []api.LDPTruth {
	of := []survey.Estimate{*r.Estimate}
	if r.Survey.Kind() == survey.Several {
		of = r.Estimate.Several
	}
	var out []api.LDPTruth
	for j := range of {
		t, x := &r.Sample.Truth[j], &of[j]
		a := api.LDPTruth{Column: r.Survey.Columns()[j]}
		switch {
		case x.Shares != nil:
			f := x.Shares
			for l, name := range t.Labels {
				a.Labels = append(a.Labels, api.LDPTrueShare{
					Label: name, True: t.Shares[l], Estimate: f.Value[l], StdErr: &f.StdErr[l], Low: &f.Low[l],
					High: &f.High[l],
				})
			}
		case x.Words != nil:
			for l, name := range t.Labels {
				row := api.LDPTrueShare{Label: name, True: t.Shares[l], Found: new(bool)}
				for _, w := range x.Words.Words {
					if w.Word == name && w.Significant {
						row.Estimate, row.StdErr, *row.Found = w.Value, finite(w.StdErr), true
					}
				}
				a.Labels = append(a.Labels, row)
			}
		case x.Mean != nil:
			m := x.Mean
			a.Mean = &api.LDPTrueMean{True: t.Mean, Estimate: m.Value, StdErr: m.StdErr, Low: m.Low, High: m.High}
		case x.Distribution != nil:
			d := x.Distribution
			for i := range d.Share {
				a.Distribution = append(a.Distribution, api.LDPTrueBucket{From: d.Edges[i], To: d.Edges[i+1], True: t.Buckets[i], Estimate: d.Share[i]})
			}
			w := simulate.Wasserstein(t.Edges, t.Buckets, d.Share)
			a.Wasserstein = &w
			a.Mean = &api.LDPTrueMean{True: t.Mean, Estimate: d.Mean()}
		}
		out = append(out, a)
	}
	return out
}
