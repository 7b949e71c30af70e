package server

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/cputime"
	"github.com/noren-privacy/noren/internal/randtest"
)

// A computation that uses more processor time than its bound, and takes longer than bound and allowance, ends the paid questions of
// its principal in that book, and of no other, also after a restart, until a steward allows
// them again. The question itself is answered; a refusal costs nothing.
func TestAskingEnded(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	var slow atomic.Bool
	s, a := opened(t, func(c *Config) {
		c.Fault = func(step string) error {
			if step == "computed" && slow.Load() {
				m := cputime.Start()
				m.Spend(700*time.Millisecond, nil)
				m.Stop()
			}
			return nil
		}
	})
	other := a.second(t, s, "Kimura")
	long := a.quote(t, "0.1", "age >= 65")
	slow.Store(true)
	a.pay(t, 200, long, "long")
	slow.Store(false)
	spent := a.shown(t).Spent.Epsilon
	if got := a.pay(t, 403, a.quote(t, "0.1", "age >= 70"), "next"); got.code() != "asking-ended" {
		t.Errorf("%s", got.body)
	}
	a.pay(t, 200, long, "long") // its stored answer
	if now := a.shown(t); now.Spent.Epsilon != spent || !now.Accounts[0].Ended {
		t.Errorf("spent %s, before %s; %+v", now.Spent.Epsilon, spent, now.Accounts)
	}
	ended, err := s.store.EndedAsking(t.Context())
	if err != nil || len(ended) != 1 || ended[0].Book != a.book.ID || ended[0].Principal != a.id {
		t.Errorf("%+v: %v", ended, err)
	}
	other.pay(t, 200, other.quote(t, "0.1", "age >= 65"), "other")
	path := "/books/" + a.book.ID + "/accounts/"
	a.do(t, 403, "POST", path+a.id+"/allow", nil, nil)
	s.do(t, 409, "POST", path+other.id+"/allow", nil, nil)
	s.do(t, 200, "POST", path+a.id+"/allow", nil, nil)
	a.pay(t, 200, a.quote(t, "0.1", "age >= 70"), "next")
	log := s.do(t, 200, "GET", "/audit", nil, nil).body
	for _, action := range []string{"book.asking-end", "book.asking-allow"} {
		if !strings.Contains(log, action) {
			t.Errorf("the audit log has no %s", action)
		}
	}
}
