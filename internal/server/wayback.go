package server

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
)

// WayBack is the whole way from a seal to a server that changes again, as steps for the
// person on this machine, with the commands as they are typed for this folder; nil for a
// server that is not sealed. It holds paths and is not for those who sign in.
func (s *Server) WayBack() []noren.Text {
	reason := s.Sealed()
	if reason == "" {
		return nil
	}
	dir := s.cfg.Dir
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	path := func(parts ...string) string { return names.Shell(filepath.Join(append([]string{dir}, parts...)...)) }
	reconcile := noren.Textf("noren ledger reconcile --ledger %s", path("ledger.db"))
	if s.cfg.Anchor != "" {
		reconcile = noren.Textf("see that %s is in its place, then: noren ledger reconcile --ledger %s", names.Shell(s.cfg.Anchor),
			path("ledger.db"))
	}
	steps := []noren.Text{noren.Textf("stop this server")}
	var back []string // to be put back
	var accepts, reconciles bool
	seals := s.allSeals()
	for _, reason := range seals {
		switch reason {
		case sealAudit:
			steps = append(steps, noren.Textf("move %s to another place, as evidence", path("audit.log")))
			back, accepts = append(back, path("audit.log")), true
		case sealStoreAudit:
			back, accepts = append(back, path("server.db")), true
		case sealStoreLedger, sealAuditLedger:
			back, accepts = append(back, path("server.db")), true
			// Charges that the store lacks were noted before they were made. A log that is not
			// ahead of the store lacks them too; one that is ahead may be the newest there is,
			// and is not replaced.
			if !slices.Contains(seals, sealStoreAudit) {
				back = append(back, path("audit.log"))
			}
		case sealLedgerGone:
			back, reconciles = append(back, path("ledger.db"), path("ledger.db.head")), true
		case sealLedgerOld:
			reconciles = true
		case sealKeyGone, sealKeyOld:
			back, accepts = append(back, path("key", "key.pem")), true
		case sealStoreDamage:
			steps = append(steps, noren.Textf("move %s to another place", path("server.db")))
			back, accepts = append(back, path("server.db")), true
		}
	}
	if !accepts && !reconciles { // the audit log cannot be written
		return []noren.Text{noren.Textf("free space on the disk of %s: the server then goes on by itself", path())}
	}
	if slices.Sort(back); len(back) > 0 {
		steps = append(steps, noren.Textf("put the newest copy of %s back", strings.Join(slices.Compact(back), ", ")))
	}
	if reconciles {
		steps = append(steps, reconcile)
	}
	if accepts {
		steps = append(steps, noren.Textf("where there is no copy, or the server is sealed again with it: noren serve accept --dir %s (all "+
			"sessions, links and tokens end)", path()))
	}
	return append(steps, noren.Textf("start it again, as now: noren serve --dir %s with its other flags", path()))
}

// allSeals are all reasons of the seal: several parts may be older than others.
func (s *Server) allSeals() []noren.Phrase {
	s.sealMu.Lock()
	defer s.sealMu.Unlock()
	return slices.Clone(s.seals)
}
