package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

func TestHierarchyChargesAllOrNone(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	for name, eps := range map[string]int64{"ana": 500 * milli, "bob": 900 * milli} {
		if _, err := l.GrantAnalyst(ctx, "adult", name, Cost{Epsilon: eps, Delta: 0}); err != nil {
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
		for _, a := range b.Analysts {
			got[a.Name] = a.Spent.Epsilon / milli
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: spent %v, want %v", what, got, want)
		}
	}
	if _, err := ask(ctx, l, request(1, Cost{Epsilon: 300 * milli, Delta: 0}), answer(1)); err != nil {
		t.Fatal(err)
	}
	check("ana", map[string]int64{"adult": 300, "ana": 300, "bob": 0})
	// The analyst has 200 left; the data set could pay, and must not.
	q := request(2, Cost{Epsilon: 300 * milli, Delta: 0})
	var refusal *Refusal
	if _, err := ask(ctx, l, q, answer(2)); !errors.As(err, &refusal) || len(refusal.Short) != 1 || refusal.Short[0].Kind != "analyst" ||
		noren.CodeOf(err) != "budget-refused" {
		t.Error(err)
	}
	check("refused", map[string]int64{"adult": 300, "ana": 300, "bob": 0})
	// Colluding analysts meet the data set's cap.
	q.Principal = "bob"
	if _, err := ask(ctx, l, q, answer(2)); err != nil {
		t.Fatal(err)
	}
	b, err := l.Book(ctx, "adult")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range b.Analysts {
		want := map[string]int64{"ana": 200 * milli, "bob": 400 * milli}[a.Name] // bob has 600 of his own
		if a.Available.Epsilon != want {
			t.Errorf("%s can still spend %d; want %d", a.Name, a.Available.Epsilon, want)
		}
	}
	q = request(3, Cost{Epsilon: 500 * milli, Delta: 0})
	q.Principal = "bob"
	if _, err := ask(ctx, l, q, answer(3)); !errors.As(err, &refusal) || len(refusal.Short) != 1 || refusal.Short[0].Kind != "dataset" {
		t.Error(err)
	}
	q.Principal = "eve"
	if _, err := ask(ctx, l, q, answer(3)); !errors.Is(err, ErrNoGrant) || noren.KindOf(err) != noren.Refused ||
		noren.CodeOf(err) != "no-grant" {
		t.Error(err)
	}
	check("end", map[string]int64{"adult": 600, "ana": 300, "bob": 300})
	verifyClean(t, l)
}

func TestOneRelationOneUnit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	for _, change := range []func(*Request){
		func(q *Request) { q.Neighbours = ReplaceOne },
		func(q *Request) { q.Unit = "person_id" },
		func(q *Request) { q.Unit = "" },
	} {
		q := request(1, Cost{Epsilon: 1, Delta: 0})
		change(&q)
		if _, _, err := l.Reserve(t.Context(), q); noren.KindOf(err) != noren.Usage {
			t.Error(err)
		}
	}
	for _, change := range []func(*Grant){
		func(g *Grant) { g.Neighbours = ReplaceOne },
		func(g *Grant) { g.Unit = "person_id" },
		func(g *Grant) { g.Unit, g.Changed = "person_id", true },
	} {
		g := pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 0})
		change(&g)
		if _, err := l.Grant(t.Context(), g); noren.KindOf(err) != noren.Usage || noren.CodeOf(err) != "fixed" {
			t.Error(err)
		}
	}
	if got := spent(t, l); got != (Cost{}) {
		t.Error(got)
	}
}

func TestRequestIsValidated(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	for name, change := range map[string]func(*Request){
		"no analyst":         func(q *Request) { q.Principal = "" },
		"no hash":            func(q *Request) { q.Hash = [32]byte{} },
		"no mechanism":       func(q *Request) { q.Mechanism = nil },
		"mechanism a list":   func(q *Request) { q.Mechanism = json.RawMessage(`[]`) },
		"mechanism broken":   func(q *Request) { q.Mechanism = json.RawMessage(`{`) },
		"mechanism too long": func(q *Request) { q.Mechanism = json.RawMessage(`{"a":"` + strings.Repeat("x", maxMechanism) + `"}`) },
		"free":               func(q *Request) { q.Cost = Cost{} },
		"negative":           func(q *Request) { q.Cost = Cost{Epsilon: -1, Delta: 1} },
		"negative delta":     func(q *Request) { q.Cost = Cost{Epsilon: 1, Delta: -1} },
	} {
		q := request(1, Cost{Epsilon: 1, Delta: 0})
		change(&q)
		if _, _, err := l.Reserve(t.Context(), q); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	q := request(1, Cost{Epsilon: 1, Delta: 0})
	q.Dataset = "none"
	if _, _, err := l.Reserve(t.Context(), q); !errors.Is(err, ErrNoGrant) {
		t.Error(err)
	}
	q = request(1, Cost{Epsilon: 1 << 62, Delta: 0})
	if _, _, err := l.Reserve(t.Context(), q); noren.KindOf(err) != noren.Refused {
		t.Errorf("a cost that would overflow: %v", err)
	}
	// Without a key every request is a new one.
	for n := range 3 {
		q := request(1, Cost{Epsilon: 1, Delta: 0})
		q.Key = ""
		if got, err := ask(t.Context(), l, q, answer(n)); err != nil || string(got) != string(answer(n)) {
			t.Error(got, err)
		}
	}
}
