package report

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/report/text"
)

// LDPEstimatePage shows an estimate from reports, with a picture of each attribute.
// footer names the program.
func LDPEstimatePage(e *api.LDPEstimate, footer string) *Page {
	p := &Page{
		Title: noren.Textf("Estimates from %s", reportsOf(e.Reports)),
		Lead: paragraph(append([]noren.Text{noren.Textf("Estimates from reports that were randomised by %s before they left their owners. %s",
			e.Mechanism, noren.Sentence(e.Rejected.Text()))}, doubts(e.Warnings)...)...),
		Footer: Verbatim(footer),
	}
	add := func(x *api.LDPLearned, of, title noren.Text, reports int64) {
		section := Section{Title: title}
		chart := learnedChart(x)
		for i, t := range learnedTables(e, x, of, reports) {
			if chart != nil && i == 0 {
				section.Blocks = append(section.Blocks, Block{Picture: &Picture{Chart: chart, Caption: t.Caption, Table: &t}})
			} else {
				section.Blocks = append(section.Blocks, Block{Table: &t})
			}
		}
		p.Sections = append(p.Sections, section)
	}
	if e.Kind != survey.Several {
		add(&e.LDPLearned, subject(e), noren.Textf("Estimate"), e.Reports)
	}
	for j := range e.Attributes {
		a := &e.Attributes[j]
		add(&a.LDPLearned, Verbatim(a.Column), Verbatim(a.Column), a.Reports)
	}
	if e.Association != nil {
		t := associationTable(e.Association)
		p.Sections = append(p.Sections, Section{Title: noren.Textf("Joint shares"), Blocks: []Block{{Table: &t}}})
	}
	p.Sections = append(p.Sections, privacySection(&e.Privacy))
	return p
}

// doubts are warnings as sentences.
func doubts(warnings []noren.Text) []noren.Text {
	out := make([]noren.Text, len(warnings))
	for i, w := range warnings {
		out[i] = noren.Textf("Warning: %s.", w)
	}
	return out
}

// privacySection states the guarantee of reports.
func privacySection(p *survey.Privacy) Section {
	life := noren.Textf("unbounded")
	if p.Lifetime != nil {
		life = Verbatim(text.LossFigure(*p.Lifetime))
	}
	return Section{Title: noren.Textf("What is guaranteed, and what is not"), Blocks: []Block{
		{Figures: []Figure{
			{
				Value: Verbatim(text.LossFigure(p.Report)), Name: noren.Textf("epsilon of one report"),
				Explain: noren.Textf("No report is more than e^epsilon times as likely from one value as from another."),
			},
			{
				Value: Verbatim(text.LossFigure(p.Record)), Name: noren.Textf("epsilon of a record"),
				Explain: noren.Textf("All attributes of a record, reported once."),
			},
			{Value: life, Name: noren.Textf("epsilon of a lifetime"), Explain: noren.Textf("All reports ever made of values that do not change.")},
		}},
		{Text: noren.Textf("Not protected:")},
		{List: p.NotProtected},
		{Text: noren.Textf("Assumptions of the guarantee:")},
		{List: p.Guarantee.Assumptions},
	}}
}

// mostBars is the largest number of labels that a chart shows.
const mostBars = 40

// learnedChart draws an estimate; nil where there is nothing to draw.
func learnedChart(x *api.LDPLearned) Chart {
	switch {
	case x.Shares != nil:
		return sharesChart(x.Shares)
	case x.Words != nil && len(x.Words.Found) > 0:
		bars := &Bars{
			Title: noren.Textf("Shares of words"), Axis: noren.Textf("share"), Horizontal: true,
			Series: []Series{{Name: noren.Textf("estimate, with its interval")}},
		}
		for _, w := range x.Words.Found[:min(mostBars, len(x.Words.Found))] {
			bars.Labels = append(bars.Labels, Verbatim(w.Word))
			s := &bars.Series[0]
			s.Values, s.Low, s.High = append(s.Values, w.Share), append(s.Low, w.Low), append(s.High, w.High)
		}
		return bars
	case x.Distribution != nil:
		d := x.Distribution
		c := Curve{Name: noren.Textf("share of the bucket"), Y: d.Shares}
		for i := range d.Shares {
			c.X = append(c.X, (d.Edges[i]+d.Edges[i+1])/2)
		}
		return &Lines{
			Title: noren.Textf("Distribution"), Curves: []Curve{c}, Across: noren.Textf("value"), Axis: noren.Textf("share"),
			FromZero: true,
		}
	}
	return nil
}

func sharesChart(f *api.LDPShares) Chart {
	var names []string
	var value, low, high []float64
	for i := range f.Labels {
		l := &f.Labels[i]
		names, value, low, high = append(names, l.Label), append(value, l.Share), append(low, l.Low), append(high, l.High)
	}
	if f.Midpoints != nil {
		c := Curve{Name: noren.Textf("share, with its interval"), X: f.Midpoints, Y: value, Low: low, High: high}
		return &Lines{
			Title: noren.Textf("Shares of bins"), Curves: []Curve{c}, Across: noren.Textf("middle of the bin"),
			Axis: noren.Textf("share"), FromZero: true,
		}
	}
	if len(names) > mostBars {
		return nil
	}
	return &Bars{
		Title: noren.Textf("Shares of labels"), Labels: texts(names, Verbatim), Axis: noren.Textf("share"), Horizontal: true,
		Series: []Series{{Name: noren.Textf("estimate, with its interval"), Values: value, Low: low, High: high}},
	}
}
