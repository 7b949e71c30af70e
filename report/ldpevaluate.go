package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/evaluate"
	"github.com/noren-privacy/noren/report/text"
)

// LDPEvaluateTables are what an evaluation prints and its page shows: the losses,
// and for each model what it is worth without and with noise.
func LDPEvaluateTables(r *evaluate.Result) (losses Table, models [][2]Table) {
	losses = Table{
		Caption: noren.Textf("What taking part costs a person (epsilon)"),
		Header:  Header("mechanism", "one report", "a record", "lifetime, answers kept", "lifetime, drawn afresh"),
		Numeric: []bool{false, true, true, true, true},
	}
	seen := map[string]bool{}
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Loss == nil || seen[cellKey(c)] {
			continue
		}
		seen[cellKey(c)] = true
		losses.Rows = append(losses.Rows, append([]noren.Text{mechanismTitle(c.Mechanism)},
			Verbatim(noren.LossFigure(c.Loss.Report, 4)), Verbatim(noren.LossFigure(c.Loss.Record, 4)), Verbatim(noren.LossFigure(c.Loss.Record, 4)),
			lossForEver(c.Loss)))
	}
	for _, m := range r.Models {
		models = append(models, [2]Table{withoutNoise(r, m), withNoise(r, m)})
	}
	return losses, models
}

func cellKey(c *evaluate.Cell) string { return fmt.Sprint(c.Mechanism, " ", c.Epsilon) }

func lossForEver(l *ldp.Loss) noren.Text {
	if math.IsInf(l.Lifetime, 1) {
		return noren.Textf("unbounded")
	}
	return Verbatim(noren.LossFigure(l.Lifetime, 4))
}

func mechanismTitle(name string) noren.Text {
	switch name {
	case "grr":
		return Verbatim("GRR")
	case "sue":
		return noren.Textf("One-time RAPPOR")
	case "oue":
		return Verbatim("OUE")
	}
	return Verbatim(name)
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
		Caption: noren.Textf("%s, without noise: right answers in %%", m.Title),
		Header:  Header("trained on", "tried on", "accuracy", "min - max", "balanced"),
		Numeric: []bool{false, false, true, true, true},
	}
	for _, c := range r.Cells {
		if c.Model == m.Name && c.Mechanism == "" {
			figures := []string{spreadText(c.Accuracy), fmt.Sprintf("%.1f - %.1f", 100*c.Accuracy.Min, 100*c.Accuracy.Max), spreadText(c.Balanced)}
			t.Rows = append(t.Rows, append([]noren.Text{form(c.Train), form(c.Test)}, texts(figures, Verbatim)...))
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

// form names the form of records, and way the two that a model is trained and tried on.
func form(of string) noren.Text { return noren.Textf("%s", noren.Term(of)) }

func way(d [2]string) noren.Text { return noren.Textf("%s -> %s", form(d[0]), form(d[1])) }

func withNoise(r *evaluate.Result, m evaluate.Model) Table {
	t := Table{
		Caption: noren.Textf("%s, with noise: right answers in %% (balanced: mean over classes)", m.Title),
		Header:  Header("mechanism", "epsilon", "of a record"),
		Numeric: []bool{false, true, true},
	}
	for _, d := range directions {
		t.Header, t.Numeric = append(t.Header, way(d)), append(t.Numeric, true)
	}
	t.Header, t.Numeric = append(t.Header, noren.Textf("balanced, %s", way([2]string{evaluate.Randomised, evaluate.Raw}))),
		append(t.Numeric, true)
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Model != m.Name || c.Loss == nil || c.Train != directions[0][0] {
			continue
		}
		row := []string{noren.LossFigure(c.Epsilon, 4), noren.LossFigure(c.Loss.Record, 4)}
		for _, d := range directions {
			row = append(row, spreadText(r.Find(m.Name, d[0], d[1], c.Mechanism, c.Epsilon).Accuracy))
		}
		row = append(row, spreadText(r.Find(m.Name, evaluate.Randomised, evaluate.Raw, c.Mechanism, c.Epsilon).Balanced))
		t.Add(mechanismTitle(c.Mechanism), row...)
	}
	return t
}

// LDPEvaluateFacts say what was learned from, and how.
func LDPEvaluateFacts(r *evaluate.Result) []Fact {
	var classes []string
	for _, c := range r.Classes {
		classes = append(classes, fmt.Sprintf("%s (%s)", plain(c.Name), Integer(c.Records)))
	}
	listed := Verbatim(strings.Join(classes[:min(8, len(classes))], ", "))
	if more := len(classes) - 8; more > 0 {
		listed = noren.Textf("%s, %s", listed, noren.Textf("and %d more", more))
	}
	records := Verbatim(Integer(r.Records))
	if r.Sampled {
		records = noren.Textf("%s drawn of %s", Integer(r.Records), Integer(r.WithClass))
	}
	if r.NoClass > 0 {
		records = noren.Textf("%s, %s without a class left out", records, Integer(r.NoClass))
	}
	labels, missing := 0, 0
	for _, a := range r.Attributes {
		labels += a.Labels
		missing += a.Missing
	}
	attributes := noren.Textf("%d, of %d {label|labels} in all", len(r.Attributes), labels)
	if missing > 0 {
		attributes = noren.Textf("%s; %s, which is a label of its own", attributes, text.Counted(missing, "%s missing {value|values}"))
	}
	facts := []Fact{
		{Name: noren.Textf("records"), Value: records},
		{Name: noren.Textf("classes"), Value: listed},
		{Name: noren.Textf("attributes"), Value: attributes},
	}
	if r.Selected > 0 {
		facts = append(facts, Fact{
			Name:  noren.Textf("chosen"),
			Value: noren.Textf("%d {attribute|attributes} for each model, from the records that it is trained on", r.Selected),
		})
	}
	if r.Unit != "" {
		facts = append(facts, Fact{Name: noren.Textf("persons"), Value: noren.Textf("%s told apart by %s, each in one part", Integer(r.Persons),
			r.Unit)})
	}
	if len(r.Left) > 0 {
		facts = append(facts, Fact{Name: noren.Textf("left out"), Value: text.Counted(len(r.Left), "%s {column|columns}")})
	}
	return append(facts,
		Fact{Name: noren.Textf("tried by"), Value: noren.Textf("cross-validation in %d {part|parts}, repeats: %d", r.Folds, r.Repeats)},
		Fact{Name: noren.Textf("guessing"), Value: noren.Textf("%.1f %% are right who always answer the largest class", 100*r.Majority)},
	)
}

// LDPEvaluatePage shows an evaluation with its curves, in a language.
func LDPEvaluatePage(l lang.Lang, r *evaluate.Result, path, footer string) *Page {
	p := &Page{
		Title: noren.Textf("What can still be learned: %s", r.Label),
		Lead: noren.Textf("Models that tell %s, trained and tried on raw, generalised and randomised records of %s.", r.Label,
			noren.File(path)),
		Private: true, Footer: Verbatim(footer), Lang: l,
	}
	facts := Table{Header: Header("", "")}
	for _, f := range LDPEvaluateFacts(r) {
		facts.Rows = append(facts.Rows, []noren.Text{f.Name, f.Value})
	}
	attributes := Table{
		Caption: noren.Textf("Attributes"), Header: Header("column", "type", "labels", "missing", "bins or values"),
		Numeric: []bool{false, false, true, true, false},
	}
	if r.Selected > 0 {
		attributes.Header, attributes.Numeric = append(attributes.Header, noren.Textf("chosen from raw records")),
			append(attributes.Numeric, true)
	}
	for _, a := range r.Attributes {
		row := []noren.Text{
			Verbatim(a.Name), noren.Textf("%s", noren.Term(a.Type)), Verbatim(fmt.Sprint(a.Labels)), Verbatim(Integer(a.Missing)),
			form(a.Origin),
		}
		if a.Chosen != nil {
			row = append(row, Verbatim(fmt.Sprintf("%.0f %%", 100**a.Chosen)))
		}
		attributes.Rows = append(attributes.Rows, row)
	}
	table := Section{Title: noren.Textf("The table"), Blocks: []Block{{Table: &facts}, {Table: &attributes}}}
	if len(r.Left) > 0 {
		var left []noren.Text
		for _, l := range r.Left {
			left = append(left, noren.Textf("%s: %s", l.Name, l.Reason))
		}
		table.Blocks = append(table.Blocks, Block{Heading: noren.Textf("Left out")}, Block{List: left})
	}
	losses, models := LDPEvaluateTables(r)
	for i, m := range r.Models {
		s := Section{Title: Verbatim(m.Title), Blocks: []Block{{Table: &models[i][0]}}}
		for _, chart := range evaluationCharts(r, m) {
			s.Blocks = append(s.Blocks,
				Block{Picture: &Picture{
					Chart: chart, Caption: noren.Textf("%s; bands from the worst to the best repeat", m.Title),
					Table: &models[i][1],
				}})
		}
		p.Sections = append(p.Sections, s)
	}
	p.Sections = append(p.Sections, Section{Title: noren.Textf("What taking part costs"), Blocks: []Block{
		{Table: &losses},
		{Heading: noren.Textf("What is guaranteed")},
		{List: r.Guarantee},
		{Heading: noren.Textf("Not protected")},
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
				Title:  noren.Textf("%s: right answers over epsilon", mechanismTitle(c.Mechanism)),
				Across: noren.Textf("epsilon of one attribute"), Axis: noren.Textf("right answers"), ScaleX: Log, FormatY: Percent,
			}
			for _, d := range directions {
				l.Curves = append(l.Curves, Curve{Name: way(d)})
			}
			l.Curves = append(l.Curves, Curve{Name: way([2]string{evaluate.Raw, evaluate.Raw})}, Curve{Name: noren.Textf("the largest class")})
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
