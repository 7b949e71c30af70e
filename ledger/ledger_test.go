package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"noren"
)

// The figures of the tests: one epsilon, one thousandth, one billionth.
const (
	one   = 1_000_000_000
	milli = one / 1000
)

// fixture is a ledger with one granted file.
type fixture struct {
	dir, path, file string
}

func newFixture(t testing.TB, limit Cost) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{dir: dir, path: filepath.Join(dir, "noren.db"), file: filepath.Join(dir, "data.csv")}
	if err := os.WriteFile(f.file, []byte("age,sex\n31,F\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Create(context.Background(), f.path); err != nil {
		t.Fatal(err)
	}
	l := f.open(t)
	defer l.Close()
	if _, err := l.Grant(context.Background(), Grant{Name: "adult", File: f.file, Cap: limit}); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) open(t testing.TB) *Ledger {
	t.Helper()
	l, err := Open(context.Background(), f.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func request(n int, cost Cost) Request {
	return Request{
		Dataset: "adult", Principal: "ana", Key: fmt.Sprint("k", n), Hash: [32]byte{1, byte(n), byte(n >> 8)},
		Mechanism: json.RawMessage(fmt.Sprintf(`{"mechanism":"count","n":%d}`, n)), Cost: cost, Unit: "record",
	}
}

func answer(n int) []byte { return []byte(fmt.Sprintf("answer %d", n)) }

// ask does the whole protocol once.
func ask(ctx context.Context, l *Ledger, q Request, payload []byte) ([]byte, error) {
	r, stored, err := l.Reserve(ctx, q)
	if err != nil {
		return nil, err
	}
	if stored != nil {
		return stored.Payload, nil
	}
	if err := r.Settle(ctx, payload, []byte("signature"), "key"); err != nil {
		return nil, err
	}
	return payload, nil
}

func spent(t testing.TB, l *Ledger) Cost {
	t.Helper()
	b, err := l.Book(context.Background(), "adult")
	if err != nil {
		t.Fatal(err)
	}
	return b.Spent
}

func TestReserveAndSettle(t *testing.T) {
	f := newFixture(t, Cost{one, 1000})
	l := f.open(t)
	ctx := t.Context()
	b, err := l.FindByFile(ctx, f.file)
	if err != nil || b.Name != "adult" || b.Unit != "record" || b.Neighbours != AddRemove {
		t.Fatalf("%+v, %v", b, err)
	}
	r, stored, err := l.Reserve(ctx, request(1, Cost{400 * milli, 600}))
	if err != nil || stored != nil {
		t.Fatal(stored, err)
	}
	if got := spent(t, l); got != (Cost{400 * milli, 600}) {
		t.Errorf("spent %v before the answer", got)
	}
	if c := r.Charge(); c.Ledger != l.ID() || c.Link != 3 || len(c.Accounts) != 1 || c.Cost != (Cost{400 * milli, 600}) {
		t.Errorf("charge %+v", c)
	}
	if m := r.Remaining(); len(m) != 1 || m[0].Left != (Cost{600 * milli, 400}) {
		t.Errorf("remaining %+v", m)
	}
	// Asked again while it is being answered.
	if _, _, err := l.Reserve(ctx, request(1, Cost{400 * milli, 600})); !errors.Is(err, ErrInProgress) {
		t.Error(err)
	}
	if err := r.Settle(ctx, answer(1), []byte("sig"), "kid"); err != nil {
		t.Fatal(err)
	}
	if err := r.Forfeit("deferred"); err != nil {
		t.Error(err)
	}
	if err := r.Settle(ctx, answer(1), nil, ""); err == nil {
		t.Error("settled twice")
	}
	// The same again is free, and the stored bytes.
	_, stored, err = l.Reserve(ctx, request(1, Cost{400 * milli, 600}))
	if err != nil || stored == nil || string(stored.Payload) != "answer 1" || string(stored.Signature) != "sig" || stored.KeyID != "kid" {
		t.Fatalf("%+v, %v", stored, err)
	}
	if fmt.Sprint(stored.Charge) != fmt.Sprint(r.Charge()) {
		t.Errorf("stored charge %+v, was %+v", stored.Charge, r.Charge())
	}
	// Another request under the same key.
	other := request(2, Cost{1, 0})
	other.Key = "k1"
	if _, _, err := l.Reserve(ctx, other); !errors.Is(err, ErrConflict) || noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	// More than remains, in epsilon, in delta, in both.
	for _, c := range []Cost{{600*milli + 1, 0}, {1, 401}, {one, 1000}} {
		_, _, err := l.Reserve(ctx, request(3, c))
		var refusal *Refusal
		if noren.KindOf(err) != noren.Refused || !errors.As(err, &refusal) || refusal.Short[0].Remaining != (Cost{600 * milli, 400}) {
			t.Errorf("%v: %v", c, err)
		}
	}
	_, _, err = l.Reserve(ctx, request(3, Cost{700 * milli, 0}))
	if want := "data set adult: epsilon 0.7 requested, 0.6 remaining, 0.1 too much"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v; want %s", err, want)
	}
	if got := spent(t, l); got != (Cost{400 * milli, 600}) {
		t.Errorf("spent %v after refusals", got)
	}
	// Exactly what remains fits, and then nothing does.
	if _, err := ask(ctx, l, request(3, Cost{600 * milli, 400}), answer(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(ctx, l, request(4, Cost{1, 0}), answer(4)); noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	verifyClean(t, l)
}

func TestForfeitKeepsCost(t *testing.T) {
	f := newFixture(t, Cost{one, 0})
	l := f.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, _, err := l.Reserve(ctx, request(1, Cost{milli, 0}))
	if err != nil {
		t.Fatal(err)
	}
	cancel() // the request was interrupted; giving up must work all the same
	if r.Context().Err() == nil {
		t.Error("the reservation's context outlives the request's")
	}
	if err := r.Settle(ctx, answer(1), nil, ""); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("settled under a dead context: %v", err)
	}
	if err := r.Forfeit("interrupted"); err != nil {
		t.Fatal(err)
	}
	if got := spent(t, l); got != (Cost{milli, 0}) {
		t.Errorf("spent %v", got)
	}
	if err := r.Settle(t.Context(), answer(1), nil, ""); err == nil {
		t.Error("settled after it was given up")
	}
	if _, _, err := l.Reserve(t.Context(), request(1, Cost{milli, 0})); !errors.Is(err, ErrForfeited) || noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	var states []string
	if err := l.History(t.Context(), "adult", func(e Entry) error {
		states = append(states, e.State+" "+e.Reason+" "+e.Principal+" "+decimal(e.Cost.Epsilon, 9))
		return nil
	}); err != nil || fmt.Sprint(states) != "[forfeited interrupted ana 0.001]" {
		t.Error(states, err)
	}
	verifyClean(t, l)
}

func TestHierarchyChargesAllOrNone(t *testing.T) {
	f := newFixture(t, Cost{one, 0})
	l := f.open(t)
	ctx := t.Context()
	for _, g := range []struct {
		grant func(context.Context, string, string, Cost) (*Book, error)
		name  string
		eps   int64
	}{
		{l.GrantAnalyst, "ana", 500 * milli},
		{l.GrantAnalyst, "bob", 900 * milli},
		{l.GrantBlock, "2024", 300 * milli},
		{l.GrantBlock, "2025", 900 * milli},
	} {
		if _, err := g.grant(ctx, "adult", g.name, Cost{g.eps, 0}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, want map[string]int64) {
		t.Helper()
		b, err := l.Book(ctx, "adult")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{"adult": b.Spent.Epsilon / milli}
		for _, a := range append(b.Analysts, b.Blocks...) {
			got[a.Name] = a.Spent.Epsilon / milli
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: spent %v, want %v", what, got, want)
		}
	}
	q := request(1, Cost{200 * milli, 0})
	q.Blocks = []string{"2024"}
	if _, err := ask(ctx, l, q, answer(1)); err != nil {
		t.Fatal(err)
	}
	check("one block", map[string]int64{"adult": 200, "ana": 200, "bob": 0, "2024": 200, "2025": 0})
	// The block has 100 left; data set and analyst could pay, and must not.
	q = request(2, Cost{200 * milli, 0})
	q.Blocks = []string{"2025", "2024"}
	var refusal *Refusal
	if _, err := ask(ctx, l, q, answer(2)); !errors.As(err, &refusal) || len(refusal.Short) != 1 || refusal.Short[0].Kind != "block" || refusal.Short[0].Name != "2024" {
		t.Error(err)
	}
	check("refused", map[string]int64{"adult": 200, "ana": 200, "bob": 0, "2024": 200, "2025": 0})
	// No block named: all are touched.
	q = request(3, Cost{50 * milli, 0})
	if _, err := ask(ctx, l, q, answer(3)); err != nil {
		t.Fatal(err)
	}
	check("all blocks", map[string]int64{"adult": 250, "ana": 250, "bob": 0, "2024": 250, "2025": 50})
	q = request(4, Cost{300 * milli, 0})
	q.Blocks = []string{"2025"}
	if _, err := ask(ctx, l, q, answer(4)); !errors.As(err, &refusal) || refusal.Short[0].Kind != "analyst" {
		t.Error(err)
	}
	// Colluding analysts meet the data set's cap.
	q.Principal = "bob"
	if _, err := ask(ctx, l, q, answer(4)); err != nil {
		t.Fatal(err)
	}
	q = request(5, Cost{500 * milli, 0})
	q.Principal, q.Blocks = "bob", []string{"2025"}
	if _, err := ask(ctx, l, q, answer(5)); !errors.As(err, &refusal) || len(refusal.Short) != 1 || refusal.Short[0].Kind != "dataset" {
		t.Error(err)
	}
	q.Principal = "eve"
	if _, err := ask(ctx, l, q, answer(5)); !errors.Is(err, ErrNoGrant) || noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	q.Principal, q.Blocks = "bob", []string{"1999"}
	if _, err := ask(ctx, l, q, answer(5)); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	check("end", map[string]int64{"adult": 550, "ana": 250, "bob": 300, "2024": 250, "2025": 350})
	verifyClean(t, l)
}

func TestOneRelationOneUnit(t *testing.T) {
	f := newFixture(t, Cost{one, 0})
	l := f.open(t)
	for _, change := range []func(*Request){
		func(q *Request) { q.Neighbours = ReplaceOne },
		func(q *Request) { q.Unit = "person_id" },
		func(q *Request) { q.Unit = "" },
	} {
		q := request(1, Cost{1, 0})
		change(&q)
		if _, _, err := l.Reserve(t.Context(), q); noren.KindOf(err) != noren.Usage {
			t.Error(err)
		}
	}
	for _, g := range []Grant{
		{Name: "adult", File: f.file, Cap: Cost{one, 0}, Neighbours: ReplaceOne},
		{Name: "adult", File: f.file, Cap: Cost{one, 0}, Unit: "person_id"},
	} {
		if _, err := l.Grant(t.Context(), g); noren.KindOf(err) != noren.Usage {
			t.Error(err)
		}
	}
	if got := spent(t, l); got != (Cost{}) {
		t.Error(got)
	}
}

func TestGrantAndFile(t *testing.T) {
	f := newFixture(t, Cost{one, 0})
	l := f.open(t)
	ctx := t.Context()
	if _, err := ask(ctx, l, request(1, Cost{300 * milli, 0}), answer(1)); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(f.dir, "copy.csv")
	text, err := os.ReadFile(f.file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(copied, string(text))
	if b, err := l.FindByFile(ctx, copied); err != nil || b.Name != "adult" {
		t.Errorf("a copy elsewhere: %v", err)
	}
	if _, err := l.Grant(ctx, Grant{Name: "again", File: copied, Cap: Cost{one, 0}}); noren.KindOf(err) != noren.Usage {
		t.Errorf("a second book for the same file: %v", err)
	}
	write(copied, "other")
	if _, err := l.FindByFile(ctx, copied); !errors.Is(err, ErrNoGrant) || noren.KindOf(err) != noren.Refused || !strings.Contains(err.Error(), "noren ledger grant NAME --file "+copied) {
		t.Error(err)
	}
	// One more row at the granted path.
	write(f.file, string(text)+"32,M\n")
	if _, err := l.FindByFile(ctx, f.file); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "the file at this path is not the one that was granted") {
		t.Error(err)
	}
	if _, err := l.Grant(ctx, Grant{Name: "adult", File: f.file, Cap: Cost{one, 0}}); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	b, err := l.Grant(ctx, Grant{Name: "adult", File: f.file, Cap: Cost{2 * one, 5}, Changed: true})
	if err != nil || b.Spent != (Cost{300 * milli, 0}) || b.Cap != (Cost{2 * one, 5}) {
		t.Errorf("%+v, %v", b, err)
	}
	if b, err = l.FindByFile(ctx, f.file); err != nil || b.Name != "adult" {
		t.Error(err)
	}
	h := l.NewFileHash()
	fmt.Fprint(h, string(text), "32,M\n")
	if h.Sum() != b.Fingerprint {
		t.Error("the streamed fingerprint is another")
	}
	if _, err := l.Grant(ctx, Grant{Name: "adult", File: f.file, Cap: Cost{299 * milli, 0}}); noren.KindOf(err) != noren.Usage {
		t.Errorf("a cap below what is spent: %v", err)
	}
	if b, err = l.Grant(ctx, Grant{Name: "adult", File: f.file, Cap: Cost{300 * milli, 0}}); err != nil || b.Remaining != (Cost{}) {
		t.Errorf("%+v, %v", b, err)
	}
	for _, g := range []Grant{{}, {Name: "x"}, {Name: "x", Cap: Cost{-1, 0}}, {Name: "x", Cap: Cost{1, 1e18 + 1}}, {Name: " x", Cap: Cost{1, 0}}, {Name: "a\nb", Cap: Cost{1, 0}}, {Name: strings.Repeat("x", 300), Cap: Cost{1, 0}}, {Name: "x", Cap: Cost{1, 0}, File: "none"}, {Name: "x", Cap: Cost{1, 0}, File: f.dir}} {
		if _, err := l.Grant(ctx, g); noren.KindOf(err) != noren.Usage {
			t.Errorf("%+v: %v", g, err)
		}
	}
	// Another ledger gives the same file another fingerprint: a guess of the
	// data cannot be tested without the ledger's secret.
	f2 := newFixture(t, Cost{one, 0})
	l2 := f2.open(t)
	h1, h2 := l.NewFileHash(), l2.NewFileHash()
	if h1.Sum() == h2.Sum() {
		t.Error("fingerprints are not keyed")
	}
	verifyClean(t, l)
}

func TestRequestIsValidated(t *testing.T) {
	f := newFixture(t, Cost{one, 0})
	l := f.open(t)
	for name, change := range map[string]func(*Request){
		"no analyst":         func(q *Request) { q.Principal = "" },
		"no hash":            func(q *Request) { q.Hash = [32]byte{} },
		"no mechanism":       func(q *Request) { q.Mechanism = nil },
		"mechanism a list":   func(q *Request) { q.Mechanism = json.RawMessage(`[]`) },
		"mechanism broken":   func(q *Request) { q.Mechanism = json.RawMessage(`{`) },
		"mechanism too long": func(q *Request) { q.Mechanism = json.RawMessage(`{"a":"` + strings.Repeat("x", maxMechanism) + `"}`) },
		"free":               func(q *Request) { q.Cost = Cost{} },
		"negative":           func(q *Request) { q.Cost = Cost{-1, 1} },
		"negative delta":     func(q *Request) { q.Cost = Cost{1, -1} },
	} {
		q := request(1, Cost{1, 0})
		change(&q)
		if _, _, err := l.Reserve(t.Context(), q); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	q := request(1, Cost{1, 0})
	q.Dataset = "none"
	if _, _, err := l.Reserve(t.Context(), q); !errors.Is(err, ErrNoGrant) {
		t.Error(err)
	}
	q = request(1, Cost{1 << 62, 0})
	if _, _, err := l.Reserve(t.Context(), q); noren.KindOf(err) != noren.Refused {
		t.Errorf("a cost that would overflow: %v", err)
	}
	// Without a key every request is a new one.
	for n := range 3 {
		q := request(1, Cost{1, 0})
		q.Key = ""
		if got, err := ask(t.Context(), l, q, answer(n)); err != nil || string(got) != string(answer(n)) {
			t.Error(got, err)
		}
	}
}

// 16 writers against one cap, with the figures of the design note, section 3:
// 1,428 granted, 172 denied, 9,996 spent.
func TestWritersAgainstOneCap(t *testing.T) {
	const limit, cost, writers, each = 10_000, 7, 16, 100
	f := newFixture(t, Cost{limit, 0})
	var granted, denied atomic.Int64
	ledgers := []*Ledger{f.open(t), f.open(t)} // two handles, as of two processes
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			l := ledgers[w%2]
			for i := range each {
				_, err := ask(context.Background(), l, request(w*each+i, Cost{cost, 0}), answer(i))
				switch {
				case err == nil:
					granted.Add(1)
				case noren.KindOf(err) == noren.Refused:
					denied.Add(1)
				default:
					t.Error(err)
				}
				if got := spent(t, l); got.Epsilon > limit {
					t.Errorf("spent %v of %d", got, limit)
				}
			}
		})
	}
	wg.Wait()
	if granted.Load() != 1428 || denied.Load() != 172 || spent(t, ledgers[0]).Epsilon != 9996 {
		t.Errorf("%d granted, %d denied of %d", granted.Load(), denied.Load(), writers*each)
	}
	if got := spent(t, ledgers[0]); got.Epsilon != granted.Load()*cost {
		t.Errorf("spent %v, granted %d", got, granted.Load())
	}
	verifyClean(t, ledgers[0])
}

// Two requests with one key at once: one is charged.
func TestSameKeyAtOnce(t *testing.T) {
	f := newFixture(t, Cost{one, 0})
	l := f.open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := ask(context.Background(), l, request(1, Cost{milli, 0}), answer(1))
			if err != nil && !errors.Is(err, ErrInProgress) || err == nil && string(got) != "answer 1" {
				t.Error(got, err)
			}
		})
	}
	wg.Wait()
	if got := spent(t, l); got != (Cost{milli, 0}) {
		t.Errorf("spent %v", got)
	}
}

// The heartbeat keeps a lease alive, notices that it was lost, and ends the
// computation.
func TestHeartbeat(t *testing.T) {
	f := newFixture(t, Cost{one, 0})
	l, err := Open(t.Context(), f.path, Options{Lease: 60 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, _, err := l.Reserve(t.Context(), request(1, Cost{milli, 0}))
	if err != nil {
		t.Fatal(err)
	}
	until := func() (until int64) {
		if err := l.db.QueryRow("SELECT lease_until FROM charge").Scan(&until); err != nil {
			t.Fatal(err)
		}
		return until
	}
	first := until()
	for start := time.Now(); until() == first; time.Sleep(5 * time.Millisecond) {
		if time.Since(start) > 10*time.Second {
			t.Fatal("the lease is not renewed")
		}
	}
	c := systemClock()
	c.boot, c.wall = "", func() time.Time { return time.Now().Add(time.Hour) }
	other, err := open(t.Context(), f.path, Options{}, c)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	select {
	case <-r.Context().Done():
	case <-time.After(10 * time.Second):
		t.Fatal("the computation goes on without its lease")
	}
	if cause := context.Cause(r.Context()); !errors.Is(cause, ErrForfeited) {
		t.Error(cause)
	}
	if err := r.Settle(t.Context(), answer(1), nil, ""); !errors.Is(err, ErrForfeited) || noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	verifyClean(t, l)
}

// Another process that keeps the ledger locked is waited for, and not for ever.
func TestLocked(t *testing.T) {
	f := newFixture(t, Cost{one, 0})
	other := f.open(t)
	l, err := Open(t.Context(), f.path, Options{Wait: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	tx, err := other.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Reserve(t.Context(), request(1, Cost{milli, 0})); noren.KindOf(err) != noren.Internal || !strings.Contains(err.Error(), "another process keeps the ledger locked") {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	l.opts.Wait = time.Hour
	if _, _, err := l.Reserve(ctx, request(1, Cost{milli, 0})); noren.KindOf(err) != noren.Interrupted {
		t.Error(err)
	}
	time.AfterFunc(600*time.Millisecond, func() { _ = tx.Rollback() })
	if _, err := ask(t.Context(), l, request(1, Cost{milli, 0}), answer(1)); err != nil {
		t.Error(err)
	}
}

func TestDecimal(t *testing.T) {
	for want, n := range map[string]int64{"0": 0, "0.000000001": 1, "0.5": one / 2, "12": 12 * one, "-0.1": -100 * milli, "9223372036.854775807": 1<<63 - 1} {
		if got := decimal(n, 9); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := decimal(1e12, 18); got != "0.000001" {
		t.Error(got)
	}
}

func BenchmarkReserveSettle(b *testing.B) {
	f := newFixture(b, Cost{1 << 60, 0})
	l := f.open(b)
	n := 0
	for b.Loop() {
		n++
		if _, err := ask(context.Background(), l, Request{
			Dataset: "adult", Principal: "ana", Hash: [32]byte{1}, Mechanism: json.RawMessage(`{}`), Cost: Cost{7, 0}, Unit: "record",
		}, answer(n)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "releases/s")
}

func BenchmarkReserveSettle16(b *testing.B) {
	f := newFixture(b, Cost{1 << 60, 0})
	l := f.open(b)
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := ask(context.Background(), l, Request{
				Dataset: "adult", Principal: "ana", Hash: [32]byte{1}, Mechanism: json.RawMessage(`{}`), Cost: Cost{7, 0}, Unit: "record",
			}, []byte("x")); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "releases/s")
}

func BenchmarkOpen(b *testing.B) {
	f := newFixture(b, Cost{1 << 60, 0})
	for b.Loop() {
		l, err := Open(context.Background(), f.path, Options{Lease: time.Second})
		if err != nil {
			b.Fatal(err)
		}
		l.Close()
	}
}

func verifyClean(t testing.TB, l *Ledger) {
	t.Helper()
	r, err := l.Verify(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Error(err)
	}
}
