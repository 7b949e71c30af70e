package cli

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
)

func newHierarchy(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "hierarchy",
		Short: "Propose and check generalisation hierarchies",
		Long: `Propose a hierarchy for a column, to be edited by hand (propose), and check that
a hierarchy covers a column (check). A hierarchy is a CSV file for --hierarchy of
noren anonymize: one line a value, then its groups from small to large, then *.`,
		Example: `  noren hierarchy propose visits.csv --column age -o ages.csv
  noren hierarchy check ages.csv visits.csv --column age`,
	}
	c.AddCommand(newHierarchyPropose(t), newHierarchyCheck(t))
	return c
}

// proposeFlags are the flags of hierarchy propose.
type proposeFlags struct {
	input  columnFlags
	column string
	kind   string
	layout string
	ends   string
	steps  []string
	output string
	force  bool
}

func newHierarchyPropose(t *terminal) *cobra.Command {
	f := &proposeFlags{}
	c := &cobra.Command{
		Use:   "propose [INPUT --column COLUMN] -o FILE",
		Short: "Propose a hierarchy from the form of a column's values",
		Long: `Write a hierarchy for the values of a column. It depends on which values there
are, and for numbers on their range, never on how often a value occurs.

With INPUT, FILE holds the values of the table: it is private. With --range, FILE
holds all whole numbers or days of the range, and is made without any data.

Kinds:
  number        intervals of round widths (5, 10, 50, 100, ...), or of --steps
  month         day, month, quarter, year, decade
  week          day, week and year of ISO 8601 (a week of two years is in one)
  fiscal        day, month, quarter and year of a fiscal year from April
  postal        Japanese postal codes by prefix
  municipality  Japanese municipality codes (JIS X 0402, five digits, or six with
                the check digit) by prefix, prefecture and region
  icd10         codes of the WHO's ICD-10: three characters, block, chapter

Dates, postal codes with a hyphen, ICD-10 codes and numbers are recognised; codes
of digits alone need --kind. A value that does not have the form of the kind gets
no line: the command says how many there are and in which records. Add their
lines by hand, then run noren hierarchy check.`,
		Example: `  noren hierarchy propose visits.csv --column postcode --kind number --steps 10,100 -o postcodes.csv
  noren hierarchy propose visits.csv --column age -o ages.csv
  noren hierarchy propose --kind number --range 0,120 --steps 5,10,20 -o ages.csv
  noren hierarchy propose --kind fiscal --range 2020-04-01,2025-03-31 -o days.csv`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), t, strings.Join(args, ""))
		},
	}
	f.input.registerInput(c)
	f.input.registerHeader(c)
	s := c.Flags()
	s.StringVar(&f.column, "column", "", "`COLUMN` of INPUT whose values the hierarchy is for")
	s.StringVar(&f.kind, "kind", "", "`KIND` of the values: number, month, week, fiscal, postal, municipality or icd10 (default: by their form)")
	s.StringVar(&f.layout, "format", "", "`LAYOUT` of dates (default YYYY-MM-DD)")
	s.StringVar(&f.ends, "range", "", "`LOW,HIGH`: cover this public range instead of the values of a table")
	s.StringSliceVar(&f.steps, "steps", nil, "`WIDTHS` of the intervals of numbers, each a multiple of the one before (default: round widths by the range)")
	s.StringVarP(&f.output, "output", "o", "", "write the hierarchy to this `FILE`; - is standard output")
	s.BoolVar(&f.force, "force", false, "replace the file when it exists")
	return c
}

func (f *proposeFlags) run(ctx context.Context, t *terminal, input string) error {
	switch {
	case f.output == "":
		return &noren.Error{Kind: noren.Usage, Where: "-o", What: "no output is named", Hint: "-o FILE, or -o - for standard output"}
	case (input == "") == (f.ends == ""):
		return &noren.Error{Kind: noren.Usage, What: "expected either a table or a range", Hint: "INPUT --column COLUMN, or --range LOW,HIGH"}
	case (input == "") != (f.column == ""):
		return &noren.Error{Kind: noren.Usage, Where: "--column", What: "goes with INPUT, and INPUT with it"}
	}
	if err := t.apart([]string{input}, f.output); err != nil {
		return err
	}
	if err := checkTargets(f.force, f.output); err != nil {
		return err
	}
	q := api.HierarchyProposeRequest{Column: f.column, Kind: f.kind, Layout: f.layout, Steps: f.steps}
	write := writePrivate
	if f.ends != "" {
		var found bool
		if q.Low, q.High, found = strings.Cut(f.ends, ","); !found {
			return &noren.Error{Kind: noren.Usage, Where: "--range", What: "expected LOW,HIGH", Hint: "for instance 0,120"}
		}
		write = writeFile
	} else {
		s, err := f.input.merged()
		if err != nil {
			return err
		}
		q.Table = api.Table{Input: input, Spec: s}
	}
	var warnings []api.Note // printed below what was written
	service := t.service(nil)
	service.Note = func(n api.Note) {
		if n.Level == api.Warning {
			warnings = append(warnings, n)
		} else {
			t.tell(n)
		}
	}
	p, err := service.HierarchyPropose(ctx, &q)
	t.progress.clear()
	if err != nil {
		return tableError(err)
	}
	if err := write(f.output, f.force, t.stdout, writeRows(p.Rows)); err != nil {
		return err
	}
	t.note("kind %s, levels: %s", p.Kind, strings.Join(p.Levels, ", "))
	if input != "" {
		t.note("%s holds values of %s: it is private", f.output, input)
	}
	for _, n := range warnings {
		t.tell(n)
	}
	return nil
}

func newHierarchyCheck(t *terminal) *cobra.Command {
	var input columnFlags
	var column string
	c := &cobra.Command{
		Use:   "check FILE INPUT --column COLUMN",
		Short: "Check that a hierarchy covers a column (private)",
		Long: `Check a hierarchy: that all lines have the same number of levels, that no value
has two lines, that a name has one parent, that there is one root; and that every
value of a column has a line. It names lines of FILE, and the records of INPUT
whose value has no line, never a value. The exit code is 3 where a check fails.`,
		Example: `  noren hierarchy check ages.csv visits.csv --column age`,
		Args:    exactly("FILE", "INPUT"),
		RunE: func(c *cobra.Command, args []string) error {
			if column == "" {
				return &noren.Error{Kind: noren.Usage, Where: "--column", What: "no column is named"}
			}
			return checkHierarchy(c.Context(), t, &input, args[0], args[1], column)
		},
	}
	input.registerInput(c)
	input.registerHeader(c)
	c.Flags().StringVar(&column, "column", "", "`COLUMN` of INPUT that the hierarchy must cover")
	return c
}

func checkHierarchy(ctx context.Context, t *terminal, input *columnFlags, path, name, column string) error {
	s, err := input.merged()
	if err != nil {
		return err
	}
	r, err := t.service(nil).HierarchyCheck(ctx, &api.HierarchyCheckRequest{Table: api.Table{Input: name, Spec: s}, Hierarchy: path, Column: column})
	t.progress.clear()
	if err != nil {
		return tableError(err)
	}
	fmt.Fprintf(t.stdout, "%s covers column %s of %s: %d values of %d lines, %d levels, one parent a name\n", path, column, name, r.Values, r.Lines, r.Levels)
	return nil
}

// writeRows writes a hierarchy as CSV.
func writeRows(rows [][]string) func(io.Writer) error {
	return func(w io.Writer) error {
		out := csv.NewWriter(w)
		return errors.Join(out.WriteAll(rows), out.Error())
	}
}
