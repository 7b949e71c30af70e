package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
)

// Table is a table of text. Its first column names the row.
type Table struct {
	Caption noren.Text
	Header  []noren.Text
	Rows    [][]noren.Text
	// Numeric[i] sets column i to the right. May be shorter than Header.
	Numeric []bool
}

// Add adds a row of a text and of figures.
func (t *Table) Add(first noren.Text, figures ...string) {
	t.Rows = append(t.Rows, append([]noren.Text{first}, texts(figures, Verbatim)...))
}

// Header are the texts of a header.
func Header(formats ...noren.Format) []noren.Text {
	out := make([]noren.Text, len(formats))
	for i, f := range formats {
		out[i] = noren.Textf(f)
	}
	return out
}

// WriteText writes the table for a terminal in a language: the caption, and aligned columns below it.
func (t *Table) WriteText(w io.Writer, l lang.Lang) {
	rows := make([][]string, 0, 1+len(t.Rows))
	width := make([]int, len(t.Header))
	for _, row := range append([][]noren.Text{t.Header}, t.Rows...) {
		cells := make([]string, len(row))
		for j, cell := range row {
			cells[j] = l.Shown(cell)
			width[j] = max(width[j], grid.Width(cells[j]))
		}
		rows = append(rows, cells)
	}
	fmt.Fprintln(w, l.Shown(t.Caption))
	for _, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			pad := strings.Repeat(" ", width[j]-grid.Width(cell))
			if j < len(t.Numeric) && t.Numeric[j] {
				b.WriteString("  " + pad + cell)
			} else {
				b.WriteString("  " + cell + pad)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
