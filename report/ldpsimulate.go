package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report/text"
)

// LDPSimulateTables are true beside estimated values, and the curves of the error.
func LDPSimulateTables(r *api.LDPSimulate) []Table {
	var out []Table
	for i := range r.Attributes {
		for _, t := range truthTables(&r.Attributes[i]) {
			t.Keep = append(t.Keep, r.Attributes[i].Column)
			out = append(out, t)
		}
	}
	return append(out, errorTable(r, "epsilon"), errorTable(r, "n"))
}

func truthTables(a *api.LDPTruth) []Table {
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
		t := Table{Caption: caption, Names: true, Header: []string{"label", "true", "estimate", "std. error", "from", "to"}, Numeric: numericAfter(5)}
		rows := a.Labels
		if len(rows) > mostLDPRows {
			rows = rows[:mostLDPRows]
			t.Caption += fmt.Sprintf("; the first %d of %d labels", mostLDPRows, len(a.Labels))
		}
		for _, l := range rows {
			t.Rows = append(t.Rows, []string{l.Label, share(l.True), share(l.Estimate), dash(l.StdErr), dash(l.Low), dash(l.High)})
		}
		return []Table{t}
	case a.Distribution != nil:
		t := Table{
			Caption: fmt.Sprintf("%s; Wasserstein distance %s", caption, text.Figure(*a.Wasserstein)),
			Header:  []string{"from", "to", "true", "estimate"}, Numeric: []bool{true, true, true, true},
		}
		for part := range slices.Chunk(a.Distribution, bucketsPerRow(len(a.Distribution))) {
			truth, estimate := 0.0, 0.0
			for _, b := range part {
				truth, estimate = truth+b.True, estimate+b.Estimate
			}
			t.Rows = append(t.Rows, []string{text.Figure(part[0].From), text.Figure(part[len(part)-1].To), share(truth), share(estimate)})
		}
		return []Table{t}
	case a.Mean != nil:
		m := a.Mean
		return []Table{{
			Caption: caption, Header: []string{"", "true", "estimate", "std. error", "from", "to"}, Numeric: numericAfter(5),
			Rows: [][]string{{"mean", text.Figure(m.True), text.Figure(m.Estimate), text.Figure(m.StdErr), text.Figure(m.Low), text.Figure(m.High)}},
		}}
	}
	return nil
}

// errorName is what the curves measure.
func errorName(r *api.LDPSimulate) string {
	switch r.Kind {
	case survey.Mean:
		return "root mean square error of the mean"
	case survey.Distribution:
		return "Wasserstein distance"
	}
	return "root mean square error of a share"
}

func errorTable(r *api.LDPSimulate, over string) Table {
	t := Table{
		Caption: fmt.Sprintf("%s over %s, %d simulated collections for each point", upper(errorName(r)), over, r.Trials),
		Header:  []string{"mechanism", over, "error", "expected"}, Numeric: numericAfter(3),
	}
	dash := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return text.Figure(*v)
	}
	for _, c := range r.Curves {
		if c.Over != over {
			continue
		}
		for _, p := range c.Points {
			t.Rows = append(t.Rows, []string{c.Mechanism, text.Figure(p.X), dash(p.Error), dash(p.Expected)})
		}
	}
	return t
}

// errorChart draws the figures of errorTable; the expected errors only where there is
// one mechanism.
func errorChart(r *api.LDPSimulate, over string) Chart {
	l := &Lines{Title: "error over " + over, Across: over, Axis: errorName(r), ScaleX: Log, ScaleY: Log}
	number := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	for _, c := range r.Curves {
		if c.Over != over {
			continue
		}
		measured, expected := Curve{Name: c.Mechanism}, Curve{Name: c.Mechanism + ", expected"}
		known := false
		for _, p := range c.Points {
			measured.X, measured.Y = append(measured.X, p.X), append(measured.Y, number(p.Error))
			expected.X, expected.Y = append(expected.X, p.X), append(expected.Y, number(p.Expected))
			known = known || p.Expected != nil
		}
		l.Curves = append(l.Curves, measured)
		if known && len(r.Curves) == 2 {
			l.Curves = append(l.Curves, expected)
		}
	}
	return l
}

// LDPSimulatePage shows a simulated collection. footer names the program.
func LDPSimulatePage(r *api.LDPSimulate, footer string) *Page {
	p := &Page{
		Title:   fmt.Sprintf("Simulation of %s by %s", people(r.N), r.Mechanism),
		Lead:    fmt.Sprintf("Estimated beside true values, and the error by epsilon and by the number of people. Seed %d.", r.Seed),
		Private: r.Private != "",
		Footer:  footer,
	}
	for i := range r.Attributes {
		p.Keep = append(p.Keep, r.Attributes[i].Column)
	}
	for i := range r.Attributes {
		a := &r.Attributes[i]
		title := "True against estimated"
		if a.Column != "" {
			title = a.Column
		}
		section := Section{Title: title}
		for _, t := range truthTables(a) {
			if chart := truthChart(a); chart != nil {
				section.Blocks = append(section.Blocks, Block{Picture: &Picture{Chart: chart, Caption: t.Caption, Table: &t}})
			} else {
				section.Blocks = append(section.Blocks, Block{Table: &t})
			}
		}
		p.Sections = append(p.Sections, section)
	}
	for _, over := range []string{"epsilon", "n"} {
		t := errorTable(r, over)
		title := "Error over epsilon"
		if over == "n" {
			title = "Error over people"
		}
		p.Sections = append(p.Sections, Section{Title: title, Blocks: []Block{{Picture: &Picture{Chart: errorChart(r, over), Caption: t.Caption, Table: &t}}}})
	}
	p.Sections = append(p.Sections, privacySection(&r.Privacy))
	return p
}

// truthChart draws true and estimated values; nil where there is nothing to draw.
func truthChart(a *api.LDPTruth) Chart {
	switch {
	case a.Labels != nil && len(a.Labels) <= mostBars:
		b := &Bars{Title: "True against estimated", Axis: "share", Horizontal: true, Series: []Series{{Name: "true"}, {Name: "estimate"}}}
		for _, l := range a.Labels {
			b.Labels = append(b.Labels, l.Label)
			b.Series[0].Values = append(b.Series[0].Values, l.True)
			b.Series[1].Values = append(b.Series[1].Values, l.Estimate)
		}
		return b
	case a.Distribution != nil:
		truth, estimate := Curve{Name: "true"}, Curve{Name: "estimate"}
		for _, b := range a.Distribution {
			x := (b.From + b.To) / 2
			truth.X, truth.Y = append(truth.X, x), append(truth.Y, b.True)
			estimate.X, estimate.Y = append(estimate.X, x), append(estimate.Y, b.Estimate)
		}
		return &Lines{Title: "True against estimated", Curves: []Curve{truth, estimate}, Across: "value", Axis: "share", FromZero: true}
	}
	return nil
}
