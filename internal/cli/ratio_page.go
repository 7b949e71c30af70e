package cli

import (
	"fmt"
	"math"

	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/release"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/axis"
)

// ratioPage is the page about a fit: what was released, and public facts.
func ratioPage(v *fitting, answer *release.Answer) *report.Page {
	m := v.weights.Meta
	c := &m.Check
	verdict := report.Figure{Value: "nothing found", Name: "Fit check", Explain: "Of what the kernels can see; it does not make the weights good.", Tone: report.Good}
	if !c.Passed {
		verdict = report.Figure{Value: "failed", Name: "Fit check", Explain: "What was found stands below.", Tone: report.Warning}
	}
	fit := []report.Block{
		{Figures: []report.Figure{
			verdict,
			{Value: report.Number(m.ESS), Name: "Records' worth", Explain: fmt.Sprintf("The %s weighted records tell as much as so many unweighted ones (ESS).", report.Integer(m.PublicRecords))},
			{Value: report.Percent(m.MaxShare), Name: "Largest share", Explain: "What the heaviest record carries of the weight."},
			{Value: report.Number(m.MeanWeight), Name: "Mean weight", Explain: meanWeightMeaning(m)},
			{Value: report.Number(c.Misfit), Name: "Misfit", Explain: "How far the weighted records are from what was released; 1 is what noise explains.", Tone: toneOf(c.MisfitP >= 0.001)},
			{Value: report.Number(c.Signal), Name: "Signal", Explain: "How far the unweighted records are from it: what there was to see beyond noise."},
			outsideFigure(c),
			{Value: report.Percent(min(1, c.Negative)), Name: "Below zero", Explain: "How much of the fitted ratio was negative, and cut off."},
		}},
	}
	if list := fitWarnings(m); len(list) > 0 {
		fit = append(fit, report.Block{List: list})
	}
	fit = append(fit, report.Block{Note: "Answers hold where private records are, in what the columns of the weights do not tell, like the public records beside them. No check of the weights can see whether they are; noren ratio check compares what the private table is asked for, at a price."})
	return &report.Page{
		Title: "Weights for " + v.public,
		Lead:  fmt.Sprintf("Public records, weighted so that they stand in for those of %s. All that is shown was released with differential privacy, or is public.", v.private),
		Sections: []report.Section{
			{Title: "How far the weights can be trusted", Blocks: fit},
			{Title: "The weights", Blocks: weightBlocks(v)},
			{Title: "What the weights change", Blocks: shiftBlocks(v)},
			{Title: "How it was made", Blocks: []report.Block{
				{Text: "Promise: " + answer.Certificate.Certificate.Guarantee.String() + "."},
				{Table: &report.Table{Header: []string{"what", ""}, Rows: [][]string{
					{"mechanism", string(m.Mechanism)},
					{"kernels", report.Integer(len(m.Centres))},
					{"bandwidth, in units of distance", figure(m.Sigma)},
					{"lambda", figure(m.Lambda)},
					{"post-processing", string(m.Post)},
					{"private records, " + recordsFrom[m.RecordsFrom], report.Number(m.Records)},
				}}},
				{Text: "The promise rests on this:"},
				{List: answer.Certificate.Certificate.Guarantee.Assumptions},
			}},
		},
		Footer: "Noren " + Version(),
	}
}

// toneOf is that of a figure that a check passed, or did not.
func toneOf(passed bool) report.Tone {
	if passed {
		return report.Neutral
	}
	return report.Warning
}

// outsideFigure is the share of private records outside of the public ones.
func outsideFigure(c *ratio.FitCheck) report.Figure {
	f := report.Figure{Value: "not asked", Name: "Outside", Explain: "Private records outside of the public ones, of which nothing can be said: --outside-share asks for it."}
	if c.Outside != nil {
		f.Value = report.Percent(*c.Outside)
		f.Explain = fmt.Sprintf("Private records outside of the public ones, of which nothing can be said; standard error %s.", report.Percent(c.OutsideSD))
	}
	return f
}

func meanWeightMeaning(m *ratio.Meta) string {
	if m.RecordsFrom == ratio.Estimated {
		return "Before they were divided by it. 1 by construction here: the number of private records is the weights' own estimate."
	}
	return "Before they were divided by it; near 1 where the public records cover the private ones."
}

// bins is how many bars a histogram has.
const bins = 24

// weightBlocks are the histogram of the weights and, in one dimension, the ratio.
func weightBlocks(v *fitting) []report.Block {
	w := v.weights.W
	top := 0.0
	for _, x := range w {
		top = max(top, x)
	}
	bars := &report.Bars{Title: "Weights", Across: "weight, from", Axis: "public records", Series: []report.Series{{Name: "public records", Values: make([]float64, bins)}}}
	numbers := &report.Table{Header: []string{"from", "to", "records"}, Numeric: []bool{true, true, true}}
	for _, x := range w {
		bars.Series[0].Values[min(bins-1, int(x/top*bins))]++
	}
	for i, n := range bars.Series[0].Values {
		low, high := top*float64(i)/bins, top*float64(i+1)/bins
		bars.Labels = append(bars.Labels, report.Number(low))
		numbers.Rows = append(numbers.Rows, []string{report.Number(low), report.Number(high), report.Integer(int(n))})
	}
	out := []report.Block{{Picture: &report.Picture{Chart: bars, Caption: "How many public records have which weight; all would have their mean if both tables were alike.", Table: numbers}}}
	if v.frame.Dim() > 1 || v.frame.Axes()[0].Field.Type == table.Category {
		return out
	}
	a := v.frame.Axes()[0]
	const steps = 120
	x := axis.NewPoints[float64](steps+1, 1)
	for i := range x.Rows {
		x.Data[i] = (a.High - a.Low) / a.Scale * float64(i) / steps
	}
	y, err := v.weights.Ratio(x)
	if err != nil {
		return out
	}
	curve := report.Curve{Name: "density ratio", Y: y}
	values := &report.Table{Header: []string{a.Field.Name, "ratio"}, Numeric: []bool{true, true}}
	show := shower(a.Field)
	for i, u := range x.Data {
		at := a.Low + u*a.Scale
		curve.X = append(curve.X, at)
		if i%6 == 0 {
			values.Rows = append(values.Rows, []string{show(at), report.Number(y[i])})
		}
	}
	return append(out, report.Block{Picture: &report.Picture{
		Chart:   &report.Lines{Title: "Density ratio", Curves: []report.Curve{curve}, Across: a.Field.Name, Axis: "private density by public", FromZero: true, FormatX: show},
		Caption: "How much denser private records are than public ones, as the weights have it.", Table: values,
	}})
}

// shower writes a number of a column for people.
func shower(f table.Field) func(float64) string {
	return func(v float64) string {
		i := int(math.Round(v))
		switch {
		case f.Type == table.Date:
			return layoutOf(f).Format(int64(i))
		case f.Type == table.Ordered && i >= 0 && i < len(f.Levels):
			return f.Levels[i]
		}
		return report.Number(v)
	}
}

func layoutOf(f table.Field) table.Layout {
	if f.Layout == "" {
		return table.ISODate
	}
	return f.Layout
}

// mostWords is how many words of a column are drawn.
const mostWords = 24

// shiftBlocks show each column, unweighted and weighted.
func shiftBlocks(v *fitting) []report.Block {
	blocks := []report.Block{{Text: "Each column of the weights, of the public records as they are and weighted. The weighted ones should look like the private ones, as far as noise and kernels let them."}}
	for j, a := range v.frame.Axes() {
		c := v.table.Columns[j]
		if a.Field.Type == table.Category || a.Field.Type == table.Ordered {
			blocks = append(blocks, wordShift(c, a.Field.Name, v.weights.W))
		} else {
			blocks = append(blocks, numberShift(c, &a, v.weights.W))
		}
	}
	return blocks
}

func wordShift(c *table.Column, name string, w []float64) report.Block {
	plain, weighted := make([]float64, len(c.Dict)), make([]float64, len(c.Dict))
	for i, x := range w {
		if !c.IsMissing(i) {
			plain[c.Codes[i]]++
			weighted[c.Codes[i]] += x
		}
	}
	toShares(plain)
	toShares(weighted)
	t := &report.Table{Header: []string{name, "public", "weighted"}, Numeric: []bool{false, true, true}}
	for l, word := range c.Dict {
		t.Rows = append(t.Rows, []string{word, report.Percent(plain[l]), report.Percent(weighted[l])})
	}
	if len(c.Dict) > mostWords {
		t.Caption = name
		return report.Block{Table: t}
	}
	return report.Block{Picture: &report.Picture{
		Chart:   &report.Bars{Title: name, Labels: c.Dict, Horizontal: true, Axis: "share", Series: []report.Series{{Name: "public", Values: plain}, {Name: "weighted", Values: weighted}}, Format: report.Percent},
		Caption: name + ", by word.", Table: t,
	}}
}

func numberShift(c *table.Column, a *axis.Axis, w []float64) report.Block {
	o := &report.Overlay{
		Title: a.Field.Name, Across: a.Field.Name,
		First:  report.Series{Name: "public", Values: make([]float64, bins)},
		Second: report.Series{Name: "weighted", Values: make([]float64, bins)},
	}
	if a.Field.Type == table.Date {
		o.Layout = layoutOf(a.Field)
	}
	for i := range bins + 1 {
		o.Edges = append(o.Edges, a.Low+(a.High-a.Low)*float64(i)/bins)
	}
	for i, x := range w {
		if !c.IsMissing(i) {
			at := (min(max(c.Number(i), a.Low), a.High) - a.Low) / (a.High - a.Low) * bins
			l := min(bins-1, int(at))
			o.First.Values[l]++
			o.Second.Values[l] += x
		}
	}
	plain, weighted := append([]float64(nil), o.First.Values...), append([]float64(nil), o.Second.Values...)
	toShares(plain)
	toShares(weighted)
	t := &report.Table{Header: []string{"from", "to", "public", "weighted"}, Numeric: []bool{true, true, true, true}}
	show := shower(a.Field)
	for l := range plain {
		t.Rows = append(t.Rows, []string{show(o.Edges[l]), show(o.Edges[l+1]), report.Percent(plain[l]), report.Percent(weighted[l])})
	}
	return report.Block{Picture: &report.Picture{Chart: o, Caption: a.Field.Name + ": public records as they are, and weighted.", Table: t}}
}

// toShares divides counts by their sum.
func toShares(v []float64) {
	if sum := total(v); sum > 0 {
		for i := range v {
			v[i] /= sum
		}
	}
}
