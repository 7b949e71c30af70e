package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
)

func newCorrelated(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "correlated",
		Short: "Calibrate noise for records that depend on each other",
		Args:  cobra.NoArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCorrelatedLeakage(t), newCorrelatedCalibrate(t), newCorrelatedAnswer(t), newCorrelatedExplain(t), newCorrelatedFit(t))
	return c
}

// modelFlags name a query, the adversaries, and how much work may be done.
type modelFlags struct {
	query       string
	adversaries string
	method      string
	budget      int
	gap         float64
}

func (f *modelFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.query, "query", "", "the query: a JSON `FILE`, or JSON itself")
	s.StringVar(&f.adversaries, "adversaries", "all",
		"all, empty (who know no record), full (who know all others), or a JSON `FILE` that lists them")
	s.StringVar(&f.method, "method", "auto", "how the leakage is computed: auto, exact, quilt, tanh or range")
	s.IntVar(&f.budget, "budget", 0, "most configurations that an exact evaluation enumerates (default: by the model)")
	s.Float64Var(&f.gap, "gap", 0, "largest relative difference of the upper and lower bound by Markov quilts (default 0.01)")
}

// request is what the flags say of the query. A text that begins with { is the query
// itself, any other is a file.
func (f *modelFlags) request() (q api.ModelQuery, err error) {
	q = api.ModelQuery{Budget: f.budget, Gap: f.gap}
	if strings.HasPrefix(strings.TrimSpace(f.query), "{") {
		q.Query = json.RawMessage(f.query)
	} else {
		q.QueryFile = f.query
	}
	switch f.adversaries {
	case "all", "empty", "full":
		q.Adversaries = json.RawMessage(`"` + f.adversaries + `"`)
	case "":
		return q, &noren.Error{Kind: noren.Usage, Where: "--adversaries", What: "expected all, empty, full, or a file that can be read"}
	default:
		q.AdversariesFile = f.adversaries
	}
	q.Method, err = correlated.ParseMethod(f.method)
	return q, err
}

// dependence is a request's model and query.
func (f *modelFlags) dependence(model string) (api.Dependence, error) {
	q, err := f.request()
	return api.Dependence{ModelFile: model, ModelQuery: q}, err
}

func newCorrelatedLeakage(t *terminal) *cobra.Command {
	var model modelFlags
	var scale float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "leakage MODEL --query Q --scale B",
		Short: "Compute an upper bound on the leakage about one record for a given noise scale",
		Args:  exactly("MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := model.dependence(args[0])
			if err != nil {
				return err
			}
			l, err := t.service(nil).CorrelatedLeakage(c.Context(), &api.CorrelatedLeakageRequest{Dependence: d, Scale: scale})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, l)
			}
			lang.Fprintf(t.stdout, "%s of %s, noise of scale %s, against %s\n\n", l.Query, args[0], figure(l.Scale), l.Adversaries)
			printLeakage(t, l.Leakage)
			return nil
		},
	}
	model.register(c)
	c.Flags().Float64Var(&scale, "scale", 0, "the scale `B` of the Laplace noise")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, "+api.CorrelatedLeakageSchema)
	return c
}

// printLeakage prints a leakage whose bounds are decimals.
func printLeakage(t *terminal, l *correlated.Leakage) {
	w := t.stdout
	how := noren.Textf("exactly")
	if !l.Exact {
		how = noren.Textf("a bound; at least %s", api.Decimal(l.Lower))
	}
	lang.Fprintf(w, "  leakage     %s (%s, by %s)\n", api.Decimal(l.Upper), how, l.Method)
	if l.Witness != nil {
		lang.Fprintf(w, "  worst       %s\n", l.Witness)
	}
}

func newCorrelatedCalibrate(t *terminal) *cobra.Command {
	var model modelFlags
	var epsilon float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "calibrate MODEL --query Q --epsilon E",
		Short: "Find the smallest noise with a leakage below epsilon, and compare other methods",
		Args:  exactly("MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := model.dependence(args[0])
			if err != nil {
				return err
			}
			found, err := t.service(nil).CorrelatedCalibrate(c.Context(), &api.CorrelatedCalibrateRequest{Dependence: d, Epsilon: epsilon})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, found)
			}
			printCalibration(t, args[0], found)
			return nil
		},
	}
	model.register(c)
	c.Flags().Float64Var(&epsilon, "epsilon", 0, "the largest leakage about one record")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, "+api.CorrelatedCalibrateSchema)
	return c
}

func printCalibration(t *terminal, path string, c *api.CorrelatedCalibrate) {
	w := t.stdout
	lang.Fprintf(w, "%s of %s, epsilon %s, against %s\n\n  scale       %s\n", c.Query, path, api.Decimal(c.Epsilon), c.Adversaries,
		figure(c.Scale))
	printLeakage(t, c.Leakage)
	lang.Fprintln(w, "\nscales of other methods")
	for _, b := range words.Baselines(t.lang, c.Baselines) {
		fmt.Fprintf(w, "  %s %14s   %s\n", grid.Pad(t.lang.Shown(b.Method), 18), figure(b.Scale), t.lang.Shown(b.Protects))
	}
}

func newCorrelatedExplain(t *terminal) *cobra.Command {
	var model modelFlags
	var epsilon float64
	var output string
	var force bool
	c := &cobra.Command{
		Use:   "explain MODEL --query Q --epsilon E -o PAGE",
		Short: "Write a page: which adversary learns most, and leakage over the noise scale",
		Args:  exactly("MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				return &noren.Error{Kind: noren.Usage, Where: "-o", What: "no page is named", Hint: "-o page.html"}
			}
			if err := checkTargets(force, output); err != nil {
				return err
			}
			d, err := model.dependence(args[0])
			if err != nil {
				return err
			}
			page, err := t.service(nil).CorrelatedExplain(c.Context(), &api.CorrelatedExplainRequest{Dependence: d, Epsilon: epsilon})
			if err != nil {
				return err
			}
			return writeFile(output, force, t.stdout, page.In(t.lang).Write)
		},
	}
	model.register(c)
	s := c.Flags()
	s.Float64Var(&epsilon, "epsilon", 0, "the largest leakage about one record")
	s.StringVarP(&output, "output", "o", "", "write the page to this `FILE`, or - for standard output")
	s.BoolVar(&force, "force", false, "replace the page when it exists")
	return c
}
