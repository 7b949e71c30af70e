package report

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report/text"
)

// LDPSimulateTables are true beside estimated values, and the curves of the error.
func LDPSimulateTables(r *api.LDPSimulate) []Table {
	var out []Table
	for i := range r.Attributes {
		out = append(out, truthTables(&r.Attributes[i])...)
	}
	return append(out, errorTable(r, "epsilon"), errorTable(r, "n"))
}

func truthTables(a *api.LDPTruth) []Table {
	caption := noren.Textf("True against estimated")
	if a.Column != "" {
		caption = noren.Textf("%s: true against estimated", a.Column)
	}
	dash := func(p *float64) string {
		if p == nil {
			return "-"
		}
		return share(*p)
	}
	switch {
	case a.Labels != nil:
		t := Table{Caption: caption, Header: Header("label", "true", "estimate", "std. error", "from", "to"), Numeric: numericAfter(5)}
		rows := a.Labels
		if len(rows) > mostLDPRows {
			rows = rows[:mostLDPRows]
			t.Caption = noren.Textf("%s; the first %d of %d {label|labels}", t.Caption, mostLDPRows, len(a.Labels))
		}
		for _, l := range rows {
			t.Add(Verbatim(l.Label), share(l.True), share(l.Estimate), dash(l.StdErr), dash(l.Low), dash(l.High))
		}
		return []Table{t}
	case a.Distribution != nil:
		t := Table{
			Caption: noren.Textf("%s; Wasserstein distance %s", caption, text.Figure(*a.Wasserstein)),
			Header:  Header("from", "to", "true", "estimate"), Numeric: []bool{true, true, true, true},
		}
		for part := range slices.Chunk(a.Distribution, bucketsPerRow(len(a.Distribution))) {
			truth, estimate := 0.0, 0.0
			for _, b := range part {
				truth, estimate = truth+b.True, estimate+b.Estimate
			}
			t.Add(Verbatim(text.Figure(part[0].From)), text.Figure(part[len(part)-1].To), share(truth), share(estimate))
		}
		return []Table{t}
	case a.Mean != nil:
		m := a.Mean
		return []Table{{
			Caption: caption, Header: Header("", "true", "estimate", "std. error", "from", "to"), Numeric: numericAfter(5),
			Rows: [][]noren.Text{meanRow(m.True, m.Estimate, m.StdErr, m.Low, m.High)},
		}}
	}
	return nil
}

// errorName is what the curves measure, in a sentence and at its beginning.
func errorName(r *api.LDPSimulate) (within, first noren.Text) {
	switch r.Kind {
	case survey.Mean:
		return noren.Textf("root mean square error of the mean"), noren.Textf("Root mean square error of the mean")
	case survey.Distribution:
		return noren.Textf("Wasserstein distance"), noren.Textf("Wasserstein distance")
	}
	return noren.Textf("root mean square error of a share"), noren.Textf("Root mean square error of a share")
}

func errorTable(r *api.LDPSimulate, over string) Table {
	_, name := errorName(r)
	t := Table{
		Caption: noren.Textf("%s over %s, %d simulated {collection|collections} for each point", name, over, r.Trials),
		Header:  []noren.Text{noren.Textf("mechanism"), Verbatim(over), noren.Textf("error"), noren.Textf("expected")}, Numeric: numericAfter(3),
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
			t.Add(Verbatim(c.Mechanism), text.Figure(p.X), dash(p.Error), dash(p.Expected))
		}
	}
	return t
}

// errorChart draws the figures of errorTable; the expected errors only where there is
// one mechanism.
func errorChart(r *api.LDPSimulate, over string) Chart {
	name, _ := errorName(r)
	l := &Lines{Title: noren.Textf("error over %s", over), Across: Verbatim(over), Axis: name, ScaleX: Log, ScaleY: Log}
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
		measured, expected := Curve{Name: Verbatim(c.Mechanism)}, Curve{Name: noren.Textf("%s, expected", c.Mechanism)}
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
		Title:   noren.Textf("Simulation of %s by %s", people(r.N), r.Mechanism),
		Lead:    noren.Textf("Estimated beside true values, and the error by epsilon and by the number of people. Seed %d.", r.Seed),
		Private: r.Private != "",
		Footer:  Verbatim(footer),
	}
	for i := range r.Attributes {
		a := &r.Attributes[i]
		title := noren.Textf("True against estimated")
		if a.Column != "" {
			title = Verbatim(a.Column)
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
		title := noren.Textf("Error over epsilon")
		if over == "n" {
			title = noren.Textf("Error over people")
		}
		p.Sections = append(p.Sections, Section{
			Title:  title,
			Blocks: []Block{{Picture: &Picture{Chart: errorChart(r, over), Caption: t.Caption, Table: &t}}},
		})
	}
	p.Sections = append(p.Sections, privacySection(&r.Privacy))
	return p
}

// truthChart draws true and estimated values; nil where there is nothing to draw.
func truthChart(a *api.LDPTruth) Chart {
	switch {
	case a.Labels != nil && len(a.Labels) <= mostBars:
		b := &Bars{
			Title: noren.Textf("True against estimated"), Axis: noren.Textf("share"), Horizontal: true,
			Series: []Series{{Name: noren.Textf("true")}, {Name: noren.Textf("estimate")}},
		}
		for _, l := range a.Labels {
			b.Labels = append(b.Labels, Verbatim(l.Label))
			b.Series[0].Values = append(b.Series[0].Values, l.True)
			b.Series[1].Values = append(b.Series[1].Values, l.Estimate)
		}
		return b
	case a.Distribution != nil:
		truth, estimate := Curve{Name: noren.Textf("true")}, Curve{Name: noren.Textf("estimate")}
		for _, b := range a.Distribution {
			x := (b.From + b.To) / 2
			truth.X, truth.Y = append(truth.X, x), append(truth.Y, b.True)
			estimate.X, estimate.Y = append(estimate.X, x), append(estimate.Y, b.Estimate)
		}
		return &Lines{
			Title: noren.Textf("True against estimated"), Curves: []Curve{truth, estimate}, Across: noren.Textf("value"),
			Axis: noren.Textf("share"), FromZero: true,
		}
	}
	return nil
}
