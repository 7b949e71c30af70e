package ldp

import (
	"fmt"

	"github.com/noren-privacy/noren/report"
)

// Figures is a page of all rows: the tables beside the paper's, Figures 2 to 6
// drawn, GRR beside RAPPOR, and what the figures guarantee.
func Figures(rows []Row) *report.Page {
	p := &report.Page{
		Title:  "Learning from data that was private before it left: the paper's figures and ours",
		Lead:   "The breast-cancer table, discretised to five labels an attribute and randomised by RAPPOR, as in the paper; every figure of its tables beside ours.",
		Footer: "Theorems, proofs and what the paper got wrong: docs/local-privacy.md.",
	}
	tables := report.Section{Title: "Tables 1 to 10"}
	curves := report.Section{Title: "Figures 2 to 6", Blocks: []report.Block{{
		Text: "The paper prints these as pictures without numbers; ours are drawn with a band of one standard deviation over repeats.",
	}}}
	better := report.Section{Title: "The improvement: answer with one label instead of bits"}
	for _, t := range Tables(rows) {
		figure := ""
		for name := range figureTitles {
			if len(t.Caption) > len(name) && t.Caption[1:len(name)] == name[1:] {
				figure = name
			}
		}
		switch {
		case figure != "":
			chart := picture(of(rows, figure), t.Caption[:len(figure)])
			curves.Blocks = append(curves.Blocks, report.Block{Picture: &report.Picture{Chart: chart, Caption: t.Caption, Table: &t}})
		case t.Caption[0] == 'T' && t.Caption[1] == 'a':
			tables.Blocks = append(tables.Blocks, report.Block{Table: &t})
		default:
			better.Blocks = append(better.Blocks,
				report.Block{Text: "RAPPOR's report of five bits has to be decoded to a label before anything can be trained, and the paper's way, a random one of the set bits, throws much of it away. Generalised randomised response answers with a label at the same epsilon, and needs no decoding."},
				report.Block{Picture: &report.Picture{Chart: pairs(of(rows, "improvement")), Caption: t.Caption, Table: &t}})
		}
	}
	if notes := Notes(rows); len(notes) > 0 {
		list := make([]string, len(notes))
		for i, n := range notes {
			list[i] = fmt.Sprintf("[%d] %s", i+1, n)
		}
		tables.Blocks = append(tables.Blocks, report.Block{Heading: "Notes"}, report.Block{List: list})
	}
	for _, s := range []report.Section{tables, curves, better} {
		if len(s.Blocks) > 1 || s.Title == tables.Title {
			p.Sections = append(p.Sections, s)
		}
	}
	p.Sections = append(p.Sections, report.Section{Title: "What is guaranteed, and what is not", Blocks: []report.Block{{List: Statement()}}})
	return p
}

func picture(rows []Row, title string) report.Chart {
	l := &report.Lines{Title: title, Across: "epsilon of one attribute", Axis: "right answers, %", ScaleX: report.Log}
	at := make(map[string]int)
	for _, r := range rows {
		name, x := r.curve()
		if r.Parameters.Attributes != "" {
			l.Across = "epsilon of the record"
		}
		k, ok := at[name]
		if !ok {
			k = len(l.Curves)
			at[name] = k
			l.Curves = append(l.Curves, report.Curve{Name: name})
		}
		addPoint(&l.Curves[k], x, r)
	}
	return l
}

// pairs draws GRR and RAPPOR, tried on data randomised alike.
func pairs(rows []Row) report.Chart {
	l := &report.Lines{
		Title: "trained and tried on randomised data", Across: "epsilon of one attribute", Axis: "right answers, %",
		Curves: []report.Curve{{Name: "GRR"}, {Name: "RAPPOR, a random set bit"}},
	}
	for _, r := range rows {
		if r.Test != "ldp" {
			continue
		}
		k := 0
		if r.Parameters.Mechanism != "grr" {
			k = 1
		}
		addPoint(&l.Curves[k], r.Parameters.Epsilon, r)
	}
	return l
}

// addPoint adds a row with a band of one standard deviation.
func addPoint(c *report.Curve, x float64, r Row) {
	c.X, c.Y = append(c.X, x), append(c.Y, r.Mean)
	c.Low, c.High = append(c.Low, r.Mean-r.SD), append(c.High, r.Mean+r.SD)
}
