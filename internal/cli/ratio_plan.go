package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/report"
)

type ratioPlanFlags struct {
	columnFlags
	spaceFlags
	epsilon    string
	delta      string
	records    int
	neighbours string
	mechanism  string
	centres    int
	json       bool
}

func newRatioPlan(t *terminal) *cobra.Command {
	var f ratioPlanFlags
	c := &cobra.Command{
		Use:   "plan PUBLIC --columns COLUMNS --epsilon E --records N",
		Short: "Estimate the errors of weighted answers before a fit, from the public table",
		Args:  exactly("PUBLIC"),
		RunE:  func(c *cobra.Command, args []string) error { return f.plan(c, t, args[0]) },
	}
	f.registerTypes(c)
	f.spaceFlags.register(c, "the public table")
	s := c.Flags()
	s.Lookup("delimiter").Usage = "field delimiter of PUBLIC: one `CHARACTER`, or tab (detected when left out)"
	s.Lookup("encoding").Usage = "`ENCODING` of PUBLIC: utf-8 or shift_jis (detected when left out)"
	s.StringVar(&f.epsilon, "epsilon", "", "the privacy cost of the fit: `EPSILON`, in decimal")
	s.StringVar(&f.delta, "delta", "", "the privacy cost of the fit: delta, for rkhs-gaussian (default 0)")
	s.IntVar(&f.records, "records", 0, "the expected number of private records")
	s.StringVar(&f.neighbours, "neighbours", "", "add-remove or replace-one (default add-remove)")
	s.StringVar(&f.mechanism, "mechanism", "",
		"noise of kernels: rkhs-pure, rkhs-gaussian (needs --delta), laplace or parametric (default rkhs-pure)")
	s.IntVar(&f.centres, "centres", 0, "number of kernels, about `N` points of the public table (default: as for noren ratio fit)")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+api.RatioPlanSchema)
	return c
}

func (f *ratioPlanFlags) plan(c *cobra.Command, t *terminal, public string) error {
	schema, err := f.schema()
	if err != nil {
		return err
	}
	space, err := f.space(public)
	if err != nil {
		return err
	}
	defer t.progress.clear()
	out, err := t.service(nil).RatioPlan(c.Context(), &api.RatioPlanRequest{
		RatioSpace: space, SpecFile: f.spec, Spec: schema, Epsilon: f.epsilon, Delta: f.delta, Neighbours: f.neighbours,
		Records: f.records, Noise: f.mechanism, Centres: f.centres,
	})
	if err != nil {
		return err
	}
	t.progress.clear()
	if f.json {
		return printJSON(t.stdout, out)
	}
	printRatioPlan(t.stdout, out)
	return nil
}

func printRatioPlan(out io.Writer, p *api.RatioPlan) {
	lang.Fprintf(out, "weights of %s for %s private {record|records} at epsilon %g: a plan, nothing is charged\n\n", p.Input,
		report.Integer(p.Records), p.Epsilon)
	w := grid.New(out)
	lang.Fprintln(w, "  standard error of\tkernels\tmarginals\tboth\tdirect query\tpublic std. deviation")
	for _, a := range p.Answers {
		lang.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", a.Question, figure(a.By[ratio.KernelFeatures].SE), figure(a.By[ratio.MarginalFeatures].SE),
			figure(a.By[ratio.BothFeatures].SE), figure(a.By[ratio.KernelFeatures].Direct), figure(a.SD))
	}
	_ = w.Flush()
	lang.Fprintf(out, "\n  take        --features %s: %s\n", p.Take, p.Why)
	lang.Fprintf(out, "  questions   direct queries are better up to about %s, which share epsilon; weights answer any number\n",
		report.Integer(p.Questions-1))
}
