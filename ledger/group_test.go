package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// Goroutines that share a ledger against one cap: exactly as many are paid as fit, each
// answer is stored, and what is refused writes nothing.
func TestGroupAgainstOneCap(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: 100 * milli})
	l := f.openAnchored(t, filepath.Join(t.TempDir(), "anchor"))
	var paid, refused atomic.Int64
	var wait sync.WaitGroup
	for n := range 200 {
		wait.Go(func() {
			switch _, err := ask(t.Context(), l, request(n, Cost{Epsilon: milli}), answer(n)); {
			case err == nil:
				paid.Add(1)
			case noren.CodeOf(err) == "budget-refused":
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if paid.Load() != 100 || refused.Load() != 100 {
		t.Errorf("%d paid, %d refused", paid.Load(), refused.Load())
	}
	if got := spent(t, l); got.Epsilon != 100*milli {
		t.Errorf("spent %v", got)
	}
	var stored int
	if err := l.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM release").Scan(&stored); err != nil || stored != 100 {
		t.Errorf("%d answers stored, %v", stored, err)
	}
	verifyClean(t, l)
	before := changes(t, l)
	if _, _, err := l.Reserve(t.Context(), request(1000, Cost{Epsilon: milli})); noren.CodeOf(err) != "budget-refused" {
		t.Error(err)
	}
	if after := changes(t, l); after != before {
		t.Errorf("a refused request wrote: %d, %d", before, after)
	}
}

// changes is a number that grows with each commit of another connection.
func changes(t *testing.T, l *Ledger) (n int64) {
	t.Helper()
	conn, err := l.readers.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.QueryRowContext(t.Context(), "SELECT last_seen * 1000003 + (SELECT max(seq) FROM chain) FROM ledger").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// One key from many goroutines: one charge, and the same bytes for all that get an answer.
func TestGroupOneKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	l := f.open(t)
	var wait sync.WaitGroup
	for range 50 {
		wait.Go(func() {
			for {
				got, err := ask(t.Context(), l, request(1, Cost{Epsilon: milli}), answer(1))
				if errors.Is(err, ErrInProgress) {
					continue
				}
				if err != nil || string(got) != "answer 1" {
					t.Errorf("%s, %v", got, err)
				}
				return
			}
		})
	}
	wait.Wait()
	if got := spent(t, l); got.Epsilon != milli {
		t.Errorf("spent %v", got)
	}
}

// Work that fails takes no other work of its group with it.
func TestGroupSavepoints(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	l := f.open(t)
	hold, err := l.db.Conn(t.Context()) // so that all wait for one transaction
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	gone, cancel := context.WithCancel(t.Context())
	for n := range 10 {
		wait.Go(func() {
			q, ctx := request(n, Cost{Epsilon: milli}), t.Context()
			switch n % 3 {
			case 1:
				q.Dataset = "none"
			case 2:
				ctx = gone
			}
			r, _, err := l.Reserve(ctx, q)
			switch {
			case n%3 == 1 && !errors.Is(err, ErrNoGrant), n%3 == 2 && noren.KindOf(err) != noren.Interrupted, n%3 == 0 && err != nil:
				t.Errorf("%d: %v", n, err)
			}
			if r != nil {
				if err := r.Settle(t.Context(), answer(n), nil, ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for queued := 0; queued < 10; { // they all wait
		l.groupMu.Lock()
		queued = len(l.queue)
		l.groupMu.Unlock()
	}
	cancel()
	for queued := 10; queued > 7; { // three have left
		l.groupMu.Lock()
		queued = len(l.queue)
		l.groupMu.Unlock()
	}
	hold.Close()
	wait.Wait()
	if got := spent(t, l); got.Epsilon != 4*milli {
		t.Errorf("spent %v", got)
	}
	verifyClean(t, l)
}

// A failure of the whole transaction is an error of all its work, and nothing is charged.
func TestGroupTransactionFails(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	l := f.open(t)
	hold, err := l.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var failed atomic.Int64
	for n := range 4 {
		wait.Go(func() {
			_, err := l.grouped(t.Context(), "nothing was done", &job{do: func(ctx context.Context, tx *sql.Tx, now int64) error {
				if n == 0 {
					_, err := tx.ExecContext(ctx, "ROLLBACK")
					return errors.Join(err, errors.New("the disk is full"))
				}
				_, err := tx.ExecContext(ctx, "UPDATE ledger SET last_seen = last_seen + 1")
				return err
			}})
			if err != nil {
				failed.Add(1)
			}
		})
	}
	for queued := 0; queued < 4; {
		l.groupMu.Lock()
		queued = len(l.queue)
		l.groupMu.Unlock()
	}
	hold.Close()
	wait.Wait()
	if failed.Load() != 4 {
		t.Errorf("%d of 4 failed", failed.Load())
	}
	askedFor(t, l, 1, 1)
	verifyClean(t, l)
}

// Reserve and Settle of one ledger shared by goroutines, with the head file and an anchor.
func BenchmarkShared(b *testing.B) {
	for _, anchored := range []bool{false, true} {
		for _, workers := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("anchor=%v/goroutines=%d", anchored, workers), func(b *testing.B) {
				f := newFixture(b, Cost{Epsilon: 1 << 60})
				o := Options{}
				if anchored {
					o.Anchor = filepath.Join(b.TempDir(), "anchor")
				}
				l, err := Open(b.Context(), f.path, o)
				if err != nil {
					b.Fatal(err)
				}
				defer l.Close()
				b.ResetTimer()
				var next atomic.Int64
				var wait sync.WaitGroup
				for range workers {
					wait.Go(func() {
						for next.Add(1) <= int64(b.N) {
							if _, err := ask(b.Context(), l, Request{
								Dataset: "adult", Principal: "ana", Hash: [32]byte{1}, Mechanism: json.RawMessage(`{}`), Cost: Cost{Epsilon: 7}, Unit: "record",
								Version: 1, Definition: hashOf(definitionOf("age", "sex")),
							}, []byte("x")); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wait.Wait()
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
			})
		}
	}
}

// A verification in the background does not keep writers waiting.
func TestVerifyBesideWriters(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	l := f.open(t)
	askedFor(t, l, 1, 20)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// A verification in progress, stopped in the middle.
	tx, err := l.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if err := checkSound(ctx, tx, &Report{}); err != nil {
		t.Fatal(err)
	}
	askedFor(t, l, 50, 5)
	var seen int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM charge").Scan(&seen); err != nil || seen != 20 {
		t.Errorf("the verification sees %d charges, %v", seen, err)
	}
	tx.Rollback()
	verifyClean(t, l)
}
