package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/assess"
	"github.com/noren-privacy/noren/spec"
)

type assessFlags struct {
	columnFlags
	k          int
	population string
	fraction   float64
	parameters spec.Anonymize
	threshold  float64
	against    string
	keptOrder  bool
	earlier    earlierFlags
	page       string
	force      bool
	json       bool
}

func newAssess(t *terminal) *cobra.Command {
	var f assessFlags
	c := &cobra.Command{
		Use:   "assess FILE --quasi COLUMNS",
		Short: "Measure the risk of a table and the utility of a release (private)",
		Args:  exactly("FILE"),
		RunE:  func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, c, args[0]) },
	}
	c.AddCommand(newAssessCurve(t))
	f.register(c)
	s := c.Flags()
	s.IntVar(&f.k, "k", 0, "the k that the release was made for")
	s.StringVar(&f.population, "population", "", "a `FILE` of the population that the table is a sample of, with the same quasi-identifiers")
	s.Float64Var(&f.fraction, "sampling-fraction", 0,
		"share of the population that the table is, to estimate how many of its records are unique there")
	s.Float64Var(&f.threshold, "threshold", assess.DefaultThreshold, "risk above which a record counts as being at risk")
	s.StringVar(&f.against, "against", "", "a `RELEASE` of the table")
	s.BoolVar(&f.keptOrder, "kept-order", false,
		"the release has its rows in the order of FILE (noren anonymize --keep-order): compare them one by one")
	registerParameters(c, &f.parameters, "formulas")
	f.earlier.register(c)
	s.StringVar(&f.page, "report", "", "write a page with pictures to this `FILE`")
	s.BoolVar(&f.force, "force", false, "replace the page when it exists")
	s.BoolVar(&f.json, "json", false, "print the result as one JSON object, noren.assess/1")
	return c
}

func (f *assessFlags) run(ctx context.Context, t *terminal, c *cobra.Command, input string) error {
	if f.keptOrder && f.against == "" {
		return &noren.Error{Kind: noren.Usage, Where: "--kept-order", What: "goes with --against"}
	}
	if err := f.earlier.check(f.against != "" && f.keptOrder, "--against and --kept-order"); err != nil {
		return err
	}
	s, err := f.merged()
	if err != nil {
		return err
	}
	if err := overlay(c, &s.Anonymize, &f.parameters); err != nil {
		return err
	}
	result, err := t.service(nil).Assess(ctx, &api.AssessRequest{
		Table: api.Table{Input: input, Spec: s}, K: f.k, Population: f.population, SamplingFraction: f.fraction, Threshold: f.threshold,
		Against: f.against, KeptOrder: f.keptOrder, Report: f.page, Force: f.force,
		Previous: f.earlier.release, PreviousSource: f.earlier.source,
		PreviousQuasi: f.earlier.quasi, PreviousCertificate: f.earlier.certificate,
	})
	t.progress.clear()
	if err != nil {
		return tableError(err)
	}
	if f.json {
		return printJSON(t.stdout, result)
	}
	if err := printAssessment(t.stdout, &result.Assessment); err != nil {
		return err
	}
	t.points("prosecutor-risk", "marketer-risk", "information-loss")
	return nil
}
