package service

import (
	"cmp"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// result is the estimation as its document.
func (e *ldpEstimation) result() *api.LDPEstimate {
	s := e.survey
	spec := s.Spec()
	out := &api.LDPEstimate{
		Schema: api.LDPEstimateSchema, Question: cmp.Or(e.question, spec.Question), Column: spec.Column, Mechanism: s.Mechanism(),
		Rappor: effectiveParams(s), Kind: s.Kind(), Reports: e.found.N, Rejected: e.found.Rejected,
		BadLines: e.bad, Warnings: e.found.Warnings, Specification: s.SHA256For(e.question), Without: e.without,
		LDPLearned: learned(s, e.found, 0, e.r.Project), Association: e.joint, Privacy: s.Privacy(),
	}
	for _, f := range e.r.Reports {
		out.Inputs = append(out.Inputs, f.Name)
	}
	if len(e.without) > 0 {
		out.Warnings = append(out.Warnings, noren.Textf("nothing ties %s to the specification: no line names it, and reports by another one "+
			"are seen only where they cannot be of this mechanism", strings.Join(e.without, ", ")))
	}
	out.Rounds = e.found.Rounds
	if out.Rounds > 0 {
		if e.found.Shares != nil {
			out.People = e.found.Shares.N
		} else {
			out.People = e.found.Words.N
		}
	}
	if s.Kind() == survey.Several {
		for j, name := range s.Columns() {
			one := &e.found.Several[j]
			out.Attributes = append(out.Attributes, api.LDPAttribute{Column: name, Reports: one.N, LDPLearned: learned(s, one, j, e.r.Project)})
		}
	}
	return out
}

// learned is the estimate of an attribute.
func learned(s *survey.Survey, x *survey.Estimate, attribute int, project bool) (out api.LDPLearned) {
	switch {
	case x.Shares != nil:
		out.Shares = sharesOf(s, x.Shares, attribute, project)
	case x.Words != nil:
		out.Words = wordsOf(x.Words)
	case x.Mean != nil:
		m := x.Mean
		out.Mean = &api.LDPMean{Level: m.Level, Value: m.Value, StdErr: m.StdErr, Low: m.Low, High: m.High, Basis: string(m.Basis)}
	case x.Distribution != nil:
		d := x.Distribution
		out.Distribution = &api.LDPDistribution{
			Edges: d.Edges, Shares: d.Share, Mean: d.Mean(), Iterations: d.Iterations, Converged: d.Converged,
			Quartiles: []float64{d.Quantile(0.25), d.Quantile(0.5), d.Quantile(0.75)}, Errors: waveErrors(d.Errors),
		}
	}
	return out
}

func sharesOf(s *survey.Survey, f *ldp.Frequencies, attribute int, project bool) *api.LDPShares {
	out := &api.LDPShares{Level: f.Level}
	var projected []float64
	if project {
		projected = f.Projected()
	}
	bins := s.Bins(attribute)
	for l, name := range s.Labels(attribute) {
		row := api.LDPShare{
			Label: name, Share: f.Value[l], StdErr: f.StdErr[l], Low: f.Low[l], High: f.High[l],
			Count: f.Value[l] * float64(f.N), CountStdErr: f.StdErr[l] * float64(f.N),
		}
		if project {
			row.Projected = &projected[l]
		}
		out.Labels = append(out.Labels, row)
		if bins != nil {
			out.Midpoints = append(out.Midpoints, bins.Midpoint(l))
		}
	}
	return out
}

func wordsOf(d *ldp.DecodedWords) *api.LDPWords {
	u := d.Unnamed
	out := &api.LDPWords{
		Candidates: d.Candidates, Level: d.Confidence, Explained: d.Explained, Joint: d.Joint, Found: []api.LDPWord{},
		Unnamed: api.LDPUnnamed{Share: u.Value, StdErr: finite(u.StdErr), Low: u.Low, High: u.High, P: finite(u.P)},
	}
	for _, w := range d.Words {
		out.Found = append(out.Found, api.LDPWord{
			Word: w.Word, Share: w.Value, StdErr: finite(w.StdErr), Low: w.Low, High: w.High, P: w.P,
			Significant: w.Significant,
		})
	}
	return out
}

// waveErrors are the mean and the quartiles with their errors.
func waveErrors(e *ldp.WaveErrors) []api.LDPMeasured {
	if e == nil {
		return nil
	}
	var out []api.LDPMeasured
	for i, m := range []ldp.Measured{e.Mean, e.Quartiles[0], e.Quartiles[1], e.Quartiles[2]} {
		basis := e.Basis
		if i > 0 {
			basis = ldp.ByBootstrap
		}
		out = append(out, api.LDPMeasured{
			Of: string([...]noren.Term{"mean", "first quartile", "median", "third quartile"}[i]), Value: m.Value,
			StdErr: m.StdErr, Low: m.Low, High: m.High, Level: e.Level, Basis: string(basis),
		})
	}
	return out
}

func associationOf(j *ldp.Joint) *api.LDPAssociation {
	a := &api.LDPAssociation{People: j.N, Shares: j.Share, Iterations: j.Iterations, Converged: j.Converged}
	for _, row := range j.StdErr {
		errs := make([]*float64, len(row))
		for i, v := range row {
			errs[i] = finite(v)
		}
		a.StdErr = append(a.StdErr, errs)
	}
	return a
}

// finite is v, nil where it is no finite number.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// effectiveParams are RAPPOR's parameters as they run: f at its multiple of 1/128.
func effectiveParams(s *survey.Survey) *ldp.Params {
	r := s.Rappor()
	if r == nil {
		return nil
	}
	p := r.Params
	p.F = r.EffectiveF()
	return &p
}
