package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// wantCode fails unless err has this code and kind.
func wantCode(t testing.TB, err error, code string, kind noren.Kind, text ...string) {
	t.Helper()
	if noren.CodeOf(err) != code || noren.KindOf(err) != kind {
		t.Errorf("%v: code %q, kind %v; want %q, %v", err, noren.CodeOf(err), noren.KindOf(err), code, kind)
		return
	}
	for _, s := range text {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%v: does not say %q", err, s)
		}
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	first, err := l.Book(ctx, "adult")
	if err != nil || first.Version != 1 || first.DefinitionHash != hashOf(definitionOf("age", "sex")) ||
		string(first.Definition) != string(definitionOf("age", "sex")) ||
		len(first.Versions) != 1 || first.Versions[0].Link != 2 || first.Versions[0].Print != first.Fingerprint ||
		first.Versions[0].Time.IsZero() || len(first.Prints) != 2 || first.BeforeSchema != 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	if _, err := ask(ctx, l, request(1, Cost{Epsilon: 300 * milli, Delta: 0}), answer(1)); err != nil {
		t.Fatal(err)
	}
	// Only moved: the path changes, the version does not.
	moved := filepath.Join(f.dir, "moved.csv")
	write(t, moved, firstTable)
	b, err := l.Grant(ctx, pinned(t, "adult", moved, Cost{Epsilon: one, Delta: 0}))
	if err != nil || b.Version != 1 || len(b.Versions) != 1 || filepath.Base(b.Path) != "moved.csv" {
		t.Fatalf("%+v, %v", b, err)
	}
	_, err = l.Find(ctx, f.file)
	wantCode(t, err, "no-dataset", noren.Refused, "is a former path of data set adult")
	if name, err := l.Knows(ctx, f.file); err != nil || name != "adult" {
		t.Error(name, err)
	}
	// Another table, another definition, another order of the records: a new
	// version, and said so.
	limit := Cost{Epsilon: one, Delta: 0}
	write(t, moved, secondTable)
	second := pinned(t, "adult", moved, limit)
	_, err = l.Grant(ctx, second)
	wantCode(t, err, "changed", noren.Refused, "it is not version 1 of data set adult")
	if !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	second.Changed = true
	if b, err = l.Grant(ctx, second); err != nil || b.Version != 2 || b.Spent.Epsilon != 300*milli || b.Versions[0].Replaced ||
		b.Fingerprint != second.Print {
		t.Fatalf("%+v, %v", b, err)
	}
	write(t, moved, "age,sex\n32,M\n31,F\n")
	third := pinned(t, "adult", moved, limit)
	if third.Print != second.Print {
		t.Fatal("the print depends on the order of the rows")
	}
	_, err = l.Grant(ctx, third)
	wantCode(t, err, "changed", noren.Refused)
	third.Changed = true
	if b, err = l.Grant(ctx, third); err != nil || b.Version != 3 {
		t.Fatalf("%+v, %v", b, err)
	}
	fourth := third
	fourth.Definition = []byte(`{"file":{"kind":"csv"}}`)
	fourth.DefinitionHash = hashOf(fourth.Definition)
	if b, err = l.Grant(ctx, fourth); err != nil || b.Version != 4 || b.DefinitionHash != fourth.DefinitionHash {
		t.Fatalf("%+v, %v", b, err)
	}
	// A request for a version that is not the current one, or for another
	// definition under its number.
	for _, change := range []func(*Request){
		func(q *Request) {},
		func(q *Request) { q.Version = 4 },
		func(q *Request) { q.Version, q.Definition = 5, fourth.DefinitionHash },
	} {
		q := request(2, Cost{Epsilon: milli, Delta: 0})
		change(&q)
		_, _, err := l.Reserve(ctx, q)
		wantCode(t, err, "changed", noren.Refused, "nothing was charged")
	}
	// A key that was used before the change answers its own request and no other.
	if _, stored, err := l.Reserve(ctx, request(1, Cost{Epsilon: milli, Delta: 0})); err != nil || stored == nil {
		t.Error(stored, err)
	}
	q := request(1, Cost{Epsilon: milli, Delta: 0})
	q.Version, q.Definition, q.Hash = 4, fourth.DefinitionHash, [32]byte{9}
	if _, _, err := l.Reserve(ctx, q); !errors.Is(err, ErrConflict) {
		t.Error(err)
	}
	if b, err = l.Book(ctx, "adult"); err != nil || b.Spent.Epsilon != 300*milli {
		t.Errorf("%+v, %v", b, err)
	}
	// Every print it had is known.
	for _, g := range []string{first.Fingerprint, second.Print} {
		if name, err := l.KnowsPrint(ctx, g); err != nil || name != "adult" {
			t.Error(name, err)
		}
	}
	if name, err := l.KnowsPrint(ctx, "none"); err != nil || name != "" {
		t.Error(name, err)
	}
	verifyClean(t, l)
	l.Close()
	l = f.open(t)
	if l.Sealed() != nil {
		t.Error(l.Sealed())
	}
}

func TestReplaceWhileNothingIsSpent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	if _, err := l.GrantAnalyst(ctx, "adult", "ana", Cost{Epsilon: milli, Delta: 0}); err != nil {
		t.Fatal(err)
	}
	g := pinned(t, "adult", f.file, Cost{Epsilon: 500 * milli, Delta: 0})
	_, err := l.Grant(ctx, g)
	wantCode(t, err, "fixed", noren.Usage, "data set adult: a cap cannot fall")
	g.Neighbours, g.Unit = ReplaceOne, "person"
	_, err = l.Grant(ctx, g)
	wantCode(t, err, "fixed", noren.Usage)
	g.Replace = true
	g.Definition = []byte(`{"unit":"person"}`)
	g.DefinitionHash = hashOf(g.Definition)
	b, err := l.Grant(ctx, g)
	if err != nil || b.Version != 2 || !b.Versions[0].Replaced || b.Versions[1].Replaced || b.Unit != "person" || b.Neighbours != ReplaceOne ||
		b.Cap.Epsilon != 500*milli {
		t.Fatalf("%+v, %v", b, err)
	}
	q := request(1, Cost{Epsilon: milli, Delta: 0})
	q.Neighbours, q.Unit, q.Version, q.Definition = ReplaceOne, "person", 2, g.DefinitionHash
	r, _, err := l.Reserve(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	// Reserved is spent.
	g.Unit = "record"
	_, err = l.Grant(ctx, g)
	wantCode(t, err, "fixed", noren.Usage, "epsilon 0.001 is spent; unit, relation and model are fixed")
	if err := r.Forfeit("no answer"); err != nil {
		t.Fatal(err)
	}
	_, err = l.Grant(ctx, g)
	wantCode(t, err, "fixed", noren.Usage)
	g.Replace, g.Changed = false, true
	_, err = l.Grant(ctx, g)
	wantCode(t, err, "fixed", noren.Usage)
	verifyClean(t, l)
}

// A replacement and a reservation at once, of two processes: one of them is
// refused, and what was charged was charged to the version it was made for.
func TestReplaceAgainstReservation(t *testing.T) {
	randtest.SkipShort(t)
	t.Parallel()
	replaced, reserved := 0, 0
	for round := range 20 {
		f := newFixture(t, Cost{Epsilon: one, Delta: 0})
		one, two := f.open(t), f.open(t)
		g := pinned(t, "adult", f.file, Cost{Epsilon: 1_000_000_000, Delta: 0})
		g.Replace, g.Unit = true, "person"
		var replaceErr, reserveErr error
		var wg sync.WaitGroup
		start := make(chan bool)
		wg.Go(func() {
			<-start
			_, replaceErr = one.Grant(t.Context(), g)
		})
		wg.Go(func() {
			<-start
			var r *Reservation
			if r, _, reserveErr = two.Reserve(t.Context(), request(round, Cost{Epsilon: milli, Delta: 0})); reserveErr == nil {
				reserveErr = r.Settle(t.Context(), answer(round), nil, "")
			}
		})
		close(start)
		wg.Wait()
		b, err := one.Book(t.Context(), "adult")
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case replaceErr == nil && reserveErr != nil:
			replaced++
			wantCode(t, reserveErr, "changed", noren.Refused)
			if b.Version != 2 || b.Unit != "person" || b.Spent.Epsilon != 0 {
				t.Errorf("%+v", b)
			}
		case replaceErr != nil && reserveErr == nil:
			reserved++
			wantCode(t, replaceErr, "fixed", noren.Usage)
			if b.Version != 1 || b.Unit != "record" || b.Spent.Epsilon != milli {
				t.Errorf("%+v", b)
			}
		default:
			t.Errorf("replace: %v; reserve: %v", replaceErr, reserveErr)
		}
		verifyClean(t, one)
	}
	t.Logf("%d replaced, %d reserved", replaced, reserved)
}

func TestOneTableOneDataSet(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	limit := Cost{Epsilon: one, Delta: 0}
	other := filepath.Join(f.dir, "b.csv")
	write(t, other, firstTable)
	g := pinned(t, "again", other, limit)
	g.OtherPeople = true
	_, err := l.Grant(ctx, g)
	wantCode(t, err, "same-table", noren.Usage, other+": is the table of data set adult, version 1")
	// The path, also through a link and after it is no longer the current one.
	write(t, f.file, "ward,day\nA,1\n")
	link := filepath.Join(f.dir, "link.csv")
	if err := os.Symlink(f.file, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{f.file, link} {
		_, err = l.Grant(ctx, pinned(t, "again", path, limit))
		wantCode(t, err, "same-table", noren.Usage, "is a path of data set adult")
	}
	if b, err := l.Find(ctx, link); err != nil || b.Name != "adult" {
		t.Error(b, err)
	}
	// The byte fingerprint of an older grant, were it one.
	g = pinned(t, "again", other, limit)
	g.OldFingerprint = g.Print
	g.Print = "x"
	_, err = l.Grant(ctx, g)
	wantCode(t, err, "same-table", noren.Usage)
	// A near copy has other prints and the same columns.
	write(t, other, firstTable+"40,M\n")
	g = pinned(t, "again", other, limit)
	_, err = l.Grant(ctx, g)
	wantCode(t, err, "other-people", noren.Usage, other+": shares 2 of 2 columns with data set adult")
	g.OtherPeople = true
	b, err := l.Grant(ctx, g)
	if err != nil || fmt.Sprint(b.OtherPeople) != "[adult]" {
		t.Fatalf("%+v, %v", b, err)
	}
	// Once declared, for both: a new version of either needs no other declaration.
	write(t, other, firstTable+"41,M\n")
	g = pinned(t, "again", other, limit)
	g.Changed = true
	if b, err = l.Grant(ctx, g); err != nil || fmt.Sprint(b.OtherPeople) != "[adult]" || b.Version != 2 {
		t.Fatalf("%+v, %v", b, err)
	}
	write(t, f.file, firstTable+"50,M\n")
	g = pinned(t, "adult", f.file, limit)
	g.Changed = true
	if b, err = l.Grant(ctx, g); err != nil || b.OtherPeople != nil {
		t.Fatalf("%+v, %v", b, err)
	}
	// Half of the smaller one's columns is similar, less is not.
	third := filepath.Join(f.dir, "c.csv")
	write(t, third, "sex,weight,a,b,c\nF,1,1,1,1\n")
	_, err = l.Grant(ctx, pinned(t, "third", third, limit))
	wantCode(t, err, "other-people", noren.Usage, "shares 1 of 2 columns")
	write(t, third, "weight,a,b,c\n1,1,1,1\n")
	if b, err = l.Grant(ctx, pinned(t, "third", third, limit)); err != nil || b.OtherPeople != nil {
		t.Error(err)
	}
	_, err = l.Find(ctx, filepath.Join(f.dir, "none.csv"))
	wantCode(t, err, "no-dataset", noren.Refused, "no data set at this path")
	if name, err := l.Knows(ctx, filepath.Join(f.dir, "none", "none.csv")); err != nil || name != "" {
		t.Error(name, err)
	}
	verifyClean(t, l)
}

func TestModelIsFixedOnceSpent(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	plain := pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 0})
	with := func(model, rest string) Grant {
		g := plain
		g.Definition = []byte(`{"columns":["age","sex"]` + rest + `,"model":` + model + `}`)
		g.DefinitionHash, g.FixedOnceSpent, g.Changed = hashOf(g.Definition), true, true
		return g
	}
	if _, err := l.Grant(ctx, with(`{"column":"sex"}`, "")); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Grant(ctx, with(`{"column":"age"}`, "")); err != nil { // nothing is spent
		t.Fatal(err)
	}
	q := request(1, Cost{Epsilon: milli, Delta: 0})
	q.Version, q.Definition = 3, with(`{"column":"age"}`, "").DefinitionHash
	if _, err := ask(ctx, l, q, answer(1)); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, g Grant) {
		t.Helper()
		if _, err := l.Grant(ctx, g); noren.CodeOf(err) != "fixed" {
			t.Errorf("%s: %v", what, err)
		}
	}
	without := plain
	without.Changed = true
	refused("the model is dropped", without)
	refused("another model", with(`{"column":"sex"}`, ""))
	another := with(`{"column":"age"}`, "")
	another.Print = "another"
	refused("another table", another)
	turned := with(`{"column":"age"}`, `,"file":{"kind":"parquet"}`)
	turned.Prints = map[string]string{"age": "x", "sex": plain.Prints["sex"]}
	refused("the records in another order", turned)
	// The same table in another form is a new version.
	if b, err := l.Grant(ctx, with(`{"column":"age"}`, `,"file":{"kind":"parquet"}`)); err != nil || b.Version != 4 {
		t.Error(err)
	}
	// A model cannot be added to a data set of which something is spent.
	f2 := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l2 := f2.open(t)
	if _, err := ask(ctx, l2, request(1, Cost{Epsilon: milli, Delta: 0}), answer(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := l2.Grant(ctx, with(`{"column":"age"}`, "")); noren.CodeOf(err) != "fixed" {
		t.Error(err)
	}
	verifyClean(t, l)
}

func TestCaps(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 10})
	l := f.open(t)
	ctx := t.Context()
	// A cap alone, without reading the file.
	b, err := l.Grant(ctx, Grant{Name: "adult", Cap: Cost{Epsilon: 2 * one, Delta: 10}})
	if err != nil || b.Cap.Epsilon != 2*one || b.Version != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	for _, c := range []Cost{{Epsilon: one, Delta: 10}, {Epsilon: 3 * one, Delta: 9}} {
		_, err = l.Grant(ctx, Grant{Name: "adult", Cap: c})
		wantCode(t, err, "fixed", noren.Usage, "a cap cannot fall")
	}
	if _, err = l.GrantAnalyst(ctx, "adult", "ana", Cost{Epsilon: 5 * one, Delta: 0}); err != nil {
		t.Fatal(err)
	}
	_, err = l.GrantAnalyst(ctx, "adult", "ana", Cost{Epsilon: 4 * one, Delta: 0})
	wantCode(t, err, "fixed", noren.Usage, "analyst ana: a cap cannot fall")
	sound := pinned(t, "adult", f.file, Cost{Epsilon: 2 * one, Delta: 10})
	for name, change := range map[string]func(*Grant){
		"no name":           func(g *Grant) { g.Name = "" },
		"no cap":            func(g *Grant) { g.Cap = Cost{} },
		"negative cap":      func(g *Grant) { g.Cap.Epsilon = -1 },
		"delta above 1":     func(g *Grant) { g.Cap.Delta = 1e18 + 1 },
		"spaces":            func(g *Grant) { g.Name = " x" },
		"line end":          func(g *Grant) { g.Name = "a\nb" },
		"long":              func(g *Grant) { g.Name = strings.Repeat("x", 300) },
		"no path":           func(g *Grant) { g.Path = "" },
		"no object":         func(g *Grant) { g.Definition = []byte("[]") },
		"no JSON":           func(g *Grant) { g.Definition = []byte("{") },
		"too long":          func(g *Grant) { g.Definition = []byte(`{"a":"` + strings.Repeat("x", maxDefinition) + `"}`) },
		"no hash":           func(g *Grant) { g.DefinitionHash = [32]byte{} },
		"no print":          func(g *Grant) { g.Print = "" },
		"no column prints":  func(g *Grant) { g.Prints = nil },
		"empty print":       func(g *Grant) { g.Prints = map[string]string{"age": ""} },
		"no UTF-8 column":   func(g *Grant) { g.Prints = map[string]string{"\xff": "x"} },
		"bytes fingerprint": func(g *Grant) { g.OldFingerprint = "\n" },
	} {
		g := sound
		change(&g)
		if _, err := l.Grant(ctx, g); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, g := range []Grant{
		{Name: "none", Cap: sound.Cap},
		func() Grant { g := sound; g.Name, g.Changed = "none", true; return g }(),
		func() Grant { g := sound; g.Name, g.Replace = "none", true; return g }(),
	} {
		_, err := l.Grant(ctx, g)
		wantCode(t, err, "no-dataset", noren.Refused)
	}
	verifyClean(t, l)
}

func TestCloseAnalyst(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	_, err := l.CloseAnalyst(ctx, "adult", "ana")
	wantCode(t, err, "no-grant", noren.Refused)
	if _, err := l.GrantAnalyst(ctx, "adult", "ana", Cost{Epsilon: 500 * milli, Delta: 0}); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(ctx, l, request(1, Cost{Epsilon: milli, Delta: 0}), answer(1)); err != nil {
		t.Fatal(err)
	}
	b, err := l.CloseAnalyst(ctx, "adult", "ana")
	if err != nil || !b.Analysts[0].Closed || b.Analysts[0].Available != (Cost{}) || b.Analysts[0].Spent.Epsilon != milli {
		t.Fatalf("%+v, %v", b, err)
	}
	for _, n := range []int{1, 2} { // a stored answer too
		_, _, err = l.Reserve(ctx, request(n, Cost{Epsilon: milli, Delta: 0}))
		wantCode(t, err, "closed", noren.Refused, "analyst ana: is closed in data set adult")
	}
	// It still counts as a grant: others may not ask without one.
	q := request(3, Cost{Epsilon: milli, Delta: 0})
	q.Principal = "bob"
	_, _, err = l.Reserve(ctx, q)
	wantCode(t, err, "no-grant", noren.Refused)
	verifyClean(t, l)
	l.Close()
	l = f.open(t)
	if l.Sealed() != nil {
		t.Fatal(l.Sealed())
	}
	if b, err = l.GrantAnalyst(ctx, "adult", "ana", Cost{Epsilon: 500 * milli, Delta: 0}); err != nil || b.Analysts[0].Closed {
		t.Fatalf("%+v, %v", b, err)
	}
	if _, err := ask(ctx, l, request(2, Cost{Epsilon: milli, Delta: 0}), answer(2)); err != nil {
		t.Error(err)
	}
	verifyClean(t, l)
}

func TestSeenStoredAndHistory(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	seen := func(size, mtime int64) {
		t.Helper()
		if s, m, err := l.Seen(ctx, "adult"); err != nil || s != size || m != mtime {
			t.Errorf("%d, %d, %v; want %d, %d", s, m, err, size, mtime)
		}
	}
	seen(int64(len(firstTable)), 7)
	if err := l.SetSeen(ctx, "adult", 1, 5, 8); err != nil {
		t.Fatal(err)
	}
	seen(5, 8)
	if err := l.SetSeen(ctx, "adult", 2, 6, 9); err != nil {
		t.Fatal(err)
	}
	seen(5, 8)
	wantCode(t, l.SetSeen(ctx, "none", 1, 1, 1), "no-dataset", noren.Refused)
	if s, m, err := l.Seen(ctx, "none"); s != 0 || m != 0 || err != nil {
		t.Error(s, m, err)
	}
	for n, who := range []string{"ana", "bob", "ana"} {
		q := request(n+1, Cost{Epsilon: milli, Delta: 0})
		q.Principal = who
		if n == 2 {
			q.Hash = request(1, Cost{}).Hash
		}
		if _, err := ask(ctx, l, q, answer(n+1)); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := l.StoredByQuestion(ctx, "adult", request(1, Cost{}).Hash); err != nil || s == nil || string(s.Payload) != "answer 3" ||
		s.Charge.Ledger != l.ID() {
		t.Errorf("%+v, %v", s, err)
	}
	for dataset, hash := range map[string][32]byte{"adult": {7}, "none": request(1, Cost{}).Hash} {
		if s, err := l.StoredByQuestion(ctx, dataset, hash); s != nil || err != nil {
			t.Errorf("%+v, %v", s, err)
		}
	}
	for _, c := range []struct {
		o    HistoryOptions
		want int
	}{
		{HistoryOptions{}, 3},
		{HistoryOptions{Dataset: "adult"}, 3},
		{HistoryOptions{Analyst: "ana"}, 2},
		{HistoryOptions{Dataset: "adult", Analyst: "bob"}, 1},
		{HistoryOptions{Dataset: "none"}, 0},
	} {
		n := 0
		if err := l.History(ctx, c.o, func(Entry) error { n++; return nil }); err != nil || n != c.want {
			t.Errorf("%+v: %d, %v", c.o, n, err)
		}
	}
	// Seen goes with the version.
	write(t, f.file, secondTable)
	g := pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 0})
	g.Changed = true
	if _, err := l.Grant(ctx, g); err != nil {
		t.Fatal(err)
	}
	seen(int64(len(secondTable)), 7)
	verifyClean(t, l)
}
