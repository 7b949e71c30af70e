package cli

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/ledger"
)

func newLedgerReconcile(t *terminal) *cobra.Command {
	var at ledgerFlag
	var withoutHead, asJSON bool
	var trusted []string
	c := &cobra.Command{
		Use:   "reconcile [CERTIFICATE...]",
		Short: "Bring a ledger that was put back from a copy up to what is known of it",
		Long: `A ledger that does not contain the last link of its head file is an older copy
that was put back: it is sealed, and answers nothing, because an older copy would
give spent budget back. Reconciling rolls it forward from the head file and charges
what certificates state and the ledger lacks. What is spent can only rise by it.

It may be run on a sound ledger with all certificates, to find out whether older
copies of both its files were put back. With --without-head the head file is given
up, where it is lost or of no use, and the certificates are all there is to go by.

Certificates count that are signed by this user's key, or by one of --trust.`,
		Example: `  noren ledger reconcile
  noren ledger reconcile certificates/*.json
  noren ledger reconcile --without-head certificates/*.json --trust office.pem`,
		RunE: func(c *cobra.Command, args []string) error {
			keys, err := trustedKeys(trusted)
			if err != nil {
				return err
			}
			o := ledger.ReconcileOptions{WithoutHead: withoutHead}
			for _, path := range args {
				e, err := evidence(path, keys)
				if err != nil {
					return err
				}
				o.Evidence = append(o.Evidence, *e)
			}
			return at.with(c.Context(), func(l *ledger.Ledger) error {
				did, err := l.Reconcile(c.Context(), o)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(t.stdout, recoveryJSON(l, did))
				}
				printRecovery(t.stdout, at.file(), did)
				return nil
			})
		},
	}
	at.register(c)
	c.Flags().BoolVar(&withoutHead, "without-head", false, "give the head file up: it is lost or of no use")
	c.Flags().StringArrayVar(&trusted, "trust", nil, "a public key `FILE` whose certificates count; may be repeated")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, noren.ledger/1")
	return c
}

// evidence reads the charge that a certificate states, after its signature was
// checked.
func evidence(path string, trusted []trustedKey) (*ledger.Evidence, error) {
	s, err := certificate.Load(path)
	if err != nil {
		return nil, err
	}
	known, err := verifySignature(s, trusted)
	if err != nil {
		return nil, &noren.Error{Kind: noren.KindOf(err), Where: path, Err: err}
	}
	if !known {
		return nil, &noren.Error{Kind: noren.NotMet, Where: path, What: "it is signed by a key that is not trusted (" + s.Signature.KeyID + ")", Hint: "name the key of the signer: --trust KEY.pem"}
	}
	c := s.Certificate.Charge
	if c == nil {
		return nil, &noren.Error{Kind: noren.Usage, Where: path, What: "states no charge: what it certifies was not charged to a ledger", Hint: "leave it out"}
	}
	e := &ledger.Evidence{Charge: ledger.ChargeInfo{Ledger: c.Ledger, ID: c.ID, Link: c.Link, Accounts: c.Accounts}}
	e.Charge.Cost.Epsilon, e.Charge.Cost.Delta = c.EpsilonNano, c.DeltaAtto
	head, err := hex.DecodeString(c.Head)
	if err != nil || len(head) != len(e.Charge.Head) {
		return nil, &noren.Error{Kind: noren.BadData, Where: path, What: "its chain head is not one"}
	}
	copy(e.Charge.Head[:], head)
	if s.Certificate.Source != nil {
		e.Dataset = s.Certificate.Source.Dataset
	}
	e.Mechanism, err = json.Marshal(s.Certificate.Mechanism)
	return e, err
}

func recoveryJSON(l *ledger.Ledger, did *ledger.Recovery) any {
	raised := []map[string]any{}
	for _, r := range did.Raised {
		raised = append(raised, map[string]any{"kind": r.Kind, "name": r.Name, "before": toCostJSON(account.Cost(r.Before)), "after": toCostJSON(account.Cost(r.After))})
	}
	return map[string]any{
		"schema": ledgerSchema, "ledger": l.ID(), "rolled": did.Rolled,
		"recovered": append([]string{}, did.Recovered...), "skipped": append([]string{}, did.Skipped...), "raised": raised,
	}
}

func printRecovery(w io.Writer, path string, did *ledger.Recovery) {
	fmt.Fprintf(w, "%s: reconciled\n", path)
	if did.Rolled > 0 {
		fmt.Fprintf(w, "  %d links done again from the head file\n", did.Rolled)
	}
	for _, id := range did.Recovered {
		fmt.Fprintf(w, "  charge %s was lost, and is charged again\n", id)
	}
	for _, s := range did.Skipped {
		fmt.Fprintf(w, "  not charged: %s\n", s)
	}
	for _, r := range did.Raised {
		fmt.Fprintf(w, "  %s %s: spent %s, before %s\n", r.Kind, r.Name, account.Cost(r.After), account.Cost(r.Before))
	}
	if did.Rolled == 0 && len(did.Recovered) == 0 && len(did.Skipped) == 0 {
		fmt.Fprintln(w, "  it lacked nothing")
	}
}
