package ldp

import (
	"fmt"
	"strings"

	"github.com/noren-privacy/noren/report"
)

// Figures is a page of all rows: the tables beside the paper's, Figures 2 to 6
// drawn, GRR beside RAPPOR, and what the figures guarantee.
func Figures(rows []Row) *report.Page {
	p := &report.Page{
		Title: report.Verbatim("Learning from data that was private before it left: the paper's figures and ours"),
		Lead: report.Verbatim("The breast-cancer table, discretised to five labels an attribute and randomised by RAPPOR, as in the paper; " +
			"every figure of its tables beside ours."),
		Footer: report.Verbatim("Theorems, proofs and what the paper got wrong: docs/local-privacy.md."),
	}
	tables := report.Section{Title: report.Verbatim("Tables 1 to 10")}
	curves := report.Section{Title: report.Verbatim("Figures 2 to 6"), Blocks: []report.Block{{
		Text: report.Verbatim(
			"The paper prints these as pictures without numbers; ours are drawn with a band of one standard deviation over repeats."),
	}}}
	better := report.Section{Title: report.Verbatim("The improvement: answer with one label instead of bits")}
	for _, t := range Tables(rows) {
		figure := ""
		for name := range figureTitles {
			if caption := t.Caption.String(); len(caption) > len(name) && caption[1:len(name)] == name[1:] {
				figure = name
			}
		}
		switch {
		case figure != "":
			chart := picture(of(rows, figure), t.Caption.String()[:len(figure)])
			curves.Blocks = append(curves.Blocks, report.Block{Picture: &report.Picture{Chart: chart, Caption: t.Caption, Table: &t}})
		case strings.HasPrefix(t.Caption.String(), "Ta"):
			tables.Blocks = append(tables.Blocks, report.Block{Table: &t})
		default:
			better.Blocks = append(better.Blocks,
				report.Block{Text: report.Verbatim("RAPPOR's report of five bits has to be decoded to a label before anything can be trained, and " +
					"the paper's way, a random one of the set bits, throws much of it away. Generalised randomised response answers with a label at " +
					"the same epsilon, and needs no decoding.")},
				report.Block{Picture: &report.Picture{Chart: pairs(of(rows, "improvement")), Caption: t.Caption, Table: &t}})
		}
	}
	if notes := Notes(rows); len(notes) > 0 {
		list := make([]string, len(notes))
		for i, n := range notes {
			list[i] = fmt.Sprintf("[%d] %s", i+1, n)
		}
		tables.Blocks = append(tables.Blocks, report.Block{Heading: report.Verbatim("Notes")}, report.Block{List: report.Verbatims(list...)})
	}
	for _, s := range []report.Section{tables, curves, better} {
		if len(s.Blocks) > 1 || s.Title.Equal(tables.Title) {
			p.Sections = append(p.Sections, s)
		}
	}
	p.Sections = append(p.Sections, report.Section{
		Title:  report.Verbatim("What is guaranteed, and what is not"),
		Blocks: []report.Block{{List: report.Verbatims(Statement()...)}},
	})
	return p
}

func picture(rows []Row, title string) report.Chart {
	l := &report.Lines{
		Title: report.Verbatim(title), Across: report.Verbatim("epsilon of one attribute"),
		Axis: report.Verbatim("right answers, %"), ScaleX: report.Log,
	}
	at := make(map[string]int)
	for _, r := range rows {
		name, x := r.curve()
		if r.Parameters.Attributes != "" {
			l.Across = report.Verbatim("epsilon of the record")
		}
		k, ok := at[name]
		if !ok {
			k = len(l.Curves)
			at[name] = k
			l.Curves = append(l.Curves, report.Curve{Name: report.Verbatim(name)})
		}
		addPoint(&l.Curves[k], x, r)
	}
	return l
}

// pairs draws GRR and RAPPOR, tried on data randomised alike.
func pairs(rows []Row) report.Chart {
	l := &report.Lines{
		Title: report.Verbatim("trained and tried on randomised data"), Across: report.Verbatim("epsilon of one attribute"),
		Axis:   report.Verbatim("right answers, %"),
		Curves: []report.Curve{{Name: report.Verbatim("GRR")}, {Name: report.Verbatim("RAPPOR, a random set bit")}},
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
