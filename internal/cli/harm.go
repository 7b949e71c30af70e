package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/correlated/harm"
	"github.com/noren-privacy/noren/report/leakage"
)

func newHarm(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "harm",
		Short: "What noise does to those whom an answer is about",
		Long: `Weighs the harm that noise does: a firm without a bad lot that is reported to have
one, a firm with bad lots that is reported to have none. Costs are a JSON file of
public prices and a public prior: nothing here looks at the true count.`,
		Example: `  noren harm evaluate costs.json --scale 2
  noren harm optimise costs.json --epsilon-max 1
  noren harm threshold costs.json --scale 2
  noren harm evaluate costs.json --scale 2 --figure harm.svg --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newHarmEvaluate(t), newHarmOptimise(t), newHarmThreshold(t))
	return c
}

func readCosts(path string) (*harm.Costs, error) {
	in, err := openSide(path, "the costs")
	if err != nil {
		return nil, err
	}
	return harm.ParseCosts(in, path)
}

// dependence is a model by which identification is priced, where records depend
// on each other.
type dependence struct {
	law   lawFlags
	model string
}

func (d *dependence) register(c *cobra.Command) {
	d.law.register(c)
	c.Flags().StringVar(&d.model, "model", "", "price identification by the leakage under this model, a JSON `FILE` (with --query)")
}

// leakage is CBP over the scale, nil without a model.
func (d *dependence) leakage() (func(ctx context.Context, b float64) (float64, error), *correlated.ModelFile, *correlated.Query, correlated.LeakageOptions, error) {
	if d.model == "" {
		return nil, nil, nil, correlated.LeakageOptions{}, nil
	}
	m, q, o, err := d.law.load(d.model)
	if err != nil {
		return nil, nil, nil, o, err
	}
	return func(ctx context.Context, b float64) (float64, error) {
		l, err := correlated.ComputeLeakage(ctx, m.Model, q, b, o)
		if err != nil {
			return 0, err
		}
		return l.Upper, nil
	}, m, q, o, nil
}

func newHarmEvaluate(t *terminal) *cobra.Command {
	var d dependence
	var scale, epsilon float64
	var chart string
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "evaluate COSTS --scale B",
		Short: "The expected damage, concealment and credit of noise of a scale",
		Example: `  noren harm evaluate costs.json --scale 2
  noren harm evaluate costs.json --geometric 0.5 --json`,
		Args: exactly("COSTS"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			costs, err := readCosts(args[0])
			if err != nil {
				return err
			}
			if (scale == 0) == (epsilon == 0) {
				return &noren.Error{Kind: noren.Usage, What: "say --scale for Laplace noise, or --geometric for two-sided geometric noise"}
			}
			loss := 0.0
			leakage, _, _, _, err := d.leakage()
			if err != nil {
				return err
			}
			if leakage != nil {
				b := scale
				if b == 0 {
					b = 1 / epsilon
				}
				if loss, err = leakage(ctx, b); err != nil {
					return err
				}
			}
			var e *harm.Evaluation
			if scale != 0 {
				e, err = costs.Evaluate(scale, loss)
			} else {
				e, err = costs.EvaluateGeometric(epsilon, loss)
			}
			if err != nil {
				return err
			}
			if chart != "" {
				if err := writeHarm(t, costs, chart, force); err != nil {
					return err
				}
			}
			if asJSON {
				return printJSON(t.stdout, struct {
					Schema string `json:"schema"`
					*harm.Evaluation
				}{"noren.harm.evaluate/1", e})
			}
			printHarm(t, e)
			return nil
		},
	}
	d.register(c)
	s := c.Flags()
	s.Float64Var(&scale, "scale", 0, "the scale `B` of Laplace noise")
	s.Float64Var(&epsilon, "geometric", 0, "the `EPSILON` of two-sided geometric noise")
	s.StringVar(&chart, "figure", "", "draw the harm of an answer over the noise to this SVG `FILE`")
	s.BoolVar(&force, "force", false, "replace the figure when it exists")
	s.BoolVar(&asJSON, "json", false, "print one JSON object, noren.harm.evaluate/1")
	return c
}

// writeHarm draws the report's figure 3 for these costs.
func writeHarm(t *terminal, costs *harm.Costs, path string, force bool) error {
	var counts []int
	for _, share := range costs.Prior {
		if len(counts) < 6 {
			counts = append(counts, share.Count)
		}
	}
	lines, _ := leakage.Harm(costs, counts)
	return writeFile(path, force, t.stdout, lines.WriteSVG)
}

func printHarm(t *terminal, e *harm.Evaluation) {
	w := t.stdout
	fmt.Fprintf(w, "noise of scale %s\n\n", figure(e.Scale))
	for _, row := range []struct {
		name  string
		value float64
	}{
		{"damage", e.Damage},
		{"concealment", e.Concealment},
		{"credit", e.Credit},
		{"false alarm, probability", e.FalseAlarm},
		{"identified, probability", e.Identified},
		{"total", e.Total},
	} {
		fmt.Fprintf(w, "  %-26s %s\n", row.name, figure(row.value))
	}
	fmt.Fprintf(w, "\n  %6s %10s %12s %12s %12s %10s %10s\n", "count", "prior", "damage", "concealment", "credit", "alarm", "no alarm")
	for _, k := range e.Cases {
		fmt.Fprintf(w, "  %6d %10s %12s %12s %12s %10s %10s\n", k.T, figure(k.P), figure(k.Damage), figure(k.Concealment), figure(k.Credit), figure(k.Alarm), figure(k.NoAlarm))
	}
}

func newHarmOptimise(t *terminal) *cobra.Command {
	var d dependence
	var search harm.Search
	var asJSON bool
	c := &cobra.Command{
		Use:   "optimise COSTS",
		Short: "The scale that makes harm and the risk of identification together smallest",
		Long: `Searches all scales of the noise for the one that makes what the noise costs and what
identification costs together smallest. --epsilon-max says what loss is allowed
whatever the prices; without it the search goes down to a loss of 1000, which is no
protection at all, and says so where it ends there.`,
		Example: `  noren harm optimise costs.json
  noren harm optimise costs.json --epsilon-max 1
  noren harm optimise costs.json --epsilon-max 1 --model power.json --query '{"count":"on"}' --json`,
		Args: exactly("COSTS"),
		RunE: func(c *cobra.Command, args []string) error {
			ctx := c.Context()
			costs, err := readCosts(args[0])
			if err != nil {
				return err
			}
			leakage, m, q, o, err := d.leakage()
			if err != nil {
				return err
			}
			if leakage != nil {
				found, err := correlated.Calibrate(ctx, m.Model, q, search.EpsilonMax, o)
				if err != nil {
					return err
				}
				search.Leakage, search.Least = leakage, found.Scale
			}
			best, err := costs.Optimise(ctx, search)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, struct {
					Schema string `json:"schema"`
					*harm.Optimum
				}{"noren.harm.optimise/1", best})
			}
			printHarm(t, best.Evaluation)
			switch {
			case best.AtLimit && !c.Flags().Changed("epsilon-max"):
				fmt.Fprintln(t.stdout, "\n  by these prices no noise at all is the cheapest, which protects nobody: say with --epsilon-max what loss is allowed")
			case best.AtLimit:
				fmt.Fprintln(t.stdout, "\n  the limit decides, and not the prices: no larger scale is better")
			}
			if best.Threshold != nil {
				printThreshold(t, *best.Threshold)
			}
			return nil
		},
	}
	d.register(c)
	c.Flags().Float64Var(&search.EpsilonMax, "epsilon-max", 1000, "the largest loss that is allowed")
	c.Flags().IntVar(&search.Points, "points", 0, "how many scales are tried before the search narrows (default 400, or 60 with a model)")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.harm.optimise/1")
	return c
}

func newHarmThreshold(t *terminal) *cobra.Command {
	var scale float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "threshold COSTS --scale B",
		Short: "From where on an answer should be an alarm",
		Long: `Finds the threshold that makes the expected cost of false alarms and of concealment
smallest. It is free: it only reads the answer. Where the noise is too large for the
prices the answer cannot change the decision, and is said to be uninformative.`,
		Example: `  noren harm threshold costs.json --scale 2`,
		Args:    exactly("COSTS"),
		RunE: func(_ *cobra.Command, args []string) error {
			costs, err := readCosts(args[0])
			if err != nil {
				return err
			}
			best, err := costs.BestThreshold(scale)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, struct {
					Schema string `json:"schema"`
					harm.Threshold
				}{"noren.harm.threshold/1", best})
			}
			printThreshold(t, best)
			return nil
		},
	}
	c.Flags().Float64Var(&scale, "scale", 0, "the scale `B` of Laplace noise")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.harm.threshold/1")
	return c
}

func printThreshold(t *terminal, best harm.Threshold) {
	fmt.Fprintf(t.stdout, "  threshold %s", figure(best.Tau))
	if best.Uninformative {
		fmt.Fprint(t.stdout, ": uninformative, the answer cannot change the decision")
	}
	fmt.Fprintln(t.stdout)
}
