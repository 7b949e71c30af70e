package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon"
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
	report       string
	certify      string
	json         bool
}

func newAnonymize(t *terminal) *cobra.Command {
	var f anonymizeFlags
	c := &cobra.Command{
		Use:   "anonymize INPUT -o OUTPUT --k K --quasi COLUMNS",
		Short: "Release a k-anonymous table",
		Long: `Writes a table in which every combination of quasi-identifier values occurs in
at least K records. Identifiers are dropped, quasi-identifiers are replaced by
values common to groups of similar records, all other columns stay as they are.

Where persons have several records, --unit COLUMN names the column that tells
them apart: every combination then occurs in records of at least K persons, and
--l and --t count each person once. The column is dropped. With --unit-linkage
all also somebody who knows all records of a person is left with K persons, and
--pseudonym keeps the records of a person linked.

INPUT is a CSV, Parquet or Excel file (.csv, .tsv, .csv.gz, .csv.zst, .parquet,
.xlsx), a table of a database (pg:TABLE, sqlite:FILE?table=TABLE, or pg: with
--query FILE), or - for standard input. OUTPUT is a file, whose name tells the
format, or pg:TABLE. It is created only after it has been read back and
verified; nothing is left behind when anything fails. See docs/formats.md.

A table of more than 40,000 records is cut into cells, and a larger one into
blocks that are worked on one by one. With --memory SIZE the release takes about
that much memory: beyond it, records go to temporary files in OUTPUT's folder
that nobody else can read and that vanish with the process, however it ends. The
release is the same, whatever the memory. With --refine DURATION, --suppress,
l-diversity, t-closeness, mondrian or --coarse off all records must fit memory.`,
		Example: `  noren anonymize visits.csv -o out.csv --k 5 --quasi age,sex,postcode --identifier visit_id,person_id,name
  noren anonymize visits.csv -o out.csv --k 5 --quasi age,sex,postcode --identifier visit_id,name --unit person_id
  noren anonymize visits.csv -o out.csv --spec noren.yaml --report page.html
  noren anonymize visits.csv -o out.csv --spec noren.yaml --certificate out.cert.json
  noren anonymize visits.parquet -o out.parquet --k 10 --quasi age,sex --identifier visit_id,person_id,name --sensitive diagnosis --l 3
  noren anonymize visits.xlsx --sheet 1 -o out.xlsx --k 5 --quasi age,sex --identifier visit_id,person_id,name
  noren anonymize pg:clinic.visits -o pg:clinic.visits_k5 --k 5 --quasi age,sex --identifier visit_id,person_id,name
  zcat big.csv.gz | noren anonymize - -o - --k 5 --quasi age,sex > out.csv`,
		Args: exactly("INPUT"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, c, args[0]) },
	}
	f.register(c)
	s := c.Flags()
	p := &f.parameters
	s.StringVarP(&f.output, "output", "o", "", "write the release to this `FILE`, or - for standard output")
	s.BoolVar(&f.force, "force", false, "replace OUTPUT when it exists")
	s.IntVar(&p.K, "k", 0, "smallest number of records, or with --unit of persons, that share their quasi-identifiers")
	registerLinkage(c, p)
	s.BoolVar(&p.Pseudonym, "pseudonym", false, "keep the unit's column, with a pseudonym of each person drawn for this release; needs --unit-linkage all")
	registerModels(c, p)
	s.StringVar(&p.Method, "method", "", "auto, mondrian, mondrian-strict, mdav, vmdav, tomobiki or topdown (default auto)")
	s.Float64Var(&p.Gamma, "gamma", 0, "gain factor of vmdav (default 0.2)")
	s.IntVar(&p.M, "m", 0, "closest pairs by which tomobiki joins a component (default 3)")
	s.StringVar(&p.Coarse, "coarse", "", "least records of a coarse cell: a number, auto or off (default auto)")
	s.StringVar(&p.Refine, "refine", "", "local search after the method: off, fast, auto (fast, then exchanges where they pay) or a duration such as 20s (default auto)")
	s.StringVar(&p.Suppress, "suppress", "", "most records to leave out, those without which the others lose least: off, a share such as 1%, or a number (default off)")
	s.StringVar(&p.Gap, "gap", "", "look this long for a lower bound of the loss: off or a duration such as 60s (default off: nearest neighbours alone)")
	s.StringVar(&p.Scale, "scale", "", "minmax, zscore or none (default minmax)")
	s.StringVar(&p.Publish, "publish", "", "aggregate (means, medians, modes) or generalize (ranges, sets) (default aggregate)")
	s.StringVar(&f.seed, "seed", "", "`HEX` that fixes search and row order: 32 hexadecimal digits or more, random; keep it secret, it tells the order (default: drawn)")
	s.BoolVar(&f.seedInsecure, "seed-insecure", false, "let --seed be a whole number: the order can then be found by trying seeds; for tests")
	s.IntVar(&f.workers, "workers", 0, "parallel workers (default: one a processor); the result does not depend on it")
	s.StringVar(&f.memory, "memory", "", "about how much memory to take, such as 512MiB or 4GB (default 2GiB); the result does not depend on it")
	s.BoolVar(&p.KeepOrder, "keep-order", false, "keep the order of the rows; it links them to the source")
	f.outputAs.register(c)
	s.StringVar(&f.report, "report", "", "write a page about risk and damage to this `FILE` (private: it shows the raw data's statistics)")
	s.StringVar(&f.certify, "certificate", "", "write a signed certificate of the release to this `FILE`")
	s.BoolVar(&f.json, "json", false, "print the result as one JSON object, noren.anonymize/1")
	return c
}

func (f *anonymizeFlags) run(ctx context.Context, t *terminal, c *cobra.Command, input string) error {
	if f.output == "" {
		return &noren.Error{Kind: noren.Usage, Where: "-o", What: "no output is named", Hint: "-o FILE, or -o - for standard output"}
	}
	if f.certify != "" && file.IsDatabase(f.output) {
		return &noren.Error{Kind: noren.Usage, Where: "--certificate", What: "certifies the bytes of a file, and a table has none", Hint: "-o FILE"}
	}
	if f.json && f.output == "-" {
		return &noren.Error{Kind: noren.Usage, Where: "--json", What: "the release and the result cannot both go to standard output", Hint: "-o FILE"}
	}
	s, err := f.merged()
	if err != nil {
		return err
	}
	if err := overlay(c, &s.Anonymize, &f.parameters); err != nil {
		return err
	}
	if err := t.apart(inputsOf(s, input, f.spec), f.output, f.report, f.certify); err != nil {
		return err
	}
	if err := checkTargets(f.force, f.output, f.report, f.certify); err != nil {
		return err
	}
	options, err := releaseOptions(s, f.workers)
	if err != nil {
		return err
	}
	if err := f.setSeed(options); err != nil {
		return err
	}
	if options.Memory, err = memoryFlag(f.memory); err != nil {
		return err
	}
	defer limitMemory(options.Memory)()
	src, err := openTable(ctx, input, t, s)
	if err != nil {
		return err
	}
	defer closeSource(src)
	said := missingSaid(s)
	schema, looked, err := resolveLooking(ctx, s, src, t)
	if err != nil {
		return err
	}
	if src, schema, err = withNumbers(t, s, src, schema, looked); err != nil {
		return err
	}
	if !said && (options.Diversity != nil || options.Closeness != nil) {
		if err := settleSource(ctx, s, src, schema, t); err != nil {
			return err
		}
	}
	tellIndex(t, s, src)
	tellReaders(t, f.output, src, schema)
	tellKept(t, s, schema)
	if _, err := quasiNames(schema); err != nil {
		return err
	}
	job := kanon.Job{Source: src, Schema: *schema, Missing: s.Input.Missing, Kept: keptBy(s), Looked: looked, Options: *options}
	job.Output, err = f.outputAs.output(ctx, f.output, f.force, t.stdout, src)
	if err != nil {
		return err
	}
	var seal *certifier
	if f.certify != "" {
		if seal, err = newCertifier(f.certify, f.force); err != nil {
			return err
		}
		defer seal.file.Discard()
		job.Output.Verified = func(r *kanon.Result, released io.Reader) error { return seal.verified(ctx, r, released) }
	}
	result, err := f.release(ctx, t, s, job)
	if err != nil {
		return decideHint(err)
	}
	if seal != nil {
		if err := seal.file.Commit(); err != nil {
			return err
		}
	}
	result.Input = input
	for _, l := range result.LooksMissing {
		t.warn("column %s: %d of %d groups show a value that is also a text for missing values in %s; in the release it is a value, and only an empty field is missing. If its readers go by the same texts, make it again with --publish generalize or another --round", l.Column, l.Groups, result.Groups, input)
	}
	warnRepeated(t, result)
	if f.json {
		return printJSON(t.stdout, result)
	}
	if f.output != "-" {
		printRelease(t.stdout, result)
	}
	return nil
}

func (f *anonymizeFlags) release(ctx context.Context, t *terminal, s *spec.Spec, job kanon.Job) (*kanon.Result, error) {
	if f.report == "" {
		return kanon.Anonymize(ctx, job, t.progress.report)
	}
	return releaseWithReport(ctx, t, s, job, f.report, f.force)
}

// inputsOf are the files that a run reads.
func inputsOf(s *spec.Spec, names ...string) []string {
	for _, c := range s.Columns {
		names = append(names, c.Hierarchy)
	}
	return names
}

// setSeed reads the seed: 32 hexadecimal digits or more, or any whole number where
// that is said to be wanted.
func (f *anonymizeFlags) setSeed(o *kanon.Options) error {
	if f.seed == "" {
		if f.seedInsecure {
			return &noren.Error{Kind: noren.Usage, Where: "--seed-insecure", What: "goes with --seed"}
		}
		return nil
	}
	if len(f.seed) >= seedDigits {
		seed, err := hex.DecodeString(f.seed[:len(f.seed)&^1])
		if last := f.seed[len(f.seed)-1]; err == nil && len(f.seed)%2 == 1 {
			if _, err = strconv.ParseUint(string(last), 16, 8); err == nil {
				seed = append(seed, last)
			}
		}
		if err != nil {
			return &noren.Error{Kind: noren.Usage, Where: "--seed", What: "expected hexadecimal digits"}
		}
		o.SecretSeed = seed
		return nil
	}
	if !f.seedInsecure {
		return &noren.Error{
			Kind: noren.Usage, Where: "--seed", What: fmt.Sprintf("expected %d hexadecimal digits or more, got %d characters: short seeds can be tried until one gives the order of the rows", seedDigits, len(f.seed)),
			Hint: "draw one, for instance by openssl rand -hex 16; or leave it out; or say --seed-insecure for a test",
		}
	}
	n, err := strconv.ParseUint(f.seed, 10, 64)
	if err != nil {
		return &noren.Error{Kind: noren.Usage, Where: "--seed", What: "expected a whole number of at most 64 bits, not negative"}
	}
	o.Seed = &n
	return nil
}

// seedDigits is the least number of digits of a seed: 128 bits.
const seedDigits = 32

// overlay copies the parameters whose flags were given over those of the
// specification.
func overlay(c *cobra.Command, onto, from *spec.Anonymize) error {
	if c.Flags().Changed("t") && from.T == 0 {
		return &noren.Error{Kind: noren.Usage, Where: "--t", What: "t must be above 0: at 0 every class would have to be like the whole table", Hint: "for instance --t 0.2"}
	}
	set := func(flag string, copy func()) {
		if c.Flags().Changed(flag) {
			copy()
		}
	}
	set("k", func() { onto.K = from.K })
	set("l", func() { onto.L = from.L })
	set("l-model", func() { onto.LModel = from.LModel })
	set("l-missing", func() { onto.LMissing = from.LMissing })
	set("c", func() { onto.C = from.C })
	set("t", func() { onto.T = from.T })
	set("method", func() { onto.Method = from.Method })
	set("gamma", func() { onto.Gamma = from.Gamma })
	set("m", func() { onto.M = from.M })
	set("coarse", func() { onto.Coarse = from.Coarse })
	set("refine", func() { onto.Refine = from.Refine })
	set("suppress", func() { onto.Suppress = from.Suppress })
	set("gap", func() { onto.Gap = from.Gap })
	set("scale", func() { onto.Scale = from.Scale })
	set("publish", func() { onto.Publish = from.Publish })
	set("unit-linkage", func() { onto.UnitLinkage = from.UnitLinkage })
	set("pseudonym", func() { onto.Pseudonym = from.Pseudonym })
	set("keep-order", func() { onto.KeepOrder = from.KeepOrder })
	return nil
}
