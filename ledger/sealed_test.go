package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// backup copies the database, closed and so in one file, and puts it back.
func (f *fixture) backup(t *testing.T, path string) (restore func()) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		for _, more := range []string{"-wal", "-shm"} {
			if err := os.Remove(path + more); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// run opens the ledger, asks the numbered requests of one thousandth each, and
// closes it. It returns the certificates' part of the charges.
func (f *fixture) run(t *testing.T, numbers ...int) (all []Evidence) {
	t.Helper()
	l := f.open(t)
	defer l.Close()
	for _, n := range numbers {
		q := request(n, Cost{Epsilon: milli, Delta: 1})
		r, _, err := l.Reserve(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Settle(t.Context(), answer(n), []byte("sig"), "kid"); err != nil {
			t.Fatal(err)
		}
		all = append(all, Evidence{Charge: r.Charge(), Dataset: "adult", Mechanism: q.Mechanism})
	}
	return all
}

func mustSealed(t *testing.T, l *Ledger) {
	t.Helper()
	var sealed *SealedError
	if err := l.Sealed(); !errors.As(err, &sealed) || noren.KindOf(err) != noren.Refused ||
		!strings.Contains(err.Error(), "the steward reconciles it") {
		t.Fatalf("not sealed: %v", err)
	}
	if _, _, err := l.Reserve(t.Context(), request(1, Cost{Epsilon: milli, Delta: 0})); !errors.As(err, &sealed) {
		t.Errorf("a sealed ledger answers: %v", err)
	}
	if _, err := l.GrantAnalyst(t.Context(), "adult", "eve", Cost{Epsilon: one, Delta: 0}); !errors.As(err, &sealed) {
		t.Errorf("a sealed ledger grants: %v", err)
	}
	if _, err := l.Show(t.Context()); err != nil {
		t.Errorf("a sealed ledger cannot be looked at: %v", err)
	}
}

func TestOldBackupIsSealedAndRolledForward(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	f.run(t, 1, 2)
	restore := f.backup(t, f.path)
	f.run(t, 3, 4)
	l := f.open(t)
	// A grant and an unfinished charge are lost with the rest.
	if _, err := l.GrantAnalyst(t.Context(), "adult", "ana", Cost{Epsilon: 500 * milli, Delta: 500}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Reserve(t.Context(), request(5, Cost{Epsilon: milli, Delta: 1})); err != nil {
		t.Fatal(err)
	}
	want, err := l.Book(t.Context(), "adult")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	restore()

	l = f.open(t)
	mustSealed(t, l)
	if r, err := l.Verify(t.Context()); err != nil || noren.KindOf(r.Err()) != noren.NotMet {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{WithoutHead: true}); noren.KindOf(err) != noren.Usage {
		t.Errorf("a head file that serves was given up: %v", err)
	}
	did, err := l.Reconcile(t.Context(), ReconcileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// Two charges and the first's two releases (the last entry in the file is
	// the unfinished charge), and a grant.
	if did.Rolled != 6 || len(did.Recovered)+len(did.Skipped) != 0 || len(did.Raised) != 2 {
		t.Errorf("%+v", did)
	}
	if l.Sealed() != nil {
		t.Error(l.Sealed())
	}
	got, err := l.Book(t.Context(), "adult")
	if err != nil || fmt.Sprint(*got) != fmt.Sprint(*want) {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
	verifyClean(t, l)
	// An answer that was in the copy is still there, one that was not is gone.
	if _, stored, err := l.Reserve(t.Context(), request(2, Cost{Epsilon: milli, Delta: 1})); err != nil || stored == nil {
		t.Error(err)
	}
	for _, n := range []int{3, 4, 5} {
		if _, _, err := l.Reserve(t.Context(), request(n, Cost{Epsilon: milli, Delta: 1})); !errors.Is(err, ErrForfeited) {
			t.Errorf("%d: %v", n, err)
		}
	}
	if did, err = l.Reconcile(t.Context(), ReconcileOptions{}); err != nil || did.Rolled != 0 || len(did.Raised) != 0 {
		t.Errorf("again: %+v, %v", did, err)
	}
	l.Close()
	// And once more, from before the reconciliation.
	f.run(t, 6)
	restore()
	l = f.open(t)
	mustSealed(t, l)
	if _, err = l.Reconcile(t.Context(), ReconcileOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := spent(t, l); got != (Cost{Epsilon: 6 * milli, Delta: 6}) {
		t.Errorf("spent %v", got)
	}
	verifyClean(t, l)
	l.Close()
	f.run(t, 7)
}

func TestBothFilesPutBackIsFoundByCertificates(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: 3 * milli, Delta: 3})
	early := f.run(t, 1)
	restore, restoreHead := f.backup(t, f.path), f.backup(t, headPath(f.path))
	late := f.run(t, 2, 3)
	restore()
	restoreHead()
	l := f.open(t)
	if l.Sealed() != nil {
		t.Fatal("nothing on the disk tells")
	}
	for n, e := range append(early, late...) {
		if found, err := l.Contains(t.Context(), e.Charge); err != nil || found != (n == 0) {
			t.Errorf("charge %d: %v, %v", n+1, found, err)
		}
	}
	if _, err := ask(t.Context(), l, request(4, Cost{Epsilon: 2 * milli, Delta: 0}), answer(4)); err != nil {
		t.Fatal(err)
	}
	// The refilled budget was spent again: the truth is beyond the cap.
	did, err := l.Reconcile(t.Context(), ReconcileOptions{Evidence: append(early, late...)})
	if err != nil || len(did.Recovered) != 2 || did.Rolled != 0 {
		t.Fatalf("%+v, %v", did, err)
	}
	b, err := l.Book(t.Context(), "adult")
	if err != nil || b.Spent != (Cost{Epsilon: 5 * milli, Delta: 3}) || b.Remaining != (Cost{}) {
		t.Errorf("%+v, %v", b, err)
	}
	verifyClean(t, l)
	if did, err = l.Reconcile(t.Context(), ReconcileOptions{Evidence: late}); err != nil || len(did.Recovered) != 0 || len(did.Raised) != 0 {
		t.Errorf("again: %+v, %v", did, err)
	}
	// Recovered charges roll forward like any other.
	l.Close()
	restore()
	l = f.open(t)
	mustSealed(t, l)
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{}); err != nil {
		t.Fatal(err)
	}
	if b, err = l.Book(t.Context(), "adult"); err != nil || b.Spent != (Cost{Epsilon: 5 * milli, Delta: 3}) {
		t.Errorf("%+v, %v", b, err)
	}
	verifyClean(t, l)
}

func TestHeadFileLost(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"missing": os.Remove,
		"empty":   func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"damaged": func(p string) error {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			text[len(text)-20] ^= 1
			return os.WriteFile(p, text, 0o600)
		},
		"another's": func(p string) error {
			other := filepath.Join(filepath.Dir(p), "other.db")
			return errors.Join(Create(context.Background(), other), os.Rename(headPath(other), p))
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
			f.run(t, 1)
			restore := f.backup(t, f.path)
			late := f.run(t, 2, 3)
			restore()
			if err := spoil(headPath(f.path)); err != nil {
				t.Fatal(err)
			}
			l := f.open(t)
			mustSealed(t, l)
			if _, err := l.Reconcile(t.Context(), ReconcileOptions{Evidence: late}); noren.KindOf(err) != noren.Usage ||
				!strings.Contains(err.Error(), "reconcile without it") {
				t.Fatal(err)
			}
			mustSealed(t, l)
			did, err := l.Reconcile(t.Context(), ReconcileOptions{Evidence: late, WithoutHead: true})
			if err != nil || len(did.Recovered) != 2 {
				t.Fatalf("%+v, %v", did, err)
			}
			if got := spent(t, l); got != (Cost{Epsilon: 3 * milli, Delta: 3}) {
				t.Errorf("spent %v", got)
			}
			verifyClean(t, l)
			l.Close()
			f.run(t, 4)
		})
	}
}

// A head file with a broken line in its middle does not roll forward, and what
// can be read of it still counts, certificates or none.
func TestBrokenHeadStillCounts(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	f.run(t, 1)
	restore := f.backup(t, f.path)
	f.run(t, 2, 3)
	restore()
	text, err := os.ReadFile(headPath(f.path))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[1] = "{broken}\n"
	if err := os.WriteFile(headPath(f.path), []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	l := f.open(t)
	mustSealed(t, l)
	did, err := l.Reconcile(t.Context(), ReconcileOptions{WithoutHead: true})
	if err != nil || len(did.Recovered) != 2 {
		t.Fatalf("%+v, %v", did, err)
	}
	if got := spent(t, l); got != (Cost{Epsilon: 3 * milli, Delta: 3}) {
		t.Errorf("spent %v", got)
	}
	verifyClean(t, l)
}

func TestReconcileRefusesForeignCertificates(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	e := Evidence{Charge: ChargeInfo{
		Ledger: strings.Repeat("0", 32), ID: strings.Repeat("1", 32), Accounts: []int64{1},
		Cost: Cost{Epsilon: 1, Delta: 0},
	}, Dataset: "adult"}
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{Evidence: []Evidence{e}}); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	e.Charge.Ledger, e.Charge.Cost.Epsilon = l.ID(), -1
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{Evidence: []Evidence{e}}); noren.KindOf(err) != noren.BadData {
		t.Error(err)
	}
	e.Charge.Cost.Epsilon, e.Dataset = 1, "none"
	if did, err := l.Reconcile(t.Context(), ReconcileOptions{Evidence: []Evidence{e}}); err != nil || len(did.Skipped) != 1 {
		t.Errorf("%+v, %v", did, err)
	}
}

// A ledger whose files are exchanged while a process has it open stops
// answering, although no process opens it anew.
func TestExchangedWhileOpen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	l := f.open(t)
	if err := os.Rename(headPath(f.path), headPath(f.path)+".away"); err != nil {
		t.Fatal(err)
	}
	var sealed *SealedError
	if _, _, err := l.Reserve(t.Context(), request(1, Cost{Epsilon: milli, Delta: 0})); !errors.As(err, &sealed) {
		t.Error(err)
	}
	if got := spent(t, l); got != (Cost{}) {
		t.Errorf("spent %v", got)
	}
}

// One ledger by several names has one head file.
func TestSymlink(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 10})
	other := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(f.path, other); err != nil {
		t.Skip("this system makes no symbolic links")
	}
	l, err := Open(t.Context(), other, Options{})
	if err != nil || l.Sealed() != nil {
		t.Fatal(err, l.Sealed())
	}
	if _, err := ask(t.Context(), l, request(1, Cost{Epsilon: milli, Delta: 0}), answer(1)); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := os.Lstat(headPath(other)); err == nil {
		t.Error("a second head file")
	}
	f.run(t, 2)
}
