package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	words "github.com/noren-privacy/noren/report/text"
)

// printGranted prints what was granted and which cells do not fit.
func printGranted(w io.Writer, g *api.Granted) {
	if g.Private == nil {
		return
	}
	fmt.Fprintf(w, "%s: version %d of data set %s, %d records (private: for the steward)\n", filepath.Base(g.Source), g.Version, g.Name, g.Private.Records)
	printReview(w, g)
	fmt.Fprintln(w)
}

// printDefinition prints a definition, column by column.
func printDefinition(out io.Writer, d *dataset.Definition, proposed []string, missing bool) {
	how := d.File.Kind
	if d.File.Delimiter != "" {
		how += fmt.Sprintf(", delimiter %q, %s", d.File.Delimiter, d.File.Encoding)
	}
	if d.File.Sharded {
		how += ", sharded: in the files of a folder or pattern"
	}
	texts := orNone(d.Missing)
	if missing {
		texts += " (proposed)"
	}
	fmt.Fprintf(out, "  file        %s; missing texts: %s\n", how, texts)
	fmt.Fprintf(out, "  neighbours  %s of one %s; at most %d records\n", d.Neighbours, d.Unit, d.AtMost)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "  column\ttype\tlayout or levels\tbounds or keys\t")
	for i := range d.Columns {
		c := &d.Columns[i]
		kind := c.Type
		for _, name := range proposed {
			if name == c.Name {
				kind += " (proposed)"
			}
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t\n", c.Name, kind, c.Layout+strings.Join(c.Levels, " < "), strings.Join(append(append([]string{}, c.Bounds...), c.Keys...), ", "))
	}
	_ = w.Flush()
	if m := d.Model; m != nil {
		fmt.Fprintf(out, "  model       of column %s, states %s; any other cell counts as %s\n", m.Column, strings.Join(m.States, ", "), m.Other)
	}
}

func orNone(texts []string) string {
	if len(texts) == 0 {
		return "none but the empty field"
	}
	return strings.Join(texts, ", ")
}

// printReview lists the cells that do not fit. It is private, and holds no cell.
func printReview(w io.Writer, g *api.Granted) {
	heading, columns, units := words.Review(words.English, g)
	if heading != "" {
		fmt.Fprintf(w, "  %s:\n", heading)
	}
	for _, line := range columns {
		fmt.Fprintf(w, "    %s\n", line)
	}
	if units != "" {
		fmt.Fprintf(w, "  %s\n", units)
	}
}
