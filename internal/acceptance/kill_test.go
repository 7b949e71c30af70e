package acceptance

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
)

const killedCost = 1_000_000 // 0.001

// killing is what clients saw of a server that is killed again and again.
type killing struct {
	*user
	book string
	key  ed25519.PublicKey
	rng  *rand.Rand

	mu        sync.Mutex
	seen      map[string][]byte // the bytes of each answer by its key
	forfeited map[string]bool   // keys whose charge was kept without an answer
	leased    map[string]*quote // keys whose charge is kept by the lease of a killed process
	unused    int               // keys that had not been charged
}

// round lets writers pay until the server is killed, and returns the keys that got no
// answer with the quote that they were to pay.
func (k *killing) round(t *testing.T, trial, writers int) (open map[string]bool, q *quote) {
	t.Helper()
	q = k.quote(t, quoting(k.book, decimal(killedCost), question{"kind": "count", "where": "age >= 50"}))
	open = map[string]bool{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	for w := range writers {
		// Requests that arrive at different times are at different steps when the kill comes.
		delay := time.Duration(k.rng.IntN(500)) * time.Millisecond
		group.Go(func() {
			select {
			case <-time.After(delay):
			case <-ctx.Done():
				return
			}
			for n := 0; ; n++ {
				name := fmt.Sprintf("trial %d writer %d request %d", trial, w, n)
				r := k.pay(ctx, q, name)
				k.mu.Lock()
				if r.err != nil || r.status != 200 {
					open[name] = true
					if r.err == nil && r.status < 500 {
						t.Errorf("%s: %s", name, r)
					}
					k.mu.Unlock()
					return
				}
				k.seen[name] = r.body
				k.mu.Unlock()
			}
		})
	}
	time.Sleep(time.Duration(300+k.rng.IntN(900)) * time.Millisecond)
	k.kill()
	cancel()
	group.Wait()
	return open, q
}

// inspect asks for every open key again, and compares the book with what was seen.
func (k *killing) inspect(t *testing.T, trial int, open map[string]bool, q *quote) {
	t.Helper()
	before := nano(t, k.user.book(t, k.book).Spent.Epsilon)
	if least := k.charged(); before < least {
		t.Fatalf("trial %d: %s are spent, and answers for %s were seen", trial, decimal(before), decimal(least))
	}
	k.unused += len(open) - int((before-k.charged())/killedCost)
	for name := range open {
		k.outcome(t, name, q, false)
	}
	if after := nano(t, k.user.book(t, k.book).Spent.Epsilon); after != k.charged() {
		t.Fatalf("trial %d: %s are spent; %d answers, %d forfeits and %d leases cost %s",
			trial, decimal(after), len(k.seen), len(k.forfeited), len(k.leased), decimal(k.charged()))
	}
	// Some answers that were seen before: the same bytes under the same key, free.
	checked := 0
	for name, body := range k.seen {
		if _, err := verified(body, k.key); err != nil {
			t.Fatalf("trial %d: %s: %v", trial, name, err)
		}
		if !open[name] && bytes.HasPrefix([]byte(name), fmt.Appendf(nil, "trial %d ", trial)) {
			if r := k.pay(t.Context(), q, name); r.err != nil || !bytes.Equal(r.body, body) {
				t.Fatalf("trial %d: %s: expected the bytes of before, got %s", trial, name, r)
			}
		}
		if checked++; checked == 3 {
			break
		}
	}
}

// charged is what all requests cost that were charged.
func (k *killing) charged() int64 {
	return int64(len(k.seen)+len(k.forfeited)+len(k.leased)) * killedCost
}

// outcome asks again for what became of a request. Before the lease of a killed process has
// run out it may be unknown, which patient waits for.
func (k *killing) outcome(t *testing.T, name string, q *quote, patient bool) {
	t.Helper()
	for range 40 {
		r := k.payOnce(t.Context(), q, name)
		switch {
		case r.err == nil && r.status == 200:
			k.seen[name] = r.body
			delete(k.leased, name)
			return
		case r.err == nil && r.code() == "forfeited":
			k.forfeited[name] = true
			delete(k.leased, name)
			return
		case r.err == nil && r.code() == "conflict" && r.header.Get("Retry-After") != "":
			k.leased[name] = q
			if !patient {
				return
			}
			time.Sleep(5 * time.Second)
		default:
			t.Fatalf("%s after a kill: %s", name, r)
		}
	}
	t.Fatalf("%s has no outcome", name)
}

func testKills(t *testing.T, part uint64, trials, writers int) {
	s := serve(t)
	u := s.steward(t)
	book := u.add(t, "visits.csv", visits(300, 1), setting{"epsilon": "1000"}).book
	analyst := u.analyst(t, "K. Sato", book, setting{"epsilon": "1000"})
	k := &killing{
		user: analyst, book: book, key: u.publicKey(t), rng: rand.New(rand.NewPCG(part, 2)), seen: map[string][]byte{},
		forfeited: map[string]bool{}, leased: map[string]*quote{},
	}
	for trial := range trials {
		open, q := k.round(t, trial, writers)
		s.start(t)
		k.inspect(t, trial, open, q)
		if t.Failed() {
			t.FailNow()
		}
	}
	waited := len(k.leased)
	for name, q := range maps.Clone(k.leased) {
		k.outcome(t, name, q, true)
	}
	if spent := nano(t, u.book(t, book).Spent.Epsilon); spent != k.charged() {
		t.Errorf("%s are spent, and %d answers and %d forfeits cost %s", decimal(spent), len(k.seen), len(k.forfeited), decimal(k.charged()))
	}
	if len(k.forfeited) > 0 {
		t.Errorf("%d charges were forfeited", len(k.forfeited))
	}
	u.sound(t, book)
	t.Logf("%d kills under %d writers: %d answers, %d charges without an answer (%d after a lease), %d requests lost before their charge",
		trials, writers, len(k.seen), len(k.forfeited), waited, k.unused)
}

// sound checks the whole chain of the ledger by the server, and the audit log.
func (u *user) sound(t *testing.T, book string) {
	t.Helper()
	var begun job
	u.must(t, 202, "POST", "/books/"+book+"/check", nil, &begun)
	u.wait(t, begun.ID)
	var check struct {
		Checks []struct {
			Level   string
			Message struct{ Text string }
		}
	}
	u.must(t, 200, "GET", "/books/"+book+"/check", nil, &check)
	if len(check.Checks) == 0 {
		t.Error("the check says nothing")
	}
	for _, c := range check.Checks {
		if c.Level == "stop" {
			t.Errorf("the check: %s", c.Message.Text)
		}
	}
	var audit struct{ Sound bool }
	if u.must(t, 200, "GET", "/audit/check", nil, &audit); !audit.Sound {
		t.Error("the audit log is not sound")
	}
}

// A server that is killed at any time has charged at least what was answered; each request
// that got no answer has one outcome afterwards.
func TestKills(t *testing.T) {
	short(t)
	testKills(t, 1, size(2, 50), 8)
}

// 2,000 kills, 100 on each of twenty servers. Parts can be run alone: -run TestLongServedKills/part_1?$.
func TestLongServedKills(t *testing.T) {
	randtest.Long(t)
	for part := range 20 {
		t.Run(fmt.Sprintf("part %d", part), func(t *testing.T) { testKills(t, uint64(part), 100, 16) })
	}
}
