package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/lang"
)

func newLedgerExport(t *terminal) *cobra.Command {
	var at ledgerFlag
	var r api.LedgerExportRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "export -o FILE",
		Short: "Write the whole ledger to a file for an auditor",
		Args:  exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if r.Output == "" {
				return noren.Usagef("--output", "expected the file to write, got none")
			}
			s := t.service(&at)
			out, err := s.LedgerExport(c.Context(), &r)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(t.stdout, out)
			}
			lang.Fprintf(t.stdout, "%s: %d {entry|entries}, %d {answer|answers} (private: for an auditor)\nhead %s\nkey  %s\n", r.Output,
				out.Entries, out.Answers, out.Head, out.KeyID)
			return nil
		},
	}
	at.register(c)
	c.Flags().StringVarP(&r.Output, "output", "o", "", "the `FILE` to write, JSON lines")
	c.Flags().BoolVar(&r.Force, "force", false, "replace the file if it exists")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func newLedgerCheckExport(t *terminal) *cobra.Command {
	var r api.LedgerCheckExportRequest
	var asJSON bool
	c := &cobra.Command{
		Use:   "check-export FILE",
		Short: "Check an exported ledger, without the ledger",
		Args:  exactly("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			r.File = args[0]
			s := t.service(nil)
			s.Note = func(n api.Note) { t.tellHint(n, exportHints[n.Code]) }
			out, err := s.LedgerCheckExport(c.Context(), &r)
			if out == nil {
				return err
			}
			if asJSON {
				if e := printJSON(t.stdout, out); e != nil {
					return e
				}
			} else {
				printExportCheck(t.stdout, r.File, out)
			}
			if err != nil {
				return &alreadySaid{err}
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&r.Keys, "key", nil,
		"the `ID` of a key that may have signed, as in ed25519:..., or the file of its public key; may be repeated")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

func printExportCheck(w io.Writer, path string, out *api.LedgerExportCheck) {
	if out.Sound {
		lang.Fprintf(w, "%s: sound: %d {entry|entries}, %d {charge|charges}, %d {answer|answers} with their certificates\nhead %s\nkey  %s\n",
			path, out.Entries, out.Charges, out.Answers, out.Head, out.KeyID)
		if out.Unbound > 0 {
			lang.Fprintf(w, "%d {grant was|grants were} made by an older version: {its|their} hash is over paths that the export leaves out, so "+
				"what {it says|they say} rests on the signature of the head\n", out.Unbound)
		}
		return
	}
	lang.Fprintf(w, "%s: NOT sound\n", path)
	for _, f := range out.Faults {
		if f.Line > 0 {
			lang.Fprintf(w, "  line %d: %s\n", f.Line, f.What)
		} else {
			lang.Fprintf(w, "  %s\n", f.What)
		}
	}
}
