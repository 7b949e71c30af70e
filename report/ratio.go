package report

import (
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table"
	publicaxis "github.com/noren-privacy/noren/table/axis"
)

// RatioFit is what the page about density-ratio weights shows: what was released, and public
// facts.
type RatioFit struct {
	// Private and Public name the tables.
	Private, Public string
	// Weights are those of the records of Table, the public one, in Frame. Required.
	Weights *ratio.Weights
	Table   *table.Table
	Frame   *ratio.Frame
	// Guarantee is that of the release.
	Guarantee noren.Guarantee
	// Version is the version of the program, for the footer.
	Version string
}

// RatioPage is the page about a fit of density-ratio weights.
func RatioPage(v *RatioFit) *Page {
	m := v.Weights.Meta
	c := &m.Check
	verdict := Figure{
		Value: noren.Textf("nothing found"), Name: noren.Textf("Fit check"),
		Explain: noren.Textf("No defect was found in the released features; others may remain."), Tone: Good,
	}
	if !c.Passed {
		verdict = Figure{
			Value: noren.Textf("failed"), Name: noren.Textf("Fit check"), Explain: noren.Textf("The findings are listed below."),
			Tone: Warning,
		}
	}
	fit := []Block{
		{Figures: []Figure{
			verdict,
			{
				Value: Verbatim(Number(m.ESS)), Name: noren.Textf("Effective sample size"),
				Explain: noren.Textf("Kish's: how many equally weighted records give means as precise as the %s weighted ones.",
					Integer(m.PublicRecords)),
			},
			{
				Value: Verbatim(Percent(m.MaxShare)), Name: noren.Textf("Largest share"),
				Explain: noren.Textf("The share of the total weight of the record with the largest weight."),
			},
			{Value: Verbatim(Number(m.MeanWeight)), Name: noren.Textf("Mean weight"), Explain: meanWeightMeaning(m)},
			{
				Value: Verbatim(Number(c.Misfit)), Name: noren.Textf("Misfit"),
				Explain: noren.Textf("Normalised residual: squared distance of the weighted public records from the released features, by its " +
					"expectation; noise alone gives 1."), Tone: toneOf(c.MisfitP >= 0.001),
			},
			{
				Value: Verbatim(Number(c.Signal)), Name: noren.Textf("Signal"),
				Explain: noren.Textf("The same distance for the unweighted public records: signal-to-noise, 1 where both tables look alike."),
			},
			outsideFigure(c),
			{
				Value: Verbatim(Percent(min(1, c.Negative))), Name: noren.Textf("Below zero"),
				Explain: noren.Textf("Share of the fitted ratio that was negative and was set to 0."),
			},
		}},
	}
	if list := m.Warnings(); len(list) > 0 {
		fit = append(fit, Block{List: list})
	}
	fit = append(fit, Block{Note: noren.Textf("Answers assume that, given the columns of the weights, private and public records are " +
		"distributed alike, and that the tables differ in what was not released, such as interactions of columns, at most as much as in what " +
		"was. The fit check cannot test this. The paid check compares means with the private table, for a privacy cost.")})
	return &Page{
		Title: noren.Textf("Weights for %s", v.Public),
		Lead: noren.Textf("Public records, reweighted to match those of %s. Everything on this page was released with differential privacy, "+
			"or is public.", v.Private),
		Sections: []Section{
			{Title: noren.Textf("Quality of the weights"), Blocks: fit},
			{Title: noren.Textf("The weights"), Blocks: weightBlocks(v)},
			{Title: noren.Textf("What the weights change"), Blocks: shiftBlocks(v)},
			{Title: noren.Textf("Method"), Blocks: []Block{
				{Text: noren.Textf("Guarantee: %s.", stated(&v.Guarantee))},
				{Table: &Table{Header: Header("what", ""), Rows: [][]noren.Text{
					{noren.Textf("mechanism"), Verbatim(string(m.Mechanism))},
					{noren.Textf("kernels"), Verbatim(Integer(len(m.Centres)))},
					{noren.Textf("bandwidth, in units of distance"), Verbatim(Number(m.Sigma))},
					{noren.Textf("lambda"), Verbatim(Number(m.Lambda))},
					{noren.Textf("post-processing"), Verbatim(string(m.Post))},
					{noren.Textf("private records, %s", ratio.RecordsSource(m.RecordsFrom)), Verbatim(Number(m.Records))},
				}}},
				{Text: noren.Textf("Assumptions of the guarantee:")},
				{List: v.Guarantee.Assumptions},
			}},
		},
		Footer: Verbatim("Noren " + v.Version),
	}
}

// toneOf is that of a figure that a check passed, or did not.
func toneOf(passed bool) Tone {
	if passed {
		return Neutral
	}
	return Warning
}

// outsideFigure is the share of private records outside of the public ones.
func outsideFigure(c *ratio.FitCheck) Figure {
	f := Figure{
		Value: noren.Textf("not asked"), Name: noren.Textf("Outside"),
		Explain: noren.Textf("Share of private records outside of the public range, which no answer covers; no budget was spent on it."),
	}
	if c.Outside != nil {
		f.Value = Verbatim(Percent(*c.Outside))
		f.Explain = noren.Textf("Share of private records outside of the public range, which no answer covers; standard error %s.",
			Percent(c.OutsideSD))
	}
	return f
}

func meanWeightMeaning(m *ratio.Meta) noren.Text {
	if m.RecordsFrom == ratio.Estimated {
		return noren.Textf(
			"Mean before normalisation. It is 1 by construction here, as the number of private records was estimated from the weights.")
	}
	return noren.Textf("Mean before normalisation; near 1 where the public records cover the private ones.")
}

// bins is how many bars a histogram has.
const bins = 24

// weightBlocks are the histogram of the weights and, in one dimension, the ratio.
func weightBlocks(v *RatioFit) []Block {
	w := v.Weights.W
	top := 0.0
	for _, x := range w {
		top = max(top, x)
	}
	bars := &Bars{
		Title: noren.Textf("Weights"), Across: noren.Textf("weight, from"), Axis: noren.Textf("public records"),
		Series: []Series{{Name: noren.Textf("public records"), Values: make([]float64, bins)}},
	}
	numbers := &Table{Header: Header("from", "to", "records"), Numeric: []bool{true, true, true}}
	for _, x := range w {
		bars.Series[0].Values[min(bins-1, int(x/top*bins))]++
	}
	for i, n := range bars.Series[0].Values {
		low, high := top*float64(i)/bins, top*float64(i+1)/bins
		bars.Labels = append(bars.Labels, Verbatim(Number(low)))
		numbers.Add(Verbatim(Number(low)), Number(high), Integer(int(n)))
	}
	out := []Block{
		{Picture: &Picture{
			Chart:   bars,
			Caption: noren.Textf("Histogram of the weights. All weights are 1 where both tables have the same distribution."), Table: numbers,
		}},
	}
	if v.Frame.Dim() > 1 || v.Frame.Axes()[0].Field.Type == table.Category {
		return out
	}
	a := v.Frame.Axes()[0]
	const steps = 120
	x := publicaxis.NewPoints[float64](steps+1, 1)
	for i := range x.Rows {
		x.Data[i] = (a.High - a.Low) / a.Scale * float64(i) / steps
	}
	y, err := v.Weights.Ratio(x)
	if err != nil {
		return out
	}
	curve := Curve{Name: noren.Textf("density ratio"), Y: y}
	values := &Table{Header: []noren.Text{Verbatim(a.Field.Name), noren.Textf("ratio")}, Numeric: []bool{true, true}}
	show := ValueText(a.Field)
	for i, u := range x.Data {
		at := a.Low + u*a.Scale
		curve.X = append(curve.X, at)
		if i%6 == 0 {
			values.Add(Verbatim(show(at)), Number(y[i]))
		}
	}
	return append(out, Block{Picture: &Picture{
		Chart: &Lines{
			Title: noren.Textf("Density ratio"), Curves: []Curve{curve}, Across: Verbatim(a.Field.Name),
			Axis: noren.Textf("density ratio"), FromZero: true, FormatX: show,
		},
		Caption: noren.Textf("Estimated density ratio: private density divided by public density."), Table: values,
	}})
}

// ValueText writes a number of a column: dates and levels as the column has them.
func ValueText(f table.Field) func(float64) string {
	return func(v float64) string {
		i := int(math.Round(v))
		switch {
		case f.Type == table.Date:
			return dateLayout(f).Format(int64(i))
		case f.Type == table.Ordered && i >= 0 && i < len(f.Levels):
			return f.Levels[i]
		}
		return Number(v)
	}
}

func dateLayout(f table.Field) table.Layout {
	if f.Layout == "" {
		return table.ISODate
	}
	return f.Layout
}

// mostCategories is how many categories of a column are drawn.
const mostCategories = 24

// shiftBlocks show each column, unweighted and weighted.
func shiftBlocks(v *RatioFit) []Block {
	blocks := []Block{{Text: noren.Textf("The distribution of each column of the weights among the public records, unweighted and " +
		"weighted. The weighted one approximates the private distribution.")}}
	for j, a := range v.Frame.Axes() {
		c := v.Table.Columns[j]
		if a.Field.Type == table.Category || a.Field.Type == table.Ordered {
			blocks = append(blocks, categoryShift(c, a.Field.Name, v.Weights.W))
		} else {
			blocks = append(blocks, numberShift(c, &a, v.Weights.W))
		}
	}
	return blocks
}

func categoryShift(c *table.Column, name string, w []float64) Block {
	plain, weighted := make([]float64, len(c.Dict)), make([]float64, len(c.Dict))
	for i, x := range w {
		if !c.IsMissing(i) {
			plain[c.Codes[i]]++
			weighted[c.Codes[i]] += x
		}
	}
	toShares(plain)
	toShares(weighted)
	t := &Table{Header: []noren.Text{Verbatim(name), noren.Textf("public"), noren.Textf("weighted")}, Numeric: []bool{false, true, true}}
	for l, word := range c.Dict {
		t.Add(Verbatim(word), Percent(plain[l]), Percent(weighted[l]))
	}
	if len(c.Dict) > mostCategories {
		t.Caption = Verbatim(name)
		return Block{Table: t}
	}
	return Block{Picture: &Picture{
		Chart: &Bars{
			Title: Verbatim(name), Labels: texts(c.Dict, Verbatim), Horizontal: true, Axis: noren.Textf("share"),
			Series: []Series{{Name: noren.Textf("public"), Values: plain}, {Name: noren.Textf("weighted"), Values: weighted}}, Format: Percent,
		},
		Caption: noren.Textf("%s, by category.", name), Table: t,
	}}
}

func numberShift(c *table.Column, a *publicaxis.Axis, w []float64) Block {
	o := &Overlay{
		Title: Verbatim(a.Field.Name), Across: Verbatim(a.Field.Name),
		First:  Series{Name: noren.Textf("public"), Values: make([]float64, bins)},
		Second: Series{Name: noren.Textf("weighted"), Values: make([]float64, bins)},
	}
	if a.Field.Type == table.Date {
		o.Layout = dateLayout(a.Field)
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
	t := &Table{Header: Header("from", "to", "public", "weighted"), Numeric: []bool{true, true, true, true}}
	show := ValueText(a.Field)
	for l := range plain {
		t.Add(Verbatim(show(o.Edges[l])), show(o.Edges[l+1]), Percent(plain[l]), Percent(weighted[l]))
	}
	return Block{Picture: &Picture{Chart: o, Caption: noren.Textf("%s: public records, unweighted and weighted.", a.Field.Name), Table: t}}
}

// toShares divides counts by their sum.
func toShares(v []float64) {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	if sum > 0 {
		for i := range v {
			v[i] /= sum
		}
	}
}
