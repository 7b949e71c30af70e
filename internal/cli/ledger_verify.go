package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
)

func newLedgerVerify(t *terminal) *cobra.Command {
	var at ledgerFlag
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check the whole ledger: its chain, its sums, its head file",
		Args:  exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			s := t.service(&at)
			out, err := s.LedgerVerify(c.Context())
			if out == nil {
				return err
			}
			if asJSON {
				if e := printJSON(t.stdout, out); e != nil {
					return e
				}
			} else {
				printVerification(t.stdout, at.file(), out)
			}
			if !out.Sound {
				return &alreadySaid{err}
			}
			return err
		},
	}
	at.register(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func printVerification(w io.Writer, path string, r *api.LedgerVerification) {
	if r.Sound {
		lang.Fprintf(w, "%s: sound: %d {entry|entries}, %d {charge|charges}\nhead %s\n", path, r.Links, r.Charges, r.Head)
		return
	}
	lang.Fprintf(w, "%s: NOT sound\n", path)
	for _, f := range r.Faults {
		lang.Fprintf(w, "  %s\n", f)
	}
}
