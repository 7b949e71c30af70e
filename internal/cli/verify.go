package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/report"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
)

type verifyFlags struct {
	columnFlags
	parameters spec.Anonymize
	json       bool
}

func newVerify(t *terminal) *cobra.Command {
	var f verifyFlags
	c := &cobra.Command{
		Use:   "verify FILE --k K --quasi COLUMNS",
		Short: "Check that a file keeps k-anonymity, l-diversity and t-closeness",
		Long: `Reads any table file and decides whether every combination of quasi-identifier
values in it occurs in at least K records, and with --l or --t whether each of
these classes is as diverse, or as close to the whole table, in the sensitive
columns as asked for. It is the verifier that every release of noren anonymize
passes, and it knows nothing of how a file was made.

Quasi-identifiers are compared as they are written, so that NA and the empty
field are two values: whoever reads the file can tell them apart. In sensitive
columns --missing says which texts stand for no value, beside the empty field.

With --unit COLUMN, a column of FILE such as the pseudonyms that noren anonymize
--pseudonym writes, K, --l and --t count persons. A release without such a column
can only be checked for records: noren anonymize has counted its persons before
it wrote it.

Exit code 0 when the file keeps all of it, 4 when it does not.`,
		Example: `  noren verify out.csv --k 5 --quasi age,sex,postcode
  noren verify out.csv --k 5 --quasi age,sex --sensitive diagnosis --l 3
  noren verify out.csv --k 5 --quasi age,sex --sensitive severity --t 0.2 --json
  noren verify out.parquet --spec noren.yaml`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c.Context(), t, c, args[0]) },
	}
	f.register(c)
	s := c.Flags()
	p := &f.parameters
	s.IntVar(&p.K, "k", 0, "smallest number of records, or with --unit of persons, that must share their quasi-identifiers")
	registerModels(c, p)
	registerLinkage(c, p)
	s.BoolVar(&f.json, "json", false, "print the result as one JSON object, noren.verify/1")
	return c
}

// registerLinkage registers what is known of a person's records.
func registerLinkage(c *cobra.Command, p *spec.Anonymize) {
	c.Flags().StringVar(&p.UnitLinkage, "unit-linkage", "", "what others may know of a person's records: one of them, or all and that they are of one person (default one)")
}

// registerModels registers what is asked of sensitive columns.
func registerModels(c *cobra.Command, p *spec.Anonymize) {
	s := c.Flags()
	s.Float64Var(&p.L, "l", 0, "l-diversity of every sensitive column")
	s.StringVar(&p.LModel, "l-model", "", "distinct, entropy or recursive (default distinct)")
	s.Float64Var(&p.C, "c", 0, "the c of recursive (c,l)-diversity (default 3)")
	s.StringVar(&p.LMissing, "l-missing", "", "whether a missing sensitive value counts towards l: skip or value (default skip)")
	s.Float64Var(&p.T, "t", 0, "t-closeness of every sensitive column, above 0")
}

func (f *verifyFlags) run(ctx context.Context, t *terminal, c *cobra.Command, input string) error {
	s, err := f.merged()
	if err != nil {
		return err
	}
	if err := overlay(c, &s.Anonymize, &f.parameters); err != nil {
		return err
	}
	requirement, err := requirementOf(&s.Anonymize)
	if err != nil {
		return &noren.Error{Kind: noren.Usage, Where: "--l, --t", Err: err}
	}
	if requirement.K < 1 {
		return &noren.Error{Kind: noren.Usage, Where: "--k", What: "say how many records are to share their quasi-identifiers", Hint: "--k 5"}
	}
	src, err := openTable(ctx, input, t, s)
	if err != nil {
		return err
	}
	defer closeSource(src)
	if err := settleReleased(ctx, s, src, t); err != nil {
		return err
	}
	schema, err := resolveReleased(ctx, s, src, t)
	if err != nil {
		return err
	}
	o := verify.Options{Requirement: requirement, Missing: s.Input.Missing}
	if o.Quasi, err = quasiNames(schema); err != nil {
		return err
	}
	if o.Unit, err = unitOfFile(t, s, src, c.Flags().Changed("unit")); err != nil {
		return err
	}
	for _, i := range schema.WithRole(table.Sensitive) {
		o.Sensitive = append(o.Sensitive, schema.Fields[i])
	}
	if len(o.Sensitive) == 0 && (requirement.Diversity != nil || requirement.Closeness != nil) {
		return &noren.Error{Kind: noren.Usage, What: "--l and --t are about sensitive columns, and none is named", Hint: "--sensitive diagnosis"}
	}
	result, err := verify.Verify(ctx, src, o, t.progress.report)
	if err != nil {
		return err
	}
	t.progress.clear()
	if f.json {
		err = printJSON(t.stdout, result)
	} else {
		err = printVerified(t.stdout, result, s.Unit != "" && o.Unit == nil)
	}
	if err == nil && !result.Met {
		return &alreadySaid{result.Err()}
	}
	return err
}

// resolveReleased lays a specification over a file that may be a release: its
// identifiers may be gone, its quasi-identifiers are text whatever they were,
// and types matter for sensitive columns alone.
func resolveReleased(ctx context.Context, s *spec.Spec, src table.Source, t *terminal) (*table.Schema, error) {
	there := map[string]bool{}
	for _, c := range src.Columns() {
		there[c.Name] = true
	}
	columns := map[string]spec.Column{}
	sensitive := map[string]bool{}
	for name, c := range s.Columns {
		switch {
		case c.Role == table.Sensitive.String():
			sensitive[name] = true
		case !there[name] && (c.Role == table.Identifier.String() || c.Role == table.Other.String() || c.Role == ""):
			continue
		default:
			c = spec.Column{Role: c.Role, Type: table.Category.String()}
		}
		columns[name] = c
	}
	for name, c := range columns { // a release holds plain numbers
		if r, err := table.NumberFormat(c.Format).Reader(); err == nil {
			if c.Type == "" {
				if c.Type = table.Decimal.String(); r.Whole() {
					c.Type = table.Integer.String()
				}
			}
			c.Format = ""
			columns[name] = c
		}
	}
	released := *s
	released.Columns = columns
	if !there[s.Unit] {
		released.Unit = ""
	}
	return released.Resolve(src.Columns(), func(untyped []int) ([]table.Field, error) {
		fields := make([]table.Field, len(untyped))
		var look []int
		for j, at := range untyped {
			fields[j] = table.Field{Type: table.Category}
			if sensitive[src.Columns()[at].Name] {
				look = append(look, at)
			}
		}
		if len(look) == 0 {
			return fields, nil
		}
		report, err := infer.Infer(ctx, src, infer.Options{Columns: look, Missing: append([]string{}, s.Input.Missing...), Progress: t.progress.report})
		if err != nil {
			return nil, err
		}
		for j, at := range untyped {
			for i := range report.Columns {
				if report.Columns[i].Position == at {
					fields[j] = report.Columns[i].Field
				}
			}
		}
		return fields, nil
	}, loadHierarchy(t))
}

// printVerified prints what a verifier found; uncounted says that the file does not
// tell the persons of the unit.
func printVerified(out io.Writer, r *verify.Result, uncounted bool) error {
	asked := "what was asked for"
	if uncounted {
		asked += " of records (persons: not known)"
	}
	if r.Met {
		fmt.Fprintf(out, "%s: keeps %s\n\n", r.File, asked)
	} else {
		fmt.Fprintf(out, "%s: does NOT keep %s\n\n", r.File, asked)
		for _, failure := range r.Failures {
			fmt.Fprintf(out, "  %s\n", failure)
		}
		fmt.Fprintln(out)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "  records\t%s\n", report.Integer(r.Rows))
	of := ""
	if r.Unit != nil {
		of = " persons"
	}
	fmt.Fprintf(w, "  k\t%s%s achieved, %d asked for\n", report.Integer(r.AchievedK), of, r.K)
	fmt.Fprintf(w, "  classes\t%s, of %s to %s records, %.2f on average\n", report.Integer(r.Classes), report.Integer(r.ClassSize.Min), report.Integer(r.ClassSize.Max), r.ClassSize.Mean)
	printPersons(w, r.Unit)
	for i := range r.Sensitive {
		s := &r.Sensitive[i]
		fmt.Fprintf(w, "  %s\tdistinct l = %d, entropy l = %.4g", s.Column, s.DistinctL, s.EntropyL)
		if s.RecursiveL != nil {
			fmt.Fprintf(w, ", recursive l = %d (c = %g)", *s.RecursiveL, s.C)
		}
		fmt.Fprintf(w, ", t = %.4g (%s distance)\n", s.T, s.Distance)
	}
	return w.Flush()
}
