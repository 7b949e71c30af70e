package cli

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/ldp/evaluate"
	"github.com/noren-privacy/noren/report"
)

// evaluationTables are what an evaluation prints and its page shows: the losses,
// and for each model what it is worth without and with noise.
func evaluationTables(r *evaluate.Result) (losses report.Table, models [][2]report.Table) {
	losses = report.Table{
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
			mechanismTitle(c.Mechanism), fmt.Sprintf("%.4g", c.Loss.Report), fmt.Sprintf("%.4g", c.Loss.Record),
			fmt.Sprintf("%.4g", c.Loss.After(1)), lossForEver(c.Loss),
		})
	}
	for _, m := range r.Models {
		models = append(models, [2]report.Table{withoutNoise(r, m), withNoise(r, m)})
	}
	return losses, models
}

func cellKey(c *evaluate.Cell) string { return fmt.Sprint(c.Mechanism, " ", c.Epsilon) }

func lossForEver(l *ldp.Loss) string {
	if math.IsInf(l.Lifetime, 1) {
		return "unbounded"
	}
	return fmt.Sprintf("%.4g", l.Lifetime)
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

func withoutNoise(r *evaluate.Result, m evaluate.Model) report.Table {
	t := report.Table{
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

func withNoise(r *evaluate.Result, m evaluate.Model) report.Table {
	t := report.Table{
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
		row := []string{mechanismTitle(c.Mechanism), fmt.Sprintf("%.4g", c.Epsilon), fmt.Sprintf("%.4g", c.Loss.Record)}
		for _, d := range directions {
			row = append(row, spreadText(r.Find(m.Name, d[0], d[1], c.Mechanism, c.Epsilon).Accuracy))
		}
		row = append(row, spreadText(r.Find(m.Name, evaluate.Randomised, evaluate.Raw, c.Mechanism, c.Epsilon).Balanced))
		t.Rows = append(t.Rows, row)
	}
	return t
}

func printEvaluation(w io.Writer, r *evaluate.Result, path string) {
	fmt.Fprintf(w, "PRIVATE: do not release\n\n%s: learning %s from %s of %s\n\n", path, r.Label, plural(len(r.Attributes), "attribute"), plural(r.Records, "record"))
	for _, l := range evaluationFacts(r) {
		fmt.Fprintf(w, "  %-11s %s\n", l.Name, l.Value)
	}
	losses, models := evaluationTables(r)
	for _, m := range models {
		for i := range m {
			fmt.Fprintln(w)
			printTable(w, &m[i])
		}
	}
	fmt.Fprintln(w)
	printTable(w, &losses)
	fmt.Fprintln(w, "\nWhat is promised")
	for _, s := range r.Promise {
		fmt.Fprintf(w, "  %s\n", s)
	}
	fmt.Fprintln(w, "\nNot protected")
	for _, s := range r.NotProtected {
		fmt.Fprintf(w, "  %s\n", s)
	}
}

// evaluationFacts say what was learned from, and how.
func evaluationFacts(r *evaluate.Result) []report.Fact {
	var classes []string
	for _, c := range r.Classes {
		classes = append(classes, fmt.Sprintf("%s (%s)", short(c.Name), report.Integer(c.Records)))
	}
	if len(classes) > 8 {
		classes = append(classes[:8], fmt.Sprintf("and %d more", len(r.Classes)-8))
	}
	records := report.Integer(r.Records)
	if r.Sampled {
		records += " drawn of " + report.Integer(r.WithClass)
	}
	if r.NoClass > 0 {
		records += fmt.Sprintf(", %s without a class left out", report.Integer(r.NoClass))
	}
	labels, missing := 0, 0
	for _, a := range r.Attributes {
		labels += a.Labels
		missing += a.Missing
	}
	attributes := fmt.Sprintf("%d, of %d labels in all", len(r.Attributes), labels)
	if missing > 0 {
		attributes += fmt.Sprintf("; %s, which is a label of its own", plural(missing, "missing value"))
	}
	facts := []report.Fact{
		{Name: "records", Value: records},
		{Name: "classes", Value: strings.Join(classes, ", ")},
		{Name: "attributes", Value: attributes},
	}
	if len(r.Left) > 0 {
		facts = append(facts, report.Fact{Name: "left out", Value: plural(len(r.Left), "column")})
	}
	return append(facts,
		report.Fact{Name: "tried by", Value: fmt.Sprintf("cross-validation in %d parts, repeats: %d", r.Folds, r.Repeats)},
		report.Fact{Name: "guessing", Value: fmt.Sprintf("%.1f %% are right who always answer the largest class", 100*r.Majority)},
	)
}

// evaluationPage shows an evaluation with its curves.
func evaluationPage(r *evaluate.Result, path string) *report.Page {
	p := &report.Page{
		Title:   "What can still be learned: " + r.Label,
		Lead:    fmt.Sprintf("Models that tell %s, trained and tried on raw, generalised and randomised records of %s.", r.Label, path),
		Private: true, Footer: "noren " + Version(),
	}
	facts := report.Table{Header: []string{"", ""}}
	for _, f := range evaluationFacts(r) {
		facts.Rows = append(facts.Rows, []string{f.Name, f.Value})
	}
	attributes := report.Table{
		Caption: "Attributes", Header: []string{"column", "type", "labels", "missing", "bins or values"},
		Numeric: []bool{false, false, true, true, false},
	}
	for _, a := range r.Attributes {
		attributes.Rows = append(attributes.Rows, []string{a.Name, a.Type, fmt.Sprint(a.Labels), report.Integer(a.Missing), a.Origin})
	}
	table := report.Section{Title: "The table", Blocks: []report.Block{{Table: &facts}, {Table: &attributes}}}
	if len(r.Left) > 0 {
		var left []string
		for _, l := range r.Left {
			left = append(left, l.Name+": "+l.Reason)
		}
		table.Blocks = append(table.Blocks, report.Block{Heading: "Left out"}, report.Block{List: left})
	}
	losses, models := evaluationTables(r)
	for i, m := range r.Models {
		s := report.Section{Title: m.Title, Blocks: []report.Block{{Table: &models[i][0]}}}
		for _, chart := range evaluationCharts(r, m) {
			s.Blocks = append(s.Blocks, report.Block{Picture: &report.Picture{Chart: chart, Caption: m.Title + "; bands from the worst to the best repeat", Table: &models[i][1]}})
		}
		p.Sections = append(p.Sections, s)
	}
	p.Sections = append(p.Sections, report.Section{Title: "What taking part costs", Blocks: []report.Block{
		{Table: &losses},
		{Heading: "What is promised"},
		{List: r.Promise},
		{Heading: "Not protected"},
		{List: r.NotProtected},
	}}, table)
	return p
}

// evaluationCharts draw accuracy over epsilon, a chart for each mechanism, beside
// the model of raw data and guessing.
func evaluationCharts(r *evaluate.Result, m evaluate.Model) []*report.Lines {
	var charts []*report.Lines
	byMechanism := map[string]*report.Lines{}
	raw := r.Find(m.Name, evaluate.Raw, evaluate.Raw, "", 0).Accuracy.Mean
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.Model != m.Name || c.Loss == nil || c.Train != directions[0][0] {
			continue
		}
		l := byMechanism[c.Mechanism]
		if l == nil {
			l = &report.Lines{
				Title:  fmt.Sprintf("%s: right answers over epsilon", mechanismTitle(c.Mechanism)),
				Across: "epsilon of one attribute", Axis: "right answers", ScaleX: report.Log, FormatY: report.Percent,
			}
			for _, d := range directions {
				l.Curves = append(l.Curves, report.Curve{Name: d[0] + " -> " + d[1]})
			}
			l.Curves = append(l.Curves, report.Curve{Name: "raw -> raw"}, report.Curve{Name: "the largest class"})
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
