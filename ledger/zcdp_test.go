package ledger

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/noren-privacy/noren"
	accounting "github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"

	"pgregory.net/rapid"
)

const milliRho = accounting.RhoUnits / 1000

// zcdpFixture is a ledger with a data set whose budget is in zCDP, and an anchor.
func zcdpFixture(t testing.TB, rho accounting.Rho) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{dir: dir, path: filepath.Join(dir, "noren.db"), file: filepath.Join(dir, "data.csv")}
	write(t, f.file, firstTable)
	if err := Create(context.Background(), f.path); err != nil {
		t.Fatal(err)
	}
	l, err := Open(context.Background(), f.path, Options{Anchor: filepath.Join(t.TempDir(), "anchor")})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	g := pinned(t, "adult", f.file, Cost{Rho: rho})
	g.Accounting, g.StatementDelta = ZCDP, 1e12
	if _, err := l.Grant(context.Background(), g); err != nil {
		t.Fatal(err)
	}
	return f
}

// zcdpRequest is a request with a pure part of that epsilon and a Gaussian part of that
// rho, either of which may be 0.
func zcdpRequest(t testing.TB, n int, epsilon int64, gaussian accounting.Rho) Request {
	t.Helper()
	q := request(n, Cost{Epsilon: epsilon})
	var err error
	if epsilon > 0 {
		q.Loss, err = accounting.PureLoss(epsilon)
	}
	if err == nil && gaussian > 0 {
		q.Loss, err = q.Loss.Add(accounting.GaussianLoss(gaussian))
	}
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestZCDPCharges(t *testing.T) {
	t.Parallel()
	f := zcdpFixture(t, 100*milliRho)
	l := f.open(t)
	ctx := t.Context()
	if _, err := l.GrantAnalyst(ctx, "adult", "ana", Cost{Rho: 20 * milliRho}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.GrantAnalyst(ctx, "adult", "bob", Cost{Epsilon: one}); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := ask(ctx, l, zcdpRequest(t, 1, 100*milli, 0), answer(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(ctx, l, zcdpRequest(t, 2, 0, 3*milliRho), answer(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(ctx, l, zcdpRequest(t, 3, 100*milli, 2*milliRho), answer(3)); err != nil {
		t.Fatal(err)
	}
	want := Loss{Rho: 15 * milliRho, Pure: 200 * milli, Gaussian: 5 * milliRho}
	b, err := l.Book(ctx, "adult")
	if err != nil || b.Accounting != ZCDP || b.StatementDelta != 1e12 || b.Cap != (Cost{Rho: 100 * milliRho}) ||
		b.Spent != (Cost{Rho: want.Rho}) ||
		b.Loss != want || b.Remaining != (Cost{Rho: 85 * milliRho}) || b.Analysts[0].Loss != want ||
		b.Analysts[0].Available != (Cost{Rho: 5 * milliRho}) {
		t.Fatalf("%+v, %v", b, err)
	}
	// The cap of the analyst is a filter, in rho alone: the sum of epsilons has none.
	var short *Refusal
	_, _, err = l.Reserve(ctx, zcdpRequest(t, 4, 101*milli, 0))
	if !errors.As(err, &short) || len(short.Short) != 1 || short.Short[0].Kind != kindAnalyst ||
		short.Short[0].Requested != (Cost{Rho: 5_100_500_000_000}) {
		t.Errorf("%+v, %v", short, err)
	}
	if !strings.Contains(fmt.Sprint(err), "rho 0.0051005 requested, 0.005 remaining, 0.0001005 too much") {
		t.Error(err)
	}
	// A request that states no loss, or another, is not charged.
	_, _, err = l.Reserve(ctx, request(5, Cost{Epsilon: milli}))
	wantCode(t, err, "not-zcdp", noren.Usage)
	q := zcdpRequest(t, 6, milli, 0)
	q.Loss.Gaussian = q.Loss.Rho
	if _, _, err = l.Reserve(ctx, q); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	// The same request again: the stored answer, with its loss.
	_, stored, err := l.Reserve(ctx, zcdpRequest(t, 3, 100*milli, 2*milliRho))
	if err != nil || stored == nil || stored.Charge.Loss != (Loss{Rho: 7 * milliRho, Pure: 100 * milli, Gaussian: 2 * milliRho}) ||
		stored.Charge.Cost != (Cost{Rho: 7 * milliRho}) {
		t.Errorf("%+v, %v", stored, err)
	}
	p, err := l.Passbook(ctx, PassbookOptions{Dataset: "adult", Limit: 1})
	if err != nil || p.Entries[0].Left != (Cost{Rho: 85 * milliRho}) || *p.Entries[0].Own != (Cost{Rho: 5 * milliRho}) ||
		p.Entries[0].Loss.Rho != 7*milliRho || p.Entries[0].Accounting != ZCDP {
		t.Errorf("%+v, %v", p, err)
	}
	verifyClean(t, l)
	l.Close()
	l = f.open(t)
	if l.Sealed() != nil {
		t.Error(l.Sealed())
	}
}

// A budget in zCDP is not that of a data set with a model, and a budget in epsilon is
// not charged a loss alone.
func TestAccountingsDoNotMix(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	l := f.open(t)
	q := zcdpRequest(t, 1, milli, 0)
	q.Cost = Cost{}
	if _, _, err := l.Reserve(t.Context(), q); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	g := pinned(t, "adult", f.file, Cost{Rho: milliRho})
	g.Accounting, g.StatementDelta = ZCDP, 1e12
	_, err := l.Grant(t.Context(), g)
	wantCode(t, err, "fixed", noren.Usage)
	g.Replace = true
	g.Definition = []byte(`{"columns":["age","sex"],"format":"noren.dataset/1","model":{"column":"age"}}`)
	g.DefinitionHash = hashOf(g.Definition)
	_, err = l.Grant(t.Context(), g)
	wantCode(t, err, "model", noren.Usage)
	for _, wrong := range []func(*Grant){
		func(g *Grant) { g.StatementDelta = 0 }, func(g *Grant) { g.StatementDelta = 1e18 }, func(g *Grant) { g.Cap = Cost{Epsilon: one} },
		func(g *Grant) { g.Accounting = "renyi" }, func(g *Grant) { g.Cap.Epsilon = 1 }, func(g *Grant) { g.Accounting = Basic },
	} {
		g := pinned(t, "adult", f.file, Cost{Rho: milliRho})
		g.Accounting, g.StatementDelta, g.Replace = ZCDP, 1e12, true
		wrong(&g)
		if _, err := l.Grant(t.Context(), g); noren.KindOf(err) != noren.Usage {
			t.Errorf("%+v: %v", g, err)
		}
	}
	verifyClean(t, l)
}

// Adaptive requests of random losses: what is spent is the sum, never beyond the cap,
// and the chain alone gives the same.
func TestZCDPWalks(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	type parts struct {
		Epsilon int64
		Rho     accounting.Rho
	}
	walk := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) parts {
		return parts{
			rapid.SampledFrom([]int64{0, 1, 44, milli, 100 * milli}).Draw(rt, "epsilon"),
			rapid.SampledFrom([]accounting.Rho{1, milliRho, 7 * milliRho}).Draw(rt, "rho"),
		}
	}), 6, 12)
	for seed := range 8 {
		f := zcdpFixture(t, 20*milliRho)
		l := f.open(t)
		var want Loss
		for n, of := range walk.Example(seed) {
			q := zcdpRequest(t, n, of.Epsilon, of.Rho)
			sum, err := want.Add(q.Loss)
			if err != nil {
				t.Fatal(err)
			}
			_, err = ask(t.Context(), l, q, answer(n))
			if fits := sum.Rho <= 20*milliRho; fits != (err == nil) || !fits && noren.CodeOf(err) != "budget-refused" {
				t.Fatalf("%+v after %+v: %v", q.Loss, want, err)
			}
			if err == nil {
				want = sum
			}
		}
		b, err := l.Book(t.Context(), "adult")
		if err != nil || b.Loss != want {
			t.Fatalf("%+v, not %+v, %v", b.Loss, want, err)
		}
		verifyClean(t, l)
		l.Close()
	}
}

func TestZCDPAgainstOneCap(t *testing.T) {
	t.Parallel()
	f := zcdpFixture(t, 50*milliRho)
	l := f.open(t)
	var paid atomic.Int64
	var wait sync.WaitGroup
	for n := range 100 {
		wait.Go(func() {
			if _, err := ask(t.Context(), l, zcdpRequest(t, n, 0, milliRho), answer(n)); err == nil {
				paid.Add(1)
			} else if noren.CodeOf(err) != "budget-refused" {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if b, err := l.Book(t.Context(), "adult"); err != nil || paid.Load() != 50 || b.Remaining != (Cost{}) {
		t.Errorf("%d paid, %+v, %v", paid.Load(), b, err)
	}
	verifyClean(t, l)
}

// A row that was lowered by hand seals the ledger, as does one that was raised, whose
// difference the reconciliation charges.
func TestZCDPRowsByHand(t *testing.T) {
	t.Parallel()
	randtest.SkipShort(t)
	for name, c := range map[string]struct {
		change string
		want   Loss
	}{
		"rho lowered":     {"spent_rho = 1, spent_gaussian = 1", Loss{Rho: 8 * milliRho, Pure: 100 * milli, Gaussian: 3 * milliRho}},
		"epsilon lowered": {"spent_eps_nano = 0", Loss{Rho: 8 * milliRho, Pure: 100 * milli, Gaussian: 3 * milliRho}},
		"rho raised":      {"spent_rho = spent_rho + 5", Loss{Rho: 8*milliRho + 5, Pure: 100 * milli, Gaussian: 3 * milliRho}},
		"epsilon raised":  {"spent_eps_nano = spent_eps_nano + 7", Loss{Rho: 8*milliRho + 1, Pure: 100*milli + 7, Gaussian: 3 * milliRho}},
		"gaussian raised": {"spent_gaussian = spent_gaussian + 9", Loss{Rho: 8*milliRho + 9, Pure: 100 * milli, Gaussian: 3*milliRho + 9}},
		"cap raised":      {"cap_rho = cap_rho * 2", Loss{Rho: 8 * milliRho, Pure: 100 * milli, Gaussian: 3 * milliRho}},
		"other delta":     {"statement_delta = 5", Loss{Rho: 8 * milliRho, Pure: 100 * milli, Gaussian: 3 * milliRho}},
		"other count":     {"charges = charges + 1", Loss{Rho: 8 * milliRho, Pure: 100 * milli, Gaussian: 3 * milliRho}},
	} {
		t.Run(name, func(t *testing.T) {
			f := zcdpFixture(t, 20*milliRho)
			l := f.open(t)
			for n, q := range []Request{zcdpRequest(t, 1, 100*milli, 0), zcdpRequest(t, 2, 0, 3*milliRho)} {
				if _, err := ask(t.Context(), l, q, answer(n)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := l.db.ExecContext(t.Context(), "DROP TRIGGER account_spent; DROP TRIGGER account_fixed; UPDATE account SET "+
				c.change); err != nil {
				t.Fatal(err)
			}
			l.Close()
			l = f.open(t)
			wantSealed(t, l, "changed from outside")
			if _, err := l.Reconcile(t.Context(), ReconcileOptions{}); err != nil {
				t.Fatal(err)
			}
			b, err := l.Book(t.Context(), "adult")
			if err != nil || b.Loss != c.want || b.Cap != (Cost{Rho: 20 * milliRho}) || b.StatementDelta != 1e12 {
				t.Errorf("%+v, %v", b, err)
			}
			verifyClean(t, l)
			if _, err := ask(t.Context(), l, zcdpRequest(t, 9, 0, milliRho), answer(9)); err != nil {
				t.Error(err)
			}
		})
	}
}

// A certificate brings back a lost charge with all its parts.
func TestZCDPRecovered(t *testing.T) {
	t.Parallel()
	f := zcdpFixture(t, 10*milliRho)
	l := f.open(t)
	e := Evidence{Dataset: "adult", Charge: ChargeInfo{Ledger: l.ID(), ID: strings.Repeat("cd", 16), Link: 9, Accounts: []int64{1}}}
	e.Charge.Loss = Loss{Rho: 12 * milliRho, Pure: 100 * milli, Gaussian: 7 * milliRho}
	e.Charge.Cost = Cost{Rho: e.Charge.Loss.Rho}
	did, err := l.Reconcile(t.Context(), ReconcileOptions{Evidence: []Evidence{e}})
	if err != nil || len(did.Recovered) != 1 || did.Raised[0].After != e.Charge.Cost {
		t.Fatalf("%+v, %v", did, err)
	}
	b, err := l.Book(t.Context(), "adult")
	if err != nil || b.Loss != e.Charge.Loss || b.Remaining != (Cost{}) || b.Cap != e.Charge.Cost {
		t.Errorf("%+v, %v", b, err)
	}
	p, err := l.Passbook(t.Context(), PassbookOptions{Dataset: "adult", Limit: 1})
	if err != nil || p.Entries[0].Kind != kindRecovered || p.Entries[0].State != "forfeited" || p.Entries[0].Cost != e.Charge.Cost {
		t.Errorf("%+v, %v", p, err)
	}
	verifyClean(t, l)
	other := e
	other.Charge.ID, other.Charge.Cost, other.Charge.Loss = strings.Repeat("ef", 16), Cost{Epsilon: 5}, Loss{}
	if did, err = l.Reconcile(t.Context(), ReconcileOptions{Evidence: []Evidence{other}}); err != nil || len(did.Skipped) != 1 {
		t.Errorf("%+v, %v", did, err)
	}
}

// An older ledger, of schema version 2, opens unchanged: its charges are in the passbook
// with what was left after them.
func TestMigrateSchema2(t *testing.T) {
	for name, want := range map[string]string{
		"plain": "[11 cap left 3.99 9 charge forfeited left 2.99 7 charge released left 2.994 5 charge released left 2.997 3 charge released " +
			"left 2.999 2 opened left 3]",
		"analysts": "[14 closed bob left 3.99 13 cap left 3.99 11 charge ana forfeited left 2.99 own 0.993 9 charge bob released left 2.994 " +
			"own 0.997 " +
			"7 charge ana released left 2.997 own 0.997 5 charge ana released left 2.999 own 0.999 4 account bob left 3 3 account ana left 3 2 " +
			"opened left 3]",
	} {
		f := unpack(t, "schema2", name)
		l := f.open(t)
		if err := l.Sealed(); err != nil {
			t.Fatal(name, err)
		}
		verifyClean(t, l)
		p, err := l.Passbook(t.Context(), PassbookOptions{Dataset: "adult"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range p.Entries {
			text := fmt.Sprintf("%d %s", e.Link, e.Kind)
			if e.Analyst != "" && (name == "analysts" || e.Kind != kindCharge) {
				text += " " + e.Analyst
			}
			if e.State != "" {
				text += " " + e.State
			}
			text += " left " + decimal(e.Left.Epsilon, 9)
			if e.Own != nil && e.Kind == kindCharge {
				text += " own " + decimal(e.Own.Epsilon, 9)
			}
			got = append(got, text)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s:\n got %v\nwant %s", name, got, want)
		}
		askedFor(t, l, 20, 1)
		verifyClean(t, l)
		l.Close()
		l = f.open(t)
		if l.Sealed() != nil {
			t.Error(l.Sealed())
		}
	}
}
