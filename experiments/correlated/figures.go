package correlated

import (
	"context"
	"strconv"

	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/report/leakage"
)

// Figures draws the report's figures from the models: 1 and 2 (what two
// adversaries see), 3 (the harm of an answer), and beside them the leakage over
// the scale and the comparison.
func Figures(ctx context.Context, r *Result) (*report.Page, error) {
	p := &report.Page{
		Title: report.Verbatim("Noise for records that depend on each other"),
		Lead: report.Verbatim(
			"The example and the figures of the report on grant 24650064, drawn from exact computation, and the noise of different methods."),
		Footer: report.Verbatim("Theorems and proofs: docs/correlated-privacy.md."),
	}
	example, err := Example(ctx)
	if err != nil {
		return nil, err
	}
	p.Sections = append(p.Sections, checks(r), example, comparison(r), harmSection(r))
	return p, nil
}

func checks(r *Result) report.Section {
	t := &report.Table{Header: report.Verbatims("figure", "printed", "ours", "agrees"), Numeric: []bool{false, true, true, false}}
	for _, c := range r.Report {
		t.Rows = append(t.Rows, report.Verbatims(c.What, c.Printed, strconv.FormatFloat(c.Ours, 'g', 6, 64), yes(c.Agrees)))
	}
	return report.Section{Title: report.Verbatim("The report's example"), Blocks: []report.Block{
		{Text: report.Verbatim(
			"Two records, equal 98 times in 100; the count of those that are 1 is answered with Laplace noise of scale 10, and the answer is 2.")},
		{Table: t},
		{Note: report.Verbatim(
			"The report's equations (1) to (3) hold errors that do not touch these figures; they are listed in docs/correlated-privacy.md.")},
	}}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// Example draws the report's figures 1 and 2, and the leakage over the scale.
func Example(ctx context.Context) (report.Section, error) {
	s := report.Section{Title: report.Verbatim("Figures 1 and 2: what an adversary sees"), Blocks: []report.Block{{
		Text: report.Verbatim("How likely each answer is where the first record is 0, and where it is 1. An adversary who knows the second " +
			"record sees the two curves one apart; one who does not know it sees them almost two apart, because the second record depends on the " +
			"first. The scale is 1 here, so that it can be seen."),
	}}}
	m, err := pair()
	if err != nil {
		return s, err
	}
	for _, v := range []struct {
		title string
		known []correlated.Known
	}{
		{"Figure 1a: the second record is known to be 0", []correlated.Known{{Record: 1, State: 0}}},
		{"Figure 1b: the second record is known to be 1", []correlated.Known{{Record: 1, State: 1}}},
		{"Figure 2: the second record is not known", nil},
	} {
		block, err := leakage.View(ctx, m, correlated.Count(1), 1, correlated.Adversary{Target: 0, Known: v.known}, nil, report.Verbatim(v.title))
		if err != nil {
			return s, err
		}
		s.Blocks = append(s.Blocks, block)
	}
	block, err := leakage.Curve(ctx, m, correlated.Count(1), correlated.LeakageOptions{}, 1, 40, 40)
	if err != nil {
		return s, err
	}
	s.Blocks = append(s.Blocks, report.Block{Heading: report.Verbatim("Leakage over the scale")}, block)
	return s, nil
}

func comparison(r *Result) report.Section {
	s := report.Section{Title: report.Verbatim("The noise of each method"), Blocks: []report.Block{{
		Text: report.Verbatim("A count over a Markov chain of a hundred records. Independent records would need 1/epsilon. Exact: all " +
			"adversaries, and those who know no record. The tanh rule is a bound for all adversaries, the Markov quilt mechanism one for those " +
			"who know no record; group privacy takes all records as one."),
	}}}
	t := &report.Table{
		Header: report.Verbatims("chain", "epsilon", "exact", "knows nothing", "tanh rule", "quilt", "quilt, approximate", "group",
			"as printed"),
		Numeric: []bool{false, true, true, true, true, true, true, true, false},
	}
	bars := &report.Bars{
		Title: report.Verbatim("Scales at epsilon = 1"), Axis: report.Verbatim("scale b"), Horizontal: true,
		Series: []report.Series{{Name: report.Verbatim("exact")}, {Name: report.Verbatim("tanh rule")}, {Name: report.Verbatim("quilt")}},
	}
	for _, c := range r.Comparison {
		row := []string{c.Chain, strconv.FormatFloat(c.Epsilon, 'g', -1, 64)}
		for _, v := range []float64{c.Exact, c.Empty, c.Tanh, c.Quilt, c.QuiltApprox, c.Group} {
			row = append(row, strconv.FormatFloat(v, 'g', 4, 64))
		}
		t.Rows = append(t.Rows, report.Verbatims(append(row, yes(c.Agrees))...))
		if c.Epsilon == 1 {
			bars.Labels = append(bars.Labels, report.Verbatim(c.Chain))
			for i, v := range []float64{c.Exact, c.Tanh, c.Quilt} {
				bars.Series[i].Values = append(bars.Series[i].Values, v)
			}
		}
	}
	s.Blocks = append(s.Blocks, report.Block{Picture: &report.Picture{Chart: bars, Table: t}})
	return s
}

func harmSection(r *Result) report.Section {
	s := report.Section{Title: report.Verbatim("Figure 3: the harm that noise does"), Blocks: []report.Block{{
		Text: report.Verbatim("What an answer costs a firm (above zero) or conceals in its favour (below), by what the noise added and how " +
			"many bad lots there are. Slopes and jumps are the worked example's."),
	}}}
	chart, t := leakage.Harm(workedCosts(20), []int{0, 1, 3})
	s.Blocks = append(s.Blocks, report.Block{Picture: &report.Picture{Chart: chart, Table: t}})
	table := &report.Table{
		Header:  report.Verbatims("cost of identification", "best scale", "cost there", "as printed"),
		Numeric: []bool{true, true, true, false},
	}
	for _, h := range r.Harm {
		scale := strconv.FormatFloat(h.Scale, 'g', 4, 64)
		if h.AtLimit {
			scale = "the least that is allowed"
		}
		table.Rows = append(table.Rows, report.Verbatims(strconv.FormatFloat(h.Identification, 'g', -1, 64), scale,
			strconv.FormatFloat(h.Total, 'g', 5, 64), yes(h.Agrees)))
	}
	s.Blocks = append(s.Blocks, report.Block{Heading: report.Verbatim("The scale that costs least")}, report.Block{Table: table})
	return s
}
