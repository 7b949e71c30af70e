package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/report/leakage"
)

func newCorrelated(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "correlated",
		Short: "Noise for records that depend on each other",
		Long: `Ordinary noise protects a person in a table of strangers. Where records depend on
each other (the minutes of one household's power, the members of one family) an answer
tells more: of a whole run of them at once. Given a public model of the dependence,
these commands compute exactly how much an answer leaks of any one record, to the
adversary for whom it is worst, and how much noise keeps that below epsilon.

A model is a JSON file: {"type":"table","shape":[2,2],"p":[..]},
{"type":"chain","init":[..],"P":[[..]],"length":1440} or
{"type":"tree","parent":[-1,0],"prior":[..],"cpt":[null,[[..]]]}.
A query is a JSON file or text: {"count":"on"}, {"g":[[..],..]} (the value of each
record's each state).`,
		Example: `  noren correlated calibrate power.json --query '{"count":"on"}' --epsilon 0.5
  noren correlated leakage power.json --query '{"count":"on"}' --scale 20 --json
  noren correlated answer power --query '{"count":"on"}' --epsilon 0.5
  noren correlated explain power.json --query '{"count":"on"}' --epsilon 0.5 -o page.html
  noren correlated fit lastyear.csv --column state --sequence day --length 1440 --source "2024, published" -o power.json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCorrelatedLeakage(t), newCorrelatedCalibrate(t), newCorrelatedAnswer(t), newCorrelatedExplain(t), newCorrelatedFit(t))
	return c
}

// lawFlags name a query, the adversaries, and how much work may be done.
type lawFlags struct {
	query       string
	adversaries string
	method      string
	budget      int
	gap         float64
}

func (f *lawFlags) register(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.query, "query", "", "what is asked: a JSON `FILE`, or JSON itself")
	s.StringVar(&f.adversaries, "adversaries", "all", "all, empty (who know no record), full (who know all others), or a JSON `FILE` that lists them")
	s.StringVar(&f.method, "method", "auto", "how the leakage is computed: auto, exact, quilt, tanh or range")
	s.IntVar(&f.budget, "budget", 0, "how many configurations an exact evaluation may look at (default: by the model)")
	s.Float64Var(&f.gap, "gap", 0, "how far the bounds of a quilted evaluation may lie apart, as a share (default 0.01)")
}

// load reads the model and the query, and what is said of adversaries.
func (f *lawFlags) load(path string) (*correlated.ModelFile, *correlated.Query, correlated.LeakageOptions, error) {
	m, err := readModel(path)
	if err != nil {
		return nil, nil, correlated.LeakageOptions{}, err
	}
	q, o, err := f.ask(m)
	return m, q, o, err
}

// ask reads the query to a model, and what is said of adversaries.
func (f *lawFlags) ask(m *correlated.ModelFile) (*correlated.Query, correlated.LeakageOptions, error) {
	o := correlated.LeakageOptions{Budget: f.budget, Gap: f.gap}
	q, err := readQuery(f.query, m)
	if err != nil {
		return nil, o, err
	}
	if o.Method, err = correlated.ParseMethod(f.method); err != nil {
		return nil, o, at("--method", err)
	}
	o.Adversaries, err = readAdversaries(f.adversaries, m)
	return q, o, err
}

func readModel(path string) (*correlated.ModelFile, error) {
	in, err := openSide(path, "the model")
	if err != nil {
		return nil, err
	}
	return correlated.ParseModel(in, path)
}

func readQuery(text string, m *correlated.ModelFile) (*correlated.Query, error) {
	if text == "" {
		return nil, &noren.Error{Kind: noren.Usage, Where: "--query", What: "say what is asked", Hint: `a JSON file, or --query '{"count":"on"}'`}
	}
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return correlated.ParseQuery(strings.NewReader(text), "--query", m)
	}
	in, err := openSide(text, "the query")
	if err != nil {
		return nil, err
	}
	return correlated.ParseQuery(in, text, m)
}

func readAdversaries(s string, m *correlated.ModelFile) (correlated.Adversaries, error) {
	switch s {
	case "all", "empty", "full":
		return correlated.ParseAdversaries(s)
	}
	in, err := openSide(s, "the adversaries")
	if noren.KindOf(err) == noren.Usage {
		return correlated.Adversaries{}, &noren.Error{Kind: noren.Usage, Where: "--adversaries", What: "expected all, empty, full, or a file that can be read"}
	}
	if err != nil {
		return correlated.Adversaries{}, err
	}
	return correlated.ReadAdversaries(in, s, m)
}

// boundsJSON is a leakage between two bounds.
type boundsJSON struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

func newCorrelatedLeakage(t *terminal) *cobra.Command {
	var law lawFlags
	var scale float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "leakage MODEL --query Q --scale B",
		Short: "How much an answer with noise of a scale tells of one record, at most",
		Example: `  noren correlated leakage power.json --query '{"count":"on"}' --scale 20
  noren correlated leakage power.json --query '{"count":"on"}' --scale 20 --adversaries empty --json`,
		Args: exactly("MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			m, q, o, err := law.load(args[0])
			if err != nil {
				return err
			}
			l, err := correlated.ComputeLeakage(c.Context(), m.Model, q, scale, o)
			if err != nil {
				return err
			}
			l = l.Decimal()
			if asJSON {
				return printJSON(t.stdout, struct {
					Schema string  `json:"schema"`
					Scale  float64 `json:"scale"`
					*correlated.Leakage
					Bounds boundsJSON `json:"bounds"`
				}{"noren.correlated.leakage/1", scale, l, boundsJSON{l.Lower, l.Upper}})
			}
			fmt.Fprintf(t.stdout, "%s of %s, noise of scale %s, against %s\n\n", q, args[0], figure(scale), o.Adversaries)
			printLeakage(t, l)
			return nil
		},
	}
	law.register(c)
	c.Flags().Float64Var(&scale, "scale", 0, "the scale `B` of the Laplace noise")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.correlated.leakage/1")
	return c
}

// printLeakage prints a leakage whose bounds are decimals.
func printLeakage(t *terminal, l *correlated.Leakage) {
	w := t.stdout
	how := "exactly"
	if !l.Exact {
		how = fmt.Sprintf("a bound; at least %s", decimal(l.Lower))
	}
	fmt.Fprintf(w, "  leakage     %s (%s, by %s)\n", decimal(l.Upper), how, l.Method)
	if l.Witness != nil {
		fmt.Fprintf(w, "  worst       %s\n", l.Witness)
	}
}

func newCorrelatedCalibrate(t *terminal) *cobra.Command {
	var law lawFlags
	var epsilon float64
	var asJSON bool
	c := &cobra.Command{
		Use:   "calibrate MODEL --query Q --epsilon E",
		Short: "The least noise that keeps the leakage below epsilon, beside what other methods ask for",
		Example: `  noren correlated calibrate power.json --query '{"count":"on"}' --epsilon 0.5
  noren correlated calibrate family.json --query query.json --epsilon 1 --json`,
		Args: exactly("MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			m, q, o, err := law.load(args[0])
			if err != nil {
				return err
			}
			return calibrate(c.Context(), t, args[0], m, q, epsilon, o, asJSON)
		},
	}
	law.register(c)
	c.Flags().Float64Var(&epsilon, "epsilon", 0, "what the answer may leak of one record")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.correlated.calibrate/1")
	return c
}

func calibrate(ctx context.Context, t *terminal, path string, m *correlated.ModelFile, q *correlated.Query, epsilon float64, o correlated.LeakageOptions, asJSON bool) error {
	found, err := correlated.Calibrate(ctx, m.Model, q, epsilon, o)
	if err != nil {
		return err
	}
	leakage := found.Leakage.Decimal()
	other, err := correlated.Compare(ctx, m.Model, q, epsilon, o)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(t.stdout, struct {
			Schema  string  `json:"schema"`
			Epsilon float64 `json:"epsilon"`
			Scale   float64 `json:"scale"`
			*correlated.Leakage
			Bounds      boundsJSON `json:"bounds"`
			Evaluations int        `json:"evaluations"`
			*correlated.Baselines
		}{"noren.correlated.calibrate/1", epsilon, found.Scale, leakage, boundsJSON{leakage.Lower, leakage.Upper}, found.Evaluations, other})
	}
	w := t.stdout
	fmt.Fprintf(w, "%s of %s, epsilon %s, against %s\n\n  scale       %s\n", q, path, decimal(epsilon), o.Adversaries, figure(found.Scale))
	printLeakage(t, leakage)
	fmt.Fprintln(w, "\nwhat other methods ask for")
	for _, b := range []struct {
		name  string
		scale float64
		what  string
	}{
		{"plain", other.Plain, "ordinary differential privacy: enough only for independent records"},
		{"group", other.Group, "all records as one group"},
		{"range", other.Range, "the range of the query: safe for any distribution"},
		{"quilt", other.Quilt, "Markov quilt, exact influences: against adversaries who know no record"},
		{"quilt, approximate", other.QuiltApprox, "the same by the eigengap"},
		{"Wasserstein", other.Wasserstein, "the largest distance of conditional distributions"},
		{"tanh", other.Tanh, "the tanh rule"},
	} {
		if b.scale > 0 {
			fmt.Fprintf(w, "  %-18s %14s   %s\n", b.name, figure(b.scale), b.what)
		}
	}
	return nil
}

func newCorrelatedExplain(t *terminal) *cobra.Command {
	var law lawFlags
	var epsilon float64
	var output string
	var force bool
	c := &cobra.Command{
		Use:   "explain MODEL --query Q --epsilon E -o PAGE",
		Short: "A page with pictures: who learns most, what they see, how leakage falls with noise",
		Long: `Writes a page about a model and a query: the noise for epsilon beside that of other
methods, who learns most and what they see, leakage over the scale and over what is
known. It is made of the public model alone.`,
		Example: `  noren correlated explain power.json --query '{"count":"on"}' --epsilon 0.5 -o page.html`,
		Args:    exactly("MODEL"),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				return &noren.Error{Kind: noren.Usage, Where: "-o", What: "no page is named", Hint: "-o page.html"}
			}
			if err := checkTargets(force, output); err != nil {
				return err
			}
			m, q, o, err := law.load(args[0])
			if err != nil {
				return err
			}
			page, err := leakage.Page(c.Context(), m, q, epsilon, o)
			if err != nil {
				return err
			}
			return writeFile(output, force, t.stdout, page.Write)
		},
	}
	law.register(c)
	s := c.Flags()
	s.Float64Var(&epsilon, "epsilon", 0, "what the answer may leak of one record")
	s.StringVarP(&output, "output", "o", "", "write the page to this `FILE`, or - for standard output")
	s.BoolVar(&force, "force", false, "replace the page when it exists")
	return c
}
