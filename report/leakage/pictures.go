package leakage

import (
	"context"
	"math"
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/correlated/harm"
	"github.com/noren-privacy/noren/report"
)

// View draws how likely answers are under each state of the target, as
// the adversary sees it.
func View(ctx context.Context, m correlated.Model, q *correlated.Query, b float64, who correlated.Adversary, states []string,
	title noren.Text,
) (report.Block, error) {
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
	chart := &report.Lines{Title: title, Across: noren.Textf("answer"), Axis: noren.Textf("density"), FromZero: true}
	t := &report.Table{Header: []noren.Text{noren.Textf("answer")}, Numeric: []bool{true}}
	for a, d := range v.Density {
		if d == nil {
			continue
		}
		name := noren.Textf("state %d", a)
		if a < len(states) {
			name = report.Verbatim(states[a])
		}
		chart.Curves = append(chart.Curves, report.Curve{Name: name, X: at, Y: d})
		t.Header, t.Numeric = append(t.Header, name), append(t.Numeric, true)
	}
	for j := 0; j < len(at); j += 24 {
		var row []string
		for _, c := range chart.Curves {
			row = append(row, strconv.FormatFloat(c.Y[j], 'g', 4, 64))
		}
		t.Add(report.Verbatim(strconv.FormatFloat(at[j], 'g', 4, 64)), row...)
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

// Curve draws CBP over the scale, from low to high, for all
// adversaries, for those who know no record and for those who know all others.
func Curve(ctx context.Context, m correlated.Model, q *correlated.Query, o correlated.LeakageOptions, low, high float64,
	points int,
) (report.Block, error) {
	chart := &report.Lines{
		Title: noren.Textf("Leakage over the noise scale"), Across: noren.Textf("scale b"),
		Axis: noren.Textf("leakage (CBP)"), ScaleX: report.Log, ScaleY: report.Log,
	}
	t := &report.Table{Header: []noren.Text{noren.Textf("scale")}, Numeric: []bool{true}}
	at := make([]float64, points)
	rows := make([][]string, points)
	for j := range at {
		at[j] = low * math.Pow(high/low, float64(j)/float64(max(1, points-1)))
	}
	for _, who := range []struct {
		name noren.Format
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
		c := report.Curve{Name: noren.Textf(who.name), X: at}
		for j, b := range at {
			l, err := correlated.ComputeLeakage(ctx, m, q, b, o)
			if err != nil {
				return report.Block{}, err
			}
			c.Y = append(c.Y, l.Upper)
			rows[j] = append(rows[j], noren.LossFigure(l.Upper, 4))
		}
		chart.Curves = append(chart.Curves, c)
		t.Header, t.Numeric = append(t.Header, noren.Textf(who.name)), append(t.Numeric, true)
	}
	for j := 0; j < points; j += max(1, points/10) {
		t.Add(report.Verbatim(strconv.FormatFloat(at[j], 'g', 4, 64)), rows[j]...)
	}
	return report.Block{Picture: &report.Picture{Chart: chart, Table: t}}, nil
}

// Harm draws the harm of an answer over the noise, a curve a true count.
func Harm(c *harm.Costs, counts []int) (*report.Lines, *report.Table) {
	chart := &report.Lines{
		Title: noren.Textf("Harm of an answer"), Across: noren.Textf("noise"),
		Axis: noren.Textf("damage, or concealed (below 0)"),
	}
	t := &report.Table{Header: []noren.Text{noren.Textf("noise")}, Numeric: []bool{true}}
	at := grid(-5, 5, 400)
	for _, n := range counts {
		curve := report.Curve{Name: noren.Textf("%d bad {lot|lots}", n), X: at}
		for _, z := range at {
			curve.Y = append(curve.Y, c.Realised(n, float64(n)+z))
		}
		chart.Curves = append(chart.Curves, curve)
		t.Header, t.Numeric = append(t.Header, curve.Name), append(t.Numeric, true)
	}
	for j := 0; j < len(at); j += 40 {
		var row []string
		for _, c := range chart.Curves {
			row = append(row, strconv.FormatFloat(c.Y[j], 'g', 4, 64))
		}
		t.Add(report.Verbatim(strconv.FormatFloat(at[j], 'g', 4, 64)), row...)
	}
	return chart, t
}

// grid is n+1 values from lo to hi.
func grid(lo, hi float64, n int) []float64 {
	v := make([]float64, n+1)
	for i := range v {
		v[i] = lo + (hi-lo)*float64(i)/float64(n)
	}
	return v
}
