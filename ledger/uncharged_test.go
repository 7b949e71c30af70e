package ledger

import (
	"encoding/json"
	"errors"
	"testing"
)

// A use that the steward does not charge is in the chain and in the history, and
// changes no budget, in either accounting.
func TestNoteUncharged(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	ctx := t.Context()
	write(t, f.dir+"/other.csv", "id,ward\n1,2\n")
	zcdp := pinned(t, "other", f.dir+"/other.csv", Cost{Rho: 1_000_000})
	zcdp.Accounting, zcdp.StatementDelta, zcdp.OtherPeople = ZCDP, 1_000_000_000, true
	if _, err := l.Grant(ctx, zcdp); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(ctx, l, request(1, Cost{Epsilon: 300 * milli}), answer(1)); err != nil {
		t.Fatal(err)
	}
	before := spent(t, l)
	for _, name := range []string{"adult", "other"} {
		entry, err := l.NoteUncharged(ctx, Uncharged{
			Dataset: name, Principal: "steward",
			Mechanism: json.RawMessage(`{"mechanism":{"name":"ldp.randomize"}}`),
		})
		if err != nil || entry == 0 {
			t.Fatal(entry, err)
		}
		var noted []Entry
		if err := l.History(ctx, HistoryOptions{Dataset: name}, func(e Entry) error { noted = append(noted, e); return nil }); err != nil {
			t.Fatal(err)
		}
		last := noted[len(noted)-1]
		if last.Link != entry || last.State != NotCharged || last.Principal != "steward" || len(last.Accounts) != 0 || last.Cost != (Cost{}) ||
			last.Ended.IsZero() {
			t.Errorf("%s: %+v", name, last)
		}
	}
	counts, err := l.Counts(ctx, "adult", "")
	if err != nil || *counts != (Counts{Charges: 1, Released: 1}) || spent(t, l) != before {
		t.Errorf("%+v %v", counts, err)
	}
	if _, err := l.NoteUncharged(ctx, Uncharged{Dataset: "none", Principal: "steward", Mechanism: json.RawMessage(`{}`)}); !errors.Is(err,
		ErrNoGrant) {
		t.Error(err)
	}
	if _, err := l.NoteUncharged(ctx, Uncharged{Dataset: "adult", Principal: "steward", Mechanism: json.RawMessage(`no`)}); err == nil {
		t.Error("a description that is no object was noted")
	}
	verifyClean(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = f.open(t) // replayed, as by a process of later
	verifyClean(t, l)
	if b, err := l.Book(ctx, "adult"); err != nil || b.Spent != before || b.BeforeSchema != 0 {
		t.Error(b, err)
	}
}
