package reproduce

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	experiment "github.com/noren-privacy/noren/experiments/ratio"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
)

func newRatio(t *terminal) *cobra.Command {
	var o experiment.Options
	var page string
	var force, asJSON, addRemove bool
	var coverage int
	c := &cobra.Command{
		Use:   "ratio",
		Short: "Reproduce the paper on density ratios: methods A, B and C, corrected ones, and ours",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkTarget(page, force); err != nil {
				return err
			}
			if coverage > 0 {
				return runCoverage(c.Context(), t, experiment.CoverageOptions{
					Repeats: coverage, Epsilons: []float64{0.1, 1, 3}, AddRemove: addRemove, Seed: o.Seed, Settings: o.Settings,
					Progress: t.progress.report,
				}, asJSON)
			}
			o.Dir, o.Public, o.Progress = dataFolder(o.Dir), referenceTable, t.progress.report
			r, err := experiment.Run(c.Context(), o)
			t.progress.clear()
			if err != nil {
				return err
			}
			if page != "" {
				if err := writeFile(page, force, t.stdout, r.Figures().Write); err != nil {
					return err
				}
			}
			if asJSON {
				return emitRatio(json.NewEncoder(t.stdout), r)
			}
			printRatio(t, r)
			return nil
		},
	}
	s := c.Flags()
	s.StringVar(&o.Dir, "data", "", "`FOLDER` of the reference data sets")
	s.IntVar(&o.Repeats, "repeats", 100, "`times` that each setting is drawn, with fresh tables and noise")
	s.StringSliceVar(&o.Settings, "setting", nil, "`settings`, comma-separated: S1, S2, S3, S4 (default: all, and the census)")
	s.Uint64Var(&o.Seed, "seed", 1, "seed of tables and noise")
	s.IntVar(&coverage, "coverage", 0,
		"instead: `times` that each setting of the study of coverage is drawn (docs/density-ratio.md, section 15)")
	s.BoolVar(&addRemove, "add-remove", false, "with --coverage: the number of private records is not public")
	s.StringVar(&page, "report", "", "write tables and figures to this `FILE`")
	s.BoolVar(&force, "force", false, "replace the page when it exists")
	s.BoolVar(&asJSON, "json", false, "print one JSON object per line; its field kind says what it is")
	return c
}

// runCoverage prints how often answers' intervals hold the truth.
func runCoverage(ctx context.Context, t *terminal, o experiment.CoverageOptions, asJSON bool) error {
	rows, err := experiment.RunCoverage(ctx, o)
	t.progress.clear()
	if err != nil {
		return err
	}
	if asJSON {
		enc := json.NewEncoder(t.stdout)
		enc.SetEscapeHTML(false)
		for i := range rows {
			if err := emitKind(enc, "coverage", rows[i]); err != nil {
				return err
			}
		}
		return nil
	}
	w := grid.New(t.stdout)
	fmt.Fprintln(w, "setting\tquestion\tepsilon\tcovered\twarned\tsilent misses\thalf-width\tmean error\tunweighted\ttest")
	for _, r := range rows {
		verdict := "held"
		if r.SilentP() < 1e-4 {
			verdict = "REJECTED"
		}
		fmt.Fprintf(w, "%s\t%s\t%g\t%.3f\t%.3f\t%.3f\t%.4f\t%.4f\t%.4f\t%s\n", r.Setting, r.Question, r.Epsilon, r.Covered, r.Warned, r.Silent,
			r.Width, r.Error, r.Unweighted, verdict)
	}
	return w.Flush()
}

func emitRatio(enc *json.Encoder, r *experiment.Result) error {
	enc.SetEscapeHTML(false)
	for i := range r.Rows {
		if err := emitKind(enc, "error", r.Rows[i]); err != nil {
			return err
		}
	}
	for i := range r.Adult {
		if err := emitKind(enc, "census", r.Adult[i]); err != nil {
			return err
		}
	}
	if r.Facts != nil {
		if err := emitKind(enc, "census-parts", r.Facts); err != nil {
			return err
		}
	}
	return enc.Encode(map[string]any{"kind": "verdict", "sentences": r.Verdict})
}

func printRatio(t *terminal, r *experiment.Result) {
	for _, table := range r.Tables() {
		table.WriteText(t.stdout, lang.English)
		fmt.Fprintln(t.stdout)
	}
	for i, n := range r.Notes() {
		fmt.Fprintf(t.stdout, "[%d] %s\n", i+1, n)
	}
	if len(r.Rows) > 0 {
		fmt.Fprintln(t.stdout)
	}
	for _, sentence := range r.Verdict {
		fmt.Fprintln(t.stdout, sentence)
	}
}
