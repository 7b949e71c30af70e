package report

import (
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
)

// CurveFacts are what a page about the choice of k shows.
type CurveFacts struct {
	// Input names the table; Quasi are its quasi-identifiers.
	Input string
	Quasi []string
	// Unit is the column that tells persons apart. Empty where records count.
	Unit string
	// Points are the results for each k and method.
	Points []kanon.CurvePoint
	// Footer names the program.
	Footer string
}

// ChoiceOfK is the page that shows information loss and risk over k. It is private.
func ChoiceOfK(f CurveFacts) *Page {
	var names []string
	loss, count, risk, both := map[string]*Curve{}, map[string]*Curve{}, map[string]*Curve{}, map[string]*Curve{}
	rows := &Table{
		Header:  Header("method", "k", "groups", "loss", "query error", "highest risk", "mean risk"),
		Numeric: []bool{false, true, true, true, true, true, true},
	}
	counted := false
	for _, p := range f.Points {
		if loss[p.Method] == nil {
			names = append(names, p.Method)
			for _, of := range []map[string]*Curve{loss, count, risk, both} {
				of[p.Method] = &Curve{Name: Verbatim(p.Method)}
			}
		}
		add := func(c *Curve, x, y float64) { c.X, c.Y = append(c.X, x), append(c.Y, y) }
		add(loss[p.Method], float64(p.K), p.Loss)
		if p.CountError != nil {
			counted = true
			add(count[p.Method], float64(p.K), *p.CountError)
		}
		add(risk[p.Method], float64(p.K), p.MeanRisk)
		add(both[p.Method], p.MeanRisk, p.Loss)
		rows.Add(Verbatim(p.Method), strconv.Itoa(p.K), Integer(p.Groups), Percent(p.Loss), Share(p.CountError), Percent(p.MaxRisk),
			Percent(p.MeanRisk))
	}
	lines := func(title, across, axis noren.Format, of map[string]*Curve, percentX bool) *Picture {
		l := &Lines{Title: noren.Textf(title), Across: noren.Textf(across), Axis: noren.Textf(axis), FromZero: true, FormatY: Percent}
		if percentX {
			l.FormatX = Percent
		}
		for _, name := range names {
			l.Curves = append(l.Curves, *of[name])
		}
		return &Picture{Chart: l, Table: rows}
	}
	left := noren.Textf("An attacker who knows the quasi-identifiers of a record is left with at least k records. These are k persons only " +
		"where each person has one record.")
	if f.Unit != "" {
		left = noren.Textf("An attacker who knows the quasi-identifiers of one record of a person is left with at least k persons.")
	}
	costs := []Block{
		{Text: noren.Textf("The loss is the share of the spread of the quasi-identifiers that a release no longer shows. It grows with k; " +
			"where a curve bends is a good place to stop.")},
		{Picture: lines("Loss over k", "k", "loss", loss, false)},
	}
	if counted {
		costs = append(costs,
			Block{Text: noren.Textf("The mean relative error of a count over two to four of these columns in a release of matched values.")},
			Block{Picture: lines("Error of a count over k", "k", "mean error of a count", count, false)},
		)
	}
	return &Page{
		Title:   noren.Textf("Choosing k for %s", f.Input),
		Lead:    noren.Textf("What each k would cost, and what it would protect, over %s.", strings.Join(f.Quasi, ", ")),
		Private: true,
		Sections: []Section{
			{Title: noren.Textf("What it costs"), Blocks: costs},
			{Title: noren.Textf("What it protects"), Blocks: []Block{
				{Text: paragraph(left, noren.Textf("The mean risk is the share of records that guessing in the classes finds."))},
				{Picture: lines("Mean risk over k", "k", "share of records", risk, false)},
			}},
			{Title: noren.Textf("Both at once"), Blocks: []Block{
				{Text: noren.Textf("Each point is a k: to the left it protects more, lower it costs less. The method whose curve lies lowest costs " +
					"least for the same risk.")},
				{Picture: lines("Loss over risk", "mean risk", "loss", both, true)},
			}},
		},
		Footer: Verbatim(f.Footer),
	}
}
