package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ldp/simulate"
	"github.com/noren-privacy/noren/ldp/survey"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/table/file"
)

const simulateSchema = "noren.ldp.simulate/1"

type simulateFlags struct {
	columnFlags
	survey   surveyFlags
	o        simulate.Options
	shares   string
	epsilons string
	ns       string
	page     string
	force    bool
	json     bool
}

func newLDPSimulate(t *terminal) *cobra.Command {
	var f simulateFlags
	c := &cobra.Command{
		Use:   "simulate [FILE] --spec SPEC --n N",
		Short: "True against estimated, and the error over epsilon and over people",
		Long: `Tries a collection before it is made. A made-up crowd, whose truth is known, reports by
the mechanism of the specification; truth and estimate stand side by side, and curves
show the error over epsilon and over the number of people, with what the formulas
expect. --compare draws other mechanisms beside it.

With FILE the crowd is drawn from the table's columns. What it prints is then private:
it shows the truth.

All draws follow from --seed. A simulation protects nothing.`,
		Example: `  noren ldp simulate --size 5 --mechanism grr --epsilon 1 --n 10000 --compare oue,olh,subset
  noren ldp simulate --spec ldp.yaml --n 5000 --population uniform --report page.html
  noren ldp simulate --mechanism hybrid --range 0,100 --epsilon 1 --n 2000 --compare duchi,piecewise --json
  noren ldp simulate table.csv --mechanism square-wave --range 0,30 --epsilon 2 --column radius`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("expected FILE or nothing, found %d arguments", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("seed") {
				word, err := noise.NewSource().Uint64()
				if err != nil {
					return err
				}
				f.o.Seed = word >> 32 // short enough to be typed again
			}
			return f.run(c.Context(), t, strings.Join(args, ""))
		},
	}
	f.registerInput(c)
	f.survey.register(c)
	s := c.Flags()
	s.IntVar(&f.o.N, "n", 0, "how many people report (with FILE: its records)")
	s.StringVar(&f.survey.column, "column", "", "the `COLUMN` of FILE that people are drawn from (default: the specification's)")
	s.StringVar(&f.o.Shape, "population", "", "zipf, uniform or geometric for labels and words; normal, uniform or bimodal for numbers (default zipf, normal)")
	s.StringVar(&f.shares, "shares", "", "the true `SHARES` of the labels, comma-separated, instead of --population")
	s.IntVar(&f.o.Words, "words", 20, "how many different words people have (rappor)")
	s.StringSliceVar(&f.o.Compare, "compare", nil, "other `MECHANISMS` for the curves, comma-separated")
	s.StringVar(&f.epsilons, "epsilons", "", "the epsilons of the curve, comma-separated (default: from a quarter to four times the survey's)")
	s.StringVar(&f.ns, "ns", "", "the numbers of people of the curve, comma-separated (default: from a tenth to three times --n)")
	s.IntVar(&f.o.Trials, "trials", 20, "crowds for each point of a curve")
	s.Float64Var(&f.o.Level, "level", 0.95, "confidence of all intervals together")
	s.Uint64Var(&f.o.Seed, "seed", 0, "seed of all draws (default: another each time; it is told)")
	s.IntVar(&f.o.Workers, "workers", 0, "parallel workers (default: one a processor); the figures do not depend on it")
	s.StringVar(&f.page, "report", "", "write a page with pictures to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the page when it exists")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+simulateSchema)
	return c
}

func (f *simulateFlags) run(ctx context.Context, t *terminal, path string) error {
	if err := checkTargets(f.force, f.page); err != nil {
		return err
	}
	spec, err := f.survey.read()
	if err != nil {
		return err
	}
	s, err := f.survey.compile(spec)
	if err != nil {
		return err
	}
	f.o.Spec = *spec
	for _, list := range []struct {
		flag, text string
		into       *[]float64
	}{{"--shares", f.shares, &f.o.Shares}, {"--epsilons", f.epsilons, &f.o.Epsilons}} {
		if list.text != "" {
			if *list.into, err = floats(list.flag, list.text); err != nil {
				return err
			}
		}
	}
	if f.ns != "" {
		for _, part := range splitList(f.ns) {
			n, err := strconv.Atoi(part)
			if err != nil {
				return &noren.Error{Kind: noren.Usage, Where: "--ns", What: "expected whole numbers, comma-separated"}
			}
			f.o.Ns = append(f.o.Ns, n)
		}
	}
	if f.o.Trials < 1 || !(f.o.Level > 0 && f.o.Level < 1) {
		return &noren.Error{Kind: noren.Usage, Where: "--trials, --level", What: "trials are 1 or more, a level lies between 0 and 1"}
	}
	for _, name := range f.o.Compare {
		if !slices.Contains(survey.Mechanisms(), name) {
			return &noren.Error{Kind: noren.Usage, Where: "--compare", What: fmt.Sprintf("%q is not known", name), Hint: "one of " + strings.Join(survey.Mechanisms(), ", ")}
		}
	}
	if path != "" {
		if err := f.people(ctx, t, path, s); err != nil {
			return err
		}
	}
	r, err := simulate.Run(ctx, f.o, t.progress.report)
	t.progress.clear()
	if err != nil {
		if path != "" {
			return at(path, err)
		}
		return err
	}
	v := &simulated{r: r, o: &f.o, input: path}
	if f.page != "" {
		write := writeFile
		if path != "" {
			write = writePrivate // it shows the table's own shares
		}
		if err := write(f.page, f.force, t.stdout, v.page().Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, v.json())
	}
	w := t.stdout
	fmt.Fprintf(w, "%s people by %s, seed %d\n", report.Integer(f.o.N), s.Mechanism(), f.o.Seed)
	if path != "" {
		fmt.Fprintf(w, "PRIVATE: it shows what is true of %s; do not release\n", path)
	}
	fmt.Fprintln(w)
	for _, table := range v.tables() {
		printTable(w, &table)
		fmt.Fprintln(w)
	}
	p := v.privacy()
	p.print(w)
	return nil
}

// people are the records of a table.
func (f *simulateFlags) people(ctx context.Context, t *terminal, path string, s *survey.Survey) error {
	if slices.Contains(s.Columns(), "") {
		return &noren.Error{Kind: noren.Usage, Where: "--column", What: "say which column people are drawn from"}
	}
	merged, err := f.merged()
	if err != nil {
		return err
	}
	src, err := openInput(ctx, path, t.stdin, merged)
	if err != nil {
		return err
	}
	defer closeSource(src)
	tab, err := file.ReadText(ctx, src, s.Columns(), merged.Input.Missing, t.progress.report)
	t.progress.clear()
	if err != nil {
		return err
	}
	if tab.Rows == 0 {
		return &noren.Error{Kind: noren.BadData, Where: path, What: "has no records"}
	}
	for i := range tab.Rows {
		row := make([]string, len(tab.Columns))
		for j, c := range tab.Columns {
			row[j] = text(c, i)
		}
		f.o.Values = append(f.o.Values, row)
	}
	if f.o.N == 0 {
		f.o.N = tab.Rows
	}
	return nil
}
