package ledger

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// anchoredFixture is a ledger with an anchor in another folder.
func anchoredFixture(t *testing.T) (*fixture, string) {
	t.Helper()
	f := newFixture(t, Cost{Epsilon: 1 << 40, Delta: 0})
	path := filepath.Join(t.TempDir(), "anchor")
	f.openAnchored(t, path).Close()
	return f, path
}

func (f *fixture) openAnchored(t *testing.T, anchor string) *Ledger {
	t.Helper()
	l, err := Open(t.Context(), f.path, Options{Anchor: anchor})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// askedFor asks n requests from first on.
func askedFor(t *testing.T, l *Ledger, first, n int) {
	t.Helper()
	for i := first; i < first+n; i++ {
		if _, err := ask(t.Context(), l, request(i, Cost{Epsilon: milli}), answer(i)); err != nil {
			t.Fatal(err)
		}
	}
}

func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	for _, s := range []string{"", ".head", "-wal", "-shm"} {
		text, err := os.ReadFile(from + s)
		if errors.Is(err, os.ErrNotExist) {
			if err := os.Remove(to + s); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, to+s, string(text))
	}
}

func wantSealed(t *testing.T, l *Ledger, reason string) {
	t.Helper()
	err := l.Sealed()
	if noren.CodeOf(err) != "sealed" || !strings.Contains(err.Error(), reason) {
		t.Fatalf("got %v, expected a seal: %s", err, reason)
	}
	if _, _, err := l.Reserve(t.Context(), request(999, Cost{Epsilon: 1})); noren.CodeOf(err) != "sealed" {
		t.Errorf("a sealed ledger charges: %v", err)
	}
}

func TestAnchorFollows(t *testing.T) {
	t.Parallel()
	f, path := anchoredFixture(t)
	l := f.open(t) // the path was noted
	if l.AnchorPath() != path {
		t.Fatalf("%q", l.AnchorPath())
	}
	for n := 1; n <= 3; n++ {
		askedFor(t, l, n, 1)
		last, hash, err := lastLink(t.Context(), l.db)
		if err != nil {
			t.Fatal(err)
		}
		known, err := l.readAnchor()
		if err != nil || known.Seq != last || !bytes.Equal(known.Hash, hash) || !known.amounts || known.Spent[0].Epsilon != int64(n)*milli {
			t.Errorf("the anchor says %+v, the ledger ends at %d: %v", known, last, err)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if _, err := l.GrantAnalyst(t.Context(), "adult", "ana", Cost{Epsilon: one}); err != nil {
		t.Fatal(err)
	}
	if known, err := l.readAnchor(); err != nil || known.Seq != 9 {
		t.Error(known, err)
	}
	// A line cut short by a crash is cut off.
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(text)+`{"format":"nor`)
	askedFor(t, l, 4, 1)
	l.Close()
	l = f.open(t)
	if err := l.Sealed(); err != nil {
		t.Fatal(err)
	}
	verifyClean(t, l)
}

// withoutAmounts writes the anchor in the format that had no amounts.
func withoutAmounts(t *testing.T, l *Ledger) {
	t.Helper()
	known, err := l.readAnchor()
	if err != nil {
		t.Fatal(err)
	}
	line := anchorLine{Format: anchorWithoutSpent, Ledger: l.id, Seq: known.Seq, Hash: hex.EncodeToString(known.Hash)}
	line.MAC = hex.EncodeToString(l.anchorMAC(&line, known.Hash))
	text, err := json.Marshal(line)
	if err != nil {
		t.Fatal(err)
	}
	write(t, l.anchor, string(text)+"\n")
}

// A copy of the ledger's whole folder that is older by 1 or by 100 entries opens sealed,
// and is brought up to what certificates state. Its anchor is of the format without amounts.
func TestAnchorKnowsARestoredCopy(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	for _, older := range []int{1, 100} {
		f, path := anchoredFixture(t)
		l := f.open(t)
		askedFor(t, l, 1, 2)
		r, _, err := l.Reserve(t.Context(), request(3, Cost{Epsilon: milli}))
		if err != nil {
			t.Fatal(err)
		}
		l.readers.Close()
		copied := filepath.Join(t.TempDir(), "copy.db")
		if _, err := l.db.ExecContext(t.Context(), "VACUUM INTO ?", copied); err != nil {
			t.Fatal(err)
		}
		head, err := os.ReadFile(f.path + ".head")
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Settle(t.Context(), answer(3), nil, ""); err != nil { // one entry more
			t.Fatal(err)
		}
		if older == 100 {
			for n := range 50 {
				askedFor(t, l, 10+n, 1)
			}
		}
		l.Close()
		copyFiles(t, copied, f.path)
		write(t, f.path+".head", string(head))

		l = f.open(t)
		wantSealed(t, l, "an older copy was restored")
		withoutAmounts(t, l)
		if _, err := l.Reconcile(t.Context(), ReconcileOptions{}); noren.KindOf(err) != noren.Usage ||
			!strings.Contains(err.Error(), "the anchor does not serve: it knows entr") {
			t.Fatal(err)
		}
		e := Evidence{Charge: r.Charge(), Dataset: "adult"}
		e.Charge.ID = strings.Repeat("ab", 16)
		before := spent(t, l)
		did, err := l.Reconcile(t.Context(), ReconcileOptions{WithoutAnchor: true, Evidence: []Evidence{e}})
		if err != nil {
			t.Fatal(err)
		}
		if want := int64(1); older == 1 && did.Lost != want || older == 100 && did.Lost != 101 {
			t.Errorf("%d entries lost", did.Lost)
		}
		if after := spent(t, l); after.Epsilon != before.Epsilon+milli {
			t.Errorf("spent %v, before %v", after, before)
		}
		askedFor(t, l, 500, 1)
		verifyClean(t, l)
		l.Close()
		l = f.open(t)
		if l.Sealed() != nil {
			t.Error(l.Sealed())
		}
		if _, err := l.Reconcile(t.Context(), ReconcileOptions{WithoutAnchor: true}); noren.KindOf(err) != noren.Usage {
			t.Errorf("an anchor that serves is given up: %v", err)
		}
		if known, err := l.readAnchor(); err != nil || known.Seq < 8 || !known.amounts {
			t.Error(known, err)
		}
		_ = path
	}
}

// An older database alone is rolled forward from the head file, and then serves the
// anchor.
func TestAnchorAndHeadFile(t *testing.T) {
	t.Parallel()
	f, _ := anchoredFixture(t)
	l := f.open(t)
	askedFor(t, l, 1, 2)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := l.db.ExecContext(t.Context(), "VACUUM INTO ?", copied); err != nil {
		t.Fatal(err)
	}
	askedFor(t, l, 3, 3)
	l.Close()
	head, err := os.ReadFile(f.path + ".head")
	if err != nil {
		t.Fatal(err)
	}
	copyFiles(t, copied, f.path)
	write(t, f.path+".head", string(head))
	l = f.open(t)
	wantSealed(t, l, "its head file knows")
	did, err := l.Reconcile(t.Context(), ReconcileOptions{})
	if err != nil || did.Rolled != 6 || did.Lost != 0 {
		t.Fatalf("%+v, %v", did, err)
	}
	askedFor(t, l, 9, 1)
	verifyClean(t, l)
}

func TestAnchorMissingOrExchanged(t *testing.T) {
	t.Parallel()
	f, path := anchoredFixture(t)
	g, other := anchoredFixture(t)
	g.open(t).Close()
	text := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	own := text(path)
	for name, c := range map[string]struct{ text, reason string }{
		"of another ledger": {text(other), "that of another ledger"},
		"empty":             {"", "its anchor is missing"},
		"another file":      {"{}\n", "its anchor is damaged"},
		"other number":      {strings.Replace(own, `"seq":2`, `"seq":1`, 1), "not written by this ledger"},
		"cut short":         {own[:len(own)-1], "its anchor is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, path, c.text)
			l := f.open(t)
			wantSealed(t, l, c.reason)
			l.Close()
			write(t, path, own)
			l = f.open(t)
			if l.Sealed() != nil {
				t.Error(l.Sealed())
			}
			l.Close()
		})
	}
	// Exchanged while the ledger is open: nothing more is charged.
	l := f.open(t)
	askedFor(t, l, 1, 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Reserve(t.Context(), request(2, Cost{Epsilon: 1})); noren.CodeOf(err) != "sealed" {
		t.Error(err)
	}
	l.Close()
	l = f.openAnchored(t, path)
	wantSealed(t, l, "its anchor is missing")
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{}); noren.KindOf(err) != noren.Usage {
		t.Fatal(err)
	}
	did, err := l.Reconcile(t.Context(), ReconcileOptions{WithoutAnchor: true})
	if err != nil || did.Lost != 0 {
		t.Fatalf("%+v, %v", did, err)
	}
	askedFor(t, l, 3, 1)
	l.Close()
	// Moved by the steward, with its content.
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	l = f.openAnchored(t, moved)
	if l.Sealed() != nil {
		t.Fatal(l.Sealed())
	}
	l.Close()
	l = f.open(t)
	if l.Sealed() != nil || l.AnchorPath() != moved {
		t.Error(l.Sealed(), l.AnchorPath())
	}
}

func TestAnchorPlaces(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	for _, path := range []string{filepath.Join(f.dir, "anchor"), filepath.Join(t.TempDir(), "none", "anchor")} {
		if l, err := Open(t.Context(), f.path, Options{Anchor: path}); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", path, err)
			l.Close()
		}
	}
	l := f.open(t)
	if l.AnchorPath() != "" || l.Sealed() != nil {
		t.Error(l.AnchorPath(), l.Sealed())
	}
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{WithoutAnchor: true}); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

// Beyond its largest size the file is made anew, and serves as before.
func TestAnchorIsMadeAnew(t *testing.T) {
	t.Parallel()
	f, path := anchoredFixture(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.Repeat(string(text), maxAnchor/len(text)))
	l := f.open(t)
	askedFor(t, l, 1, 2)
	if info, err := os.Stat(path); err != nil || info.Size() > 4000 {
		t.Errorf("%v, %v", info.Size(), err)
	}
	l.Close()
	l = f.open(t)
	if l.Sealed() != nil {
		t.Error(l.Sealed())
	}
}
