package server

import (
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/server/audit"
)

// Each act of the audit log that a route names has words on the page, in both languages.
func TestActsHaveWords(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	// Acts of jobs, of the host and of the server itself, which no route names.
	acts := []string{
		"release", "book.opened", "book.version", "book.asking-end", "book.alert", "table.confirm", "token.make", "principal.add",
		"principal.end", "grant.add", "grant.end",
		"link.make", "folder.accept", "server.calibrate", "ledger.reconcile", "audit.cut", "audit.resumed", "refused", audit.Unreadable,
	}
	for _, r := range s.routes {
		if r.access.action != "" {
			acts = append(acts, r.access.action)
		}
	}
	for _, file := range []string{"en.ts", "ja.ts"} {
		text, err := os.ReadFile("../../web/src/lang/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, act := range acts {
			if !strings.Contains(string(text), `"act.`+act+`": "`) {
				t.Errorf("%s has no words for %s", file, act)
			}
		}
	}
}
