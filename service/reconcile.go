package service

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/ledger"
)

// LedgerReconcile rolls a ledger that was restored from an older copy forward from its
// head file, charges what certificates state and the ledger lacks, and then what its anchor
// and the files beside it know to be spent. What is spent can only rise. A certificate that
// no trusted key signed is an error of kind NotMet, code untrusted; one that states no
// charge is of kind Usage, code no-charge.
func (s *Service) LedgerReconcile(ctx context.Context, r *api.LedgerReconcileRequest) (*api.Reconciliation, error) {
	keys, err := s.trusted(r.Trust)
	if err != nil {
		return nil, err
	}
	o := ledger.ReconcileOptions{WithoutHead: r.WithoutHead, WithoutAnchor: r.WithoutAnchor}
	if b := s.Beside; b != nil {
		keys = append(slices.Clone(keys), b.Keys...)
		if b.Known != nil {
			seen, err := b.Known.seen()
			if err != nil {
				return nil, err
			}
			o.Seen = append(o.Seen, *seen)
		}
		for _, c := range b.Certificates {
			e, err := evidenceOf("server.db", c, b.Keys)
			if noren.CodeOf(err) == "no-charge" {
				continue
			}
			if err != nil {
				return nil, err
			}
			o.Evidence = append(o.Evidence, *e)
			for i := range o.Seen {
				o.Seen[i].Entries = append(o.Seen[i].Entries, ledger.SeenEntry{Seq: e.Charge.Link, Hash: e.Charge.Head[:]})
			}
		}
	}
	for _, path := range r.Certificates {
		c, err := certificate.Load(path)
		if err != nil {
			return nil, err
		}
		e, err := evidenceOf(path, c, keys)
		if err != nil {
			return nil, err
		}
		o.Evidence = append(o.Evidence, *e)
	}
	var out *api.Reconciliation
	err = s.withLedger(ctx, func(l *ledger.Ledger) error {
		did, err := l.Reconcile(ctx, o)
		if err != nil {
			return err
		}
		out = &api.Reconciliation{
			Schema: api.LedgerSchema, Ledger: l.ID(), Rolled: did.Rolled, Lost: did.Lost, Restored: append([]string{}, did.Restored...),
			Recovered: append([]string{}, did.Recovered...), Skipped: append([]noren.Text{}, did.Skipped...), Raised: []api.Raised{},
		}
		if did.Lost > 0 {
			out.Missing = ledger.Entries(did.Missing)
		}
		for _, a := range did.Raised {
			out.Raised = append(out.Raised, api.Raised{
				Kind: a.Kind, Name: a.Name, Before: api.AmountOf(a.Accounting, a.Before),
				After: api.AmountOf(a.Accounting, a.After),
			})
		}
		if s.Beside == nil {
			return nil
		}
		now, err := l.Known(ctx)
		if err != nil {
			return err
		}
		known, err := knownOf(now)
		if err != nil {
			return err
		}
		return s.Beside.Reconciled(ctx, known)
	})
	return out, err
}

// evidenceOf reads the charge that a certificate, found at path, states, after its
// signature was checked.
func evidenceOf(path string, s *certificate.Signed, trusted []ed25519.PublicKey) (*ledger.Evidence, error) {
	known, err := s.SignedBy(trusted...)
	if err != nil {
		return nil, &noren.Error{Kind: noren.KindOf(err), Where: noren.File(path), Err: err}
	}
	if !known {
		return nil, &noren.Error{
			Kind: noren.NotMet, Code: "untrusted", Where: noren.File(path),
			What: "it is signed by a key that is not trusted (%s)", Args: []any{s.Signature.KeyID}, Hint: "trust the public key of its signer",
		}
	}
	c := s.Certificate.Charge
	if c == nil {
		return nil, &noren.Error{
			Kind: noren.Usage, Code: "no-charge", Where: noren.File(path),
			What: "states no charge: what it certifies was not charged to a ledger", Hint: "leave it out",
		}
	}
	e := &ledger.Evidence{Charge: ledger.ChargeInfo{Ledger: c.Ledger, ID: c.ID, Link: c.Link, Accounts: c.Accounts}}
	e.Charge.Cost.Epsilon, e.Charge.Cost.Delta = c.EpsilonNano, c.DeltaAtto
	if c.Accounting == account.ZCDP {
		e.Charge.Cost = account.Cost{Rho: c.RhoFemto}
		e.Charge.Loss = account.Loss{Rho: c.RhoFemto, Pure: c.EpsilonNano, Gaussian: c.GaussianFemto}
	}
	head, err := hex.DecodeString(c.Head)
	if err != nil || len(head) != len(e.Charge.Head) {
		return nil, &noren.Error{Kind: noren.BadData, Where: noren.File(path), What: "expected a chain head of 64 hexadecimal digits"}
	}
	copy(e.Charge.Head[:], head)
	if s.Certificate.Source != nil {
		e.Dataset = s.Certificate.Source.Dataset
	}
	e.Mechanism, err = json.Marshal(s.Certificate.Mechanism)
	return e, err
}
