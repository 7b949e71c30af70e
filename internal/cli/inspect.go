package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/table/infer"
)

func newInspect(t *terminal) *cobra.Command {
	var input columnFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "inspect FILE",
		Short: "Show what is in a table (private)",
		Long: `Shows for each column its type, how many values are different or missing, the
smallest and the largest, and the role that noren init would propose, with the
reason. What it prints holds values of the table: it is for those who may see it.`,
		Example: `  noren inspect visits.csv
  noren inspect visits.parquet --json`,
		Args: exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			report, err := inspectFile(c.Context(), t, &input, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, inspection(args[0], report))
			}
			return printInspection(t.stdout, report)
		},
	}
	input.registerInput(c)
	input.registerHeader(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.inspect/1")
	return c
}

// inspected is the JSON form of a report.
type inspected struct {
	Schema  string            `json:"schema"`
	Input   string            `json:"input"`
	Rows    int64             `json:"rows"`
	Missing []string          `json:"missing_texts"`
	Columns []inspectedColumn `json:"columns"`
}

type inspectedColumn struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	TypeReason string   `json:"type_reason"`
	Format     string   `json:"format,omitempty"`
	Order      []string `json:"order,omitempty"`
	Role       string   `json:"role"`
	RoleReason string   `json:"role_reason"`
	Distinct   int64    `json:"distinct"`
	Estimated  bool     `json:"distinct_estimated"`
	Unique     bool     `json:"unique"`
	Missing    int64    `json:"missing"`
	Smallest   string   `json:"smallest"`
	Largest    string   `json:"largest"`
	Unit       bool     `json:"unit"`
}

func inspection(input string, r *infer.Report) inspected {
	out := inspected{Schema: "noren.inspect/1", Input: input, Rows: r.Rows, Missing: append([]string{}, r.Missing...)}
	for _, c := range r.Columns {
		out.Columns = append(out.Columns, inspectedColumn{
			Name: c.Field.Name, Type: c.Field.Type.String(), TypeReason: c.TypeReason,
			Format: string(c.Field.Layout) + string(c.Field.Number), Order: c.Field.Levels,
			Role: c.Field.Role.String(), RoleReason: c.RoleReason,
			Distinct: c.Distinct, Estimated: c.Estimated, Unique: c.Unique, Missing: c.Missing,
			Smallest: c.Smallest, Largest: c.Largest, Unit: c.Unit,
		})
	}
	return out
}

func printInspection(out io.Writer, r *infer.Report) error {
	fmt.Fprintf(out, "%d records, %d columns\n\n", r.Rows, len(r.Columns))
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "column\ttype\tdifferent\tmissing\tfrom\tto\tproposed role")
	for _, c := range r.Columns {
		distinct := fmt.Sprint(c.Distinct)
		if c.Estimated {
			distinct = "~" + distinct
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", c.Field.Name, c.Field.Type, distinct, c.Missing, short(c.Smallest), short(c.Largest), c.Field.Role)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, c := range r.Columns {
		fmt.Fprintf(out, "%s: %s\n", c.Field.Name, c.RoleReason)
	}
	if len(r.Missing) > 0 {
		fmt.Fprintf(out, "\ntaken for missing values: %s\n", strings.Join(r.Missing, ", "))
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
