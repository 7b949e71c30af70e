package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"noren"
)

func TestHierarchyChargesAllOrNone(t *testing.T) {
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	for _, g := range []struct {
		grant func(context.Context, string, string, Cost) (*Book, error)
		name  string
		eps   int64
	}{
		{l.GrantAnalyst, "ana", 500 * milli},
		{l.GrantAnalyst, "bob", 900 * milli},
		{l.GrantBlock, "2024", 300 * milli},
		{l.GrantBlock, "2025", 900 * milli},
	} {
		if _, err := g.grant(ctx, "adult", g.name, Cost{Epsilon: g.eps, Delta: 0}); err != nil {
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
		for _, a := range append(b.Analysts, b.Blocks...) {
			got[a.Name] = a.Spent.Epsilon / milli
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: spent %v, want %v", what, got, want)
		}
	}
	q := request(1, Cost{Epsilon: 200 * milli, Delta: 0})
	q.Blocks = []string{"2024"}
	if _, err := ask(ctx, l, q, answer(1)); err != nil {
		t.Fatal(err)
	}
	check("one block", map[string]int64{"adult": 200, "ana": 200, "bob": 0, "2024": 200, "2025": 0})
	// The block has 100 left; data set and analyst could pay, and must not.
	q = request(2, Cost{Epsilon: 200 * milli, Delta: 0})
	q.Blocks = []string{"2025", "2024"}
	var refusal *Refusal
	if _, err := ask(ctx, l, q, answer(2)); !errors.As(err, &refusal) || len(refusal.Short) != 1 || refusal.Short[0].Kind != "block" || refusal.Short[0].Name != "2024" {
		t.Error(err)
	}
	check("refused", map[string]int64{"adult": 200, "ana": 200, "bob": 0, "2024": 200, "2025": 0})
	// No block named: all are touched.
	q = request(3, Cost{Epsilon: 50 * milli, Delta: 0})
	if _, err := ask(ctx, l, q, answer(3)); err != nil {
		t.Fatal(err)
	}
	check("all blocks", map[string]int64{"adult": 250, "ana": 250, "bob": 0, "2024": 250, "2025": 50})
	q = request(4, Cost{Epsilon: 300 * milli, Delta: 0})
	q.Blocks = []string{"2025"}
	if _, err := ask(ctx, l, q, answer(4)); !errors.As(err, &refusal) || refusal.Short[0].Kind != "analyst" {
		t.Error(err)
	}
	// Colluding analysts meet the data set's cap.
	q.Principal = "bob"
	if _, err := ask(ctx, l, q, answer(4)); err != nil {
		t.Fatal(err)
	}
	q = request(5, Cost{Epsilon: 500 * milli, Delta: 0})
	q.Principal, q.Blocks = "bob", []string{"2025"}
	if _, err := ask(ctx, l, q, answer(5)); !errors.As(err, &refusal) || len(refusal.Short) != 1 || refusal.Short[0].Kind != "dataset" {
		t.Error(err)
	}
	q.Principal = "eve"
	if _, err := ask(ctx, l, q, answer(5)); !errors.Is(err, ErrNoGrant) || noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	q.Principal, q.Blocks = "bob", []string{"1999"}
	if _, err := ask(ctx, l, q, answer(5)); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	check("end", map[string]int64{"adult": 550, "ana": 250, "bob": 300, "2024": 250, "2025": 350})
	verifyClean(t, l)
}

func TestOneRelationOneUnit(t *testing.T) {
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
	for _, g := range []Grant{
		{Name: "adult", File: f.file, Cap: Cost{Epsilon: one, Delta: 0}, Neighbours: ReplaceOne},
		{Name: "adult", File: f.file, Cap: Cost{Epsilon: one, Delta: 0}, Unit: "person_id"},
	} {
		if _, err := l.Grant(t.Context(), g); noren.KindOf(err) != noren.Usage {
			t.Error(err)
		}
	}
	if got := spent(t, l); got != (Cost{}) {
		t.Error(got)
	}
}

func TestGrantAndFile(t *testing.T) {
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	if _, err := ask(ctx, l, request(1, Cost{Epsilon: 300 * milli, Delta: 0}), answer(1)); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(f.dir, "copy.csv")
	text, err := os.ReadFile(f.file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(copied, string(text))
	if b, err := l.FindByFile(ctx, copied); err != nil || b.Name != "adult" {
		t.Errorf("a copy elsewhere: %v", err)
	}
	if _, err := l.Grant(ctx, Grant{Name: "again", File: copied, Cap: Cost{Epsilon: one, Delta: 0}}); noren.KindOf(err) != noren.Usage {
		t.Errorf("a second book for the same file: %v", err)
	}
	write(copied, "other")
	if _, err := l.FindByFile(ctx, copied); !errors.Is(err, ErrNoGrant) || noren.KindOf(err) != noren.Refused || !strings.Contains(err.Error(), "noren ledger grant NAME --file "+copied) {
		t.Error(err)
	}
	// One more row at the granted path.
	write(f.file, string(text)+"32,M\n")
	if _, err := l.FindByFile(ctx, f.file); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "the file at this path is not the one that was granted") {
		t.Error(err)
	}
	if _, err := l.Grant(ctx, Grant{Name: "adult", File: f.file, Cap: Cost{Epsilon: one, Delta: 0}}); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	b, err := l.Grant(ctx, Grant{Name: "adult", File: f.file, Cap: Cost{Epsilon: 2 * one, Delta: 5}, Changed: true})
	if err != nil || b.Spent != (Cost{Epsilon: 300 * milli, Delta: 0}) || b.Cap != (Cost{Epsilon: 2 * one, Delta: 5}) {
		t.Errorf("%+v, %v", b, err)
	}
	if b, err = l.FindByFile(ctx, f.file); err != nil || b.Name != "adult" {
		t.Error(err)
	}
	h := l.NewFileHash()
	fmt.Fprint(h, string(text), "32,M\n")
	if h.Sum() != b.Fingerprint {
		t.Error("the streamed fingerprint is another")
	}
	if _, err := l.Grant(ctx, Grant{Name: "adult", File: f.file, Cap: Cost{Epsilon: 299 * milli, Delta: 0}}); noren.KindOf(err) != noren.Usage {
		t.Errorf("a cap below what is spent: %v", err)
	}
	if b, err = l.Grant(ctx, Grant{Name: "adult", File: f.file, Cap: Cost{Epsilon: 300 * milli, Delta: 0}}); err != nil || b.Remaining != (Cost{}) {
		t.Errorf("%+v, %v", b, err)
	}
	for _, g := range []Grant{{}, {Name: "x"}, {Name: "x", Cap: Cost{Epsilon: -1, Delta: 0}}, {Name: "x", Cap: Cost{Epsilon: 1, Delta: 1e18 + 1}}, {Name: " x", Cap: Cost{Epsilon: 1, Delta: 0}}, {Name: "a\nb", Cap: Cost{Epsilon: 1, Delta: 0}}, {Name: strings.Repeat("x", 300), Cap: Cost{Epsilon: 1, Delta: 0}}, {Name: "x", Cap: Cost{Epsilon: 1, Delta: 0}, File: "none"}, {Name: "x", Cap: Cost{Epsilon: 1, Delta: 0}, File: f.dir}} {
		if _, err := l.Grant(ctx, g); noren.KindOf(err) != noren.Usage {
			t.Errorf("%+v: %v", g, err)
		}
	}
	// Another ledger gives the same file another fingerprint: a guess of the
	// data cannot be tested without the ledger's secret.
	f2 := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l2 := f2.open(t)
	h1, h2 := l.NewFileHash(), l2.NewFileHash()
	if h1.Sum() == h2.Sum() {
		t.Error("fingerprints are not keyed")
	}
	verifyClean(t, l)
}

func TestRequestIsValidated(t *testing.T) {
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
