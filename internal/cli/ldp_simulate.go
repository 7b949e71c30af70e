package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
)

type simulateFlags struct {
	columnFlags
	survey   surveyFlags
	r        api.LDPSimulateRequest
	seed     uint64
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
		Short: "Simulate a collection: estimates vs. truth, error by epsilon and sample size",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return noren.Reasonf("expected FILE or nothing, found %d {argument|arguments}", len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("seed") {
				f.r.Seed = &f.seed
			}
			return f.run(c.Context(), t, strings.Join(args, ""))
		},
	}
	f.registerInput(c)
	f.survey.register(c)
	s := c.Flags()
	s.IntVar(&f.r.N, "n", 0, "number of people who report (default with FILE: its records)")
	s.StringVar(&f.survey.column, "column", "", "the `COLUMN` of FILE that people are drawn from (default: the specification's)")
	s.StringVar(&f.r.Population, "population", "",
		"zipf, uniform or geometric for labels and words; normal, uniform or bimodal for numbers (default zipf, normal)")
	s.StringVar(&f.shares, "shares", "", "the true `SHARES` of the labels, comma-separated, instead of --population")
	s.IntVar(&f.r.Words, "words", 20, "number of different words (rappor)")
	s.StringSliceVar(&f.r.Compare, "compare", nil, "other `MECHANISMS` for the curves, comma-separated")
	s.StringVar(&f.epsilons, "epsilons", "", "the epsilons of the curve, comma-separated (default: from a quarter to four times the survey's)")
	s.StringVar(&f.ns, "ns", "", "the numbers of people of the curve, comma-separated (default: from a tenth to three times --n)")
	s.IntVar(&f.r.Trials, "trials", 20, "simulated collections for each point of a curve")
	s.Float64Var(&f.r.Level, "level", 0.95, "confidence of all intervals together")
	s.Uint64Var(&f.seed, "seed", 0, "seed of all draws (default: a random one, which is printed)")
	s.IntVar(&f.r.Workers, "workers", 0, "parallel workers (default: one per processor); the figures do not depend on it")
	s.StringVar(&f.page, "report", "", "write a page with pictures to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the page when it exists")
	s.BoolVar(&f.json, "json", false, "print one JSON object, "+api.LDPSimulateSchema)
	return c
}

func (f *simulateFlags) run(ctx context.Context, t *terminal, path string) (err error) {
	if err := checkTargets(f.force, f.page); err != nil {
		return err
	}
	if f.r.Survey, err = f.survey.read(); err != nil {
		return err
	}
	if f.r.Shares, err = listOf("--shares", f.shares); err != nil {
		return err
	}
	if f.r.Epsilons, err = listOf("--epsilons", f.epsilons); err != nil {
		return err
	}
	if f.ns != "" {
		for _, part := range splitList(f.ns) {
			n, err := strconv.Atoi(part)
			if err != nil {
				return &noren.Error{Kind: noren.Usage, Where: "--ns", What: "expected whole numbers, comma-separated"}
			}
			f.r.Ns = append(f.r.Ns, n)
		}
	}
	if f.r.Trials == 0 || f.r.Level == 0 {
		return &noren.Error{Kind: noren.Usage, Where: "--trials, --level", What: "trials are 1 or more, a level lies between 0 and 1"}
	}
	if path != "" {
		form, err := f.merged()
		if err != nil {
			return err
		}
		f.r.Table = &api.Table{Input: path, Spec: form}
	}
	r, err := t.service(nil).LDPSimulate(ctx, &f.r)
	t.progress.clear()
	if err != nil {
		return err
	}
	if f.page != "" {
		write := writeFile
		if r.Private != "" {
			write = writePrivate // it shows the table's own shares
		}
		if err := write(f.page, f.force, t.stdout, report.LDPSimulatePage(r, "noren "+Version()).In(t.lang).Write); err != nil {
			return err
		}
	}
	if f.json {
		return printJSON(t.stdout, r)
	}
	w := t.stdout
	lang.Fprintf(w, "%s {person|people} by %s, seed %d\n", report.Integer(r.N), r.Mechanism, r.Seed)
	if r.Private != "" {
		lang.Fprintf(w, "PRIVATE: it shows what is true of %s; do not release\n", r.Input)
	}
	fmt.Fprintln(w)
	for _, table := range report.LDPSimulateTables(r) {
		printTable(w, &table)
		fmt.Fprintln(w)
	}
	printPrivacy(w, &r.Privacy)
	return nil
}
