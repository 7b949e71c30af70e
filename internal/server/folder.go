package server

import (
	"context"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/server/audit"
	"github.com/noren-privacy/noren/internal/server/questions"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/internal/tempfile"
	"github.com/noren-privacy/noren/service"
)

// The parts of a folder know each other: server.db holds the last entries that it has seen
// of ledger and audit log, and the key that signs. What is older or missing at the start
// seals the server, which then changes and removes nothing in the folder.

// The reasons of a seal, each with what to do.
const (
	sealAudit      = "The audit log is damaged: the server answers reading requests alone."
	sealStoreAudit = "server.db is missing, or older than the audit log: put its newest copy back. Without one, noren serve accept ends " +
		"all credentials and goes on."
	sealAuditLedger = "server.db is missing, or older than the ledger, and so is the audit log: put the newest copies of both back. " +
		"Without them, noren serve accept ends all credentials and goes on."
	sealStoreLedger = "server.db is missing, or older than the ledger: put its newest copy back. Without one, noren serve accept ends all " +
		"credentials and goes on."
	sealLedgerGone = "The ledger is missing or cannot be read: put a copy of ledger.db and ledger.db.head back and reconcile it."
	sealLedgerOld  = "The ledger is behind what is known of it: nothing is paid until it is reconciled."
	sealKeyGone    = "The signing key is missing or cannot be read: put key/key.pem back. Without a copy, noren serve accept lets the " +
		"server make a new key."
	sealStoreDamage = "server.db is damaged: put its newest copy back. Without one, move it away: noren serve accept then makes a new one."
	sealKeyOld      = "The signing key is not the one in use: put the newest key/key.pem back, or accept it with noren serve accept."
)

// knows is how the reason of a seal names the store.
const knows = "server.db knows"

// openKey reads the signing key, and makes one where none was ever in use. A key that is
// missing, or is not the one in use, seals the server.
func (s *Server) openKey(ctx context.Context) error {
	inUse, err := s.store.KeyInUse(ctx)
	if err != nil {
		return err
	}
	path := s.path("key", "key.pem")
	if err := plainOrAbsent(path); err == nil {
		if inUse == "" && s.Sealed() == "" {
			s.key, err = certificate.LoadOrCreateKey(path)
		} else {
			s.key, err = certificate.LoadKey(path)
		}
		if err != nil && (inUse == "" && s.Sealed() == "" || noren.KindOf(err) == noren.Usage && !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
		if err != nil {
			s.key = nil
		}
	}
	if s.key == nil {
		s.keyGone = true
		s.setSealed(sealKeyGone)
		// Quotes of a sealed server need a key. This one signs nothing, and the next start
		// removes it.
		s.key, err = certificate.LoadOrCreateKey(s.path("work", "key.pem"))
		return err
	}
	if inUse != "" && s.keyID() != inUse {
		// An earlier key, or one that somebody put there: a steward accepts it first.
		s.keyGone = true
		s.setSealed(sealKeyOld)
	}
	if s.Sealed() != "" {
		return nil
	}
	return s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return useKey(ctx, tx, s.key) })
}

// errNoKey refuses signatures where the signing key is missing.
var errNoKey = &noren.Error{Kind: noren.Refused, Code: "sealed", Where: noren.Phrase("signing key"), What: "it is missing"}

// signer is the key that signs.
func (s *Server) signer() (ed25519.PrivateKey, error) {
	if s.keyGone {
		return nil, errNoKey
	}
	return s.key, nil
}

// plainOrAbsent refuses a link, or anything else than a file, at path.
func plainOrAbsent(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return folderError(path, "cannot be examined", err)
	}
	if !info.Mode().IsRegular() {
		return noren.Usagef(noren.File(path), "expected a file, got a link or another kind of entry").
			Hinted("put the file itself in its place: no link in the folder of a server is followed")
	}
	if tempfile.SecondName(path) {
		return noren.Usagef(noren.File(path), "the file has a second name, a hard link: what is written to it changes both").
			Hinted("put a copy of the file in its place, and copy folders without links")
	}
	return nil
}

// openLedger opens the ledger and compares it with what the store has seen of it. A ledger
// that is missing or damaged seals the server, and an empty one takes its place in work/.
func (s *Server) openLedger(ctx context.Context) error {
	s.ledger = s.path("ledger.db")
	uses, err := s.store.UsesLedger(ctx)
	if err != nil {
		return err
	}
	_, err = os.Lstat(s.ledger)
	missing := errors.Is(err, fs.ErrNotExist)
	// A head file, or a seal, says that there was a ledger.
	_, err = os.Lstat(s.ledger + ".head")
	uses = uses || err == nil && missing || s.Sealed() != ""
	if missing && !uses {
		if err := s.service().LedgerCreate(ctx); err != nil {
			return err
		}
		missing = false
	}
	options := service.KeepOptions{
		TableMemory: s.cfg.TableMemory, Anchor: s.cfg.Anchor, Relative: true, Beside: s.lastAudit,
		Fault: s.cfg.Fault,
	}
	if !missing {
		s.kept, err = service.Keep(ctx, s.ledger, options)
		// A ledger that is damaged fails in many ways. What the caller can mend, such as a
		// ledger of a newer program, is an error of the start.
		if kind := noren.KindOf(err); err != nil && (!uses || kind == noren.Usage || kind == noren.Interrupted) {
			return err
		}
	}
	if s.kept == nil {
		s.cfg.Log.Error("the ledger is missing or damaged; the server is sealed", "reason", err)
		s.setSealed(sealLedgerGone)
		s.ledger = s.path("work", "ledger.db")
		if err := s.service().LedgerCreate(ctx); err != nil {
			return err
		}
		options.Anchor = ""
		s.kept, err = service.Keep(ctx, s.ledger, options)
		return err
	}
	if err := s.kept.Sealed(); err != nil {
		s.cfg.Log.Error("the ledger is sealed", "reason", err)
		s.sealLedger()
		return nil
	}
	if err := s.compareLedger(ctx); err != nil {
		if noren.CodeOf(err) != "sealed" {
			return err
		}
		s.cfg.Log.Error("the ledger is older than the server's store; the server is sealed", "reason", err)
		s.sealLedger()
		return nil
	}
	if err := s.compareStore(ctx); err != nil {
		return err
	}
	if err := s.compareAudit(ctx); err != nil {
		return err
	}
	return s.seeLedger(ctx)
}

// compareLedger fails with an error of code sealed where the ledger lacks what the store
// has seen of it.
func (s *Server) compareLedger(ctx context.Context) error {
	switch seen, err := s.store.LedgerSeen(ctx); {
	case err == nil:
		if err := s.kept.Compare(ctx, known(seen), knows); err != nil {
			return err
		}
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	switch link, key, err := s.store.LastCharge(ctx); {
	case err == nil:
		return s.kept.CompareCharge(ctx, link, key, knows)
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	return nil
}

// lastAudit is the last entry of the audit log, which the ledger notes.
func (s *Server) lastAudit() service.LogEntry {
	n, hash := s.audit.Last()
	return service.LogEntry{N: n, Hash: hash}
}

// compareAudit seals the server where the ledger was written to after the last entry of the
// audit log: log and store are of an earlier moment.
func (s *Server) compareAudit(ctx context.Context) error {
	noted, err := s.kept.LastBeside(ctx)
	if err != nil || s.Sealed() != "" {
		return err
	}
	has, err := s.audit.Has(ctx, noted.N, noted.Hash)
	if err == nil && !has {
		s.cfg.Log.Error("the audit log and the server's store are older than the ledger; the server is sealed")
		s.setSealed(sealAuditLedger)
	}
	return err
}

// compareStore seals the server where the ledger has a charge of a principal that the store
// does not know: the store holds each question before it is charged.
func (s *Server) compareStore(ctx context.Context) error {
	after := int64(0)
	uses, err := s.store.UsesLedger(ctx)
	if err != nil {
		return err
	}
	switch seen, err := s.store.LedgerSeen(ctx); {
	case err == nil:
		after = seen.Seq
	case !errors.Is(err, store.ErrNotFound):
		return err
	case uses:
		return nil // a store of before it held what it has seen
	}
	return s.kept.ChargesAfter(ctx, after, func(principal, key string) error {
		if !store.ValidID("pr", principal) || len(key) != 64 {
			return nil // of a command
		}
		has, err := s.store.Charged(ctx, key)
		if err == nil && !has {
			s.setSealed(sealStoreLedger)
		}
		return err
	})
}

func known(seen *store.LedgerSeen) *service.Known {
	return &service.Known{Ledger: seen.Ledger, Seq: seen.Seq, Hash: seen.Hash, Spent: seen.Spent}
}

// seeLedger stores the ledger's last entry and what is spent, unless the server is sealed.
func (s *Server) seeLedger(ctx context.Context) error {
	if s.Sealed() != "" {
		return nil
	}
	now, err := s.kept.Known(ctx)
	if err != nil {
		return err
	}
	seen := &store.LedgerSeen{Ledger: now.Ledger, Seq: now.Seq, Hash: now.Hash, Spent: now.Spent}
	return s.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.SetLedgerSeen(ctx, seen) })
}

// seeing is how often the store learns of the ledger's last entry. An answer names its own
// entry, so that what happened since is known too, except grants.
const seeing = time.Second

// seeLater stores what the ledger is at most once a second, where it has changed, until the
// server stops.
func (s *Server) seeLater() {
	again := time.NewTicker(seeing)
	defer again.Stop()
	last := int64(0)
	for {
		select {
		case <-s.closing:
			return
		case <-again.C:
			n, _ := s.audit.Head() // all that changes the ledger is in the audit log
			if n == last {
				continue
			}
			if err := s.seeLedger(context.Background()); err == nil {
				last = n
			}
		}
	}
}

// Beside is what the store of a server's folder knows of the ledger at a path; nil where
// the ledger is not that of a server.
func Beside(ctx context.Context, ledger string) (*service.Beside, error) {
	// The ledger may be named by a link from elsewhere.
	if real, err := filepath.EvalSymlinks(ledger); err == nil {
		ledger = real
	}
	dir := filepath.Dir(ledger)
	path := filepath.Join(dir, "server.db")
	if filepath.Base(ledger) != "ledger.db" {
		return nil, nil
	}
	if err := plainOrAbsent(path); err != nil {
		return nil, err
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0:
		return nil, nil
	case err != nil:
		return nil, folderError(path, "cannot be examined", err)
	}
	h, err := OpenHost(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.Close() }()
	b := &service.Beside{Reconciled: func(ctx context.Context, now *service.Known) error { return settleLedger(ctx, dir, now) }}
	switch seen, err := h.store.LedgerSeen(ctx); {
	case err == nil:
		b.Known = known(seen)
	case !errors.Is(err, store.ErrNotFound):
		return nil, err
	}
	keys, err := h.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		public, err := certificate.ParsePublicKey([]byte(k.PEM))
		if err != nil {
			return nil, err
		}
		b.Keys = append(b.Keys, public)
	}
	return b, h.store.EachAnswer(ctx, func(body []byte) error {
		text, err := questions.CertificateOf(body)
		if err != nil {
			return err
		}
		c, err := certificate.Parse(text)
		if err != nil {
			return err
		}
		b.Certificates = append(b.Certificates, c)
		return nil
	})
}

// settleLedger notes that the ledger was reconciled with the folder.
func settleLedger(ctx context.Context, dir string, now *service.Known) error {
	h, err := OpenHost(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { _ = h.Close() }()
	if h.audit.Damage() == nil {
		if err := h.note(ctx, "ledger.reconcile", now.Ledger, nil); err != nil {
			return err
		}
	}
	seen := &store.LedgerSeen{Ledger: now.Ledger, Seq: now.Seq, Hash: now.Hash, Spent: now.Spent}
	return h.store.Write(ctx, func(ctx context.Context, tx *store.Tx) error { return tx.SettleLedger(ctx, seen) })
}

// openStore opens server.db. A damaged one seals the server, and an empty one takes its place
// in work/.
func (s *Server) openStore(ctx context.Context) (err error) {
	s.store, err = store.Open(ctx, s.path("server.db"), s.cfg.Clock)
	if noren.KindOf(err) != noren.BadData {
		return err
	}
	s.cfg.Log.Error("the server's store is damaged; the server is sealed", "reason", err)
	s.setSealed(sealStoreDamage)
	s.store, err = store.Open(ctx, s.path("work", "server.db"), s.cfg.Clock)
	return err
}

// unsure reports whether credentials that had ended may be valid in the store, because it
// is an older one: none is taken then.
func (s *Server) unsure() bool {
	switch s.Sealed() {
	case sealStoreAudit, sealStoreLedger, sealAuditLedger, sealStoreDamage:
		return true
	}
	return false
}

// sealAuditLog seals the server where the audit log is damaged, or ahead of the store.
func (s *Server) sealAuditLog() {
	damage := s.audit.Damage()
	if damage == nil {
		return
	}
	s.cfg.Log.Error("the audit log is damaged; the server is sealed", "reason", damage)
	if errors.Is(damage, audit.ErrStoreOlder) {
		s.setSealed(sealStoreAudit)
		return
	}
	s.setSealed(sealAudit)
}
