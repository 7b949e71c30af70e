package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/dataset"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
)

// printGranted prints what was granted and which cells do not fit.
func printGranted(w io.Writer, g *api.Granted) {
	if g.Private == nil {
		return
	}
	lang.Fprintf(w, "%s: version %d of data set %s, %d {record|records} (private: for the steward)\n", filepath.Base(g.Source), g.Version,
		g.Name, g.Private.Records)
	printReview(w, g)
	fmt.Fprintln(w)
}

// printDefinition prints a definition, column by column.
func printDefinition(out io.Writer, d *dataset.Definition, proposed []string, missing bool) {
	l := lang.Of(out)
	how := d.File.Kind
	if d.File.Delimiter != "" {
		how += l.Text(", delimiter %q, %s", d.File.Delimiter, d.File.Encoding)
	}
	if d.File.Sharded {
		how += l.Text(", sharded: in the files of a folder or pattern")
	}
	texts := l.Text("none but the empty field")
	if len(d.Missing) > 0 {
		texts = strings.Join(d.Missing, ", ")
	}
	if missing {
		texts = l.Text("%s (proposed)", texts)
	}
	lang.Fprintf(out, "  file        %s; missing texts: %s\n", how, texts)
	lang.Fprintf(out, "  neighbours  %s of one %s; at most %d records\n", d.Neighbours, lang.Of(out).Unit(d.Unit), d.AtMost)
	w := grid.New(out)
	lang.Fprintln(w, "  column\ttype\tlayout or levels\tbounds or keys\t")
	for i := range d.Columns {
		c := &d.Columns[i]
		kind := l.Term(c.Type)
		for _, name := range proposed {
			if name == c.Name {
				kind = l.Text("%s (proposed)", kind)
			}
		}
		lang.Fprintf(w, "  %s\t%s\t%s\t%s\t\n", c.Name, kind, c.Layout+strings.Join(c.Levels, " < "),
			strings.Join(append(append([]string{}, c.Bounds...), c.Keys...), ", "))
	}
	_ = w.Flush()
	if m := d.Model; m != nil {
		lang.Fprintf(out, "  model       of column %s, states %s; any other cell counts as %s\n", m.Column, strings.Join(m.States, ", "), m.Other)
	}
}

// printReview lists the cells that do not fit. It is private, and holds no cell.
func printReview(w io.Writer, g *api.Granted) {
	heading, columns, units := words.Review(lang.Of(w), g)
	if heading != "" {
		lang.Fprintf(w, "  %s:\n", heading)
	}
	for _, line := range columns {
		lang.Fprintf(w, "    %s\n", line)
	}
	if units != "" {
		lang.Fprintf(w, "  %s\n", units)
	}
}
