package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated/harm"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report/leakage"
	words "github.com/noren-privacy/noren/report/text"
)

func newHarm(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "harm",
		Short: "Compute the expected harm of noise, and find the least harmful noise",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newHarmEvaluate(t), newHarmOptimise(t), newHarmThreshold(t))
	return c
}

// dependenceFlags name a model of dependent records; without it they are independent.
type dependenceFlags struct {
	query modelFlags
	model string
}

func (f *dependenceFlags) register(c *cobra.Command) {
	f.query.register(c)
	c.Flags().
		StringVar(&f.model, "model", "",
			"compute the probability of identification from the leakage under this model, a JSON `FILE` (with --query)")
}

// request is the model and its query, nil without one.
func (f *dependenceFlags) request() (*api.Dependence, error) {
	if f.model == "" {
		return nil, nil
	}
	d, err := f.query.dependence(f.model)
	return &d, err
}

func newHarmEvaluate(t *terminal) *cobra.Command {
	var d dependenceFlags
	var r api.HarmEvaluateRequest
	var chart string
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "evaluate COSTS --scale B",
		Short: "Compute the expected damage, concealment and credit of noise of a scale",
		Args:  exactly("COSTS"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			r.CostsFile = args[0]
			if r.Dependence, err = d.request(); err != nil {
				return err
			}
			e, err := t.service(nil).HarmEvaluate(c.Context(), &r)
			if err != nil {
				return err
			}
			if chart != "" {
				lines, _ := leakage.Harm(e.Costs, e.Costs.FirstCounts(6))
				if err := writeFile(chart, force, t.stdout, func(w io.Writer) error { return lines.WriteSVG(w, t.lang) }); err != nil {
					return err
				}
			}
			if asJSON {
				return printJSON(t.stdout, e)
			}
			printHarm(t.stdout, e.Evaluation)
			return nil
		},
	}
	d.register(c)
	s := c.Flags()
	s.Float64Var(&r.Scale, "scale", 0, "the scale `B` of Laplace noise")
	s.Float64Var(&r.Geometric, "geometric", 0, "the `EPSILON` of two-sided geometric noise")
	s.StringVar(&chart, "figure", "", "draw the harm of an answer over the noise to this SVG `FILE`")
	s.BoolVar(&force, "force", false, "replace the figure when it exists")
	s.BoolVar(&asJSON, "json", false, "print one JSON object, "+api.HarmEvaluateSchema)
	return c
}

func printHarm(w io.Writer, e *harm.Evaluation) {
	l := lang.Of(w)
	lang.Fprintf(w, "noise of scale %s\n\n", figure(e.Scale))
	for _, row := range []struct {
		name  string
		value float64
	}{
		{l.Text("damage"), e.Damage},
		{l.Text("concealment"), e.Concealment},
		{l.Text("credit"), e.Credit},
		{l.Text("false alarm, probability"), e.FalseAlarm},
		{l.Text("identified, probability"), e.Identified},
		{l.Text("total"), e.Total},
	} {
		fmt.Fprintf(w, "  %s %s\n", grid.Pad(row.name, 26), figure(row.value))
	}
	heads := []string{
		l.Text("count"), l.Text("prior"), l.Text("damage"), l.Text("concealment"), l.Text("credit"), l.Text("alarm"),
		l.Text("no alarm"),
	}
	fmt.Fprint(w, "\n ")
	for i, width := range []int{6, 10, 12, 12, 12, 10, 10} {
		fmt.Fprint(w, " ", strings.Repeat(" ", max(0, width-grid.Width(heads[i]))), heads[i])
	}
	fmt.Fprintln(w)
	for _, k := range e.Cases {
		fmt.Fprintf(w, "  %6d %10s %12s %12s %12s %10s %10s\n", k.T, figure(k.P), figure(k.Damage), figure(k.Concealment), figure(k.Credit),
			figure(k.Alarm), figure(k.NoAlarm))
	}
}

func newHarmOptimise(t *terminal) *cobra.Command {
	var d dependenceFlags
	var r api.HarmOptimiseRequest
	var epsilonMax float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "optimise COSTS",
		Short: "Find the noise scale with the smallest expected harm and risk of identification",
		Args:  exactly("COSTS"),
		RunE: func(c *cobra.Command, args []string) (err error) {
			r.CostsFile = args[0]
			if c.Flags().Changed("epsilon-max") {
				r.EpsilonMax = &epsilonMax
			}
			if r.Dependence, err = d.request(); err != nil {
				return err
			}
			best, err := t.service(nil).HarmOptimise(c.Context(), &r)
			t.progress.clear()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, best)
			}
			printHarm(t.stdout, &best.Evaluation)
			if limit := words.HarmLimit(t.lang, best, r.EpsilonMax != nil); limit != "" {
				if r.EpsilonMax == nil {
					limit += t.lang.Text(": say with --epsilon-max what loss is allowed")
				}
				fmt.Fprintf(t.stdout, "\n  %s\n", limit)
			}
			if best.Threshold != nil {
				printThreshold(t.stdout, best.Threshold)
			}
			return nil
		},
	}
	d.register(c)
	c.Flags().Float64Var(&epsilonMax, "epsilon-max", 1000, "the largest privacy loss that is allowed")
	c.Flags().IntVar(&r.Points, "points", 0, "number of scales that are tried before the search narrows (default 400, or 60 with a model)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, "+api.HarmOptimiseSchema)
	return c
}

func newHarmThreshold(t *terminal) *cobra.Command {
	var r api.HarmThresholdRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "threshold COSTS --scale B",
		Short: "Find the optimal alarm threshold",
		Args:  exactly("COSTS"),
		RunE: func(c *cobra.Command, args []string) error {
			r.CostsFile = args[0]
			best, err := t.service(nil).HarmThreshold(c.Context(), &r)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, best)
			}
			printThreshold(t.stdout, &best.Threshold)
			return nil
		},
	}
	c.Flags().Float64Var(&r.Scale, "scale", 0, "the scale `B` of Laplace noise")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, "+api.HarmThresholdSchema)
	return c
}

func printThreshold(w io.Writer, best *harm.Threshold) {
	lang.Fprintf(w, "  threshold %s", figure(best.Tau))
	if best.Uninformative {
		lang.Fprintf(w, ": uninformative, the answer cannot change the decision")
	}
	fmt.Fprintln(w)
}
