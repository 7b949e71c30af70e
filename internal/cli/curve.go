package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
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
		Short: "Compute information loss and risk over k and methods, to choose k (private)",
		Args:  exactly("FILE"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, args[0]) },
	}
	f.register(c)
	s := c.Flags()
	s.StringVar(&f.k, "k", "2..50", "a list or a range of `K`")
	s.StringSliceVar(&f.methods, "methods", []string{"auto", "mondrian"},
		"auto, mondrian, mondrian-strict, mdav, vmdav, tomobiki, topdown, comma-separated")
	s.StringVar(&f.refine, "refine", "fast", "local search after each method: off, fast, auto or a duration")
	s.StringVar(&f.scale, "scale", "zscore", "zscore, minmax or none")
	s.StringVar(&f.linkage, "unit-linkage", "",
		"what others may know of a person's records: one of them, or all and that they are of one person (default one)")
	s.IntVar(&f.workers, "workers", 0, "parallel workers (default: one per processor)")
	s.StringVar(&f.page, "report", "", "write a page with pictures to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the page when it exists")
	s.BoolVar(&f.json, "json", false, "print one JSON object, noren.curve/1")
	return c
}

func (f *curveFlags) run(ctx context.Context, t *terminal, input string) error {
	ks, err := kanon.ParseKs(f.k)
	if err != nil {
		return err
	}
	s, err := f.merged()
	if err != nil {
		return err
	}
	if f.linkage != "" {
		s.Anonymize.UnitLinkage = f.linkage
	}
	q := api.CurveRequest{
		Table: api.Table{Input: input, Spec: s}, K: ks, Methods: f.methods, Refine: f.refine, Scale: f.scale,
		Workers: f.workers, Report: f.page, Force: f.force,
	}
	if !f.json {
		q.Point = t.printPoint(curveHeading(t.lang))
	}
	result, err := t.service(nil).Curve(ctx, &q)
	t.progress.clear()
	if err != nil {
		return tableError(err)
	}
	if f.json {
		return printJSON(t.stdout, result)
	}
	return nil
}

// curveHeading is the heading of the points of a curve.
func curveHeading(l lang.Lang) string {
	line := grid.Pad(l.Text("method"), 16)
	for _, column := range []struct {
		name  lang.Key
		width int
	}{{"k", 6}, {"groups", 9}, {"loss", 9}, {"query error", 12}, {"highest risk", 12}, {"mean risk", 12}, {"seconds", 9}} {
		name := l.Text(column.name)
		line += strings.Repeat(" ", max(1, column.width+1-grid.Width(name))) + name
	}
	return line + "\n"
}

// printPoint prints the points of a curve as a table, with a heading above the first.
func (t *terminal) printPoint(heading string) func(kanon.CurvePoint) {
	return func(p kanon.CurvePoint) {
		t.progress.clear()
		if heading != "" {
			lang.Fprintln(t.stdout, "private: do not release\n")
			fmt.Fprint(t.stdout, heading)
			heading = ""
		}
		lang.Fprintf(t.stdout, "%-16s %6d %9s %9s %12s %12s %12s %9.2f\n", p.Method, p.K, report.Integer(p.Groups), report.Percent(p.Loss),
			report.Share(p.CountError), report.Percent(p.MaxRisk), report.Percent(p.MeanRisk), p.Seconds)
	}
}
