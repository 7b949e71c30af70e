package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/file"
)

type anonymizeFlags struct {
	columnFlags
	parameters spec.Anonymize
	seed       string
	// seedInsecure lets seed be short.
	seedInsecure bool
	workers      int
	memory       string
	output       string
	outputAs     outputFlags
	force        bool
	splitRows    int64
	report       string
	earlier      earlierFlags
	certify      string
	dryRun       bool
	json         bool
}

func newAnonymize(t *terminal) *cobra.Command {
	var f anonymizeFlags
	c := &cobra.Command{
		Use:   "anonymize INPUT -o OUTPUT --k K --quasi COLUMNS",
		Short: "Release a k-anonymous table",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 2 && f.output == "" {
				return noren.Usagef("-o", "expected one INPUT and -o OUTPUT, found two names").Hinted("noren anonymize INPUT -o OUTPUT")
			}
			return exactly("INPUT")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, c, args[0]) },
	}
	f.registerRelease(c)
	s := c.Flags()
	s.Int64Var(&f.splitRows, "split-rows", 0, "write files of at most `N` records into the folder OUTPUT, with a manifest")
	s.StringVar(&f.seed, "seed", "", "`HEX` that fixes the search and, with the table and all parameters, the row order: 32 or more random "+
		"hexadecimal digits; keep it secret, it reveals the order (default: drawn)")
	s.BoolVar(&f.seedInsecure, "seed-insecure", false,
		"accept a whole number as --seed: the order can then be found by trying seeds; for tests")
	s.IntVar(&f.workers, "workers", 0, "parallel workers (default: one per processor); the result does not depend on it")
	s.StringVar(&f.memory, "memory", "",
		"about how much memory to use, such as 512MiB or 4GB (default 2GiB); the result does not depend on it")
	s.StringVar(&f.report, "report", "", "write a page about risk and utility to this `FILE` (private: it shows statistics of the source)")
	f.earlier.register(c)
	s.BoolVar(&f.dryRun, "dry-run", false, "say what would be read, dropped, transformed and kept; make no groups and write nothing")
	s.BoolVar(&f.json, "json", false, "print the result as one JSON object, noren.anonymize/1, or with --dry-run noren.anonymize.plan/1")
	groupFlags(c, releaseGroups())
	return c
}

// registerRelease registers the table, the parameters and the output of a release.
func (f *anonymizeFlags) registerRelease(c *cobra.Command) {
	f.register(c)
	s := c.Flags()
	s.StringVarP(&f.output, "output", "o", "", "write the release to this `FILE`, or - for standard output")
	s.BoolVar(&f.force, "force", false, "replace OUTPUT when it exists")
	f.outputAs.register(c)
	registerParameters(c, &f.parameters)
	s.StringVar(&f.certify, "certificate", "",
		"write a signed certificate of the release, a file, a folder or a table of a database, to this `FILE`")
}

func (f *anonymizeFlags) run(ctx context.Context, t *terminal, c *cobra.Command, input string) error {
	if f.output == "" && !f.dryRun {
		return &noren.Error{Kind: noren.Usage, Where: "-o", What: "no output is named", Hint: "-o FILE, or -o - for standard output"}
	}
	if f.json && f.output == "-" && !f.dryRun {
		return &noren.Error{
			Kind: noren.Usage, Where: "--json", What: "the release and the result cannot both go to standard output",
			Hint: "-o FILE",
		}
	}
	if err := f.earlier.check(f.report != "", "--report"); err != nil {
		return err
	}
	s, err := f.merged()
	if err != nil {
		return err
	}
	if err := overlay(c, &s.Anonymize, &f.parameters); err != nil {
		return err
	}
	if c.Flags().Changed("split-rows") && f.splitRows < 1 {
		return noren.Usagef("--split-rows", "expected at least 1 record in a file, got %d", f.splitRows)
	}
	memory, err := memoryFlag(f.memory)
	if err != nil {
		return err
	}
	defer limitMemory(memory)()
	q := &api.AnonymizeRequest{
		Table: api.Table{Input: input, Spec: s}, Output: f.output, OutputDelimiter: f.outputAs.delimiter, OutputEncoding: f.outputAs.encoding,
		Report: f.report, Certificate: f.certify, Force: f.force, SplitRows: f.splitRows, Seed: f.seed, InsecureSeed: f.seedInsecure,
		Workers: f.workers, Memory: memory, Stdout: t.stdout,
		Command: commandLine(c, []string{input}), Previous: f.earlier.release, PreviousSource: f.earlier.source,
		PreviousQuasi: f.earlier.quasi, PreviousCertificate: f.earlier.certificate,
	}
	if f.dryRun {
		return f.plan(ctx, t, q)
	}
	result, err := t.service(nil).Anonymize(ctx, q)
	t.progress.clear()
	switch {
	case err != nil:
		return tableError(err)
	case f.json:
		return printJSON(t.stdout, result)
	case f.output != "-":
		printRelease(t.stdout, &result.Result)
		t.points("k-anonymity", "intersect", "information-loss", "optimality-gap")
		f.next(t, input)
	}
	return nil
}

// next says how the release is looked at, and what its recipients get.
func (f *anonymizeFlags) next(t *terminal, input string) {
	switch {
	case f.certify != "" && file.IsDatabase(f.output):
		t.next("give those who read %s also %s and your public key (noren certificate key); they check the table by noren certificate check "+
			"%s %s", f.output, f.certify, names.Shell(f.output), names.Shell(f.certify))
	case f.report == "":
		t.next("noren assess %s --against %s --report report.html shows risk and utility, for you alone", names.Shell(input),
			names.Shell(f.output))
	case f.certify == "":
		t.next("look at %s, which is for you alone; then send %s, and keep %s", f.report, f.output, input)
	default:
		t.next("look at %s, which is for you alone; then send %s, %s and your public key (noren certificate key), and keep %s", f.report,
			f.output, f.certify, input)
	}
}

// plan says what the release would do.
func (f *anonymizeFlags) plan(ctx context.Context, t *terminal, q *api.AnonymizeRequest) error {
	plan, err := t.service(nil).AnonymizePlan(ctx, q)
	t.progress.clear()
	switch {
	case err != nil:
		return tableError(err)
	case f.json:
		return printJSON(t.stdout, plan)
	}
	printReleasePlan(t.stdout, plan)
	return nil
}

// overlay copies the parameters whose flags were given over those of the
// specification.
func overlay(c *cobra.Command, onto, from *spec.Anonymize) error {
	if c.Flags().Changed("t") && from.T == 0 {
		return &noren.Error{
			Kind: noren.Usage, Where: "--t", What: "t must be above 0: at 0 every class would have to be like the whole table",
			Hint: "for instance --t 0.2",
		}
	}
	for _, p := range spec.Parameters() {
		if c.Flags().Changed(p.Name) {
			p.Field(onto).Set(p.Field(from))
		}
	}
	return nil
}

// registerParameters registers the flags of the parameters of these names, or of all. They set
// the fields of onto.
func registerParameters(c *cobra.Command, onto *spec.Anonymize, names ...string) {
	s := c.Flags()
	for _, p := range spec.Parameters() {
		if len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		switch field := p.Field(onto).Addr().Interface().(type) {
		case *int:
			s.IntVar(field, p.Name, 0, p.Help)
		case *float64:
			s.Float64Var(field, p.Name, 0, p.Help)
		case *bool:
			s.BoolVar(field, p.Name, false, p.Help)
		case *string:
			s.StringVar(field, p.Name, "", p.Help)
		}
	}
}
