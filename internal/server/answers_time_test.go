package server

import (
	"database/sql"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/internal/server/books"
	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/ledger"
)

// However long the work of an answer takes, until its reply leaves the ledger says of it what
// it said when it was charged: every list, filter and quote.
func TestNothingTellsWhenWorkEnds(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	for _, took := range []time.Duration{0, 300 * time.Millisecond} {
		slow := make(chan time.Duration, 1)
		s, a := opened(t, func(c *Config) {
			c.Fault = func(step string) error {
				if step == "computed" {
					time.Sleep(<-slow)
				}
				return nil
			}
		})
		chain, err := sql.Open("sqlite", s.path("ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer chain.Close()
		slow <- 0
		q := a.quote(t, "0.1", "age >= 65")
		a.pay(t, http.StatusOK, q, "first")
		stored := a.quote(t, "0.1", "age >= 65").Stored
		if stored == nil {
			t.Fatal("the first answer is not known")
		}
		slow <- took
		begun, replied := time.Now(), make(chan time.Duration)
		go func() {
			a.pay(t, http.StatusOK, q, "second")
			replied <- time.Since(begun)
		}()
		looks, known := 0, false
		for {
			select {
			case left := <-replied:
				if left < 500*time.Millisecond || looks > 5 && !known {
					t.Errorf("work of %s: the reply left after %s, the charge was seen before: %v", took, left, known)
				}
				if items := a.entries(t, "?state=released"); len(items) != 2 {
					t.Errorf("%d entries are released", len(items))
				}
			default:
				before := time.Since(begun) < 450*time.Millisecond
				released, all := len(a.entries(t, "?state=released")), a.entries(t, "")
				quoted := a.quote(t, "0.1", "age >= 65").Stored
				var links int64
				if err := chain.QueryRow("SELECT max(seq) FROM chain").Scan(&links); err != nil {
					t.Fatal(err)
				}
				all = slices.DeleteFunc(all, func(e books.BookEntry) bool { return e.Kind != "charge" })
				if before && time.Since(begun) < 450*time.Millisecond {
					looks++
					known = known || len(all) == 2 && all[0].State == "reserved"
					if released != 1 || quoted == nil || *quoted != *stored || len(all) == 2 && links != all[0].N {
						t.Errorf("work of %s, after %s: %d released, stored %v, the ledger ends at %d: %+v", took, time.Since(begun), released, quoted, links,
							all[0])
					}
				}
				time.Sleep(20 * time.Millisecond)
				continue
			}
			break
		}
	}
}

// A lease that was lost while the answer was computed loses no answer: the charge has the
// secret of its noise, so that nothing gives it up. The reply leaves at the boundary.
func TestLostLease(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	var path string
	lose := make(chan bool, 1)
	s, a := opened(t, func(c *Config) {
		c.Fault = func(step string) error {
			if step != "computed" || !<-lose {
				return nil
			}
			db, err := sql.Open("sqlite", path)
			if err != nil {
				return err
			}
			defer db.Close()
			if _, err := db.Exec("UPDATE charge SET lease_until = 0, lease_boot = 0 WHERE state = 'reserved'"); err != nil {
				return err
			}
			l, err := ledger.Open(t.Context(), path, ledger.Options{}) // gives up charges whose lease ran out
			if err != nil {
				return err
			}
			return l.Close()
		}
	})
	path = s.path("ledger.db")
	lose <- false
	whole := a.pay(t, http.StatusOK, a.quote(t, "0.1", "age >= 65"), "whole")
	lose <- true
	q := a.quote(t, "0.1", "age >= 66")
	begun := time.Now()
	var b *answer
	for b == nil || b.status == http.StatusAccepted { // at a later boundary where the machine is slow
		b = a.ask(t, "POST", "/api/v1/answers", a.secret, map[string]any{"quote": q.Token, "most": q.Cost}, idempotency("lost"))
	}
	if took := time.Since(begun); took < 500*time.Millisecond || b.status != http.StatusOK || len(b.body) != len(whole.body) {
		t.Errorf("after %s: %d, %d bytes, an answer has %d: %s", took, b.status, len(b.body), len(whole.body), b.body)
	}
	if spent := a.shown(t).Spent.Epsilon; spent != "0.2" {
		t.Errorf("spent %s", spent)
	}
	if e := a.entries(t, ""); e[0].State != "released" || len(e[0].Asked) == 0 {
		t.Errorf("%+v", e[0])
	}
}

// A refusal repeats the questions as they were asked with it, and not as they were before.
func TestRefusalRepeatsOwnWords(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	_, a := opened(t, nil)
	for _, where := range []string{"age   >=   65", "age >= 65"} {
		var p problem.Problem
		a.pay(t, http.StatusConflict, a.quote(t, "2.5", where), "of "+where).decode(t, &p)
		for _, change := range p.FitsWith {
			for _, q := range change.Questions {
				if q.Where() != where {
					t.Errorf("%q was asked, and %q is proposed", where, q.Where())
				}
			}
		}
		if len(p.FitsWith) == 0 {
			t.Error("no change is proposed")
		}
	}
}
