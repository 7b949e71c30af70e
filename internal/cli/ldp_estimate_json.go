package cli

import (
	"math"

	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/survey"
)

// estimateJSON is noren.ldp.estimate/1.
type estimateJSON struct {
	Schema      string           `json:"schema"`
	Inputs      []string         `json:"inputs"`
	Question    string           `json:"question,omitempty"`
	Column      string           `json:"column,omitempty"`
	Mechanism   string           `json:"mechanism"`
	Rappor      *ldp.Params      `json:"rappor,omitempty"`
	Kind        string           `json:"kind"`
	Reports     int64            `json:"reports"`
	Rounds      int              `json:"rounds,omitempty"`
	People      int64            `json:"people,omitempty"`
	Rejected    ldp.Rejected     `json:"rejected"`
	BadLines    []survey.BadLine `json:"malformed_lines,omitempty"`
	Warnings    []string         `json:"warnings,omitempty"`
	Attributes  []attributeJSON  `json:"attributes,omitempty"`
	Association *associationJSON `json:"association,omitempty"`
	learnedJSON
	Privacy privacyJSON `json:"privacy"`
}

// learnedJSON is what was learned of an attribute; one of its fields is there.
type learnedJSON struct {
	Shares       *sharesJSON       `json:"shares,omitempty"`
	Words        *wordsJSON        `json:"words,omitempty"`
	Mean         *meanJSON         `json:"mean,omitempty"`
	Distribution *distributionJSON `json:"distribution,omitempty"`
}

type attributeJSON struct {
	Column  string `json:"column"`
	Reports int64  `json:"reports"`
	learnedJSON
}

type sharesJSON struct {
	Level  float64     `json:"level"`
	Labels []shareJSON `json:"labels"`
}

type shareJSON struct {
	Label       string   `json:"label"`
	Share       float64  `json:"share"`
	StdErr      float64  `json:"std_err"`
	Low         float64  `json:"low"`
	High        float64  `json:"high"`
	Count       float64  `json:"count"`
	CountStdErr float64  `json:"count_std_err"`
	Projected   *float64 `json:"projected,omitempty"`
}

type wordsJSON struct {
	Candidates int         `json:"candidates"`
	Level      float64     `json:"level"`
	Explained  float64     `json:"explained"`
	Joint      bool        `json:"fitted_together"`
	Unnamed    unnamedJSON `json:"unnamed"`
	Found      []wordJSON  `json:"found"`
}

// unnamedJSON is the mass of words that are no candidates.
type unnamedJSON struct {
	Share  float64  `json:"share"`
	StdErr *float64 `json:"std_err"`
	Low    float64  `json:"low"`
	High   float64  `json:"high"`
	P      *float64 `json:"p_value"`
}

type wordJSON struct {
	Word        string   `json:"word"`
	Share       float64  `json:"share"`
	StdErr      *float64 `json:"std_err"`
	Low         float64  `json:"low"`
	High        float64  `json:"high"`
	P           float64  `json:"p_value"`
	Significant bool     `json:"significant"`
}

type meanJSON struct {
	Level  float64 `json:"level"`
	Value  float64 `json:"value"`
	StdErr float64 `json:"std_err"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Basis  string  `json:"interval_basis"`
}

type distributionJSON struct {
	Edges      []float64      `json:"edges"`
	Shares     []float64      `json:"shares"`
	Mean       float64        `json:"mean"`
	Quartiles  []float64      `json:"quartiles"`
	Errors     []measuredJSON `json:"errors,omitempty"`
	Iterations int            `json:"iterations"`
	Converged  bool           `json:"converged"`
}

// measuredJSON is what was read off a distribution, with its interval at Level.
type measuredJSON struct {
	Of     string  `json:"of"`
	Value  float64 `json:"value"`
	StdErr float64 `json:"std_err"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Level  float64 `json:"level"`
}

// waveErrors are the mean and the quartiles with their errors.
func waveErrors(e *ldp.WaveErrors) []measuredJSON {
	if e == nil {
		return nil
	}
	var out []measuredJSON
	for i, m := range []ldp.Measured{e.Mean, e.Quartiles[0], e.Quartiles[1], e.Quartiles[2]} {
		out = append(out, measuredJSON{[]string{"mean", "first quartile", "median", "third quartile"}[i], m.Value, m.StdErr, m.Low, m.High, e.Level})
	}
	return out
}

type associationJSON struct {
	First        string       `json:"first"`
	Second       string       `json:"second"`
	FirstLabels  []string     `json:"first_labels"`
	SecondLabels []string     `json:"second_labels"`
	People       int          `json:"people"`
	Shares       [][]float64  `json:"shares"`
	StdErr       [][]*float64 `json:"std_err"`
	Iterations   int          `json:"iterations"`
	Converged    bool         `json:"converged"`
	Loss         ldp.Loss     `json:"loss"`
}

// orNull is v, null where it is no number.
func orNull(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (e *estimated) json() estimateJSON {
	s := e.survey
	spec := s.Spec()
	out := estimateJSON{
		Schema: estimateSchema, Inputs: e.files, Question: spec.Question, Column: spec.Column, Mechanism: s.Mechanism(),
		Rappor: effectiveParams(s), Kind: string(s.Kind()), Reports: e.found.N, Rejected: e.found.Rejected,
		BadLines: e.bad, Warnings: e.found.Warnings,
		learnedJSON: e.learned(e.found, 0), Privacy: privacyOf(s),
	}
	if e.found.Rounds > 0 {
		out.Rounds, out.People = e.found.Rounds, e.found.Shares.N
	}
	for j, name := range s.Columns() {
		if s.Kind() == survey.Several {
			out.Attributes = append(out.Attributes, attributeJSON{Column: name, Reports: e.found.Several[j].N, learnedJSON: e.learned(&e.found.Several[j], j)})
		}
	}
	if a := e.joint; a != nil {
		j := &associationJSON{
			First: a.names[0], Second: a.names[1], FirstLabels: a.labels[0], SecondLabels: a.labels[1], People: a.N,
			Shares: a.Share, Iterations: a.Iterations, Converged: a.Converged, Loss: a.loss,
		}
		for _, row := range a.StdErr {
			errs := make([]*float64, len(row))
			for i, v := range row {
				errs[i] = orNull(v)
			}
			j.StdErr = append(j.StdErr, errs)
		}
		out.Association = j
	}
	return out
}

func (e *estimated) learned(x *survey.Estimate, attribute int) learnedJSON {
	var out learnedJSON
	switch {
	case x.Shares != nil:
		f := x.Shares
		out.Shares = &sharesJSON{Level: f.Level}
		var projected []float64
		if e.project {
			projected = f.Projected()
		}
		for l, name := range e.survey.Labels(attribute) {
			row := shareJSON{
				Label: name, Share: f.Value[l], StdErr: f.StdErr[l], Low: f.Low[l], High: f.High[l],
				Count: f.Value[l] * float64(f.N), CountStdErr: f.StdErr[l] * float64(f.N),
			}
			if e.project {
				row.Projected = &projected[l]
			}
			out.Shares.Labels = append(out.Shares.Labels, row)
		}
	case x.Words != nil:
		u := x.Words.Unnamed
		out.Words = &wordsJSON{
			Candidates: x.Words.Candidates, Level: x.Words.Confidence, Explained: x.Words.Explained, Joint: x.Words.Joint, Found: []wordJSON{},
			Unnamed: unnamedJSON{Share: u.Value, StdErr: orNull(u.StdErr), Low: u.Low, High: u.High, P: orNull(u.P)},
		}
		for _, w := range x.Words.Words {
			out.Words.Found = append(out.Words.Found, wordJSON{Word: w.Word, Share: w.Value, StdErr: orNull(w.StdErr), Low: w.Low, High: w.High, P: w.P, Significant: w.Significant})
		}
	case x.Mean != nil:
		m := x.Mean
		out.Mean = &meanJSON{Level: m.Level, Value: m.Value, StdErr: m.StdErr, Low: m.Low, High: m.High, Basis: m.Basis}
	case x.Distribution != nil:
		d := x.Distribution
		out.Distribution = &distributionJSON{
			Edges: d.Edges, Shares: d.Share, Mean: d.Mean(), Iterations: d.Iterations, Converged: d.Converged,
			Quartiles: []float64{d.Quantile(0.25), d.Quantile(0.5), d.Quantile(0.75)}, Errors: waveErrors(d.Errors),
		}
	}
	return out
}
