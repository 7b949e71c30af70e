package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/server"
	"github.com/noren-privacy/noren/lang"
)

func newLedgerReconcile(t *terminal) *cobra.Command {
	var at ledgerFlag
	var r api.LedgerReconcileRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "reconcile [CERTIFICATE...]",
		Short: "Roll a restored ledger forward from its head file and certificates",
		RunE: func(c *cobra.Command, args []string) error {
			s := t.service(&at)
			beside, err := server.Beside(c.Context(), at.file())
			if err != nil {
				return err
			}
			s.Beside = beside
			r.Certificates = args
			out, err := s.LedgerReconcile(c.Context(), &r)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, out)
			}
			printRecovery(t.stdout, at.file(), out)
			return nil
		},
	}
	at.register(c)
	c.Flags().BoolVar(&r.WithoutHead, "without-head", false, "do not use the head file: it is lost or damaged")
	c.Flags().BoolVar(&r.WithoutAnchor, "without-anchor", false, "make the anchor anew: the ledger cannot be brought up to it, or it is lost")
	c.Flags().StringArrayVar(&r.Trust, "trust", nil, "a public key `FILE` whose certificates count; may be repeated")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func printRecovery(w io.Writer, path string, did *api.Reconciliation) {
	lang.Fprintf(w, "%s: reconciled\n", path)
	if did.Rolled > 0 {
		lang.Fprintf(w, "  %d {entry|entries} done again from the head file\n", did.Rolled)
	}
	for _, id := range did.Recovered {
		lang.Fprintf(w, "  charge %s was lost, and is charged again\n", id)
	}
	for _, name := range did.Restored {
		lang.Fprintf(w, "  data set %s lost its grant: its account is there again, with nothing left\n", name)
	}
	for _, s := range did.Skipped {
		lang.Fprintf(w, "  not charged: %s\n", s)
	}
	for _, r := range did.Raised {
		lang.Fprintf(w, "  %s %s: spent %s, before %s\n", lang.Of(w).Term(r.Kind), r.Name, r.After, r.Before)
	}
	if did.Lost > 0 {
		lang.Fprintf(w, "  the anchor or server.db knew %d {entry|entries} that nothing brought back: %s\n", did.Lost, did.Missing)
		lang.Fprintln(w, "  what is known to be spent by these is charged to the data sets; what a later run finds is charged in addition")
	}
	if did.Rolled == 0 && did.Lost == 0 && len(did.Recovered) == 0 && len(did.Skipped) == 0 && len(did.Restored) == 0 && len(did.Raised) == 0 {
		lang.Fprintln(w, "  it lacked nothing")
	}
}
