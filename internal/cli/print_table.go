package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
)

// printTable prints a table of a report in the language of w.
func printTable(w io.Writer, t *report.Table) {
	said := t.In(lang.Of(w))
	rows := append([][]string{said.Header}, said.Rows...)
	width := make([]int, len(said.Header))
	for _, row := range rows {
		for j, cell := range row {
			width[j] = max(width[j], grid.Width(cell))
		}
	}
	fmt.Fprintln(w, said.Caption)
	for _, row := range rows {
		var b strings.Builder
		for j, cell := range row {
			pad := strings.Repeat(" ", width[j]-grid.Width(cell))
			if j < len(said.Numeric) && said.Numeric[j] {
				b.WriteString("  " + pad + cell)
			} else {
				b.WriteString("  " + cell + pad)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
