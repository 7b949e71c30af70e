package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/evaluate"
)

// LDPEvaluateTables are what an evaluation prints and its page shows: the losses,
// and for each model what it is worth without and with noise.
func LDPEvaluateTables(r *evaluate.Result) (losses Table, models [][2]Table) {
	losses = Table{
		Caption: "What taking part costs a person (epsilon)",
		Header:  []string{"mechanism", "one report", "a record", "lifetime, answers kept", "lifetime, drawn afresh"},
		Numeric: []bool{false, true, true, true, true},
	}
	seen := map[string]bool{}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Loss == nil || seen[cellKey(c)] {
			continue
		}
		seen[cellKey(c)] = true
		losses.Rows = append(losses.Rows, []string{
			mechanismTitle(c.Mechanism), noren.LossFigure(c.Loss.Report, 4), noren.LossFigure(c.Loss.Record, 4),
			noren.LossFigure(c.Loss.Record, 4), lossForEver(c.Loss),
		})
	}
	for _, m := range r.Models {
		models = append(models, [2]Table{withoutNoise(r, m), withNoise(r, m)})
	}
	return losses, models
}

func cellKey(c *evaluate.Cell) string { return fmt.Sprint(c.Mechanism, " ", c.Epsilon) }

func lossForEver(l *ldp.Loss) string {
	if math.IsInf(l.Lifetime, 1) {
		return "unbounded"
	}
	return noren.LossFigure(l.Lifetime, 4)
}

func mechanismTitle(name string) string {
	switch name {
	case "grr":
		return "GRR"
	case "sue":
		return "One-time RAPPOR"
	case "oue":
		return "OUE"
	}
	return name
}

// spreadText shows an accuracy with its deviation, in %.
func spreadText(s evaluate.Spread) string {
	if s.SD == nil {
		return fmt.Sprintf("%.1f", 100*s.Mean)
	}
	return fmt.Sprintf("%.1f ± %.1f", 100*s.Mean, 100**s.SD)
}

func withoutNoise(r *evaluate.Result, m evaluate.Model) Table {
	t := Table{
		Caption: m.Title + ", without noise: right answers in %",
		Header:  []string{"trained on", "tried on", "accuracy", "min - max", "balanced"},
		Numeric: []bool{false, false, true, true, true},
	}
	for _, c := range r.Cells {
		if c.Model == m.Name && c.Mechanism == "" {
			t.Rows = append(t.Rows, []string{c.Train, c.Test, spreadText(c.Accuracy), fmt.Sprintf("%.1f - %.1f", 100*c.Accuracy.Min, 100*c.Accuracy.Max), spreadText(c.Balanced)})
		}
	}
	return t
}

// directions are the ways that randomised records take part.
var directions = [][2]string{
	{evaluate.Raw, evaluate.Randomised},
	{evaluate.Randomised, evaluate.Raw},
	{evaluate.Randomised, evaluate.Generalised},
	{evaluate.Randomised, evaluate.Randomised},
}

func withNoise(r *evaluate.Result, m evaluate.Model) Table {
	t := Table{
		Caption: m.Title + ", with noise: right answers in % (balanced: mean over classes)",
		Header:  []string{"mechanism", "epsilon", "of a record"},
		Numeric: []bool{false, true, true},
	}
	for _, d := range directions {
		t.Header, t.Numeric = append(t.Header, d[0]+" -> "+d[1]), append(t.Numeric, true)
	}
	t.Header, t.Numeric = append(t.Header, "balanced, "+evaluate.Randomised+" -> "+evaluate.Raw), append(t.Numeric, true)
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Model != m.Name || c.Loss == nil || c.Train != directions[0][0] {
			continue
		}
		row := []string{mechanismTitle(c.Mechanism), noren.LossFigure(c.Epsilon, 4), noren.LossFigure(c.Loss.Record, 4)}
		for _, d := range directions {
			row = append(row, spreadText(r.Find(m.Name, d[0], d[1], c.Mechanism, c.Epsilon).Accuracy))
		}
		row = append(row, spreadText(r.Find(m.Name, evaluate.Randomised, evaluate.Raw, c.Mechanism, c.Epsilon).Balanced))
		t.Rows = append(t.Rows, row)
	}
	return t
}

// LDPEvaluateFacts say what was learned from, and how, in a language.
func LDPEvaluateFacts(l lang.Lang, r *evaluate.Result) []Fact {
	var classes []string
	for _, c := range r.Classes {
		classes = append(classes, fmt.Sprintf("%s (%s)", plain(c.Name), Integer(c.Records)))
	}
	if len(classes) > 8 {
		classes = append(classes[:8], l.Text("and %d more", len(r.Classes)-8))
	}
	records := Integer(r.Records)
	if r.Sampled {
		records = l.Text("%s drawn of %s", records, Integer(r.WithClass))
	}
	if r.NoClass > 0 {
		records += l.Text(", %s without a class left out", Integer(r.NoClass))
	}
	labels, missing := 0, 0
	for _, a := range r.Attributes {
		labels += a.Labels
		missing += a.Missing
	}
	attributes := l.Text("%d, of %d labels in all", len(r.Attributes), labels)
	if missing > 0 {
		attributes += l.Text("; %s, which is a label of its own", lang.Words(counted(int64(missing), "missing value")))
	}
	facts := []Fact{
		{Name: "records", Value: records},
		{Name: "classes", Value: strings.Join(classes, ", ")},
		{Name: "attributes", Value: attributes},
	}
	if r.Selected > 0 {
		facts = append(facts, Fact{Name: "chosen", Value: l.Text("%d attributes for each model, from the records that it is trained on", r.Selected)})
	}
	if r.Unit != "" {
		facts = append(facts, Fact{Name: "persons", Value: l.Text("%s told apart by %s, each in one part", Integer(r.Persons), r.Unit)})
	}
	if len(r.Left) > 0 {
		facts = append(facts, Fact{Name: "left out", Value: l.Say(counted(int64(len(r.Left)), "column"))})
	}
	return append(facts,
		Fact{Name: "tried by", Value: l.Text("cross-validation in %d parts, repeats: %d", r.Folds, r.Repeats)},
		Fact{Name: "guessing", Value: l.Text("%.1f %% are right who always answer the largest class", 100*r.Majority)},
	)
}

// LDPEvaluatePage shows an evaluation with its curves, in a language.
func LDPEvaluatePage(l lang.Lang, r *evaluate.Result, path, footer string) *Page {
	p := &Page{
		Title:   "What can still be learned: " + r.Label,
		Lead:    fmt.Sprintf("Models that tell %s, trained and tried on raw, generalised and randomised records of %s.", r.Label, path),
		Private: true, Footer: footer, Lang: l, Keep: []string{r.Label, path},
	}
	facts := Table{Header: []string{"", ""}}
	for _, f := range LDPEvaluateFacts(l, r) {
		facts.Rows = append(facts.Rows, []string{f.Name, f.Value})
	}
	attributes := Table{
		Caption: "Attributes", Names: true, Header: []string{"column", "type", "labels", "missing", "bins or values"},
		Numeric: []bool{false, false, true, true, false},
	}
	if r.Selected > 0 {
		attributes.Header, attributes.Numeric = append(attributes.Header, "chosen from raw records"), append(attributes.Numeric, true)
	}
	for _, a := range r.Attributes {
		row := []string{a.Name, a.Type, fmt.Sprint(a.Labels), Integer(a.Missing), a.Origin}
		if a.Chosen != nil {
			row = append(row, fmt.Sprintf("%.0f %%", 100**a.Chosen))
		}
		attributes.Rows = append(attributes.Rows, row)
	}
	table := Section{Title: "The table", Blocks: []Block{{Table: &facts}, {Table: &attributes}}}
	if len(r.Left) > 0 {
		var left []string
		for _, l := range r.Left {
			left = append(left, l.Name+": "+l.Reason.String())
		}
		table.Blocks = append(table.Blocks, Block{Heading: "Left out"}, Block{List: left})
	}
	losses, models := LDPEvaluateTables(r)
	for i, m := range r.Models {
		s := Section{Title: m.Title, Blocks: []Block{{Table: &models[i][0]}}}
		for _, chart := range evaluationCharts(r, m) {
			s.Blocks = append(s.Blocks, Block{Picture: &Picture{Chart: chart, Caption: m.Title + "; bands from the worst to the best repeat", Table: &models[i][1]}})
		}
		p.Sections = append(p.Sections, s)
	}
	p.Sections = append(p.Sections, Section{Title: "What taking part costs", Blocks: []Block{
		{Table: &losses},
		{Heading: "What is guaranteed"},
		{List: r.Guarantee},
		{Heading: "Not protected"},
		{List: r.NotProtected},
	}}, table)
	return p
}

// evaluationCharts draw accuracy over epsilon, a chart for each mechanism, beside
// the model of raw data and guessing.
func evaluationCharts(r *evaluate.Result, m evaluate.Model) []*Lines {
	var charts []*Lines
	byMechanism := map[string]*Lines{}
	raw := r.Find(m.Name, evaluate.Raw, evaluate.Raw, "", 0).Accuracy.Mean
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Model != m.Name || c.Loss == nil || c.Train != directions[0][0] {
			continue
		}
		l := byMechanism[c.Mechanism]
		if l == nil {
			l = &Lines{
				Title:  fmt.Sprintf("%s: right answers over epsilon", mechanismTitle(c.Mechanism)),
				Across: "epsilon of one attribute", Axis: "right answers", ScaleX: Log, FormatY: Percent,
			}
			for _, d := range directions {
				l.Curves = append(l.Curves, Curve{Name: d[0] + " -> " + d[1]})
			}
			l.Curves = append(l.Curves, Curve{Name: "raw -> raw"}, Curve{Name: "the largest class"})
			byMechanism[c.Mechanism] = l
			charts = append(charts, l)
		}
		for k, d := range directions {
			a := r.Find(m.Name, d[0], d[1], c.Mechanism, c.Epsilon).Accuracy
			v := &l.Curves[k]
			v.X, v.Y = append(v.X, c.Epsilon), append(v.Y, a.Mean)
			v.Low, v.High = append(v.Low, a.Min), append(v.High, a.Max)
		}
		for k, flat := range []float64{raw, r.Majority} {
			v := &l.Curves[len(directions)+k]
			v.X, v.Y = append(v.X, c.Epsilon), append(v.Y, flat)
		}
	}
	return charts
}
