package cli

import (
	"context"
	"encoding/csv"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
)

func newHierarchy(t *terminal) *cobra.Command {
	c := &cobra.Command{
		Use:   "hierarchy",
		Short: "Propose and check generalisation hierarchies",
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
		Args:  cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c.Context(), t, strings.Join(args, ""))
		},
	}
	f.input.registerInput(c)
	f.input.registerHeader(c)
	s := c.Flags()
	s.StringVar(&f.column, "column", "", "`COLUMN` of INPUT whose values the hierarchy is for")
	s.StringVar(&f.kind, "kind", "",
		"`KIND` of the values: number, month, week, fiscal, postal, municipality or icd10 (default: by their form)")
	s.StringVar(&f.layout, "format", "", "`LAYOUT` of dates (default YYYY-MM-DD)")
	s.StringVar(&f.ends, "range", "", "`LOW,HIGH`: cover this public range instead of the values of a table")
	s.StringSliceVar(&f.steps, "steps", nil,
		"`WIDTHS` of the intervals of numbers, each a multiple of the one before (default: round widths by the range)")
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
		q.Low, q.High, found = strings.Cut(f.ends, ",")
		if !found {
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
	t.note("kind %s, levels: %s", p.Kind, noren.Commas(p.Levels))
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
		Args:  exactly("FILE", "INPUT"),
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
	r, err := t.service(nil).HierarchyCheck(ctx, &api.HierarchyCheckRequest{
		Table: api.Table{Input: name, Spec: s}, Hierarchy: path,
		Column: column,
	})
	t.progress.clear()
	if err != nil {
		return tableError(err)
	}
	lang.Fprintf(t.stdout, "%s covers column %s of %s: %d {value|values} of %d {line|lines}, %d {level|levels}, one parent a name "+
		"(private: do not release)\n", path, column, name, r.Values, r.Lines, r.Levels)
	return nil
}

// writeRows writes a hierarchy as CSV.
func writeRows(rows [][]string) func(io.Writer) error {
	return func(w io.Writer) error {
		out := csv.NewWriter(w)
		return out.WriteAll(rows) // flushes
	}
}
