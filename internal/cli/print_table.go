package cli

import (
	"io"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/report"
)

// printTable prints a table of a report in the language of w.
func printTable(w io.Writer, t *report.Table) { t.WriteText(w, lang.Of(w)) }
