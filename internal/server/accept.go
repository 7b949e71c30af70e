package server

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/service"
)

// Accept makes a folder serve of which server.db, the audit log or the signing key is older
// than the rest, or missing, and no newer copy exists. All sessions, sign-in links and tokens end, since
// those that had ended may be valid in the older store. The ledger must be sound: it is
// reconciled first. Questions that the audit log alone knows are charged as well.
// The audit log holds what was accepted, and which of its entries are lost. The server must not run.
func Accept(ctx context.Context, dir string) (err error) {
	if err := private(dir); err != nil {
		return err
	}
	lock, err := store.NewLock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	kept, err := service.Keep(ctx, filepath.Join(dir, "ledger.db"), service.KeepOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	if err := kept.Sealed(); err != nil {
		return err
	}
	st, err := store.Open(ctx, filepath.Join(dir, "server.db"), store.SystemClock())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	s := &Server{store: st, kept: kept}
	if err := s.compareLedger(ctx); err != nil {
		return err // the ledger is the older one: reconcile it
	}
	s.audit, err = audit.Accept(ctx, filepath.Join(dir, "audit.log"), st)
	if err != nil {
		return err
	}
	log := s.audit
	if err := log.Damage(); err != nil {
		return err
	}
	if err := s.chargeNoted(ctx); err != nil {
		return err
	}
	now, err := kept.Known(ctx)
	if err != nil {
		return err
	}
	keyPath := filepath.Join(dir, "key", "key.pem")
	if err := plainOrAbsent(keyPath); err != nil {
		return err
	}
	key, err := certificate.LoadKey(keyPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // a damaged key is not overwritten
	}
	detail := map[string]string{"key": "none"}
	if lost := log.Lost(); lost > 0 {
		detail["audit_lost_to"] = strconv.FormatInt(lost, 10)
	}
	if key != nil {
		detail["key"] = certificate.KeyID(key.Public().(ed25519.PublicKey))
	}
	h := &Host{st, auth.New(st), log, false, dir}
	if err := h.note(ctx, "folder.accept", now.Ledger, detail); err != nil {
		return err
	}
	err = st.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		if err := tx.EndCredentials(ctx); err != nil {
			return err
		}
		if err := tx.RetireKeys(ctx); err != nil {
			return err
		}
		if key != nil {
			if err := useKey(ctx, tx, key); err != nil {
				return err
			}
		}
		return tx.SettleLedger(ctx, &store.LedgerSeen{Ledger: now.Ledger, Seq: now.Seq, Hash: now.Hash, Spent: now.Spent})
	})
	if err != nil {
		return err
	}
	return kept.NoteBeside(ctx, s.lastAudit())
}
