package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/noren-privacy/noren/kanon"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/report"
)

// printUnique says how many records the kept columns single out.
func printUnique(w io.Writer, r *kanon.Result) {
	u := r.Unique
	if u == nil || u.Records == 0 {
		fmt.Fprintf(w, "  unique      no column is kept as it is\n")
		return
	}
	fmt.Fprintf(w, "  unique      %s\n", strings.Join(report.UniqueSentences(u), "\n              "))
	if len(r.FreeText) > 0 {
		fmt.Fprintf(w, "  free text   %s: %s\n", strings.Join(r.FreeText, ", "), report.FreeTextWarning)
	}
}

// printFates says what became of each column, and why.
func printFates(out io.Writer, fates []gate.Fate) {
	fmt.Fprintln(out, "\n  columns")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range fates {
		fmt.Fprintf(w, "    %s\t%s\t%s\t%s\n", f.Column, f.Role, f.Fate, f.Why)
	}
	_ = w.Flush()
}
