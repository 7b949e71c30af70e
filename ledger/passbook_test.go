package ledger

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
)

// passbookFixture is a ledger with every kind of entry in epsilon and delta.
func passbookFixture(t *testing.T) *Ledger {
	t.Helper()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	l := f.open(t)
	ctx := t.Context()
	for _, a := range []string{"ana", "bob"} {
		if _, err := l.GrantAnalyst(ctx, "adult", a, Cost{Epsilon: one / 2, Delta: 500}); err != nil {
			t.Fatal(err)
		}
	}
	for n := 1; n <= 6; n++ {
		q := request(n, Cost{Epsilon: int64(n) * milli, Delta: int64(n)})
		if n%2 == 0 {
			q.Principal = "bob"
		}
		switch n {
		case 5:
			r, _, err := l.Reserve(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Forfeit("failed"); err != nil {
				t.Fatal(err)
			}
		case 6:
			if _, _, err := l.Reserve(ctx, q); err != nil {
				t.Fatal(err)
			}
		default:
			if _, err := ask(ctx, l, q, answer(n)); err != nil {
				t.Fatal(err)
			}
		}
		if n == 3 {
			if _, err := l.Grant(ctx, Grant{Name: "adult", Cap: Cost{Epsilon: 2 * one, Delta: 2000}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	g := pinned(t, "adult", f.file, Cost{Epsilon: 2 * one, Delta: 2000})
	g.Definition = definitionOf("age", "sex", "other")
	g.DefinitionHash, g.Changed = hashOf(g.Definition), true
	if _, err := l.Grant(ctx, g); err != nil {
		t.Fatal(err)
	}
	if _, err := l.CloseAnalyst(ctx, "adult", "bob"); err != nil {
		t.Fatal(err)
	}
	return l
}

// lines are the entries of a page in short.
func lines(p *PassbookPage) (out []string) {
	for _, e := range p.Entries {
		text := fmt.Sprintf("%d %s %s", e.Link, e.Kind, e.Analyst)
		if e.Kind == kindCharge {
			text += fmt.Sprintf(" %s %s", e.State, e.Cost)
		} else {
			text += fmt.Sprintf(" cap %s", e.Cap)
		}
		text += " left " + e.Left.String()
		if e.Own != nil {
			text += " own " + e.Own.String()
		}
		out = append(out, text)
	}
	return out
}

func TestPassbook(t *testing.T) {
	t.Parallel()
	l := passbookFixture(t)
	want := []string{
		"18 closed bob cap epsilon 0.5, delta 0.0000000000000005 left epsilon 1.979, delta 0.000000000000001979 own epsilon 0.488, delta " +
			"0.000000000000000488",
		"17 version  cap epsilon 2, delta 0.000000000000002 left epsilon 1.979, delta 0.000000000000001979",
		"16 charge bob reserved epsilon 0.006, delta 0.000000000000000006 left epsilon 1.979, delta 0.000000000000001979 own epsilon 0.488, " +
			"delta 0.000000000000000488",
		"14 charge ana forfeited epsilon 0.005, delta 0.000000000000000005 left epsilon 1.985, delta 0.000000000000001985 own epsilon 0.491, " +
			"delta 0.000000000000000491",
		"12 charge bob released epsilon 0.004, delta 0.000000000000000004 left epsilon 1.99, delta 0.00000000000000199 own epsilon 0.494, " +
			"delta 0.000000000000000494",
		"11 cap  cap epsilon 2, delta 0.000000000000002 left epsilon 1.994, delta 0.000000000000001994",
		"9 charge ana released epsilon 0.003, delta 0.000000000000000003 left epsilon 0.994, delta 0.000000000000000994 own epsilon 0.496, " +
			"delta 0.000000000000000496",
		"7 charge bob released epsilon 0.002, delta 0.000000000000000002 left epsilon 0.997, delta 0.000000000000000997 own epsilon 0.498, " +
			"delta 0.000000000000000498",
		"5 charge ana released epsilon 0.001, delta 0.000000000000000001 left epsilon 0.999, delta 0.000000000000000999 own epsilon 0.499, " +
			"delta 0.000000000000000499",
		"4 account bob cap epsilon 0.5, delta 0.0000000000000005 left epsilon 1, delta 0.000000000000001 own epsilon 0.5, delta " +
			"0.0000000000000005",
		"3 account ana cap epsilon 0.5, delta 0.0000000000000005 left epsilon 1, delta 0.000000000000001 own epsilon 0.5, delta " +
			"0.0000000000000005",
		"2 opened  cap epsilon 1, delta 0.000000000000001 left epsilon 1, delta 0.000000000000001",
	}
	check := func(name string, o PassbookOptions, want []string) {
		t.Helper()
		for limit := 1; limit <= len(want)+1; limit++ {
			o.Limit, o.Before = limit, 0
			var got []string
			for {
				p, err := l.Passbook(t.Context(), o)
				if err != nil {
					t.Fatal(name, err)
				}
				got = append(got, lines(p)...)
				o.Before = p.Next
				if o.Before == 0 {
					break
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s, %d a page:\n got %q\nwant %q", name, limit, got, want)
			}
		}
	}
	pick := func(n ...int) (out []string) {
		for _, i := range n {
			out = append(out, want[i])
		}
		return out
	}
	check("all", PassbookOptions{}, want)
	check("data set", PassbookOptions{Dataset: "adult"}, want)
	check("ana", PassbookOptions{Dataset: "adult", Analyst: "ana"}, pick(3, 6, 8, 10))
	check("bob", PassbookOptions{Dataset: "adult", Analyst: "bob"}, pick(0, 2, 4, 7, 9))
	check("bob anywhere", PassbookOptions{Analyst: "bob"}, pick(0, 2, 4, 7, 9))
	check("unknown", PassbookOptions{Dataset: "adult", Analyst: "eve"}, nil)
	check("released", PassbookOptions{Dataset: "adult", State: "released"}, pick(4, 6, 7, 8))
	check("forfeited", PassbookOptions{Dataset: "adult", State: "forfeited"}, pick(3))
	check("reserved", PassbookOptions{State: "reserved"}, pick(2))
	check("bob, released", PassbookOptions{Dataset: "adult", Analyst: "bob", State: "released"}, pick(4, 7))
	check("bob, forfeited", PassbookOptions{Dataset: "adult", Analyst: "bob", State: "forfeited"}, nil)
	check("ana, forfeited", PassbookOptions{Dataset: "adult", Analyst: "ana", State: "forfeited"}, pick(3))

	for _, o := range []PassbookOptions{{Limit: -1}, {Limit: 1001}, {State: "open"}, {Before: -1}} {
		if _, err := l.Passbook(t.Context(), o); noren.KindOf(err) != noren.Usage {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := l.Passbook(t.Context(), PassbookOptions{Dataset: "none"}); !errors.Is(err, ErrNoGrant) {
		t.Error(err)
	}
	for analyst, want := range map[string]Counts{"": {6, 1, 4, 1}, "ana": {3, 0, 2, 1}, "bob": {3, 1, 2, 0}} {
		if got, err := l.Counts(t.Context(), "adult", analyst); err != nil || *got != want {
			t.Errorf("%q: %+v, %v", analyst, got, err)
		}
	}
	verifyClean(t, l)
}

func TestSpend(t *testing.T) {
	t.Parallel()
	l := passbookFixture(t)
	text := func(points int, analyst string) (out string) {
		all, err := l.Spend(t.Context(), "adult", analyst, points)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			out += fmt.Sprintf("%d%.1s=%d ", p.Link, p.Analyst, p.Spent.Epsilon/milli)
		}
		return out
	}
	if got := text(500, ""); got != "5=1 5a=1 7=3 7b=2 9=6 9a=4 12=10 12b=6 14=15 14a=9 16=21 16b=12 " {
		t.Error(got)
	}
	if got := text(500, "bob"); got != "7b=2 12b=6 16b=12 " {
		t.Error(got)
	}
	if got := text(2, ""); got != "5=1 5a=1 7b=2 14a=9 16=21 16b=12 " {
		t.Error(got)
	}
	if _, err := l.Spend(t.Context(), "adult", "", 1); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := l.Spend(t.Context(), "adult", "eve", 9); !errors.Is(err, ErrNoGrant) {
		t.Error(err)
	}
	// An account without a charge has no course.
	f := newFixture(t, Cost{Epsilon: one})
	l = f.open(t)
	if got := text(500, ""); got != "" {
		t.Error(got)
	}
}

// A page is read while a writer holds the database.
func TestPassbookBesideAWriter(t *testing.T) {
	t.Parallel()
	l := passbookFixture(t)
	tx, err := l.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := l.Passbook(ctx, PassbookOptions{}); err != nil {
		t.Error(err)
	}
	if r, err := l.Verify(ctx); err != nil || r.Err() != nil {
		t.Error(err, r.Err())
	}
}

// The first page of a book of 10^6 charges, each answered.
func BenchmarkPassbookMillion(b *testing.B) {
	if testing.Short() {
		b.Skip("a million charges take minutes to make")
	}
	f := newFixture(b, Cost{Epsilon: 1 << 60})
	f.charges(b, 1_000_000)
	l := f.open(b)
	for name, o := range map[string]PassbookOptions{
		"first": {Dataset: "adult"}, "middle": {Dataset: "adult", Before: 1_000_000}, "forfeited": {Dataset: "adult", State: "forfeited"},
		"released": {Dataset: "adult", State: "released"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := l.Passbook(b.Context(), o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("spend", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Spend(b.Context(), "adult", "", 500); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("counts", func(b *testing.B) {
		for b.Loop() {
			if _, err := l.Counts(b.Context(), "adult", ""); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The kind of an entry says that a charge was recovered, and not the words of a name: an analyst may have those.
func TestAnalystNamedLikeARecovery(t *testing.T) {
	f := newFixture(t, Cost{Epsilon: one})
	l := f.open(t)
	for i, name := range []string{string(recoveredBy), string(recoveredRow), string(recoveredAmount), "(recovered)"} {
		q := request(i+1, Cost{Epsilon: milli})
		q.Principal = name
		if _, err := ask(t.Context(), l, q, answer(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	p, err := l.Passbook(t.Context(), PassbookOptions{Dataset: "adult", Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	charges := 0
	for _, e := range p.Entries {
		if e.Kind == kindCharge && e.Analyst != "" {
			charges++
		}
		if e.Kind == kindRecovered {
			t.Errorf("%+v is no recovery", e)
		}
	}
	if charges != 4 {
		t.Errorf("%d charges of analysts, want 4", charges)
	}
	if err := l.History(t.Context(), HistoryOptions{}, func(e Entry) error {
		if e.Recovered {
			t.Errorf("%+v is no recovery", e)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
