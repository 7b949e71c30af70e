// Package correlated reproduces the example and the figures of the report on
// grant 24650064 (Nakagawa 2014) beside ours, and the comparison of methods for
// chains of a hundred records (docs/correlated-privacy.md).
package correlated

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/correlated/harm"
)

// Options say what to reproduce.
type Options struct {
	// Quick leaves out the slowest rows of the comparison.
	Quick    bool
	Progress noren.Progress
}

// Check is a figure that the report prints, and ours.
type Check struct {
	What    string  `json:"what"`
	Printed string  `json:"printed"`
	Ours    float64 `json:"ours"`
	Shown   string  `json:"shown"` // ours to the printed digits
	Agrees  bool    `json:"agrees"`
}

// Row is one line of the comparison: calibrated scales of a count over a chain.
type Row struct {
	Chain       string  `json:"chain"`
	Records     int     `json:"n"`
	Epsilon     float64 `json:"epsilon"`
	Independent float64 `json:"independent"`
	Exact       float64 `json:"exact"`
	Empty       float64 `json:"exact_empty"`
	Tanh        float64 `json:"tanh"`
	Quilt       float64 `json:"quilt"`
	QuiltApprox float64 `json:"quilt_approx"`
	Group       float64 `json:"group"`
	// Witness says who learns most at the exact scale.
	Witness string `json:"witness"`
	// Note is what docs/correlated-privacy.md prints: exact, empty, tanh, quilt
	// and group, from the independent prototype.
	Note []string `json:"note"`
	// Agrees reports that ours are the same to the printed digits.
	Agrees bool `json:"agrees"`
}

// HarmRow is one worked optimum of the price of identification.
type HarmRow struct {
	Identification float64   `json:"identification"`
	Scale          float64   `json:"scale"`
	Total          float64   `json:"total"`
	AtLimit        bool      `json:"at_limit"`
	Minima         []float64 `json:"minima"`
	Printed        string    `json:"printed"`
	Agrees         bool      `json:"agrees"`
}

// Result is everything that [Run] makes.
type Result struct {
	Report     []Check   `json:"report"`
	Comparison []Row     `json:"comparison"`
	Harm       []HarmRow `json:"harm"`
	// Verdict says in sentences what came out.
	Verdict []string `json:"verdict"`
}

// pair is the report's example: two records, equal 98 times in 100.
func pair() (*correlated.JointTable, error) {
	return correlated.NewJointTable([]int{2, 2}, []float64{.49, .01, .01, .49})
}

// Run reproduces all of it in a few seconds.
func Run(ctx context.Context, o Options) (*Result, error) {
	r := &Result{}
	o.Progress.Report("report", 0, 0)
	var err error
	if r.Report, err = reportChecks(ctx); err != nil {
		return nil, err
	}
	if r.Harm, err = harmRows(ctx); err != nil {
		return nil, err
	}
	rows := table()
	for i, line := range rows {
		o.Progress.Report("chains", int64(i), int64(len(rows)))
		if o.Quick && line.epsilon < 1 {
			continue
		}
		row, err := line.make(ctx)
		if err != nil {
			return nil, err
		}
		r.Comparison = append(r.Comparison, *row)
	}
	r.Verdict = verdict(r)
	return r, nil
}

// round writes v with as many places as printed has.
func round(v float64, printed string) string {
	_, fraction, _ := strings.Cut(printed, ".")
	return fmt.Sprintf("%.*f", len(fraction), v)
}

// reportChecks are the figures of section 4(1): b = 10, the answer 2.
func reportChecks(ctx context.Context) ([]Check, error) {
	m, err := pair()
	if err != nil {
		return nil, err
	}
	strong, err := correlated.Look(ctx, m, correlated.Count(1), 10,
		correlated.Adversary{Target: 0, Known: []correlated.Known{{Record: 1, State: 1}}}, []float64{2})
	if err != nil {
		return nil, err
	}
	weak, err := correlated.Look(ctx, m, correlated.Count(1), 10, correlated.Adversary{Target: 0}, []float64{2})
	if err != nil {
		return nil, err
	}
	var all []Check
	add := func(what, printed string, v float64) {
		digits := strings.TrimPrefix(printed, "e^")
		c := Check{What: what, Printed: printed, Ours: v, Shown: round(v, digits)}
		if strings.HasPrefix(printed, "e^") {
			c.Shown = "e^" + round(math.Log(v), digits)
		}
		c.Agrees = c.Shown == printed
		all = append(all, c)
	}
	add("P(d1=0 | d2=1)", "0.02", strong.Prior[0])
	add("P(d1=1 | d2=1)", "0.98", strong.Prior[1])
	add("P(d1=0 | r=2, d2=1)", "0.018", strong.Posterior[0][0])
	add("P(d1=1 | r=2, d2=1)", "0.982", strong.Posterior[1][0])
	add("CBP, d2 known", "e^-0.1", strong.Density[0][0]/strong.Density[1][0])
	add("P(d1=0)", "0.50", weak.Prior[0])
	add("P(d1=0 | r=2)", "0.45", weak.Posterior[0][0])
	add("P(d1=1 | r=2)", "0.55", weak.Posterior[1][0])
	add("CBP, d2 not known", "e^-0.2", weak.Density[0][0]/weak.Density[1][0])
	return all, nil
}

// line is a row of the table of docs/correlated-privacy.md.
type line struct {
	name    string
	init    []float64
	p       [][]float64
	epsilon float64
	note    []string
}

func symmetric(stay, epsilon float64, note ...string) line {
	name := fmt.Sprintf("symmetric, stay %g", stay)
	if stay < 0.5 {
		name = fmt.Sprintf("anti-correlated, stay %g", stay)
	}
	return line{name, []float64{.5, .5}, [][]float64{{stay, 1 - stay}, {1 - stay, stay}}, epsilon, note}
}

// table is the comparison as docs/correlated-privacy.md prints it: exact for
// all adversaries, exact for those who know no record, tanh rule, quilts, group.
func table() []line {
	one := func(epsilon float64, note ...string) line {
		return line{"[[.9,.1],[.4,.6]], from 0", []float64{1, 0}, [][]float64{{.9, .1}, {.4, .6}}, epsilon, note}
	}
	return []line{
		symmetric(.9, .2, "44.93", "44.93", "44.98", "251.4", "500"),
		symmetric(.9, 1, "8.653", "8.640", "8.908", "31.74", "100"),
		symmetric(.9, 5, "1.081", "0.794", "1.412", "1.525", "20"),
		symmetric(.7, 1, "2.259", "2.257", "2.314", "6.724", "100"),
		symmetric(.6, 1, "1.468", "1.467", "1.491", "3.572", "100"),
		symmetric(.2, 1, "1.000", "0.637", "3.961", "13.08", "100"),
		one(.2, "16.18", "15.39", "18.36", "93.78", "500"),
		one(1, "3.383", "3.336", "3.639", "12.93", "100"),
		{
			"[[.8,.2],[.3,.7]], from (.9,.1)",
			[]float64{.9, .1},
			[][]float64{{.8, .2}, {.3, .7}},
			1,
			[]string{"3.024", "3.024", "3.027", "10.64", "100"},
		},
	}
}

// chainLength is the number of records in the comparison.
const chainLength = 100

func (l *line) make(ctx context.Context) (*Row, error) {
	c, err := correlated.NewHomogeneousChain(l.init, l.p, chainLength)
	if err != nil {
		return nil, err
	}
	count := correlated.Count(1)
	r := &Row{Chain: l.name, Records: chainLength, Epsilon: l.epsilon, Independent: 1 / l.epsilon, Note: l.note}
	exact, err := correlated.Calibrate(ctx, c, count, l.epsilon, correlated.LeakageOptions{Method: correlated.Exact})
	if err != nil {
		return nil, err
	}
	r.Exact, r.Witness = exact.Scale, exact.Leakage.Witness.String()
	empty, err := correlated.Calibrate(ctx, c, count, l.epsilon,
		correlated.LeakageOptions{Method: correlated.Exact, Adversaries: correlated.EmptyAdversaries()})
	if err != nil {
		return nil, err
	}
	r.Empty = empty.Scale
	tanh, err := correlated.Calibrate(ctx, c, count, l.epsilon, correlated.LeakageOptions{Method: correlated.Tanh})
	if err != nil {
		return nil, err
	}
	r.Tanh = tanh.Scale
	if r.Quilt, err = correlated.QuiltScale(ctx, c, count, l.epsilon, false); err != nil {
		return nil, err
	}
	if r.QuiltApprox, err = correlated.QuiltScale(ctx, c, count, l.epsilon, true); err != nil {
		return nil, err
	}
	if r.Group, err = correlated.GroupScale(c, count, l.epsilon); err != nil {
		return nil, err
	}
	r.Agrees = true
	for i, v := range []float64{r.Exact, r.Empty, r.Tanh, r.Quilt, r.Group} {
		r.Agrees = r.Agrees && round(v, l.note[i]) == l.note[i]
	}
	return r, nil
}

// workedCosts are those of the worked optimum of docs/correlated-privacy.md.
func workedCosts(identification float64) *harm.Costs {
	return &harm.Costs{
		DamageSlope: 1, ConcealmentSlope: 2, CreditSlope: 0.1, FalseAlarm: 2, Concealment: 3, Identification: identification,
		Prior: []harm.Share{{Count: 0, P: 0.7}, {Count: 1, P: 0.2}, {Count: 3, P: 0.1}},
	}
}

func harmRows(ctx context.Context) ([]HarmRow, error) {
	var rows []HarmRow
	for _, w := range []struct {
		price   float64
		printed string
	}{{.5, "no interior minimum"}, {2, "no interior minimum"}, {5, "1.067"}, {20, "2.961"}, {100, "7.256"}} {
		o, err := workedCosts(w.price).Optimise(ctx, harm.Search{EpsilonMax: 1000})
		if err != nil {
			return nil, err
		}
		r := HarmRow{Identification: w.price, Scale: o.Scale, Total: o.Total, AtLimit: o.AtLimit, Minima: o.Minima, Printed: w.printed}
		if o.AtLimit {
			r.Agrees = len(o.Minima) == 0 && w.printed == "no interior minimum"
		} else {
			r.Agrees = round(o.Scale, w.printed) == w.printed
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func verdict(r *Result) []string {
	agree := 0
	for _, c := range r.Report {
		if c.Agrees {
			agree++
		}
	}
	lines := []string{fmt.Sprintf("Of the %d figures of the report's example, %d come out to the printed digits.", len(r.Report), agree)}
	rows := 0
	for _, c := range r.Comparison {
		if c.Agrees {
			rows++
		}
	}
	lines = append(lines,
		fmt.Sprintf("Of the %d rows of the comparison, %d come out to the printed digits.", len(r.Comparison), rows),
		"The report says that a large epsilon asks for large noise, and that the weak adversary asks for a larger epsilon: both are the wrong "+
			"way round for Lap(1/epsilon). The scale b is the parameter here.",
		"That the weaker adversary learns more is a property of positive, symmetric correlation and no theorem: for the chain "+
			"[[.9,.1],[.4,.6]] the worst adversary knows two records, and in the anti-correlated chain he knows the neighbours.",
	)
	return lines
}
