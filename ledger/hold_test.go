package ledger

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
)

func wanted(cost Cost) Wanted {
	return Wanted{Dataset: "adult", Principal: "ana", Version: 1, Cost: cost}
}

// A hold keeps its cost from others, and gives it back; it is charged once.
func TestHold(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: 10 * milli})
	l := f.open(t)
	if _, err := l.GrantAnalyst(t.Context(), "adult", "ana", Cost{Epsilon: 10 * milli}); err != nil {
		t.Fatal(err)
	}
	before := changes(t, l)
	h, err := l.Hold(t.Context(), wanted(Cost{Epsilon: 6 * milli}))
	if err != nil || !h.Granted {
		t.Fatalf("%+v, %v", h, err)
	}
	var refused *Refusal
	if _, err := l.Hold(t.Context(), wanted(Cost{Epsilon: 5 * milli})); !errors.As(err, &refused) || noren.CodeOf(err) != "budget-refused" {
		t.Fatal(err)
	}
	if len(refused.Short) != 2 || refused.Short[0].Remaining.Epsilon != 4*milli || len(refused.Left) != 2 {
		t.Errorf("%+v", refused)
	}
	if _, _, err := l.Reserve(t.Context(), request(1, Cost{Epsilon: 5 * milli})); noren.CodeOf(err) != "budget-refused" {
		t.Errorf("a request without the hold: %v", err)
	}
	b, err := l.Balance(t.Context(), "adult", "ana")
	if err != nil || b.Remaining[0].Left.Epsilon != 4*milli || b.Remaining[1].Left.Epsilon != 4*milli {
		t.Errorf("%+v, %v", b, err)
	}
	if after := changes(t, l); after != before {
		t.Error("a hold wrote")
	}
	q := request(2, Cost{Epsilon: 6 * milli})
	q.Hold = h
	if _, err := ask(t.Context(), l, q, answer(2)); err != nil {
		t.Fatal(err)
	}
	if kept := l.held.kept(); len(kept) != 0 {
		t.Errorf("kept after the charge: %v", kept)
	}
	h.Release()
	h.Release()
	h2, err := l.Hold(t.Context(), wanted(Cost{Epsilon: 4 * milli}))
	if err != nil {
		t.Fatal(err)
	}
	h2.Release()
	if _, err := ask(t.Context(), l, request(3, Cost{Epsilon: 4 * milli}), answer(3)); err != nil {
		t.Errorf("after the release: %v", err)
	}
	if got := spent(t, l); got.Epsilon != 10*milli {
		t.Errorf("spent %v", got)
	}
	verifyClean(t, l)
}

// What got a hold is charged, what got none is refused at once, and the cap is spent to its
// end: also where many works share a transaction.
func TestHoldsAgainstOneCap(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: 300 * milli})
	l := f.open(t)
	var paid, refused atomic.Int64
	var wait sync.WaitGroup
	for client := range 100 {
		wait.Go(func() {
			for n := 0; ; n++ {
				h, err := l.Hold(t.Context(), wanted(Cost{Epsilon: milli}))
				if noren.CodeOf(err) == "budget-refused" {
					refused.Add(1)
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				q := request(1000*client+n, Cost{Epsilon: milli})
				q.Hold = h
				if n%7 == 6 { // it is not asked after all
					h.Release()
					q.Hold = nil
					continue
				}
				if _, err := ask(t.Context(), l, q, answer(n)); err != nil {
					t.Errorf("a request with a hold: %v", err)
				}
				h.Release()
				paid.Add(1)
			}
		})
	}
	wait.Wait()
	if got := spent(t, l); got.Epsilon != paid.Load()*milli || refused.Load() != 100 {
		t.Errorf("%d paid, %d refused, spent %v", paid.Load(), refused.Load(), got)
	}
	// A client that gave a hold back may have been the last one.
	for n := 0; ; n++ {
		if _, err := ask(t.Context(), l, request(500_000+n, Cost{Epsilon: milli}), answer(n)); err != nil {
			break
		}
	}
	if got := spent(t, l); got.Epsilon != 300*milli {
		t.Errorf("spent %v", got)
	}
	if kept := l.held.kept(); len(kept) != 0 {
		t.Errorf("kept at the end: %v", kept)
	}
	verifyClean(t, l)
}

// A hold that waits behind a transaction ends with its context, and one of a request that
// fails is given back by its owner.
func TestHoldIsLeft(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: 10 * milli})
	l := f.open(t)
	h, err := l.Hold(t.Context(), wanted(Cost{Epsilon: milli}))
	if err != nil {
		t.Fatal(err)
	}
	q := request(1, Cost{Epsilon: milli})
	q.Hold, q.Version = h, 2
	if _, _, err := l.Reserve(t.Context(), q); !errors.Is(err, ErrChanged) {
		t.Fatal(err)
	}
	if kept := l.held.kept(); len(kept) != 1 {
		t.Errorf("kept after a refusal: %v", kept)
	}
	h.Release()
	if kept := l.held.kept(); len(kept) != 0 {
		t.Errorf("kept after the release: %v", kept)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if h, err := l.Hold(gone, wanted(Cost{Epsilon: milli})); err == nil {
		h.Release() // it did not have to wait
	} else if noren.KindOf(err) != noren.Interrupted {
		t.Error(err)
	}
	(*Hold)(nil).Release()
}

// Holds are refused like requests.
func TestHoldRefusals(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	l := f.open(t)
	if _, err := l.GrantAnalyst(t.Context(), "adult", "bob", Cost{Epsilon: one}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.GrantAnalyst(t.Context(), "adult", "eve", Cost{Epsilon: one}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.CloseAnalyst(t.Context(), "adult", "eve"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*Wanted)
		code   string
	}{
		"no data set": {func(w *Wanted) { w.Dataset = "none" }, "no-dataset"},
		"no account":  {func(*Wanted) {}, "no-grant"},
		"closed":      {func(w *Wanted) { w.Principal = "eve" }, "closed"},
		"version":     {func(w *Wanted) { w.Principal, w.Version = "bob", 2 }, "changed"},
		"budget":      {func(w *Wanted) { w.Principal, w.Cost.Epsilon = "bob", 2*one }, "budget-refused"},
		"delta":       {func(w *Wanted) { w.Principal, w.Cost.Delta = "bob", 1 }, "budget-refused"},
	} {
		w := wanted(Cost{Epsilon: milli})
		c.change(&w)
		if _, err := l.Hold(t.Context(), w); noren.CodeOf(err) != c.code || noren.KindOf(err) != noren.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.Hold(t.Context(), wanted(Cost{})); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	l.setSealed(sealedError(f.path, noren.Textf("for the test")))
	if _, err := l.Hold(t.Context(), wanted(Cost{Epsilon: milli})); noren.CodeOf(err) != "sealed" {
		t.Error(err)
	}
}

// BenchmarkHold is a hold and its release, without other requests.
func BenchmarkHold(b *testing.B) {
	f := newFixture(b, Cost{Epsilon: one})
	l := f.open(b)
	for b.Loop() {
		h, err := l.Hold(b.Context(), wanted(Cost{Epsilon: milli}))
		if err != nil {
			b.Fatal(err)
		}
		h.Release()
	}
}

// kept are the costs that holds keep now, by account.
func (h *holds) kept() map[int64]Cost {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.of)
}

// Long reads keep no one from charging: holds are decided on connections of their own.
func TestHoldBesideLongReads(t *testing.T) {
	f := newFixture(t, Cost{Epsilon: 10 * milli})
	l := f.open(t)
	for range maxReaders {
		tx, err := l.readers.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer tx.Rollback()
		var n int
		if err := tx.QueryRow("SELECT count(*) FROM chain").Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	h, err := l.Hold(ctx, wanted(Cost{Epsilon: milli}))
	if err != nil {
		t.Fatal(err)
	}
	q := request(1, Cost{Epsilon: milli})
	q.Hold = h
	if _, err := ask(ctx, l, q, answer(1)); err != nil {
		t.Fatal(err)
	}
}

// A charge that cannot be noted in the head file after its commit stays, and the error says
// so; one whose head file cannot be written before is not made.
func TestChargeThatCannotBeNoted(t *testing.T) {
	f := newFixture(t, Cost{Epsilon: 10 * milli})
	var spoil func()
	l, err := openStepping(t.Context(), f.path, Options{}, systemClock(), func(step string) {
		if step == "charged" && spoil != nil {
			spoil()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	head := headPath(f.path)
	whole, err := os.ReadFile(head)
	if err != nil {
		t.Fatal(err)
	}
	spoil = func() {
		if err := errors.Join(os.Remove(head), os.Mkdir(head, 0o700)); err != nil {
			t.Error(err)
		}
	}
	_, _, err = l.Reserve(t.Context(), request(1, Cost{Epsilon: milli}))
	if !errors.Is(err, ErrCharged) || noren.KindOf(err) != noren.Refused || noren.CodeOf(err) != "forfeited" || spent(t, l).Epsilon != milli {
		t.Errorf("%v; spent %v", err, spent(t, l))
	}
	spoil = nil
	_, _, err = l.Reserve(t.Context(), request(2, Cost{Epsilon: milli}))
	if err == nil || errors.Is(err, ErrCharged) || spent(t, l).Epsilon != milli {
		t.Errorf("%v; spent %v", err, spent(t, l))
	}
	if err := errors.Join(os.Remove(head), os.WriteFile(head, whole, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), l, request(3, Cost{Epsilon: milli}), answer(3)); err != nil || spent(t, l).Epsilon != 2*milli {
		t.Errorf("%v; spent %v", err, spent(t, l))
	}
}
