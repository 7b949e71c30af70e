package correlated

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/correlated/harm"
	"github.com/noren-privacy/noren/report"
)

// Figures draws the report's figures from the models: 1 and 2 (what two
// adversaries see), 3 (the harm of an answer), and beside them the leakage over
// the scale and the comparison.
func Figures(ctx context.Context, r *Result) (*report.Page, error) {
	p := &report.Page{
		Title:  "Noise for records that depend on each other",
		Lead:   "The example and the figures of the report on grant 24650064, drawn from exact computation, and the noise that different methods ask for.",
		Footer: "Theorems and proofs: docs/correlated-privacy.md.",
	}
	example, err := Example(ctx)
	if err != nil {
		return nil, err
	}
	p.Sections = append(p.Sections, checks(r), example, comparison(r), harmSection(r))
	return p, nil
}

func checks(r *Result) report.Section {
	t := &report.Table{Header: []string{"figure", "printed", "ours", "agrees"}, Numeric: []bool{false, true, true, false}}
	for _, c := range r.Report {
		t.Rows = append(t.Rows, []string{c.What, c.Printed, strconv.FormatFloat(c.Ours, 'g', 6, 64), yes(c.Agrees)})
	}
	return report.Section{Title: "The report's example", Blocks: []report.Block{
		{Text: "Two records, equal 98 times in 100; the count of those that are 1 is answered with Laplace noise of scale 10, and the answer is 2."},
		{Table: t},
		{Note: "The report's equations (1) to (3) hold errors that do not touch these figures; they are listed in docs/correlated-privacy.md."},
	}}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// grid is n+1 values from lo to hi.
func grid(lo, hi float64, n int) []float64 {
	v := make([]float64, n+1)
	for i := range v {
		v[i] = lo + (hi-lo)*float64(i)/float64(n)
	}
	return v
}

// Example draws the report's figures 1 and 2, and the leakage over the scale.
func Example(ctx context.Context) (report.Section, error) {
	s := report.Section{Title: "Figures 1 and 2: what an adversary sees", Blocks: []report.Block{{
		Text: "How likely each answer is where the first record is 0, and where it is 1. Who knows the second record sees the two curves one apart; who does not know it sees them almost two apart, as the second record answers for the first. The scale is 1 here, so that it can be seen.",
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
		block, err := ViewPicture(ctx, m, correlated.Count(1), 1, correlated.Adversary{Target: 0, Known: v.known}, nil, v.title)
		if err != nil {
			return s, err
		}
		s.Blocks = append(s.Blocks, block)
	}
	block, err := LeakagePicture(ctx, m, correlated.Count(1), correlated.Options{}, 1, 40, 40)
	if err != nil {
		return s, err
	}
	s.Blocks = append(s.Blocks, report.Block{Heading: "Leakage over the scale"}, block)
	return s, nil
}

// ViewPicture draws how likely answers are under each state of the target, as
// the adversary sees it.
func ViewPicture(ctx context.Context, m correlated.Model, q *correlated.Query, b float64, who correlated.Adversary, states []string, title string) (report.Block, error) {
	// The answers of most weight lie where one wide look finds any.
	lo, hi, err := extent(ctx, m, q, b, who)
	if err != nil {
		return report.Block{}, err
	}
	at := grid(lo-4*b, hi+4*b, 240)
	v, err := correlated.Look(ctx, m, q, b, who, at)
	if err != nil {
		return report.Block{}, err
	}
	chart := &report.Lines{Title: title, Across: "answer", Axis: "density", FromZero: true}
	t := &report.Table{Header: []string{"answer"}, Numeric: []bool{true}}
	for a, d := range v.Density {
		if d == nil {
			continue
		}
		name := fmt.Sprintf("state %d", a)
		if a < len(states) {
			name = states[a]
		}
		chart.Curves = append(chart.Curves, report.Curve{Name: name, X: at, Y: d})
		t.Header, t.Numeric = append(t.Header, name), append(t.Numeric, true)
	}
	for j := 0; j < len(at); j += 24 {
		row := []string{strconv.FormatFloat(at[j], 'g', 4, 64)}
		for _, c := range chart.Curves {
			row = append(row, strconv.FormatFloat(c.Y[j], 'g', 4, 64))
		}
		t.Rows = append(t.Rows, row)
	}
	return report.Block{Picture: &report.Picture{Chart: chart, Table: t}}, nil
}

// extent finds the answers between which all but little of the weight lies, by
// bisecting from far out.
func extent(ctx context.Context, m correlated.Model, q *correlated.Query, b float64, who correlated.Adversary) (lo, hi float64, err error) {
	bounds, err := correlated.Extremes(m, q)
	if err != nil {
		return 0, 0, err
	}
	at := grid(bounds[0], bounds[1], 400)
	v, err := correlated.Look(ctx, m, q, b, who, at)
	if err != nil {
		return 0, 0, err
	}
	top := 0.0
	total := make([]float64, len(at))
	for a, d := range v.Density {
		for j := range d {
			total[j] += d[j]
			top = max(top, v.Density[a][j])
		}
	}
	lo, hi = bounds[1], bounds[0]
	for j, y := range total {
		if y > 0.02*top {
			lo, hi = min(lo, at[j]), max(hi, at[j])
		}
	}
	return lo, hi, nil
}

// LeakagePicture draws CBP over the scale, from low to high, for all
// adversaries, for those who know no record and for those who know all others.
func LeakagePicture(ctx context.Context, m correlated.Model, q *correlated.Query, o correlated.Options, low, high float64, points int) (report.Block, error) {
	chart := &report.Lines{Title: "Leakage over the noise scale", Across: "scale b", Axis: "leakage (CBP)", ScaleX: report.Log, ScaleY: report.Log}
	t := &report.Table{Header: []string{"scale"}, Numeric: []bool{true}}
	at := make([]float64, points)
	rows := make([][]string, points)
	for j := range at {
		at[j] = low * math.Pow(high/low, float64(j)/float64(max(1, points-1)))
		rows[j] = []string{strconv.FormatFloat(at[j], 'g', 4, 64)}
	}
	for _, who := range []struct {
		name string
		adv  correlated.Adversaries
	}{
		{"any adversary", correlated.AllAdversaries()},
		{"who knows no record", correlated.EmptyAdversaries()},
		{"who knows all others", correlated.FullAdversaries()},
	} {
		if who.name == "who knows no record" && m.Records() > maxView {
			continue // exact evaluation would take long, and no more is at stake
		}
		o.Adversaries = who.adv
		c := report.Curve{Name: who.name, X: at}
		for j, b := range at {
			l, err := correlated.ComputeLeakage(ctx, m, q, b, o)
			if err != nil {
				return report.Block{}, err
			}
			c.Y = append(c.Y, l.Upper)
			rows[j] = append(rows[j], strconv.FormatFloat(l.Upper, 'g', 4, 64))
		}
		chart.Curves = append(chart.Curves, c)
		t.Header, t.Numeric = append(t.Header, who.name), append(t.Numeric, true)
	}
	for j := 0; j < points; j += max(1, points/10) {
		t.Rows = append(t.Rows, rows[j])
	}
	return report.Block{Picture: &report.Picture{Chart: chart, Table: t}}, nil
}

func comparison(r *Result) report.Section {
	s := report.Section{Title: "The noise that each method asks for", Blocks: []report.Block{{
		Text: "A count over a Markov chain of a hundred records. Independent records would need 1/epsilon. Exact: all adversaries, and those who know no record. The tanh rule is a bound for all adversaries, the Markov quilt mechanism one for those who know nothing; group privacy takes all records as one.",
	}}}
	t := &report.Table{
		Header:  []string{"chain", "epsilon", "exact", "knows nothing", "tanh rule", "quilt", "quilt, approximate", "group", "as printed"},
		Numeric: []bool{false, true, true, true, true, true, true, true, false},
	}
	bars := &report.Bars{Title: "Scales at epsilon = 1", Axis: "scale b", Horizontal: true, Series: []report.Series{{Name: "exact"}, {Name: "tanh rule"}, {Name: "quilt"}}}
	for _, c := range r.Comparison {
		row := []string{c.Chain, strconv.FormatFloat(c.Epsilon, 'g', -1, 64)}
		for _, v := range []float64{c.Exact, c.Empty, c.Tanh, c.Quilt, c.QuiltApprox, c.Group} {
			row = append(row, strconv.FormatFloat(v, 'g', 4, 64))
		}
		t.Rows = append(t.Rows, append(row, yes(c.Agrees)))
		if c.Epsilon == 1 {
			bars.Labels = append(bars.Labels, c.Chain)
			for i, v := range []float64{c.Exact, c.Tanh, c.Quilt} {
				bars.Series[i].Values = append(bars.Series[i].Values, v)
			}
		}
	}
	s.Blocks = append(s.Blocks, report.Block{Picture: &report.Picture{Chart: bars, Table: t}})
	return s
}

func harmSection(r *Result) report.Section {
	s := report.Section{Title: "Figure 3: the harm that noise does", Blocks: []report.Block{{
		Text: "What an answer costs a firm (above zero) or conceals in its favour (below), by what the noise added and how many bad lots there are. Slopes and jumps are the worked example's.",
	}}}
	chart, t := Figure3(workedCosts(20), []int{0, 1, 3})
	s.Blocks = append(s.Blocks, report.Block{Picture: &report.Picture{Chart: chart, Table: t}})
	table := &report.Table{Header: []string{"price of identification", "best scale", "cost there", "as printed"}, Numeric: []bool{true, true, true, false}}
	for _, h := range r.Harm {
		scale := strconv.FormatFloat(h.Scale, 'g', 4, 64)
		if h.AtLimit {
			scale = "the least that is allowed"
		}
		table.Rows = append(table.Rows, []string{strconv.FormatFloat(h.Identification, 'g', -1, 64), scale, strconv.FormatFloat(h.Total, 'g', 5, 64), yes(h.Agrees)})
	}
	s.Blocks = append(s.Blocks, report.Block{Heading: "The scale that costs least"}, report.Block{Table: table})
	return s
}

// Figure3 draws the harm of an answer over the noise, a curve a true count.
func Figure3(c *harm.Costs, counts []int) (*report.Lines, *report.Table) {
	chart := &report.Lines{Title: "Harm of an answer", Across: "noise", Axis: "damage, or concealed (below 0)"}
	t := &report.Table{Header: []string{"noise"}, Numeric: []bool{true}}
	at := grid(-5, 5, 400)
	for _, n := range counts {
		curve := report.Curve{Name: fmt.Sprintf("%d bad lots", n), X: at}
		for _, z := range at {
			curve.Y = append(curve.Y, c.Realised(n, float64(n)+z))
		}
		chart.Curves = append(chart.Curves, curve)
		t.Header, t.Numeric = append(t.Header, curve.Name), append(t.Numeric, true)
	}
	for j := 0; j < len(at); j += 40 {
		row := []string{strconv.FormatFloat(at[j], 'g', 4, 64)}
		for _, c := range chart.Curves {
			row = append(row, strconv.FormatFloat(c.Y[j], 'g', 4, 64))
		}
		t.Rows = append(t.Rows, row)
	}
	return chart, t
}
