package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

// unseen are names with characters that are not seen as they are. The first two were taken
// by programs of before.
var unseen = []string{"adult\u3164", "adu\u115flt", "adu\u202elt", "a\u2066dult", "adult\u200b", "\ufeffadult", "ad\u200dult", "adu\u034flt", "adult\ufe0f", "adul\u00adt"}

// Each place of the ledger that takes a name refuses those that are not seen as they are.
func TestUnseenNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	l := f.open(t)
	ctx := t.Context()
	table := filepath.Join(t.TempDir(), "other.csv")
	write(t, table, "a\n1\n")
	for what, take := range map[string]func(name string) error{
		"data set": func(name string) error {
			_, err := l.Grant(ctx, pinned(t, name, table, Cost{Epsilon: one}))
			return err
		},
		"unit": func(name string) error {
			g := pinned(t, "other", table, Cost{Epsilon: one})
			g.Unit = name
			_, err := l.Grant(ctx, g)
			return err
		},
		"analyst": func(name string) error {
			_, err := l.GrantAnalyst(ctx, "adult", name, Cost{Epsilon: one})
			return err
		},
		"declared analyst": func(name string) error {
			q := request(1, Cost{Epsilon: 1})
			q.Principal = name
			_, err := ask(ctx, l, q, answer(1))
			return err
		},
		"person who decided": func(name string) error {
			_, err := l.NoteUncharged(ctx, Uncharged{Dataset: "adult", Principal: name, Mechanism: json.RawMessage(`{}`)})
			return err
		},
	} {
		for _, name := range unseen {
			err := take(name)
			if noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "character that cannot be") {
				t.Errorf("%s %q: %v", what, name, err)
			}
		}
	}
	if s := spent(t, l); s != (Cost{}) {
		t.Errorf("a refused name was charged: %v", s)
	}
}

// A ledger of before with such names opens, and they are charged, granted anew and closed.
func TestUnseenNamesOfBefore(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one})
	l := f.open(t)
	ctx := t.Context()
	set, analyst := unseen[0], unseen[1]
	table := filepath.Join(t.TempDir(), "other.csv")
	write(t, table, "a\n1\n")
	g := pinned(t, set, table, Cost{Epsilon: one})
	g.Unit, g.Contents = "record", nil
	paths, err := l.spellings(g.Path)
	if err != nil {
		t.Fatal(err)
	}
	// What a program of before did after its check of the name.
	if err := l.grant(ctx, func(tx *sql.Tx) (*grantBody, error) { return g.decide(ctx, tx, nil, paths, nil) }, func(tx *sql.Tx, b *grantBody) error {
		if err := l.keepContents(ctx, tx, &g, b); err != nil {
			return err
		}
		return setSeen(ctx, tx, b.Account, g.Size, g.Mtime)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.grantBelow(ctx, set, analyst, func(parent, _ *account) (*grantBody, error) {
		b := &grantBody{Parent: parent.id, Kind: kindAnalyst, Name: analyst, Unit: parent.unit, Neighbours: parent.neighbours}
		b.setLimit(parent.accounting, parent.statementDelta, Cost{Epsilon: one})
		return b, nil
	}); err != nil {
		t.Fatal(err)
	}
	l = f.open(t)
	q := request(1, Cost{Epsilon: milli})
	q.Dataset, q.Principal, q.Definition = set, analyst, g.DefinitionHash
	if _, err := ask(ctx, l, q, answer(1)); err != nil {
		t.Fatal(err)
	}
	if b, err := l.Book(ctx, set); err != nil || b.Spent.Epsilon != milli || len(b.Analysts) != 1 {
		t.Fatalf("%+v %v", b, err)
	}
	if _, err := l.GrantAnalyst(ctx, set, analyst, Cost{Epsilon: one + 1}); err != nil {
		t.Error(err)
	}
	if _, err := l.CloseAnalyst(ctx, set, analyst); err != nil {
		t.Error(err)
	}
	g.Cap = Cost{Epsilon: one + 1}
	if _, err := l.Grant(context.Background(), g); err != nil {
		t.Error(err)
	}
	verifyClean(t, l)
}
