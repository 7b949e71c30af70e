package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table"
)

type curveFlags struct {
	columnFlags
	k       string
	methods []string
	refine  string
	scale   string
	linkage string
	workers int
	page    string
	force   bool
	json    bool
}

func newAssessCurve(t *terminal) *cobra.Command {
	var f curveFlags
	c := &cobra.Command{
		Use:   "curve FILE --quasi COLUMNS",
		Short: "Loss and risk over k and methods, to choose k by (private)",
		Long: `Partitions the table for a range of k by each method and shows what every k would cost
and what it would protect: the loss of the quasi-identifiers, the highest chance to
find a person by guessing (1/k or less), and that of a record on average. Nothing is
written but the page of --report.

--k is a list (2,5,10) or a range (2..50), which is walked in some fifteen steps that
widen. With --unit, k counts persons and so do the risks. What it prints holds statistics of the table: it is for the steward.`,
		Example: `  noren assess curve visits.csv --spec noren.yaml --k 2..50 --report curve.html
  noren assess curve visits.csv --quasi age,sex,postcode --k 3,5,10 --methods auto,mondrian,mdav --json`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args[0]) },
	}
	f.register(c)
	s := c.Flags()
	s.StringVar(&f.k, "k", "2..50", "a list or a range of `K`")
	s.StringSliceVar(&f.methods, "methods", []string{"auto", "mondrian"}, "auto, mondrian, mondrian-strict, mdav, vmdav, tomobiki, topdown, comma-separated")
	s.StringVar(&f.refine, "refine", "fast", "local search after each method: off, fast, auto or a duration")
	s.StringVar(&f.scale, "scale", "minmax", "minmax, zscore or none")
	s.StringVar(&f.linkage, "unit-linkage", "", "what others may know of a person's records: one of them, or all and that they are of one person (default one)")
	s.IntVar(&f.workers, "workers", 0, "parallel workers (default: one a processor)")
	s.StringVar(&f.page, "report", "", "write a page with pictures to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the page when it exists")
	s.BoolVar(&f.json, "json", false, "print one JSON object, noren.curve/1")
	return c
}

func (f *curveFlags) run(ctx context.Context, t *terminal, input string) error {
	job := kanon.CurveJob{Workers: f.workers}
	var err error
	if job.K, err = parseKs(f.k); err != nil {
		return err
	}
	for _, name := range f.methods {
		m, err := partition.ParseMethod(name)
		if err != nil {
			return at("--methods", err)
		}
		job.Methods = append(job.Methods, m)
	}
	if job.Refine, err = refine.ParseEffort(f.refine); err != nil {
		return at("--refine", err)
	}
	if job.Scale, err = space.ParseScaling(f.scale); err != nil {
		return at("--scale", err)
	}
	s, err := f.merged()
	if err != nil {
		return err
	}
	if err := t.apart(inputsOf(s, input, f.spec), f.page); err != nil {
		return err
	}
	if err := checkTargets(f.force, f.page); err != nil {
		return err
	}
	src, err := openTable(ctx, input, t, s)
	if err != nil {
		return err
	}
	defer closeSource(src)
	schema, err := resolve(ctx, s, src, t)
	if err != nil {
		return err
	}
	if src, schema, err = withNumbers(t, s, src, schema, nil); err != nil {
		return err
	}
	if _, err := quasiNames(schema); err != nil {
		return err
	}
	if f.linkage == "" {
		f.linkage = s.Anonymize.UnitLinkage
	}
	if f.linkage != "" {
		if job.Linkage, err = kanon.ParseLinkage(f.linkage); err != nil {
			return at("--unit-linkage", err)
		}
	}
	if job.Unit = s.Unit; job.Unit == "" && job.Linkage == kanon.LinkAll {
		return &noren.Error{Kind: noren.Usage, Where: "--unit-linkage", What: "is about persons: name the column that tells them apart", Hint: "--unit person_id"}
	}
	job.Source, job.Schema, job.Missing = src, *schema, s.Input.Missing
	var points []kanon.CurvePoint
	if !f.json {
		fmt.Fprintf(t.stdout, "%-16s %6s %9s %9s %12s %12s %9s\n", "method", "k", "groups", "loss", "highest risk", "mean risk", "seconds")
	}
	err = kanon.Curve(ctx, job, func(p kanon.CurvePoint) error {
		points = append(points, p)
		t.progress.clear()
		if !f.json {
			fmt.Fprintf(t.stdout, "%-16s %6d %9s %9s %12s %12s %9.2f\n", p.Method, p.K, report.Integer(p.Groups), report.Percent(p.Loss), report.Percent(p.MaxRisk), report.Percent(p.MeanRisk), p.Seconds)
		}
		return nil
	}, t.progress.report)
	if err != nil {
		return err
	}
	if f.page != "" {
		if err := writePrivate(f.page, f.force, t.stdout, curvePage(input, s.Unit, roles(schema, table.Quasi), points).Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, map[string]any{"schema": "noren.curve/1", "input": input, "refine": f.refine, "scale": f.scale, "points": points})
	}
	return nil
}

// parseKs reads a list, or a range that is walked in some fifteen widening steps.
func parseKs(text string) ([]int, error) {
	bad := &noren.Error{Kind: noren.Usage, Where: "--k", What: "expected a list as in 2,5,10 or a range as in 2..50, of numbers from 1 on"}
	low, high, ranged := strings.Cut(text, "..")
	if !ranged {
		var ks []int
		for _, part := range splitList(text) {
			k, err := strconv.Atoi(part)
			if err != nil || k < 1 {
				return nil, bad
			}
			ks = append(ks, k)
		}
		slices.Sort(ks)
		return slices.Compact(ks), nil
	}
	from, err := strconv.Atoi(strings.TrimSpace(low))
	to, err2 := strconv.Atoi(strings.TrimSpace(high))
	if err != nil || err2 != nil || from < 1 || to < from {
		return nil, bad
	}
	var ks []int
	for k := from; k < to; k = max(k+1, k*5/4) {
		ks = append(ks, k)
	}
	return append(ks, to), nil
}

// curvePage draws loss and risk over k.
func curvePage(input, unit string, quasi []string, points []kanon.CurvePoint) *report.Page {
	var names []string
	loss, risk, both := map[string]*report.Curve{}, map[string]*report.Curve{}, map[string]*report.Curve{}
	rows := &report.Table{Header: []string{"method", "k", "groups", "loss", "highest risk", "mean risk"}, Numeric: []bool{false, true, true, true, true, true}}
	for _, p := range points {
		if loss[p.Method] == nil {
			names = append(names, p.Method)
			loss[p.Method], risk[p.Method], both[p.Method] = &report.Curve{Name: p.Method}, &report.Curve{Name: p.Method}, &report.Curve{Name: p.Method}
		}
		add := func(c *report.Curve, x, y float64) { c.X, c.Y = append(c.X, x), append(c.Y, y) }
		add(loss[p.Method], float64(p.K), p.Loss)
		add(risk[p.Method], float64(p.K), p.MeanRisk)
		add(both[p.Method], p.MeanRisk, p.Loss)
		rows.Rows = append(rows.Rows, []string{p.Method, strconv.Itoa(p.K), report.Integer(p.Groups), report.Percent(p.Loss), report.Percent(p.MaxRisk), report.Percent(p.MeanRisk)})
	}
	lines := func(title, across, axis string, of map[string]*report.Curve, percentX bool) *report.Picture {
		l := &report.Lines{Title: title, Across: across, Axis: axis, FromZero: true, FormatY: report.Percent}
		if percentX {
			l.FormatX = report.Percent
		}
		for _, name := range names {
			l.Curves = append(l.Curves, *of[name])
		}
		return &report.Picture{Chart: l, Table: rows}
	}
	left := "An attacker who knows the quasi-identifiers of a record is left with at least k records. These are k persons only where each person has one record."
	if unit != "" {
		left = "An attacker who knows the quasi-identifiers of one record of a person is left with at least k persons."
	}
	return &report.Page{
		Title:   "Choosing k for " + input,
		Lead:    "What each k would cost, and what it would protect, over " + strings.Join(quasi, ", ") + ".",
		Private: true,
		Sections: []report.Section{
			{Title: "What it costs", Blocks: []report.Block{
				{Text: "The loss is the share of the spread of the quasi-identifiers that a release no longer shows. It grows with k; where a curve bends is a good place to stop."},
				{Picture: lines("Loss over k", "k", "loss", loss, false)},
			}},
			{Title: "What it protects", Blocks: []report.Block{
				{Text: left + " The mean risk is the share of records that guessing in the classes finds."},
				{Picture: lines("Mean risk over k", "k", "share of records", risk, false)},
			}},
			{Title: "Both at once", Blocks: []report.Block{
				{Text: "Each point is a k: to the left it protects more, lower it costs less. The method whose curve lies lowest costs least for the same risk."},
				{Picture: lines("Loss over risk", "mean risk", "loss", both, true)},
			}},
		},
		Footer: "noren " + Version(),
	}
}
