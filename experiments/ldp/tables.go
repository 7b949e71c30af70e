package ldp

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp"
	"github.com/noren-privacy/noren/report"
)

// Tables lays rows out as the paper does: Tables 1 to 10, then the points of
// Figures 2 to 6 and the improvement, whatever of it there are rows of. Notes are
// numbered; [Notes] lists them.
func Tables(rows []Row) []report.Table {
	notes := Notes(rows)
	var all []report.Table
	add := func(t report.Table) {
		if len(t.Rows) > 0 {
			all = append(all, t)
		}
	}
	add(moments(rows, notes))
	add(epsilons(rows, notes))
	for n := 3; n <= 10; n++ {
		add(accuracies(rows, strconv.Itoa(n), notes))
	}
	for _, figure := range []string{"figure 2", "figure 3", "figure 4", "figure 5", "figure 6"} {
		add(points(rows, figure))
	}
	add(improvement(rows))
	return all
}

// Notes are the different notes of rows, in their order.
func Notes(rows []Row) []string {
	var notes []string
	for _, r := range rows {
		if r.Note != "" && r.Table != "improvement" && !slices.Contains(notes, r.Note) {
			notes = append(notes, r.Note)
		}
	}
	return notes
}

// mark is the number of a note.
func mark(notes []string, note string) string {
	if at := slices.Index(notes, note); at >= 0 {
		return fmt.Sprintf("[%d]", at+1)
	}
	return ""
}

func of(rows []Row, table string) []Row {
	var found []Row
	for _, r := range rows {
		if r.Table == table {
			found = append(found, r)
		}
	}
	return found
}

func moments(rows []Row, notes []string) report.Table {
	t := report.Table{
		Caption: report.Verbatim("Table 1: mean and variance of the attributes (the paper's, ours)"),
		Header: report.Verbatims("attribute", "raw mean", "ours", "raw variance", "ours", "generalised mean", "ours", "generalised variance",
			"ours", ""),
		Numeric: []bool{true, true, true, true, true, true, true, true, true},
	}
	rows = of(rows, "1")
	for ; len(rows) >= 4; rows = rows[4:] {
		line, note := []string{strconv.Itoa(rows[0].Parameters.Attribute)}, ""
		for _, r := range rows[:4] {
			line = append(line, significant(*r.Paper), significant(r.Mean))
			note += mark(notes, r.Note)
		}
		t.Rows = append(t.Rows, report.Verbatims(append(line, note)...))
	}
	return t
}

// significant writes three digits, as Table 1 does.
func significant(v float64) string { return strconv.FormatFloat(v, 'e', 2, 64) }

func epsilons(rows []Row, notes []string) report.Table {
	t := report.Table{
		Caption: report.Verbatim(
			"Table 2: epsilon of one report by the formula; of what runs, for one report, for a record of 30 attributes, and for ever"),
		Header:  report.Verbatims("parameters", "paper", "ours", "runs with", "record", "lifetime", ""),
		Numeric: []bool{false, true, true, true, true, true},
	}
	for _, r := range of(rows, "2") {
		t.Rows = append(t.Rows, report.Verbatims(
			r.Parameters.String(), fmt.Sprintf("%.3f", *r.Paper), fmt.Sprintf("%.3f", r.Mean),
			noren.LossText(r.Loss.Report, 3), noren.LossText(r.Loss.Record, 2), lifetime(r.Loss), mark(notes, r.Note),
		))
	}
	return t
}

func lifetime(l *ldp.Loss) string {
	if math.IsInf(l.Lifetime, 1) {
		return "unbounded"
	}
	return noren.LossText(l.Lifetime, 2)
}

// String names a mechanism as the paper does.
func (p Parameters) String() string {
	switch {
	case p.Mechanism == "basic":
		return fmt.Sprintf("Basic (f, p, q) = (%g, %g, %g)", p.F, p.P, p.Q)
	case p.Mechanism == "one-time" && p.F > 0:
		return fmt.Sprintf("One-time f = %g", p.F)
	case p.Mechanism == "one-time":
		return fmt.Sprintf("One-time RAPPOR, epsilon %s", noren.LossFigure(p.Epsilon, 4))
	case p.Mechanism == "grr":
		return fmt.Sprintf("GRR, epsilon %s", noren.LossFigure(p.Epsilon, 4))
	}
	return ""
}

var (
	modelTitles = map[string]string{"svm": "linear SVM", "forest": "random forest"}
	dataTitles  = map[string]string{"raw": "raw", "gen": "generalised", "ldp": "randomised"}
	triedTitles = map[string]string{"raw": "tried on raw data", "gen": "tried on generalised data", "ldp": "tried on randomised data"}
)

func accuracies(rows []Row, table string, notes []string) report.Table {
	t := report.Table{
		Header:  report.Verbatims("trained on", "tried on", "parameters", "paper", "min - max", "ours", "sd", "min - max", ""),
		Numeric: []bool{false, false, false, true, true, true, true, true},
	}
	for _, r := range of(rows, table) {
		t.Caption = report.Verbatim(fmt.Sprintf("Table %s: right answers in %%, %s", table, modelTitles[r.Model]))
		span := ""
		if r.PaperMin != nil {
			span = fmt.Sprintf("%.1f - %.1f", *r.PaperMin, *r.PaperMax)
		}
		t.Rows = append(t.Rows, report.Verbatims(
			dataTitles[r.Train], dataTitles[r.Test], r.Parameters.String(), fmt.Sprintf("%.1f", *r.Paper), span,
			fmt.Sprintf("%.1f", r.Mean), fmt.Sprintf("%.1f", r.SD), fmt.Sprintf("%.1f - %.1f", r.Min, r.Max), mark(notes, r.Note),
		))
	}
	return t
}

// figureTitles say what is drawn.
var figureTitles = map[string]string{
	"figure 2": "SVM trained on randomised data, over epsilon of one attribute",
	"figure 3": "SVM trained on randomised data and tried on raw data, over epsilon of the record",
	"figure 4": "SVM trained on randomised data and tried on generalised data, over epsilon of the record",
	"figure 5": "SVM trained and tried on randomised data, over epsilon of the record",
	"figure 6": "forest trained on randomised data, over epsilon of one attribute",
}

// attributeTitles name the three choices of attributes.
var attributeTitles = map[string]string{"all": "all 30 attributes", "pca5": "5 principal components", "cov5": "5 by covariance"}

// curve is what a row belongs to within its figure, and x its place there.
func (r *Row) curve() (name string, x float64) {
	if r.Parameters.Attributes != "" {
		return attributeTitles[r.Parameters.Attributes], r.Parameters.Record
	}
	return triedTitles[r.Test], r.Parameters.Epsilon
}

// points lays a figure out: a line for each epsilon, a column for each curve.
func points(rows []Row, figure string) report.Table {
	rows = of(rows, figure)
	t := report.Table{
		Caption: report.Verbatim(strings.ToUpper(figure[:1]) + figure[1:] + ": " + figureTitles[figure]),
		Header:  report.Verbatims("epsilon"), Numeric: []bool{true},
	}
	var axis []float64
	cells := make(map[string]map[float64]string)
	for _, r := range rows {
		name, x := r.curve()
		if cells[name] == nil {
			cells[name] = make(map[float64]string)
			t.Header, t.Numeric = append(t.Header, report.Verbatim(name)), append(t.Numeric, true)
		}
		if !slices.Contains(axis, x) {
			axis = append(axis, x)
		}
		cells[name][x] = fmt.Sprintf("%.1f ± %.1f", r.Mean, r.SD)
	}
	for _, x := range axis {
		line := []string{strconv.FormatFloat(x, 'g', 4, 64)}
		for _, name := range t.Header[1:] {
			line = append(line, cells[name.String()][x])
		}
		t.Rows = append(t.Rows, report.Verbatims(line...))
	}
	return t
}

func improvement(rows []Row) report.Table {
	t := report.Table{
		Caption: report.Verbatim(
			"The improvement: SVM trained on GRR's labels, and on RAPPOR's decoded to a random set bit, at the same epsilon"),
		Header:  report.Verbatims("epsilon", "of a record", "tried on", "RAPPOR", "GRR", "better by"),
		Numeric: []bool{true, true, false, true, true, true},
	}
	rows = of(rows, "improvement")
	for _, g := range rows {
		for _, r := range rows {
			if g.Parameters.Mechanism == "grr" && r.Parameters.Mechanism == "one-time" && r.Parameters.Epsilon == g.Parameters.Epsilon &&
				r.Test == g.Test {
				t.Rows = append(t.Rows, report.Verbatims(
					noren.LossFigure(g.Parameters.Epsilon, 4), noren.LossText(g.Loss.Record, 1), dataTitles[g.Test],
					fmt.Sprintf("%.1f ± %.1f", r.Mean, r.SD), fmt.Sprintf("%.1f ± %.1f", g.Mean, g.SD), fmt.Sprintf("%+.1f", g.Mean-r.Mean),
				))
			}
		}
	}
	return t
}
