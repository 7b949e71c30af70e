package server

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/auth"
	"github.com/noren-privacy/noren/internal/server/store"
)

// lapses are the ways in which a principal loses the right to an answer, and the status of
// its requests then.
var lapses = map[string]struct {
	status int
	lapse  func(h *Host, a *asker) error
}{
	"the token is revoked": {401, func(h *Host, a *asker) error { return endToken(h, a) }},
	"the role on the table ends": {404, func(h *Host, a *asker) error {
		return h.Grant(context.Background(), a.id, auth.Analyst, a.book.Table, true)
	}},
	"the principal ends": {401, func(h *Host, a *asker) error { return h.EndPrincipal(context.Background(), a.id) }},
}

func endToken(h *Host, a *asker) error {
	id, _, _ := auth.ParseToken(a.secret)
	return h.store.Write(context.Background(), func(ctx context.Context, tx *store.Tx) error { return tx.RevokeToken(ctx, id, a.id) })
}

// A principal who loses token, role or place while a request waits for its charge is not
// charged, and one who loses them between the charge and the reply gets no reply. The
// analyst has a role on another table all the while. What was charged is answered for those
// who may read it.
func TestNothingIsPaidAfterTheRole(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	for name, of := range lapses {
		for _, step := range []string{"asked", "computed"} {
			t.Run(name+", "+step, func(t *testing.T) {
				t.Parallel()
				var host atomic.Pointer[Host]
				var a *asker
				lapsed := make(chan error, 1)
				s, first := opened(t, func(c *Config) {
					c.Fault = func(at string) error {
						if h := host.Load(); h != nil && at == step {
							host.Store(nil)
							lapsed <- of.lapse(h, a)
						}
						return nil
					}
				})
				a = first
				q, later := a.quote(t, "0.1", "age >= 65"), a.quote(t, "0.1", "age >= 70")
				host.Store(s.Host())
				b := a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost}, idempotency("one"))
				if err := <-lapsed; err != nil {
					t.Fatal(err)
				}
				charged := step == "computed" || of.status == 401 && name == "the token is revoked"
				want := of.status
				if !charged {
					want = 404 // it was refused before its charge, and the reply to a refusal tells nothing
				}
				if b.status != want && b.status != of.status || strings.Contains(b.body, "certificate") {
					t.Errorf("%d %s", b.status, strings.TrimSpace(b.body))
				}
				spent := s.shownTo(t, a)
				if want := map[bool]string{true: "0.1", false: "0"}[charged]; spent != want { // a token is no role
					t.Errorf("spent %s, want %s", spent, want)
				}
				a.pay(t, of.status, later, "two")
				a.pay(t, of.status, q, "one")
				if again := s.shownTo(t, a); again != spent {
					t.Errorf("spent %s, before %s", again, spent)
				}
				for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
					answers := s.do(t, 200, "GET", "/answers?book="+a.book.ID, nil, nil).body
					if strings.Contains(answers, `"an_`) == charged {
						break
					}
					if !charged || time.Now().After(deadline) { // a busy machine misses the class
						t.Fatalf("the steward sees %s", answers)
					}
				}
			})
		}
	}
}

// shownTo is what the book of a has spent, as the steward sees it.
func (s *steward) shownTo(t *testing.T, a *asker) string {
	t.Helper()
	return (&asker{steward: s, book: a.book}).shown(t).Spent.Epsilon
}
