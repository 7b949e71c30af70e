package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/report"
)

func newOutliersPlan(t *terminal) *cobra.Command {
	var facts outlier.Facts
	var neighbours string
	var share float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "plan --dimensions D --k K --epsilon E [--n N]",
		Short: "Choose the noise from public facts, before any data is read",
		Long: `Compares, from public facts alone, noise scaled by a smooth bound with noise scaled
by the global one, and advises on k, the radius and epsilon. A table shows the standard
deviation over the expected count (--share) for numbers of records and epsilons: where both are
above one half, the answer says little and is not worth its epsilon.`,
		Example: `  noren outliers plan --n 10000 --dimensions 2 --k 5 --epsilon 1
  noren outliers plan --n 400 --dimensions 34 --k 5 --epsilon 0.5 --neighbours replace-one --json`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			var err error
			if facts.Neighbours, err = account.ParseNeighbours(neighbours); err != nil {
				return at("--neighbours", err)
			}
			p, err := outlier.NewPlan(facts)
			if err != nil {
				return err
			}
			records := []int{facts.Records}
			if facts.Records == 0 {
				records = []int{1000, 10_000, 100_000, 1_000_000}
			}
			rows, err := outlier.PlanTable(facts, share, records, planEpsilons(facts.Epsilon))
			if err != nil {
				return at("--share", err)
			}
			if asJSON {
				return printJSON(t.stdout, struct {
					Schema string `json:"schema"`
					*outlier.Plan
					Share float64           `json:"outlier_share"`
					Rows  []outlier.PlanRow `json:"table"`
				}{"noren.outliers.plan/1", p, share, rows})
			}
			w := t.stdout
			fmt.Fprintf(w, "%s neighbours, %d dimensions, k = %d, epsilon %g\n\n", p.Relation, p.Dimensions, p.K, p.Epsilon)
			fmt.Fprintf(w, "  one record can change the count by at most %s\n", figure(float64(p.G)))
			for _, e := range []struct {
				name, when string
				e          outlier.Expectation
			}{
				{"smooth", fmt.Sprintf("if at most %d records change sides at once (a guess, not a bound)", p.Guess), p.Smooth},
				{"global", "whatever the data", p.Global},
			} {
				fmt.Fprintf(w, "  %-7s %s: standard deviation %s, 95 %% within %s, %s\n", e.name, e.e.Noise.Family, figure(e.e.SD), figure(e.e.HalfWidth), e.when)
			}
			fmt.Fprintf(w, "  take    %s\n\n", p.Noise.Family)
			for _, a := range p.Advice {
				fmt.Fprintf(w, "  %s\n", a)
			}
			fmt.Fprintln(w)
			table := planTable(rows, share)
			printTable(w, &table)
			return nil
		},
	}
	s := c.Flags()
	s.Float64Var(&share, "share", 0.01, "public guess of the share of records that are outliers")
	s.IntVar(&facts.Records, "n", 0, "the number of records, where it is public (replace-one)")
	s.IntVar(&facts.Dimensions, "dimensions", 0, "how many columns make the space")
	s.IntVar(&facts.K, "k", 5, "a record with fewer than `K` others within the radius is an outlier")
	s.Float64Var(&facts.Epsilon, "epsilon", 0, "the price")
	s.IntVar(&facts.Guess, "guess", 3, "public guess of how many records change sides at once in data as they are")
	s.StringVar(&neighbours, "neighbours", "add-remove", "add-remove or replace-one")
	s.BoolVar(&asJSON, "json", false, "print one JSON object, noren.outliers.plan/1")
	return c
}

// planEpsilons are the epsilons of the table, with the one asked for.
func planEpsilons(asked float64) []float64 {
	out := []float64{0.1, 0.3, 1, 3, asked}
	slices.Sort(out)
	return slices.Compact(out)
}

// planTable compares noise and count.
func planTable(rows []outlier.PlanRow, share float64) report.Table {
	t := report.Table{
		Caption: fmt.Sprintf("standard deviation over the count, if %s of the records are outliers", report.Percent(share)),
		Header:  []string{"records", "epsilon", "count", "smooth (if the guess is right)", "Laplace on the global sensitivity", ""},
		Numeric: []bool{true, true, true, true, true, false},
	}
	for _, r := range rows {
		remark := ""
		switch {
		case !r.Useful():
			remark = "says little"
		case r.Smooth >= r.Global:
			remark = "Laplace is as good"
		}
		t.Rows = append(t.Rows, []string{report.Integer(r.Records), figure(r.Epsilon), figure(r.Count), figure(r.Smooth), figure(r.Global), remark})
	}
	return t
}
