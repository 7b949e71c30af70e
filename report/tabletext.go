package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/noren-privacy/noren/internal/grid"
)

// WriteText writes the table for a terminal: the caption, and aligned columns below it.
func (t *Table) WriteText(w io.Writer) {
	rows := append([][]string{t.Header}, t.Rows...)
	width := make([]int, len(t.Header))
	for _, row := range rows {
		for j, cell := range row {
			width[j] = max(width[j], grid.Width(cell))
		}
	}
	fmt.Fprintln(w, t.Caption)
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
