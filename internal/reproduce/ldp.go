package reproduce

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	experiment "github.com/noren-privacy/noren/experiments/ldp"
	"github.com/noren-privacy/noren/lang"
)

func newLDP(t *terminal) *cobra.Command {
	var o experiment.Options
	var page string
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "ldp",
		Short: "Reproduce the paper on local privacy: Tables 1 to 10 and Figures 2 to 6",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkTarget(page, force); err != nil {
				return err
			}
			o.Dir, o.Public, o.Progress = dataFolder(o.Dir), referenceTable, t.progress.report
			var rows []experiment.Row
			err := experiment.Reproduce(c.Context(), o, func(r experiment.Row) error { rows = append(rows, r); return nil })
			t.progress.clear()
			if err != nil {
				return err
			}
			if page != "" {
				if err := writeFile(page, force, t.stdout, experiment.Figures(rows).Write); err != nil {
					return err
				}
			}
			if asJSON {
				enc := json.NewEncoder(t.stdout)
				enc.SetEscapeHTML(false)
				for _, r := range rows {
					if err := enc.Encode(r); err != nil {
						return err
					}
				}
				return nil
			}
			printLDP(t.stdout, rows)
			return nil
		},
	}
	s := c.Flags()
	s.StringVar(&o.Dir, "data", "", "`FOLDER` of the reference data sets")
	s.IntVar(&o.Repeats, "repeats", 30, "`times` that each cross-validation is repeated, with fresh folds and noise")
	s.Uint64Var(&o.Seed, "seed", 0, "seed of folds, noise and forests")
	s.IntVar(&o.Workers, "workers", 0, "parallel workers (default: one per processor); the figures do not depend on it")
	s.BoolVar(&o.Tables, "tables", false, "leave out the curves of the figures and the improvement")
	s.StringVar(&page, "report", "", "write tables and figures to this `FILE`")
	s.BoolVar(&force, "force", false, "replace the page when it exists")
	s.BoolVar(&asJSON, "json", false, "print one JSON object per line")
	return c
}

func printLDP(w io.Writer, rows []experiment.Row) {
	for _, t := range experiment.Tables(rows) {
		t.WriteText(w, lang.English)
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "Notes")
	for i, n := range experiment.Notes(rows) {
		fmt.Fprintf(w, "  [%d] %s\n", i+1, n)
	}
	fmt.Fprintln(w, "\nWhat is guaranteed, and what is not")
	for _, sentence := range experiment.Statement() {
		fmt.Fprintf(w, "  %s\n", sentence)
	}
}
