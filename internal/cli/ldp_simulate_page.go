package cli

import (
	"fmt"
	"slices"

	"github.com/noren-privacy/noren/ldp/simulate"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report"
)

// simulated is a simulation, for people, programs and pages.
type simulated struct {
	r     *simulate.Result
	o     *simulate.Options
	input string
}

type simulateJSON struct {
	Schema     string            `json:"schema"`
	Private    string            `json:"private,omitempty"`
	Input      string            `json:"input,omitempty"`
	Mechanism  string            `json:"mechanism"`
	N          int               `json:"n"`
	Seed       uint64            `json:"seed"`
	Trials     int               `json:"trials"`
	Error      float64           `json:"error"`
	Attributes []trueJSON        `json:"attributes"`
	Curves     []simulationCurve `json:"curves"`
	Privacy    privacyJSON       `json:"privacy"`
}

// trueJSON is what is true of an attribute beside what was estimated.
type trueJSON struct {
	Column       string           `json:"column,omitempty"`
	Labels       []trueLabelJSON  `json:"labels,omitempty"`
	Mean         *trueMeanJSON    `json:"mean,omitempty"`
	Distribution []trueBucketJSON `json:"distribution,omitempty"`
	Wasserstein  *float64         `json:"wasserstein,omitempty"`
}

type trueLabelJSON struct {
	Label    string   `json:"label"`
	True     float64  `json:"true"`
	Estimate float64  `json:"estimate"`
	StdErr   *float64 `json:"std_err"`
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Found    *bool    `json:"found,omitempty"`
}

type trueMeanJSON struct {
	True     float64 `json:"true"`
	Estimate float64 `json:"estimate"`
	StdErr   float64 `json:"std_err"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

type trueBucketJSON struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	True     float64 `json:"true"`
	Estimate float64 `json:"estimate"`
}

type simulationCurve struct {
	Mechanism string            `json:"mechanism"`
	Over      string            `json:"over"`
	Points    []simulationPoint `json:"points"`
}

type simulationPoint struct {
	X        float64  `json:"x"`
	Error    *float64 `json:"error"`
	Expected *float64 `json:"expected"`
}

// privacy is what reports by the mechanism would promise.
func (v *simulated) privacy() privacyJSON {
	p := privacyOf(v.r.Survey)
	p.NotProtected = append(p.NotProtected, "the people of this simulation: it shows the truth, and its draws follow from a seed; the promise is what real reports would hold")
	return p
}

// attributes are truth and estimate of each attribute.
func (v *simulated) attributes() []trueJSON {
	of := []survey.Estimate{*v.r.Estimate}
	if v.r.Survey.Kind() == survey.Several {
		of = v.r.Estimate.Several
	}
	var out []trueJSON
	for j := range of {
		t, x := &v.r.Crowd.Truth[j], &of[j]
		a := trueJSON{Column: v.r.Survey.Columns()[j]}
		switch {
		case x.Shares != nil:
			f := x.Shares
			for l, name := range t.Labels {
				a.Labels = append(a.Labels, trueLabelJSON{Label: name, True: t.Shares[l], Estimate: f.Value[l], StdErr: &f.StdErr[l], Low: &f.Low[l], High: &f.High[l]})
			}
		case x.Words != nil:
			for l, name := range t.Labels {
				row := trueLabelJSON{Label: name, True: t.Shares[l], Found: new(bool)}
				for _, w := range x.Words.Words {
					if w.Word == name && w.Significant {
						row.Estimate, row.StdErr, *row.Found = w.Value, orNull(w.StdErr), true
					}
				}
				a.Labels = append(a.Labels, row)
			}
		case x.Mean != nil:
			m := x.Mean
			a.Mean = &trueMeanJSON{True: t.Mean, Estimate: m.Value, StdErr: m.StdErr, Low: m.Low, High: m.High}
		case x.Distribution != nil:
			d := x.Distribution
			for i := range d.Share {
				a.Distribution = append(a.Distribution, trueBucketJSON{From: d.Edges[i], To: d.Edges[i+1], True: t.Buckets[i], Estimate: d.Share[i]})
			}
			w := simulate.Wasserstein(t.Edges, t.Buckets, d.Share)
			a.Wasserstein = &w
			a.Mean = &trueMeanJSON{True: t.Mean, Estimate: d.Mean()}
		}
		out = append(out, a)
	}
	return out
}

func (v *simulated) json() simulateJSON {
	out := simulateJSON{
		Schema: simulateSchema, Input: v.input, Mechanism: v.r.Survey.Mechanism(), N: v.o.N, Seed: v.o.Seed, Trials: v.o.Trials,
		Error: v.r.Error, Attributes: v.attributes(), Privacy: v.privacy(),
	}
	if v.input != "" {
		out.Private = "do not release"
	}
	for _, c := range v.r.Curves {
		s := simulationCurve{Mechanism: c.Mechanism, Over: c.Over, Points: []simulationPoint{}}
		for _, p := range c.Points {
			s.Points = append(s.Points, simulationPoint{X: p.X, Error: orNull(p.Error), Expected: orNull(p.Expected)})
		}
		out.Curves = append(out.Curves, s)
	}
	return out
}

// tables are truth against estimate, and the curves.
func (v *simulated) tables() []report.Table {
	var out []report.Table
	for _, a := range v.attributes() {
		out = append(out, trueTables(&a)...)
	}
	return append(out, v.curveTable("epsilon"), v.curveTable("n"))
}

func trueTables(a *trueJSON) []report.Table {
	caption := "True against estimated"
	if a.Column != "" {
		caption = a.Column + ": true against estimated"
	}
	dash := func(p *float64) string {
		if p == nil {
			return "-"
		}
		return share(*p)
	}
	switch {
	case a.Labels != nil:
		t := report.Table{Caption: caption, Header: []string{"label", "true", "estimate", "std. error", "from", "to"}, Numeric: []bool{false, true, true, true, true, true}}
		rows := a.Labels
		if len(rows) > mostRows {
			rows = rows[:mostRows]
			t.Caption += fmt.Sprintf("; the first %d of %d labels", mostRows, len(a.Labels))
		}
		for _, l := range rows {
			t.Rows = append(t.Rows, []string{l.Label, share(l.True), share(l.Estimate), dash(l.StdErr), dash(l.Low), dash(l.High)})
		}
		return []report.Table{t}
	case a.Distribution != nil:
		t := report.Table{
			Caption: fmt.Sprintf("%s; the two lie %s apart (Wasserstein)", caption, figure(*a.Wasserstein)),
			Header:  []string{"from", "to", "true", "estimate"}, Numeric: []bool{true, true, true, true},
		}
		for part := range slices.Chunk(a.Distribution, perRow(len(a.Distribution))) {
			truth, estimate := 0.0, 0.0
			for _, b := range part {
				truth, estimate = truth+b.True, estimate+b.Estimate
			}
			t.Rows = append(t.Rows, []string{figure(part[0].From), figure(part[len(part)-1].To), share(truth), share(estimate)})
		}
		return []report.Table{t}
	case a.Mean != nil:
		m := a.Mean
		return []report.Table{{
			Caption: caption, Header: []string{"", "true", "estimate", "std. error", "from", "to"}, Numeric: []bool{false, true, true, true, true, true},
			Rows: [][]string{{"mean", figure(m.True), figure(m.Estimate), figure(m.StdErr), figure(m.Low), figure(m.High)}},
		}}
	}
	return nil
}

// errorName is what the curves measure.
func (v *simulated) errorName() string {
	switch v.r.Survey.Kind() {
	case survey.Mean:
		return "root mean square error of the mean"
	case survey.Distribution:
		return "Wasserstein distance"
	}
	return "root mean square error of a share"
}

func (v *simulated) curveTable(over string) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("%s over %s, %d crowds a point", upper(v.errorName()), over, v.o.Trials),
		Header:  []string{"mechanism", over, "error", "expected"}, Numeric: []bool{false, true, true, true},
	}
	for _, c := range v.r.Curves {
		if c.Over != over {
			continue
		}
		for _, p := range c.Points {
			expected := "-"
			if orNull(p.Expected) != nil {
				expected = figure(p.Expected)
			}
			t.Rows = append(t.Rows, []string{c.Mechanism, figure(p.X), figure(p.Error), expected})
		}
	}
	return t
}

// curveChart draws what curveTable tells: lines, and the expected ones beside.
func (v *simulated) curveChart(over string) report.Chart {
	l := &report.Lines{Title: "error over " + over, Across: over, Axis: v.errorName(), ScaleX: report.Log, ScaleY: report.Log}
	for _, c := range v.r.Curves {
		if c.Over != over {
			continue
		}
		measured, expected := report.Curve{Name: c.Mechanism}, report.Curve{Name: c.Mechanism + ", expected"}
		for _, p := range c.Points {
			measured.X, measured.Y = append(measured.X, p.X), append(measured.Y, p.Error)
			expected.X, expected.Y = append(expected.X, p.X), append(expected.Y, p.Expected)
		}
		l.Curves = append(l.Curves, measured)
		if slices.ContainsFunc(expected.Y, func(y float64) bool { return orNull(y) != nil }) && len(v.r.Curves) == 2 {
			l.Curves = append(l.Curves, expected)
		}
	}
	return l
}

func (v *simulated) page() *report.Page {
	p := &report.Page{
		Title:   fmt.Sprintf("A simulation of %s by %s", people(v.o.N), v.r.Survey.Mechanism()),
		Lead:    fmt.Sprintf("What would be estimated beside what is true, and how the error falls with epsilon and with people. Seed %d.", v.o.Seed),
		Private: v.input != "",
		Footer:  "noren " + Version(),
	}
	for _, a := range v.attributes() {
		title := "True against estimated"
		if a.Column != "" {
			title = a.Column
		}
		section := report.Section{Title: title}
		for _, t := range trueTables(&a) {
			if chart := a.chart(); chart != nil {
				section.Blocks = append(section.Blocks, report.Block{Picture: &report.Picture{Chart: chart, Caption: t.Caption, Table: &t}})
			} else {
				section.Blocks = append(section.Blocks, report.Block{Table: &t})
			}
		}
		p.Sections = append(p.Sections, section)
	}
	for _, over := range []string{"epsilon", "n"} {
		t := v.curveTable(over)
		title := "Error over epsilon"
		if over == "n" {
			title = "Error over people"
		}
		p.Sections = append(p.Sections, report.Section{Title: title, Blocks: []report.Block{{Picture: &report.Picture{Chart: v.curveChart(over), Caption: t.Caption, Table: &t}}}})
	}
	p.Sections = append(p.Sections, privacySection(v.privacy()))
	return p
}

// chart draws truth and estimate, nil where there is nothing to draw.
func (a *trueJSON) chart() report.Chart {
	switch {
	case a.Labels != nil && len(a.Labels) <= 40:
		b := &report.Bars{Title: "True against estimated", Axis: "share", Horizontal: true, Series: []report.Series{{Name: "true"}, {Name: "estimate"}}}
		for _, l := range a.Labels {
			b.Labels = append(b.Labels, l.Label)
			b.Series[0].Values = append(b.Series[0].Values, l.True)
			b.Series[1].Values = append(b.Series[1].Values, l.Estimate)
		}
		return b
	case a.Distribution != nil:
		truth, estimate := report.Curve{Name: "true"}, report.Curve{Name: "estimate"}
		for _, b := range a.Distribution {
			x := (b.From + b.To) / 2
			truth.X, truth.Y = append(truth.X, x), append(truth.Y, b.True)
			estimate.X, estimate.Y = append(estimate.X, x), append(estimate.Y, b.Estimate)
		}
		return &report.Lines{Title: "True against estimated", Curves: []report.Curve{truth, estimate}, Across: "value", Axis: "share", FromZero: true}
	}
	return nil
}
