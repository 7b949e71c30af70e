package ratio

import (
	"fmt"
	"math"

	"github.com/noren-privacy/noren/report"
)

// Figures is a page of everything: the paper's figures 1 to 4 drawn again, ours beside,
// the tables, and the second case.
func (r *Result) Figures() *report.Page {
	p := &report.Page{
		Title: report.Verbatim("Density-ratio weights: the paper's figures and ours"),
		Lead: report.Verbatim("Density-ratio weights with differential privacy: E ~ N(1, 1) is public, D ~ N(2, 1/4) private, and beyond " +
			"the paper the plane, two clouds and a census table."),
		Footer: report.Verbatim("Theorems, proofs and what is wrong in the paper: docs/density-ratio.md."),
	}
	if s := r.drawn(); len(s.Blocks) > 0 {
		p.Sections = append(p.Sections, s)
	}
	tables := report.Section{Title: report.Verbatim("Errors"), Blocks: []report.Block{{
		Text: report.Verbatim("The mean squared error of the weights over the public records, its mean over repeats; beside it what an " +
			"independent program had on other seeds. \"Warned\" is the share of repeats in which the fit check found fault. The notes below the " +
			"tables say which rows are not private, or not as they claim."),
	}}}
	census := report.Section{Title: report.Verbatim("A second case: a census table"), Blocks: []report.Block{{
		Text: report.Verbatim("The public part holds 60% of the people with a degree and 15% of the others, the private part most of the " +
			"rest. The kernels see age, school, marriage and sex. Each weighted answer is free once the weights are released, and any number may " +
			"be asked; a direct answer spends all of epsilon on one question, and has less noise for that one."),
	}}}
	for _, t := range r.Tables() {
		if len(r.Adult) > 0 && t.Header[0].String() == "question" {
			census.Blocks = append(census.Blocks, report.Block{Table: &t},
				report.Block{Picture: &report.Picture{
					Chart:   r.censusChart(),
					Caption: report.Verbatim("Errors of the census answers over epsilon, with the weights' own public and private sampling in them."),
				}})
			continue
		}
		tables.Blocks = append(tables.Blocks, report.Block{Table: &t})
	}
	if notes := r.Notes(); len(notes) > 0 {
		list := make([]string, len(notes))
		for i, n := range notes {
			list[i] = fmt.Sprintf("[%d] %s", i+1, n)
		}
		tables.Blocks = append(tables.Blocks, report.Block{List: report.Verbatims(list...)})
	}
	p.Sections = append(p.Sections, tables)
	if len(census.Blocks) > 1 {
		p.Sections = append(p.Sections, census)
	}
	p.Sections = append(p.Sections, report.Section{
		Title:  report.Verbatim("What came out"),
		Blocks: []report.Block{{List: report.Verbatims(r.Verdict...)}},
	})
	return p
}

// drawn are the paper's figures, and the same for ours and for two clouds.
func (r *Result) drawn() report.Section {
	s := report.Section{Title: report.Verbatim("Figures 1 to 4")}
	add := func(c *report.Lines, caption string) {
		if len(c.Curves) > 1 {
			s.Blocks = append(s.Blocks, report.Block{Picture: &report.Picture{Chart: c, Caption: report.Verbatim(caption)}})
		}
	}
	if r.find("S1", Constant, 0, true) != nil {
		add(densities(Settings()[0]), "Figure 1: both densities and the true ratio, which peaks at 3.90 where x is 7/3.")
		add(r.ratioChart("S1", "Method A: noisy centres", PrivateD, WrittenA),
			"Figure 2: method A as written, which costs 2 epsilon. One draw, as in the paper.")
		add(r.ratioChart("S1", "Method B: centres of E", PrivateE, WrittenB), "Figure 3: method B. At epsilon = 0.1 noise is all there is.")
		add(r.ratioChart("S1", "Method C: centres of D, published", PrivateD, WrittenC),
			"Figure 4: method C, which publishes 100 private records. It is drawn for comparison; the package refuses it.")
		add(r.ratioChart("S1", "Ours: RKHSPure, 12 centres, half the median", PureNoHalf, PureHalf),
			"Ours on the same draw, pure epsilon, nothing chosen on private records.")
	}
	if r.find("S4", Constant, 0, true) != nil {
		add(r.ratioChart("S4", "Two clouds, the median", PureNo, Pure),
			"Two clouds: a kernel as wide as the median of the public distances cannot part them, noise or not.")
		add(r.ratioChart("S4", "Two clouds, half the median", PureNoHalf, PureHalf), "Two clouds at half the median.")
	}
	return s
}

// densities is the paper's figure 1.
func densities(s *Setting) *report.Lines {
	d, e, w := report.Curve{Name: report.Verbatim("p_D")}, report.Curve{Name: report.Verbatim("p_E")}, report.Curve{
		Name: report.Verbatim("p_D/p_E"),
	}
	for i := range 181 {
		x := []float64{s.public.mean[0] + s.public.sd[0]*3.5*(float64(i)/90-1)}
		for _, c := range []*report.Curve{&d, &e, &w} {
			c.X = append(c.X, x[0])
		}
		d.Y, e.Y, w.Y = append(d.Y, s.PrivateDensity(x)), append(e.Y, s.PublicDensity(x)), append(w.Y, s.Ratio(x))
	}
	return &report.Lines{
		Title: report.Verbatim("Densities and their ratio"), Curves: []report.Curve{d, e, w}, Across: report.Verbatim("x"),
		Axis: report.Verbatim("density, ratio"), FromZero: true,
	}
}

// ratioChart draws a fit at each epsilon, the fit without privacy and the truth.
// Curves are cut at three times the true ratio's peak: what is beyond is said by the
// tables.
func (r *Result) ratioChart(setting, title, reference, method string) *report.Lines {
	l := &report.Lines{Title: report.Verbatim(title), Across: report.Verbatim("x"), Axis: report.Verbatim("weight, as fitted"), FromZero: true}
	s := Settings()[0]
	for _, x := range Settings() {
		if x.Name == setting {
			s = x
		}
	}
	truth, peak := report.Curve{Name: report.Verbatim("the truth")}, 0.0
	for i := range r.Curves {
		c := &r.Curves[i]
		name := ""
		switch c.Method {
		case setting + ": " + reference:
			name = reference
		case setting + ": " + method:
			name = fmt.Sprintf("epsilon %g", c.Epsilon)
		default:
			continue
		}
		if truth.X == nil {
			truth.X = c.X
			for _, x := range c.X {
				truth.Y = append(truth.Y, s.Ratio([]float64{x}))
				peak = max(peak, s.Ratio([]float64{x}))
			}
			l.Curves = append(l.Curves, truth)
		}
		cut := report.Curve{Name: report.Verbatim(name), X: c.X}
		for _, y := range c.Y {
			if y > 3*peak {
				y = math.NaN()
			}
			cut.Y = append(cut.Y, y)
		}
		l.Curves = append(l.Curves, cut)
	}
	return l
}

// censusChart draws the errors of the weighted answers, relative to those of the public
// part as it is.
func (r *Result) censusChart() report.Chart {
	l := &report.Lines{
		Title: report.Verbatim("Error left after weighting"), Across: report.Verbatim("epsilon"),
		Axis: report.Verbatim("share of the unweighted error"), ScaleX: report.Log, FromZero: true, FormatY: report.Percent,
	}
	at := map[string]int{}
	for i := range r.Adult {
		x := &r.Adult[i]
		if x.Question == Accuracy || x.ErrorUnweighted == 0 {
			continue
		}
		k, ok := at[x.Question]
		if !ok {
			k = len(l.Curves)
			at[x.Question] = k
			l.Curves = append(l.Curves, report.Curve{Name: report.Verbatim(x.Question)})
		}
		c := &l.Curves[k]
		c.X, c.Y = append(c.X, x.Epsilon), append(c.Y, x.ErrorWeighted/x.ErrorUnweighted)
	}
	return l
}
