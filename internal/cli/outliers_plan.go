package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"noren/account"
	"noren/outlier"
)

func newOutliersPlan(t *terminal) *cobra.Command {
	var facts outlier.Facts
	var neighbours string
	var asJSON bool
	c := &cobra.Command{
		Use:   "plan --dimensions D --k K --epsilon E [--n N]",
		Short: "Choose the noise from public facts, before any data is read",
		Long: `Compares, from public facts alone, noise scaled by a smooth bound with noise scaled
by the global one, and advises on k, the radius and epsilon.`,
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
			if asJSON {
				return printJSON(t.stdout, struct {
					Schema string `json:"schema"`
					*outlier.Plan
				}{"noren.outliers.plan/1", p})
			}
			w := t.stdout
			fmt.Fprintf(w, "%s neighbours, %d dimensions, k = %d, epsilon %g\n\n", p.Relation, p.Dimensions, p.K, p.Epsilon)
			fmt.Fprintf(w, "  one record can change the count by %s at the most\n", figure(float64(p.G)))
			for _, e := range []struct {
				name string
				e    outlier.Expectation
			}{{"smooth", p.Smooth}, {"global", p.Global}} {
				fmt.Fprintf(w, "  %-7s %s: standard deviation %s, 95 %% within %s\n", e.name, e.e.Noise.Family, figure(e.e.SD), figure(e.e.HalfWidth))
			}
			fmt.Fprintf(w, "  take    %s\n\n", p.Noise.Family)
			for _, a := range p.Advice {
				fmt.Fprintf(w, "  %s\n", a)
			}
			return nil
		},
	}
	s := c.Flags()
	s.IntVar(&facts.Records, "n", 0, "the number of records, where it is public (replace-one)")
	s.IntVar(&facts.Dimensions, "dimensions", 0, "how many columns make the space")
	s.IntVar(&facts.K, "k", 5, "a record with fewer than `K` others within the radius is an outlier")
	s.Float64Var(&facts.Epsilon, "epsilon", 0, "the price")
	s.IntVar(&facts.Guess, "guess", 3, "public guess of how many records change sides at once in data as they are")
	s.StringVar(&neighbours, "neighbours", "add-remove", "add-remove or replace-one")
	s.BoolVar(&asJSON, "json", false, "print one JSON object, noren.outliers.plan/1")
	return c
}
