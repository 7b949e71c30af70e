package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// A ledger that was charged after an older copy was restored, and is then compared with what
// knows the charges of before, ends with the sum of both, also when the reconciliation is
// killed before the anchor is made anew.
func TestReconcileAfterTwoWays(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	for name, in := range accountings {
		for by, how := range map[string]struct{ anchor, other bool }{"anchor": {true, false}, "other file": {false, true}, "both": {true, true}} {
			for _, certificates := range []int{0, 2} {
				f := in.fix(t, in.limit)
				l := f.open(t)
				anchor := filepath.Join(t.TempDir(), "anchor")
				reopen := func() *Ledger { l.Close(); return f.open(t) }
				if how.anchor {
					l.Close()
					l = f.openAnchored(t, anchor)
				}
				pay(t, l, in.cost(t, 1))
				l = reopen()
				copied, head := filepath.Join(t.TempDir(), "copy.db"), read(t, f.path+".head")
				if _, err := l.db.ExecContext(t.Context(), "VACUUM INTO ?", copied); err != nil {
					t.Fatal(err)
				}
				early := ""
				if how.anchor {
					early = read(t, anchor)
				}
				var evidence []Evidence
				for n := 2; n <= 5; n++ {
					evidence = append(evidence, Evidence{Charge: pay(t, l, in.cost(t, n)), Dataset: "adult"})
				}
				want, err := l.Known(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				late := ""
				if how.anchor {
					late = read(t, anchor)
				}
				l.Close()
				// The copy goes on by itself, with as many entries as the other has.
				copyFiles(t, copied, f.path)
				write(t, f.path+".head", head)
				if how.anchor {
					write(t, anchor, early)
				}
				l = f.open(t)
				for n := 12; n <= 15; n++ {
					pay(t, l, in.cost(t, n))
				}
				own, err := l.Known(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				first := mustBook(t, f, copied)
				if how.anchor {
					write(t, anchor, late)
				}
				l = reopen()
				o := ReconcileOptions{Evidence: evidence[:certificates]}
				if how.other {
					o.Seen = []Seen{*want}
				}
				least := own.Spent[0]
				least.Epsilon += want.Spent[0].Epsilon - first.Epsilon
				least.Delta += want.Spent[0].Delta - first.Delta
				least.Rho += want.Spent[0].Rho - first.Rho
				for _, time := range []string{"first", "again, as after a kill", "again"} {
					did, err := l.Reconcile(t.Context(), o)
					if err != nil {
						t.Fatalf("%s, %s, %d certificates, %s: %v", name, by, certificates, time, err)
					}
					if time == "first" && len(did.Missing) == 0 {
						t.Errorf("%s, %s, %d certificates: nothing is missing", name, by, certificates)
					}
					got, err := l.Known(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					// What a file knows of charges without a certificate has no point at which the
					// two parted: more may be charged, and in zCDP a loss is rounded up.
					g := got.Spent[0]
					if g.Epsilon < least.Epsilon || g.Delta < least.Delta || g.Rho < least.Rho {
						t.Errorf("%s, %s, %d certificates, %s: spent %+v, expected at least %+v", name, by, certificates, time, g, least)
					}
					if how.anchor && !how.other && (g.Epsilon != least.Epsilon || g.Delta != least.Delta || g.Rho != least.Rho) {
						t.Errorf("%s, %s, %d certificates, %s: spent %+v, expected %+v", name, by, certificates, time, g, least)
					}
					if time != "first" && len(did.Raised) > 0 {
						t.Errorf("%s, %s, %d certificates, %s: %+v", name, by, certificates, time, did.Raised)
					}
					if how.anchor && time == "first" {
						write(t, anchor, late)
						l = reopen()
					}
				}
				verifyClean(t, l)
				l = reopen()
				if l.Sealed() != nil {
					t.Error(l.Sealed())
				}
				l.Close()
			}
		}
	}
}

// mustBook is what the copy of a ledger says to be spent by its data set.
func mustBook(t *testing.T, f *fixture, path string) Spent {
	t.Helper()
	here := filepath.Join(t.TempDir(), "here.db")
	copyFiles(t, path, here)
	write(t, here+".head", read(t, f.path+".head"))
	db, err := openDB(here)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	all, err := spentIn(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// The anchor of another ledger is not replaced, whatever the caller gives up.
func TestReconcileKeepsAForeignAnchor(t *testing.T) {
	t.Parallel()
	f, g := newFixture(t, Cost{Epsilon: one}), newFixture(t, Cost{Epsilon: one})
	mine, other := filepath.Join(t.TempDir(), "anchor"), filepath.Join(t.TempDir(), "anchor")
	f.openAnchored(t, mine).Close()
	g.openAnchored(t, other).Close()
	text := read(t, other)
	write(t, mine, text)
	l := f.open(t)
	defer l.Close()
	wantSealed(t, l, "another ledger")
	for _, without := range []bool{false, true} {
		if _, err := l.Reconcile(t.Context(), ReconcileOptions{WithoutAnchor: without}); noren.KindOf(err) != noren.Usage {
			t.Errorf("without the anchor %t: %v", without, err)
		}
	}
	if read(t, mine) != text {
		t.Error("it was replaced")
	}
	// An anchor is made anew in one step: it is never missing.
	write(t, mine, "damaged\n")
	l.step = func(at string) {
		if _, err := os.Stat(mine); errors.Is(err, os.ErrNotExist) {
			t.Errorf("at %s it is missing", at)
		}
	}
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{WithoutAnchor: true}); err != nil {
		t.Error(err)
	}
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
