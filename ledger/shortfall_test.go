package ledger

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// accountings are budgets in epsilon, in epsilon and delta, and in zCDP, with the n-th
// request to each.
var accountings = map[string]struct {
	limit Cost
	fix   func(t testing.TB, limit Cost) *fixture
	cost  func(t *testing.T, n int) Request
}{
	"epsilon": {Cost{Epsilon: 1 << 40}, newFixture, func(_ *testing.T, n int) Request { return request(n, Cost{Epsilon: milli}) }},
	"epsilon and delta": {
		Cost{Epsilon: 1 << 40, Delta: 1 << 40},
		newFixture,
		func(_ *testing.T, n int) Request { return request(n, Cost{Epsilon: milli, Delta: 7}) },
	},
	"zCDP": {
		Cost{Rho: 100 * milliRho},
		freeZCDP,
		func(t *testing.T, n int) Request { return zcdpRequest(t, n, int64(n%2)*100*milli, milliRho) },
	},
}

// freeZCDP is a ledger with a budget in zCDP and no anchor.
func freeZCDP(t testing.TB, limit Cost) *fixture {
	t.Helper()
	f := newFixture(t, Cost{Epsilon: one})
	l, err := Open(t.Context(), f.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g := pinned(t, "adult", f.file, limit)
	g.Accounting, g.StatementDelta, g.Replace = ZCDP, 1e12, true
	if _, err := l.Grant(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	return f
}

func pay(t *testing.T, l *Ledger, r Request) ChargeInfo {
	t.Helper()
	res, _, err := l.Reserve(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Settle(t.Context(), answer(1), nil, ""); err != nil {
		t.Fatal(err)
	}
	return res.Charge()
}

// An older copy of database and head file is brought up to what the anchor, or another
// file, knows to be spent, exactly, with all, with some or with none of the certificates.
func TestReconcileInEachAccounting(t *testing.T) {
	t.Parallel()
	for name, in := range accountings {
		for by, how := range map[string]struct{ anchor, other bool }{"anchor": {true, false}, "other file": {false, true}, "both": {true, true}} {
			for _, certificates := range []int{0, 2, 4} {
				f := in.fix(t, in.limit)
				l := f.open(t)
				if how.anchor {
					l.Close()
					l = f.openAnchored(t, filepath.Join(t.TempDir(), "anchor"))
				}
				pay(t, l, in.cost(t, 1))
				copied := filepath.Join(t.TempDir(), "copy.db")
				if _, err := l.db.ExecContext(t.Context(), "VACUUM INTO ?", copied); err != nil {
					t.Fatal(err)
				}
				head, err := os.ReadFile(f.path + ".head")
				if err != nil {
					t.Fatal(err)
				}
				var evidence []Evidence
				for n := 2; n <= 5; n++ {
					evidence = append(evidence, Evidence{Charge: pay(t, l, in.cost(t, n)), Dataset: "adult"})
				}
				want, err := l.Known(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				l.Close()
				copyFiles(t, copied, f.path)
				write(t, f.path+".head", string(head))
				l = f.open(t)
				if how.anchor {
					wantSealed(t, l, "its anchor knows")
				}
				if err := l.Holds(t.Context(), want, "server.db knows"); err == nil || !strings.Contains(err.Error(), "sealed") {
					t.Fatal(err)
				}
				o := ReconcileOptions{Evidence: evidence[:certificates]}
				if how.other {
					o.Seen = []Seen{*want}
				}
				did, err := l.Reconcile(t.Context(), o)
				if err != nil {
					t.Fatalf("%s, %s, %d certificates: %v", name, by, certificates, err)
				}
				got, err := l.Known(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got.Spent[0] != want.Spent[0] {
					t.Errorf("%s, %s, %d certificates: spent %+v, expected %+v", name, by, certificates, got.Spent[0], want.Spent[0])
				}
				if len(did.Missing) != 8-certificates || len(did.Recovered) != certificates {
					t.Errorf("%s, %s: %+v", name, by, did)
				}
				pay(t, l, in.cost(t, 9))
				verifyClean(t, l)
				if did, err := l.Reconcile(t.Context(), o); err != nil || len(did.Raised) > 0 {
					t.Errorf("again: %+v, %v", did, err)
				}
				l.Close()
				l = f.open(t)
				if l.Sealed() != nil {
					t.Error(l.Sealed())
				}
				verifyClean(t, l)
			}
		}
	}
}

// Certificates of charges after what a file knows are charged beside its amounts.
func TestAmountsAndLaterCertificates(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: 1 << 40})
	l := f.open(t)
	copied := filepath.Join(t.TempDir(), "copy.db")
	if _, err := l.db.ExecContext(t.Context(), "VACUUM INTO ?", copied); err != nil {
		t.Fatal(err)
	}
	head, err := os.ReadFile(f.path + ".head")
	if err != nil {
		t.Fatal(err)
	}
	pay(t, l, request(1, Cost{Epsilon: milli}))
	known, err := l.Known(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	late := pay(t, l, request(2, Cost{Epsilon: 5 * milli}))
	l.Close()
	copyFiles(t, copied, f.path)
	write(t, f.path+".head", string(head))
	l = f.open(t)
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{
		Evidence: []Evidence{{Charge: late, Dataset: "adult"}},
		Seen:     []Seen{*known},
	}); err != nil {
		t.Fatal(err)
	}
	if s := spent(t, l); s.Epsilon != 6*milli {
		t.Errorf("spent %v", s)
	}
	verifyClean(t, l)
}

// A data set whose grant is lost gets its account back, with nothing left.
func TestReconcileRestoresLostGrants(t *testing.T) {
	t.Parallel()
	for name, in := range accountings {
		f := in.fix(t, in.limit)
		l := f.open(t)
		pay(t, l, in.cost(t, 1))
		known, err := l.Known(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		g := in.fix(t, in.limit)
		fresh := g.open(t)
		known.Ledger = fresh.id
		for i := range known.Spent {
			s := &known.Spent[i]
			s.Dataset, s.Print = "lost", "sha256:lost"
		}
		known.Seq = 100
		did, err := fresh.Reconcile(t.Context(), ReconcileOptions{Seen: []Seen{*known}})
		if err != nil {
			t.Fatal(name, err)
		}
		if len(did.Restored) != 1 {
			t.Errorf("%s: %+v", name, did)
		}
		book, err := fresh.Book(t.Context(), "lost")
		if err != nil {
			t.Fatal(err)
		}
		if book.Remaining != (Cost{}) || book.Spent == (Cost{}) {
			t.Errorf("%s: %+v", name, book.Account)
		}
		verifyClean(t, fresh)
	}
}
