package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/internal/names"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/infer"
)

func newInspect(t *terminal) *cobra.Command {
	var input columnFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Describe the columns of a table (private)",
		Args:  exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := input.merged()
			if err != nil {
				return err
			}
			result, err := t.service(nil).Inspect(c.Context(), &api.InspectRequest{Table: api.Table{Input: args[0], Spec: s}})
			t.progress.clear()
			switch {
			case err != nil:
				return tableError(err)
			case asJSON:
				return printJSON(t.stdout, result)
			}
			if err := printInspection(t.stdout, result); err != nil {
				return err
			}
			t.next("noren init %s -o noren.yaml writes these roles to a file, to be corrected", names.Shell(args[0]))
			return nil
		},
	}
	input.registerInput(c)
	input.registerHeader(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.inspect/1")
	return c
}

func printInspection(out io.Writer, r *api.Inspection) error {
	lang.Fprintf(out, "%d {record|records}, %d {column|columns} (private: do not release)\n\n", r.Rows, len(r.Columns))
	w := grid.New(out)
	lang.Fprintln(w, "column\ttype\tdifferent\tmissing\tfrom\tto\tproposed role")
	for _, c := range r.Columns {
		distinct := fmt.Sprint(c.Distinct)
		if c.Estimated {
			distinct = "~" + distinct
		}
		lang.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", c.Name, lang.Of(out).Term(c.Type), distinct, c.Missing, short(c.Smallest),
			short(c.Largest), lang.Of(out).Term(c.Role))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	open, odd := false, false
	for _, c := range r.Columns {
		odd = odd || c.TypeWhy.Odd()
		why := c.RoleWhy
		if why.Code == infer.RoleOpen { // its advice is said once, below
			open = true
			why = why.Below()
		}
		if err := grid.Hang(out, c.Name+": ", why.In(lang.Of(out))+"; "+c.TypeWhy.In(lang.Of(out))); err != nil {
			return err
		}
	}
	if open {
		lang.Fprintln(out, "\nWhere nothing tells what the values are: if others may know them, make the column a quasi-identifier; if others "+
			"must not know them, sensitive.")
	}
	if known := withRole(r, table.Quasi); len(known) > 0 {
		lang.Fprintln(out, "\nothers may know:")
		for _, c := range r.Columns {
			if c.Role == table.Quasi.String() {
				lang.Fprintf(w, "  %s\t%s\n", c.Name, words.Known(lang.Of(out), &c))
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if odd {
		lang.Fprintln(out, "\nTo say that a text stands for a missing value, add --missing TEXT for each.")
	}
	if len(r.Missing) > 0 {
		lang.Fprintf(out, "\ntaken for missing values: %s\n", strings.Join(r.Missing, ", "))
	}
	return nil
}

// short cuts a value to what a terminal's column can hold, on one line.
func short(s string) string {
	const most = 18
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return s
}
