package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/store"
	"github.com/noren-privacy/noren/spec"
)

// Each part of a folder is deleted, emptied, flipped or put back from an earlier moment: the
// server starts sealed with the reason that names it, or not at all. With the later part put
// back it serves again.
func TestMixedFolders(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	cfg := config(t)
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	cfg.Clock = store.Clock{
		Wall:    func() time.Time { now = now.Add(2 * time.Second); return now },
		Elapsed: func() time.Duration { return time.Duration(now.Unix()) * time.Second },
	}
	stop := func(s *Server) {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	run := func(do func(s *Server)) {
		t.Helper()
		s, err := New(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if reason := s.Sealed(); reason != "" {
			t.Fatal(reason)
		}
		do(s)
		stop(s)
	}
	busy := func(s *Server) {
		for range 3 {
			name := store.NewID("x")
			if _, err := s.Host().AddPrincipal(t.Context(), name, auth.Analyst, auth.Everything); err != nil {
				t.Fatal(err)
			}
			if err := s.Host().EndPrincipal(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.seeLedger(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	parts := map[string][]string{
		"server.db": {"server.db"}, "ledger": {"ledger.db", "ledger.db.head"}, "audit.log": {"audit.log"},
		"key": {"key/key.pem"},
	}
	moment := func() map[string][]byte {
		out := map[string][]byte{}
		for _, names := range parts {
			for _, name := range names {
				text, err := os.ReadFile(filepath.Join(cfg.Dir, name))
				if err != nil {
					t.Fatal(err)
				}
				out[name] = text
			}
		}
		return out
	}
	put := func(from map[string][]byte, part string) {
		t.Helper()
		for _, name := range parts[part] {
			for _, s := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(filepath.Join(cfg.Dir, name+s)); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
			if text, ok := from[name]; ok {
				if err := os.WriteFile(filepath.Join(cfg.Dir, name), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	run(busy)
	early := moment()
	run(func(s *Server) {
		busy(s)
		// Another moment of the ledger, as commands make it.
		if err := s.kept.Close(); err != nil {
			t.Fatal(err)
		}
		grantOne(t, s)
		if err := s.openLedger(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	late := moment()
	empty, flipped := map[string][]byte{}, map[string][]byte{}
	for name, text := range late {
		empty[name] = nil
		f := append([]byte{}, text...)
		f[len(f)/3] ^= 0x41
		flipped[name] = f
	}
	for how, from := range map[string]map[string][]byte{"earlier": early, "deleted": {}, "emptied": empty, "flipped": flipped} {
		for part := range parts {
			if how == "earlier" && part == "key" {
				continue // it is the same
			}
			put(from, part)
			s, err := New(t.Context(), cfg)
			switch {
			case err != nil && (noren.KindOf(err) == noren.Internal && part != "server.db" || s != nil):
				t.Errorf("%s, %s: %v", part, how, err)
			case err == nil:
				reason := s.Sealed()
				if reason == "" && how != "flipped" { // a flipped byte may lie in a free page
					t.Errorf("%s, %s: the server is not sealed", part, how)
				}
				named := map[string]string{"server.db": "server.db", "ledger": "ledger", "audit.log": "audit log", "key": "signing key"}[part]
				if reason != "" && !strings.Contains(strings.ToLower(string(reason)), named) {
					t.Errorf("%s, %s: the reason is %q", part, how, reason)
				}
				// The way back names each part by its path, and every command with this folder.
				var way []string
				for _, step := range s.WayBack() {
					way = append(way, step.String())
				}
				if text := strings.Join(way, "\n"); reason != "" &&
					(len(way) < 3 || !strings.Contains(text, cfg.Dir) || strings.Contains(text, "DIR")) {
					t.Errorf("%s, %s: the way back is %q", part, how, text)
				}
				stop(s)
			}
			for part := range parts {
				put(late, part)
			}
			run(func(*Server) {})
			for part := range parts {
				put(late, part)
			}
		}
	}
	// Without a newer copy the steward accepts the older store, and every token ends.
	put(early, "server.db")
	if err := Accept(t.Context(), cfg.Dir); err != nil {
		t.Fatal(err)
	}
	run(func(*Server) {})
}

// grantOne makes an entry in the ledger of a server whose ledger is closed.
func grantOne(t *testing.T, s *Server) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "people.csv")
	if err := os.WriteFile(file, []byte("age\n30\n31\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	operations := s.service()
	operations.Kept = nil
	_, err := operations.LedgerGrant(t.Context(), &api.LedgerGrantRequest{Dataset: "people", Epsilon: "1", Table: &api.GrantTable{
		File: file, Confirm: true, Spec: &spec.Spec{Version: spec.Version, Columns: map[string]spec.Column{"age": {Type: "integer"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// A second server does not start where the lock file was deleted.
func TestFolderLockOutlivesItsFile(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	s, err := New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(cfg.Dir, "lock")); err != nil {
		t.Skip("the system keeps the open file")
	}
	if again, err := New(t.Context(), cfg); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "another server") {
		t.Errorf("%v, %v", again, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = New(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A key in the place of the one in use signs nothing, until it is accepted; the audit log
// then says which one it is. Another one is not taken for it afterwards.
func TestReplacedKey(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	open := func(sealed string) *Server {
		t.Helper()
		s, err := New(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if reason := string(s.Sealed()); reason != sealed {
			t.Errorf("sealed: %q, want %q", reason, sealed)
		}
		if _, err := s.signer(); (err != nil) != (sealed != "") {
			t.Errorf("signing: %v", err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	shut := func(s *Server) {
		t.Helper()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	replace := func() {
		t.Helper()
		path := filepath.Join(cfg.Dir, "key", "key.pem")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := certificate.LoadOrCreateKey(path); err != nil {
			t.Fatal(err)
		}
	}
	shut(open(""))
	replace()
	shut(open(sealKeyOld))
	if err := Accept(t.Context(), cfg.Dir); err != nil {
		t.Fatal(err)
	}
	s := open("")
	items, _, err := s.audit.Page(t.Context(), auditFilter("folder.accept"), 0, 10)
	if err != nil || len(items) != 1 || items[0].Detail["key"] != s.keyID() {
		t.Errorf("%+v, %v", items, err)
	}
	shut(s)
	if err := Accept(t.Context(), cfg.Dir); err != nil {
		t.Fatal(err)
	}
	replace()
	shut(open(sealKeyOld))
}
