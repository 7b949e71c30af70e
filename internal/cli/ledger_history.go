package cli

import (
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/grid"
	"github.com/noren-privacy/noren/lang"
	words "github.com/noren-privacy/noren/report/text"
)

func newLedgerHistory(t *terminal) *cobra.Command {
	var at ledgerFlag
	var analyst string
	var asJSON bool
	c := &cobra.Command{
		Use:   "history [NAME]",
		Short: "Show the charges: analyst, query, time and cost",
		Long: `Show the charges, a line each: when, of which data set, by which analyst, at what cost, and what
was asked. An analyst is named who asked with --analyst, or as another user of this machine.
A state is released (the answer was published), forfeited (it was charged, and no answer was
published), reserved (it is under way, or its process was killed) or not charged.
--json has the parameters of each query.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			s := t.service(&at)
			out, err := s.LedgerHistory(c.Context(), &api.LedgerHistoryRequest{Dataset: argument(args), Analyst: analyst})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, out)
			}
			if analyst != "" && len(out.Charges) == 0 {
				lang.Fprintf(t.stdout, "analyst %s has asked nothing\n", analyst)
				return nil
			}
			return printHistory(t.stdout, out.Charges, analyst)
		},
	}
	at.register(c)
	c.Flags().StringVar(&analyst, "analyst", "", "only the charges of the analyst of this `NAME`, as declared")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

// printHistory prints a line for each charge. The analysts are a column where any is named; only is the name
// of the one who was asked for, or "".
func printHistory(out io.Writer, charges []api.Charged, only string) error {
	if len(charges) == 0 {
		lang.Fprintln(out, "nothing was asked yet")
		return nil
	}
	l, user := lang.Of(out), userName()
	named := slices.ContainsFunc(charges, func(e api.Charged) bool { return analystOf(l, &e, user, only) != "" })
	w := grid.New(out)
	if named {
		lang.Fprintln(w, "entry\ttime\tdata set\tanalyst\tcost\tstate\tquery")
	} else {
		lang.Fprintln(w, "entry\ttime\tdata set\tcost\tstate\tquery")
	}
	for i := range charges {
		e := &charges[i]
		state := l.Term(strings.ReplaceAll(e.State, "-", " "))
		if e.Reason != "" {
			state += ": " + l.Foreign(e.Reason)
		}
		asked := ""
		if said, ok := words.Charged(e.Mechanism); ok {
			asked = onOneLine(said.In(l).Text)
		}
		if named {
			lang.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", e.Link, e.Time, e.Dataset, onOneLine(analystOf(l, e, user, only)), e.Cost, state, asked)
		} else {
			lang.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", e.Link, e.Time, e.Dataset, e.Cost, state, asked)
		}
	}
	return w.Flush()
}

// analystOf is the name of the analyst of a charge: where none was stated, the ledger holds the account of the
// operating system, which is left out where it is that of the user or names no person, unless it was
// asked for.
func analystOf(l lang.Lang, e *api.Charged, user, only string) string {
	switch {
	case e.Principal == only:
		return only
	case e.Recovered: // it has no analyst
		return l.Shown(noren.Textf("%s", noren.Term(e.Principal)))
	case e.Principal == user, e.Principal == "root", e.Principal == unnamed:
		return ""
	}
	return e.Principal
}

// onOneLine is a text without line breaks and other control characters, which names of columns and
// conditions may hold.
func onOneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
