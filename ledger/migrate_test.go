package ledger

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/noren-privacy/noren"
)

// schema1 unpacks a ledger of schema version 1 (testdata/schema1), as the
// program made it before data sets had schemas.
func schema1(t testing.TB, name string) *fixture {
	t.Helper()
	return unpack(t, "schema1", name)
}

// unpack unpacks a ledger of an older schema version. Those of schema2 were made before
// budgets in zCDP.
func unpack(t testing.TB, schema, name string) *fixture {
	t.Helper()
	dir := t.TempDir()
	f := &fixture{dir: dir, path: filepath.Join(dir, "noren.db"), file: filepath.Join(dir, "data.csv")}
	for _, s := range []string{"", ".head"} {
		in, err := os.Open(filepath.Join("testdata", schema, name+".db"+s+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		write(t, f.path+s, string(text))
	}
	write(t, f.file, firstTable)
	return f
}

var schema1Names = []string{"unspent", "spent", "replace-one", "path-twice"}

// fingerprintOf is the fingerprint of bytes, as older grants keep it.
func fingerprintOf(l *Ledger, text string) string {
	h := l.NewFileHash()
	fmt.Fprint(h, text)
	return h.Sum()
}

func TestMigrate(t *testing.T) {
	for _, name := range schema1Names {
		t.Run(name, func(t *testing.T) {
			f := schema1(t, name)
			l := f.open(t)
			if err := l.Sealed(); err != nil {
				t.Fatal(err)
			}
			verifyClean(t, l)
			b, err := l.Find(t.Context(), "/data/adult.csv")
			if err != nil || b.Name != "adult" || b.Version != 0 || b.Definition != nil || len(b.Versions) != 0 {
				t.Fatalf("%+v, %v", b, err)
			}
			charges := 0
			if err := l.History(t.Context(), HistoryOptions{Dataset: "adult"}, func(Entry) error { charges++; return nil }); err != nil ||
				charges != b.BeforeSchema {
				t.Errorf("%d charges, %d before the schema, %v", charges, b.BeforeSchema, err)
			}
			// Nothing is answered, under no version and under the one to come.
			for version := range 2 {
				q := request(1, Cost{Epsilon: milli, Delta: 0})
				q.Version, q.Neighbours, q.Unit = version, b.Neighbours, b.Unit
				_, _, err := l.Reserve(t.Context(), q)
				wantCode(t, err, "no-schema", noren.Refused, "data set adult: has no schema yet")
			}
			if size, mtime, err := l.Seen(t.Context(), "adult"); size != 0 || mtime != 0 || err != nil {
				t.Error(size, mtime, err)
			}
			before := b.Spent
			// The definition: of another relation only while nothing is spent.
			g := pinned(t, "adult", f.file, b.Cap)
			g.Neighbours, g.Unit = b.Neighbours, b.Unit
			_, err = l.Grant(t.Context(), g)
			wantCode(t, err, "changed", noren.Refused)
			g.OldFingerprint = fingerprintOf(l, "other")
			_, err = l.Grant(t.Context(), g)
			wantCode(t, err, "changed", noren.Refused)
			wrong := g
			wrong.Changed, wrong.Neighbours = true, 1-b.Neighbours
			_, err = l.Grant(t.Context(), wrong)
			wantCode(t, err, "fixed", noren.Usage)
			wrong.Changed, wrong.Replace = false, true
			if _, err = l.Grant(t.Context(), wrong); (err == nil) != (before == Cost{}) {
				t.Error(err)
			}
			if name == "unspent" {
				if b, err = l.Book(t.Context(), "adult"); err != nil || b.Version != 1 || b.Neighbours != ReplaceOne {
					t.Fatalf("%+v, %v", b, err)
				}
				verifyClean(t, l)
				return
			}
			wrong = g
			wrong.Changed, wrong.FixedOnceSpent = true, true
			_, err = l.Grant(t.Context(), wrong)
			wantCode(t, err, "fixed", noren.Usage) // a model after the first charge
			text := secondTable
			if name == "replace-one" {
				text = firstTable
			}
			g.OldFingerprint = fingerprintOf(l, text)
			if b, err = l.Grant(t.Context(), g); err != nil || b.Version != 1 || b.Spent != before || b.BeforeSchema != charges {
				t.Fatalf("%+v, %v", b, err)
			}
			// An old key asked again is a conflict, its answer remains.
			q := request(1, Cost{Epsilon: milli, Delta: 0})
			q.Version, q.Neighbours, q.Unit, q.Hash = 1, b.Neighbours, b.Unit, [32]byte{77}
			if _, _, err := l.Reserve(t.Context(), q); !errors.Is(err, ErrConflict) {
				t.Error(err)
			}
			if s, err := l.StoredByQuestion(t.Context(), "adult", request(1, Cost{}).Hash); err != nil || s == nil ||
				string(s.Payload) != "answer 1" {
				t.Errorf("%+v, %v", s, err)
			}
			q = request(9, Cost{Epsilon: milli, Delta: 0})
			q.Neighbours, q.Unit = b.Neighbours, b.Unit
			if _, err := ask(t.Context(), l, q, answer(9)); err != nil {
				t.Error(err)
			}
			if b, err = l.Book(t.Context(), "adult"); err != nil || b.BeforeSchema != charges {
				t.Errorf("%+v, %v", b, err)
			}
			verifyClean(t, l)
			l.Close()
			l = f.open(t)
			if l.Sealed() != nil {
				t.Error(l.Sealed())
			}
		})
	}
}

// A path and a table that two data sets were granted belong to the first, and
// both say so.
func TestMigrateShared(t *testing.T) {
	f := schema1(t, "path-twice")
	l := f.open(t)
	for name, other := range map[string]string{"adult": "again", "again": "adult"} {
		if b, err := l.Book(t.Context(), name); err != nil || fmt.Sprint(b.SharedWith) != "["+other+"]" {
			t.Errorf("%s: %v, %v", name, b.SharedWith, err)
		}
	}
	if name, err := l.KnowsPrint(t.Context(), fingerprintOf(l, firstTable)); err != nil || name != "adult" {
		t.Error(name, err)
	}
	if name, err := l.Knows(t.Context(), "/data/adult.csv"); err != nil || name != "adult" {
		t.Error(name, err)
	}
	// The second cannot go on with the first one's table.
	g := pinned(t, "again", f.file, Cost{Epsilon: one, Delta: 1000})
	g.OldFingerprint = fingerprintOf(l, firstTable)
	_, err := l.Grant(t.Context(), g)
	wantCode(t, err, "same-table", noren.Usage, "is the table of data set adult")
	// With a table of its own it can.
	write(t, f.file, "age,sex\n77,F\n")
	g = pinned(t, "again", f.file, Cost{Epsilon: one, Delta: 1000})
	g.OldFingerprint, g.Changed = fingerprintOf(l, "age,sex\n77,F\n"), true
	if b, err := l.Grant(t.Context(), g); err != nil || b.Version != 1 || fmt.Sprint(b.SharedWith) != "[adult]" {
		t.Errorf("%+v, %v", b, err)
	}
	verifyClean(t, l)
}

// The caps of an older ledger's blocks hold on, and its chain replays.
func TestMigratedBlocksStillCharge(t *testing.T) {
	f := schema1(t, "spent")
	l := f.open(t)
	g := pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 1000})
	g.Changed = true
	b, err := l.Grant(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	// 0.1 + 0.05 + 0.025 + 0.025 are spent, of the block all but the first.
	if b.Spent.Epsilon != 200*milli || b.Available.Epsilon != 200*milli || b.Analysts[0].Remaining.Epsilon != 300*milli ||
		b.Analysts[0].Available.Epsilon != 200*milli {
		t.Errorf("%+v", b)
	}
	var refusal *Refusal
	if _, err := ask(t.Context(), l, request(10, Cost{Epsilon: 250 * milli, Delta: 0}), answer(1)); !errors.As(err, &refusal) ||
		len(refusal.Short) != 1 || refusal.Short[0].Kind != "block" {
		t.Error(err)
	}
	if _, err := ask(t.Context(), l, request(11, Cost{Epsilon: 200 * milli, Delta: 0}), answer(1)); err != nil {
		t.Error(err)
	}
	if _, err := ask(t.Context(), l, request(12, Cost{Epsilon: 1, Delta: 0}), answer(1)); !errors.As(err, &refusal) {
		t.Error(err)
	}
	verifyClean(t, l)
}

// An older copy of an older ledger, restored after the migration, rolls forward
// through both schemas.
func TestMigratedRollsForward(t *testing.T) {
	f := schema1(t, "spent")
	restore := f.backup(t, f.path)
	l := f.open(t)
	g := pinned(t, "adult", f.file, Cost{Epsilon: one, Delta: 1000})
	g.Changed = true
	if _, err := l.Grant(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if _, err := l.CloseAnalyst(t.Context(), "adult", "ana"); err != nil {
		t.Fatal(err)
	}
	want, err := l.Book(t.Context(), "adult")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	restore()
	l = f.open(t)
	mustSealed(t, l)
	if _, err := l.Reconcile(t.Context(), ReconcileOptions{}); err != nil {
		t.Fatal(err)
	}
	got, err := l.Book(t.Context(), "adult")
	if err != nil || fmt.Sprintf("%+v", *got) != fmt.Sprintf("%+v", *want) {
		t.Errorf("%+v\nwant %+v, %v", got, want, err)
	}
	verifyClean(t, l)
}

// Several processes that open an older ledger at once migrate it once.
func TestMigrateAtOnce(t *testing.T) {
	f := schema1(t, "spent")
	var opening sync.WaitGroup
	for range 6 {
		opening.Go(func() {
			l, err := Open(context.Background(), f.path, Options{})
			if err != nil {
				t.Error(err)
				return
			}
			if err := errors.Join(l.Sealed(), l.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	opening.Wait()
	verifyClean(t, f.open(t))
}
