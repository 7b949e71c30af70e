package ldp

import (
	"fmt"
	"math"
	"strconv"

	"github.com/noren-privacy/noren/ldp"
)

// The axes of the curves: epsilon of an attribute in Figures 2 and 6, of all
// attributes in Figures 3-5.
var (
	perAttribute = []float64{0.1, 0.25, 0.5, 1, 1.5, 2, 3, 4, 6}
	perRecord    = []float64{2, 5, 10, 20, 40, 75}
	// The paper's three, what its decoded labels tell at the first, and 1.
	grrAt = []float64{3.6306, 2.0761, 1.9388, 1.4618, 1}
)

// newPlan lists cells and rows in the paper's order.
func newPlan(t *data, o Options) *plan {
	p := &plan{t: t, o: o}
	p.table1()
	p.table2()
	unit := uint64(10)
	var ldps [len(settings)]variant
	for i, s := range settings {
		ldps[i] = variant{name: "ldp", m: s.rappor, unit: unit}
		unit++
	}
	for model := range learners {
		p.tables(model, ldps[:])
	}
	if o.Tables {
		return p
	}
	for model, figure := range []string{"figure 2", "figure 6"} {
		for _, epsilon := range perAttribute {
			v := variant{name: "ldp", m: oneTime(epsilon), unit: unit}
			unit++
			c := p.cell(model, t.all, v, raw, generalised, v)
			for test := range c.tests {
				p.row(c, test, Row{Table: figure, Parameters: Parameters{Mechanism: "one-time", Epsilon: epsilon}}, v)
			}
		}
	}
	figures := []string{"figure 3", "figure 4", "figure 5"}
	var curves [3][]*cell
	spaces := []struct {
		name string
		s    *space
	}{{"all", t.all}, {"pca5", t.pca5}, {"cov5", t.cov5}}
	for i, s := range spaces {
		for _, epsilon := range perRecord {
			v := variant{name: "ldp", m: oneTime(epsilon / float64(s.s.attributes())), unit: unit}
			unit++
			curves[i] = append(curves[i], p.cell(0, s.s, v, raw, generalised, v))
		}
	}
	for test, figure := range figures {
		for i, s := range spaces {
			for k, epsilon := range perRecord {
				p.row(curves[i][k], test, Row{Table: figure, Parameters: Parameters{
					Mechanism: "one-time", Epsilon: epsilon / float64(s.s.attributes()), Record: epsilon, Attributes: s.name,
				}}, curves[i][k].train)
			}
		}
	}
	for _, epsilon := range grrAt {
		for _, side := range []struct {
			name string
			m    mechanism
		}{{"grr", grr(epsilon)}, {"one-time", oneTime(epsilon)}} {
			v := variant{name: "ldp", m: side.m, unit: unit}
			unit++
			c := p.cell(0, t.all, v, raw, generalised, v)
			for test := range c.tests {
				p.row(c, test, Row{Table: "improvement", Parameters: Parameters{Mechanism: side.name, Epsilon: epsilon}, Note: randomBit}, v)
			}
		}
	}
	return p
}

// cell adds a cross-validation.
func (p *plan) cell(model int, s *space, train variant, tests ...variant) *cell {
	c := &cell{model: model, s: s, train: train, tests: tests}
	p.cells = append(p.cells, c)
	return c
}

// row adds the row of one test set of a cell; randomised is the data whose loss
// is stated.
func (p *plan) row(c *cell, test int, r Row, randomised variant) {
	r.Model, r.Train, r.Test = modelNames[c.model], c.train.name, c.tests[test].name
	p.rows = append(p.rows, func() (Row, error) {
		c.summary(&r, test)
		if randomised.m != nil {
			o, err := randomised.m(labels)
			if err != nil {
				return Row{}, err
			}
			l := o.Loss().Of(c.s.attributes())
			r.Loss = &l
		}
		return r, nil
	})
}

// printed puts the paper's cell into a row.
func (r *Row) printed(v printed) {
	r.Paper = &v.mean
	if v.max > 0 {
		r.PaperMax, r.PaperMin = &v.max, &v.min
	}
}

// table1 compares means and variances, the raw ones with n-1 below, the
// generalised ones with n, which is what fits the paper.
func (p *plan) table1() {
	for j := range table1 {
		for k, figure := range []string{"mean", "variance", "mean", "variance"} {
			r := Row{Table: "1", Test: "raw", Parameters: Parameters{Attribute: j + 1, Figure: figure}, Paper: &table1[j][k]}
			column, below := p.t.values.Column(j), float64(len(p.t.y)-1)
			if k >= 2 {
				r.Test, column, below = "gen", p.t.generalisedPlain.Column(j), float64(len(p.t.y))
			}
			mean, variance := 0.0, 0.0
			for _, v := range column {
				mean += v / float64(len(column))
			}
			for _, v := range column {
				variance += (v - mean) * (v - mean) / below
			}
			r.Mean = mean
			if figure == "variance" {
				r.Mean = variance
			}
			r.Min, r.Max = r.Mean, r.Mean
			if ratio := r.Mean / *r.Paper; ratio > 10 {
				r.Note = slipExponent
			} else if threeDigits(r.Mean) != threeDigits(*r.Paper) {
				r.Note = roundedData
			}
			p.rows = append(p.rows, func() (Row, error) { return r, nil })
		}
	}
}

func threeDigits(v float64) string { return strconv.FormatFloat(v, 'e', 2, 64) }

// table2 compares epsilons: Mean is by the paper's formula, the loss is of what
// runs, with f at a multiple of 1/128.
func (p *plan) table2() {
	for _, s := range settings {
		p.rows = append(p.rows, func() (Row, error) {
			params := ldp.Basic(labels, s.f, s.p, s.q)
			epsilon := params.NominalLoss().Report
			o, err := s.rappor(labels)
			if err != nil {
				return Row{}, err
			}
			l := o.Loss().Of(p.t.all.attributes())
			r := Row{Table: "2", Parameters: s.parameters(), Paper: &s.paper, Mean: epsilon, Min: epsilon, Max: epsilon, Loss: &l, Note: sameChannel}
			r.Parameters.Figure = "epsilon of one report"
			if math.Abs(epsilon-s.paper) > 0.0005 {
				r.Note = slipEpsilon
			}
			return r, nil
		})
	}
}

// parameters of a setting, for rows.
func (s setting) parameters() Parameters {
	epsilon := ldp.Basic(labels, s.f, s.p, s.q).NominalLoss().Report
	if s.p == 0 {
		return Parameters{Mechanism: "one-time", F: s.f, Epsilon: epsilon}
	}
	return Parameters{Mechanism: "basic", F: s.f, P: s.p, Q: s.q, Epsilon: epsilon}
}

// tables adds Tables 3-6 (SVM) or 7-10 (forest).
func (p *plan) tables(model int, ldps []variant) {
	first := p.cell(model, p.t.all, raw, append([]variant{raw, generalised}, ldps...)...)
	table := []string{"3", "7"}[model]
	for test, v := range first.tests {
		r := Row{Table: table}
		r.printed(fromRaw[model][test])
		if test >= 2 {
			r.Parameters = settings[test-2].parameters()
			if model == 1 {
				r.Note = notCrossed
			}
		}
		p.row(first, test, r, v)
	}
	for i, s := range settings {
		c := p.cell(model, p.t.all, ldps[i], raw, generalised, ldps[i])
		for test := range c.tests {
			r := Row{Table: fmt.Sprint(s.table[model]), Parameters: s.parameters()}
			r.printed(fromSetting[model][i][test])
			if model == 1 && test < 2 {
				r.Note = notCrossed
			}
			p.row(c, test, r, ldps[i])
		}
	}
}
