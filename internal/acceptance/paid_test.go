package acceptance

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/internal/randtest"
)

// pay pays a quote under a key and follows an answer that missed its time class. It asks
// again where the server says that the key is in use.
func (u *user) pay(ctx context.Context, q *quote, key string) *reply {
	for {
		r := u.payOnce(ctx, q, key)
		if r.err == nil && r.status == 409 && r.header.Get("Retry-After") != "" {
			pause(ctx, r)
			continue
		}
		return r
	}
}

// payOnce is pay that does not wait for another request with the key. A machine that is busy
// with other tests may stall a computation for longer than bound and allowance, which ends the
// paid questions of a principal: the steward of the account allows them again.
func (u *user) payOnce(ctx context.Context, q *quote, key string) *reply {
	text, err := json.Marshal(q.paying())
	if err != nil {
		return &reply{err: err}
	}
	for {
		r := u.follow(ctx, u.raw(ctx, "POST", "/answers", text, "Content-Type", "application/json", "Idempotency-Key", key))
		if r.code() != "asking-ended" || u.by == nil {
			return r
		}
		// Another client of the principal may have come first.
		if a := u.by.send(ctx, "POST", "/books/"+u.account+"/accounts/"+u.id+"/allow", nil); a.status != 200 && a.code() != "conflict" {
			return a
		}
	}
}

// follow fetches an answer that was accepted and missed its class.
func (u *user) follow(ctx context.Context, r *reply) *reply {
	begun := r.took
	for r.err == nil && r.status == 202 {
		pause(ctx, r)
		path := strings.TrimPrefix(r.header.Get("Location"), "/api/v1")
		r = u.send(ctx, "GET", path, nil)
		begun += r.took
	}
	r.took = begun
	return r
}

// pause waits as long as a reply asks.
func pause(ctx context.Context, r *reply) {
	seconds, err := strconv.ParseFloat(r.header.Get("Retry-After"), 64)
	if err != nil {
		seconds = 0.5
	}
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(seconds * float64(time.Second))):
	}
}

// publicKey is the key that signs the server's certificates.
func (u *user) publicKey(t *testing.T) ed25519.PublicKey {
	t.Helper()
	var keys struct{ Items []struct{ PEM string } }
	u.must(t, 200, "GET", "/keys", nil, &keys)
	if len(keys.Items) != 1 {
		t.Fatalf("%d keys", len(keys.Items))
	}
	key, err := certificate.ParsePublicKey([]byte(keys.Items[0].PEM))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// verified reads an answer and checks its certificate.
func verified(body []byte, key ed25519.PublicKey) (*answer, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, err
	}
	signed, err := certificate.Parse(a.Certificate)
	if err != nil {
		return nil, err
	}
	if _, err := certificate.Check(context.Background(), signed, strings.NewReader(a.Payload), key); err != nil {
		return nil, err
	}
	if c := signed.Certificate.Charge; c == nil || c.Link != a.N {
		return nil, fmt.Errorf("the certificate names another entry than %d", a.N)
	}
	return &a, nil
}

// load is what clients saw that pay until they are refused.
type load struct {
	mu       sync.Mutex
	paid     [][]byte
	took     []time.Duration // of paid answers
	refused  []time.Duration
	other    []string
	finished time.Time // of the last paid answer
}

// spend lets clients pay small quotes until the budget refuses them.
func spend(t *testing.T, users []*user, quotes []*quote, clients int) *load {
	t.Helper()
	var out load
	var group sync.WaitGroup
	for i := range clients {
		u, q := users[i%len(users)], quotes[i%len(users)]
		group.Go(func() {
			for n := 0; ; n++ {
				r := u.pay(t.Context(), q, fmt.Sprintf("client %d request %d", i, n))
				out.mu.Lock()
				switch {
				case r.err == nil && r.status == 200:
					out.paid, out.took, out.finished = append(out.paid, r.body), append(out.took, r.took), time.Now()
				case r.err == nil && r.code() == "budget-refused":
					out.refused = append(out.refused, r.took)
				default:
					out.other = append(out.other, r.String())
				}
				again := r.err == nil && r.status == 200
				out.mu.Unlock()
				if !again {
					return
				}
			}
		})
	}
	group.Wait()
	return &out
}

// testCap lets clients spend one cap that covers a number of answers exactly.
func testCap(t *testing.T, clients, answers, rows, principals int) {
	const each = 1_000_000 // 0.001
	u := serve(t, "--memory", "500MB").steward(t)
	u.fromManyAddresses()
	limit := decimal(int64(answers) * each)
	book := u.add(t, "visits.csv", visits(rows, 1), setting{"epsilon": limit, "at_most": 2 * rows}).book
	var users []*user
	var quotes []*quote
	for i := range principals {
		users = append(users, u.analyst(t, fmt.Sprint("Analyst ", i), book, setting{"epsilon": limit}))
		quotes = append(quotes, users[i].quote(t, quoting(book, "0.001", question{"kind": "count", "where": fmt.Sprintf("age >= %d", 20+i)})))
	}
	before, begun := u.processor(), time.Now()
	l := spend(t, users, quotes, clients)
	took, used := l.finished.Sub(begun), u.processor()-before
	// Each client asks once more, of a cap that is spent.
	spent := make([]time.Duration, clients)
	var group sync.WaitGroup
	for i := range clients {
		group.Go(func() {
			r := users[i%principals].pay(t.Context(), quotes[i%principals], fmt.Sprintf("client %d once more", i))
			spent[i] = r.took
			if r.err != nil || r.code() != "budget-refused" {
				t.Errorf("a request to a cap that is spent: %s", r)
			}
		})
	}
	group.Wait()
	if len(l.other) > 0 {
		t.Errorf("%d replies are neither answers nor refusals: %s", len(l.other), l.other[0])
	}
	if len(l.paid) != answers || len(l.refused) != clients-len(l.other) {
		t.Errorf("%d answers and %d refusals; expected %d and %d", len(l.paid), len(l.refused), answers, clients)
	}
	key, links, sum := u.publicKey(t), map[int64]bool{}, int64(0)
	for _, body := range l.paid {
		a, err := verified(body, key)
		if err != nil {
			t.Fatal(err)
		}
		if links[a.N] {
			t.Errorf("entry %d was answered twice", a.N)
		}
		links[a.N] = true
		sum += nano(t, a.Cost.Epsilon)
	}
	b := u.book(t, book)
	if total := nano(t, b.Spent.Epsilon); total != sum || total != nano(t, limit) || nano(t, b.Left.Epsilon) != 0 {
		t.Errorf("the book has spent %s of %s, the answers cost %s", b.Spent.Epsilon, limit, decimal(sum))
	}
	t.Logf("%d clients of %d principals, %d rows: %d answers in %.1f s (%.0f/s), p50 %s, p99 %s; %d refusals while it was used up, p99 %s, "+
		"and %d afterwards, p50 %s, p99 %s; processor time of the server %s",
		clients, principals, rows, len(l.paid), took.Seconds(), float64(len(l.paid))/took.Seconds(), percentile(l.took, 0.5).
			Round(time.Millisecond),
		percentile(l.took, 0.99).Round(time.Millisecond), len(l.refused), percentile(l.refused, 0.99).Round(time.Millisecond),
		len(spent), percentile(spent, 0.5).Round(time.Millisecond), percentile(spent, 0.99).Round(time.Millisecond), used)
}

// Clients that together ask for more than a cap get exactly what it covers.
func TestCap(t *testing.T) {
	short(t)
	testCap(t, 40, 50, 300, 3)
}

func TestLongServedCap(t *testing.T) {
	randtest.Long(t)
	testCap(t, 1000, 5000, 1000, 10)
}

func TestLongServedAnswers(t *testing.T) {
	randtest.Long(t)
	testCap(t, 256, 5000, 100_000, 10)
}

// testOneKey sends requests with one key from many clients at once.
func testOneKey(t *testing.T, clients, keys int) {
	u := serve(t).steward(t)
	book := u.add(t, "visits.csv", visits(300, 1), nil).book
	analyst := u.analyst(t, "K. Sato", book, setting{"epsilon": "100"})
	q := analyst.quote(t, quoting(book, "0.01", question{"kind": "count", "where": "age >= 65"}))
	for n := range keys {
		replies := make([]*reply, clients)
		var group sync.WaitGroup
		for i := range clients {
			group.Go(func() { replies[i] = analyst.pay(t.Context(), q, fmt.Sprint("key ", n)) })
		}
		group.Wait()
		for i, r := range replies {
			if r.err != nil || r.status != 200 {
				t.Fatalf("client %d: %s", i, r)
			}
			if !bytes.Equal(r.body, replies[0].body) {
				t.Fatalf("two clients got different bytes under one key:\n%s\n%s", r, replies[0])
			}
		}
		if spent := nano(t, u.book(t, book).Spent.Epsilon); spent != int64(n+1)*10_000_000 {
			t.Fatalf("after %d keys %s are spent", n+1, decimal(spent))
		}
	}
	// The key belongs to its request: another one under it is refused, and not charged.
	other := analyst.quote(t, quoting(book, "0.01", question{"kind": "count", "where": "age >= 66"}))
	if r := analyst.pay(t.Context(), other, "key 0"); r.status != 409 || r.code() != "conflict" {
		t.Errorf("another request under a used key: %s", r)
	}
	if spent := nano(t, u.book(t, book).Spent.Epsilon); spent != int64(keys)*10_000_000 {
		t.Errorf("it was charged: %s", decimal(spent))
	}
	t.Logf("%d keys from %d clients each: one charge a key, the same bytes", keys, clients)
}

func TestOneKey(t *testing.T) {
	short(t)
	testOneKey(t, 40, 2)
}

func TestLongServedOneKey(t *testing.T) {
	randtest.Long(t)
	testOneKey(t, 200, 200)
}
