package outlier

import (
	"fmt"
	"math"
	"slices"

	"github.com/noren-privacy/noren/report"
)

// Figure is a chart with a name for its file.
type Figure struct {
	Name  string
	Chart report.Chart
}

// Figures draws the result: for each set the accuracy over the radius, the
// sensitivity bounds over t, the noise over epsilon, and the paper's figure 4 or
// 5 as it should look.
func (r *Result) Figures() []Figure {
	var out []Figure
	for _, c := range r.Curves {
		out = append(out,
			Figure{c.Dataset + "-accuracy", r.accuracyChart(c.Dataset)},
			Figure{c.Dataset + "-sensitivity", sensitivityChart(c)},
			Figure{c.Dataset + "-noise", r.noiseChart(c.Dataset)},
			Figure{fmt.Sprintf("%s-figure-%d", c.Dataset, 4+slices.Index(Names(), c.Dataset)), r.answerChart(c)},
		)
	}
	return out
}

func (r *Result) accuracyChart(set string) report.Chart {
	accuracy, outliers := report.Curve{Name: report.Verbatim("accuracy")}, report.Curve{Name: report.Verbatim("share called outliers")}
	n := 0.0
	for _, c := range r.Curves {
		if c.Dataset == set {
			n = float64(c.N)
		}
	}
	for _, a := range r.Accuracy {
		if a.Dataset != set || a.From > 20 {
			continue
		}
		// A step is drawn from its one end to the other.
		accuracy.X = append(accuracy.X, a.From, a.To)
		accuracy.Y = append(accuracy.Y, a.Accuracy, a.Accuracy)
		outliers.X = append(outliers.X, a.From, a.To)
		outliers.Y = append(outliers.Y, float64(a.Outliers)/n, float64(a.Outliers)/n)
	}
	return &report.Lines{
		Title: report.Verbatim(set + ": accuracy over the radius, k = 5"), Curves: []report.Curve{accuracy, outliers},
		Across: report.Verbatim("radius, columns scaled to variance 1"), Axis: report.Verbatim("share of records"), FromZero: true,
		FormatY: report.Percent,
	}
}

func sensitivityChart(c *Curve) report.Chart {
	curve := func(name string, u []int64) report.Curve {
		out := report.Curve{Name: report.Verbatim(name)}
		for t, v := range u {
			out.X = append(out.X, float64(t))
			out.Y = append(out.Y, float64(v))
		}
		return out
	}
	return &report.Lines{
		Title:  report.Verbatim(fmt.Sprintf("%s: bounds of the sensitivity at distance t, r = %g", c.Dataset, c.Radius)),
		Curves: []report.Curve{curve("U_t, smooth", c.U), curve("the paper's, not smooth", c.Paper)},
		Across: report.Verbatim("t, records moved"), Axis: report.Verbatim("outliers that one more record can change"), FromZero: true,
	}
}

func (r *Result) noiseChart(set string) report.Chart {
	var curves []report.Curve
	for _, m := range []string{LomaxDefault, StudentBest, LaplaceNRS, GaussianNRS, LaplaceGS} {
		curve := report.Curve{Name: report.Verbatim(m)}
		for _, n := range r.Noise {
			if n.Dataset == set && n.Mechanism == m && (n.Delta == 0 || n.Delta == 1e-3) {
				curve.X = append(curve.X, n.Epsilon)
				curve.Y = append(curve.Y, n.SD)
			}
		}
		curves = append(curves, curve)
	}
	return &report.Lines{
		Title: report.Verbatim(set + ": noise over epsilon (delta = 0.001)"), Curves: curves,
		Across: report.Verbatim("epsilon"), Axis: report.Verbatim("standard deviation"), ScaleX: report.Log, ScaleY: report.Log,
	}
}

// answerChart is the paper's figure: the count of 10 with a band of one standard
// deviation, from its own formulas, and ours beside.
func (r *Result) answerChart(c *Curve) report.Chart {
	var curves []report.Curve
	for _, m := range []string{PaperGlobal, PaperSmooth, LomaxDefault} {
		curve := report.Curve{Name: report.Verbatim("10 + sd, " + m)}
		for _, n := range r.Noise {
			if n.Dataset == c.Dataset && n.Mechanism == m && (n.Delta == 0 || n.Delta == 1e-3) {
				curve.X = append(curve.X, n.Epsilon)
				curve.Y = append(curve.Y, 10+n.SD)
			}
		}
		curves = append(curves, curve)
	}
	ten := report.Curve{Name: report.Verbatim("the count, 10"), X: []float64{Epsilons[0], Epsilons[len(Epsilons)-1]}, Y: []float64{10, 10}}
	return &report.Lines{
		Title:  report.Verbatim(c.Dataset + ": the answer and one standard deviation, by the formulas"),
		Curves: append(curves, ten), Across: report.Verbatim("epsilon"), Axis: report.Verbatim("answer"), ScaleX: report.Log, ScaleY: report.Log,
		FormatY: func(v float64) string { return report.Number(math.Round(v)) },
	}
}
