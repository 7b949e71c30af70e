package server

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/questions"
)

// still are the files of a folder whose server writes nothing at this moment.
func still(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	read := func() map[string][]byte {
		out := map[string][]byte{}
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") {
				return nil //nolint:nilerr // a file may go meanwhile: the second reading tells
			}
			name, err := filepath.Rel(dir, path)
			if err == nil {
				out[name], err = os.ReadFile(path)
			}
			return err
		})
		return out
	}
	for last, deadline := read(), time.Now().Add(time.Minute); time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
		next := read()
		if maps.EqualFunc(last, next, slices.Equal) {
			return next
		}
		last = next
	}
	t.Fatal("the folder changes again and again")
	return nil
}

// A history is an answer that a principal paid with all that it had, and the folder of its server
// before the charge, while the answer was pending, and after it was given.
type history struct {
	a       *asker
	q       *questions.Quote
	moments [3]map[string][]byte
	given   questions.Answer
}

const historyCost = "0.01"

// lived makes a history.
func lived(t *testing.T) *history {
	t.Helper()
	h := &history{}
	dir := filepath.Join(t.TempDir(), "server")
	reached, goOn := make(chan struct{}), make(chan struct{})
	s, a := opened(t, func(c *Config) {
		c.Dir = dir
		c.Fault = func(step string) error {
			if step == "computed" {
				close(reached)
				<-goOn
			}
			return nil
		}
	})
	a = &asker{steward: &steward{s.running, s.token(t, "Kimura", auth.Analyst, a.book.Table)}, id: s.principal(t, "Kimura"), book: a.book}
	s.do(t, 200, "PUT", "/books/"+a.book.ID+"/accounts/"+a.id, map[string]any{"epsilon": historyCost}, nil)
	h.a = a
	h.q = a.quote(t, historyCost, "age >= 30")
	h.moments[0] = still(t, dir)
	replied := make(chan *answer, 1)
	go func() { replied <- a.once(t, h.q, "one") }()
	<-reached
	h.moments[1] = still(t, dir)
	close(goOn)
	<-replied
	a.until(t, h.q, "one").decode(t, &h.given)
	h.moments[2] = still(t, dir)
	return h
}

// once sends a payment, and until sends it until its answer is there.
func (a *asker) once(t *testing.T, q *questions.Quote, key string) *answer {
	t.Helper()
	return a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost}, idempotency(key))
}

func (a *asker) until(t *testing.T, q *questions.Quote, key string) *answer {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(300 * time.Millisecond) {
		b := a.once(t, q, key)
		open := b.status == 202 || b.status == 409 && strings.Contains(b.body, "it is not known yet")
		if !open || time.Now().After(deadline) {
			return b
		}
	}
}

// back goes the way back that a server over the folder says, until it is not sealed.
func back(t *testing.T, dir string) {
	t.Helper()
	cfg := config(t)
	cfg.Dir = dir
	for range 3 {
		s, err := New(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		reason := s.Sealed()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		switch reason {
		case "":
			return
		case sealLedgerOld:
			reconciled(t, s)
		default:
			if err := Accept(t.Context(), dir); err != nil {
				reconciled(t, s)
			}
		}
	}
	t.Fatal("the server stays sealed")
}

// reconciled reconciles the ledger of a server that is closed.
func reconciled(t *testing.T, s *Server) {
	t.Helper()
	path := s.path("ledger.db")
	beside, err := Beside(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	operations := s.service()
	operations.Kept, operations.Ledger, operations.Beside = nil, path, beside
	if _, err := operations.LedgerReconcile(t.Context(), &api.LedgerReconcileRequest{}); err != nil {
		t.Fatal(err)
	}
}

// Parts of a folder of three moments of an answer: before its charge, while it was pending and
// after it was given. Where the ledger has the charge, the request gives the same answer and costs
// nothing more, also where the account is empty and server.db is older. Where it has not, and
// another part is of a later moment, no other answer is given at the one charge.
func TestAnswersOfOlderParts(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	h := lived(t)
	for _, m := range []struct{ store, ledger, audit int }{
		{0, 1, 0}, {0, 1, 1}, {0, 2, 0}, {0, 2, 2}, {1, 1, 1}, {1, 2, 1}, {2, 1, 2}, {2, 0, 2}, {0, 0, 2},
	} {
		t.Run(fmt.Sprintf("store %d ledger %d audit %d", m.store, m.ledger, m.audit), func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "server")
			of := map[string]int{partStore: m.store, partLedger: m.ledger, partAudit: m.audit}
			for at, files := range h.moments {
				for name, text := range files {
					if of[partOf(name)] != at {
						continue
					}
					path := filepath.Join(dir, name)
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, text, 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			back(t, dir)
			r := start(t, func(c *Config) { c.Dir, c.RequestsPerSecond, c.AnswersPerMinute = dir, -1, -1 })
			secret, _, err := r.Host().Token(t.Context(), h.a.id, "after", 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			a := &asker{&steward{r, secret}, h.a.id, h.a.book}
			b := a.until(t, h.q, "one")
			spent := a.shown(t).Spent.Epsilon
			if m.ledger > 0 || m.store == 2 {
				var got questions.Answer
				if b.status != 200 || spent != historyCost {
					t.Fatalf("spent %s: %d %s", spent, b.status, strings.TrimSpace(b.body))
				}
				if b.decode(t, &got); got.Payload != h.given.Payload {
					t.Errorf("got %s, %s was given", got.Payload, h.given.Payload)
				}
				return
			}
			if b.status == 200 && spent == historyCost {
				t.Errorf("another answer at one charge: %s", strings.TrimSpace(b.body))
			}
		})
	}
}
