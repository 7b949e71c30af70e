package reproduce

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	experiment "github.com/noren-privacy/noren/experiments/correlated"
	"github.com/noren-privacy/noren/internal/grid"
)

func newCorrelated(t *terminal) *cobra.Command {
	var page string
	var o experiment.Options
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "correlated",
		Short: "Reproduce the report on correlated records, and compare methods",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkTarget(page, force); err != nil {
				return err
			}
			o.Progress = t.progress.report
			r, err := experiment.Run(c.Context(), o)
			t.progress.clear()
			if err != nil {
				return err
			}
			if page != "" {
				p, err := experiment.Figures(c.Context(), r)
				if err != nil {
					return err
				}
				if err := writeFile(page, force, t.stdout, p.Write); err != nil {
					return err
				}
			}
			if asJSON {
				return emitCorrelated(json.NewEncoder(t.stdout), r)
			}
			printCorrelated(t, r)
			return nil
		},
	}
	s := c.Flags()
	s.BoolVar(&o.Quick, "quick", false, "leave out the slowest rows of the comparison")
	s.StringVar(&page, "report", "", "write the figures to this `FILE`")
	s.BoolVar(&force, "force", false, "replace the page when it exists")
	s.BoolVar(&asJSON, "json", false, "print one JSON object per line; its field kind says what it is")
	return c
}

func emitCorrelated(enc *json.Encoder, r *experiment.Result) error {
	enc.SetEscapeHTML(false)
	for i := range r.Report {
		if err := emitKind(enc, "report", r.Report[i]); err != nil {
			return err
		}
	}
	for i := range r.Comparison {
		if err := emitKind(enc, "comparison", r.Comparison[i]); err != nil {
			return err
		}
	}
	for i := range r.Harm {
		if err := emitKind(enc, "harm", r.Harm[i]); err != nil {
			return err
		}
	}
	return enc.Encode(map[string]any{"kind": "verdict", "sentences": r.Verdict})
}

func printCorrelated(t *terminal, r *experiment.Result) {
	w := t.stdout
	fmt.Fprintln(w, "the report's figures")
	for _, k := range r.Report {
		fmt.Fprintf(w, "  %s %12s  ours %12s  %s\n", grid.Pad(k.What, 64), k.Printed, k.Shown, agreement(k.Agrees))
	}
	fmt.Fprintln(w, "\nscales for a count over a chain")
	fmt.Fprintf(w, "  %-28s %5s %8s %11s %9s %9s %9s %9s %9s\n",
		"chain", "n", "epsilon", "independent", "exact", "empty", "tanh", "quilt", "group")
	for _, x := range r.Comparison {
		fmt.Fprintf(w, "  %s %5d %8g %11s %9s %9s %9s %9s %9s  %s\n", grid.Pad(x.Chain, 28), x.Records, x.Epsilon,
			figure(x.Independent), figure(x.Exact), figure(x.Empty), figure(x.Tanh), figure(x.Quilt), figure(x.Group), agreement(x.Agrees))
	}
	fmt.Fprintln(w, "\nharm: the best scale for a cost of identification")
	for _, x := range r.Harm {
		fmt.Fprintf(w, "  cost %-11g scale %-10s total %-12s %s\n", x.Identification, figure(x.Scale), figure(x.Total), agreement(x.Agrees))
	}
	fmt.Fprintln(w)
	for _, sentence := range r.Verdict {
		fmt.Fprintln(w, sentence)
	}
}

func agreement(agrees bool) string {
	if agrees {
		return "agrees"
	}
	return "DIFFERS"
}
