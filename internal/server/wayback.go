package server

import (
	"path/filepath"
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
	accept := noren.Textf("where there is no copy: noren serve accept --dir %s, which ends all sessions, links and tokens", path())
	reconcile := noren.Textf("noren ledger reconcile --ledger %s", path("ledger.db"))
	if s.cfg.Anchor != "" {
		reconcile = noren.Textf("see that %s is in its place, then: noren ledger reconcile --ledger %s", names.Shell(s.cfg.Anchor), path("ledger.db"))
	}
	back := func(files ...string) noren.Text {
		return noren.Textf("put the newest copy of %s back", strings.Join(files, ", "))
	}
	steps := []noren.Text{noren.Textf("stop this server")}
	switch reason {
	case sealAudit:
		steps = append(steps, noren.Textf("move %s to another place, as evidence", path("audit.log")), back(path("audit.log")))
	case sealStoreAudit, sealStoreLedger:
		steps = append(steps, back(path("server.db")), accept)
	case sealAuditLedger:
		steps = append(steps, back(path("server.db"), path("audit.log")), accept)
	case sealLedgerGone:
		steps = append(steps, back(path("ledger.db"), path("ledger.db.head")), reconcile)
	case sealLedgerOld:
		steps = append(steps, reconcile)
	case sealKeyGone, sealKeyOld:
		steps = append(steps, back(path("key", "key.pem")), accept)
	case sealStoreDamage:
		steps = append(steps, noren.Textf("move %s to another place", path("server.db")), back(path("server.db")), accept)
	default: // the audit log cannot be written
		return []noren.Text{noren.Textf("free space on the disk of %s: the server then goes on by itself", path())}
	}
	return append(steps, noren.Textf("start it again, as now: noren serve --dir %s with its other flags", path()))
}
