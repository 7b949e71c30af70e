package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"

	"pgregory.net/rapid"
)

// byHand runs sql on the ledger's file without its triggers, which stand again
// afterwards.
func (f *fixture) byHand(t testing.TB, text string) {
	t.Helper()
	db, err := openDB(f.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	names, err := schemaText(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	drop, again := "PRAGMA foreign_keys = 0;", ""
	for name, made := range names {
		if trigger, ok := strings.CutPrefix(name, "trigger "); ok {
			drop += "DROP TRIGGER " + trigger + ";"
			again += made + ";"
		}
	}
	if _, err := db.ExecContext(t.Context(), drop+text+";"+again); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// fillTo appends links until the chain has n, by the protocol's own functions
// in one transaction. The last entry is a grant.
func (f *fixture) fillTo(t testing.TB, n int64) {
	t.Helper()
	l := f.open(t)
	defer l.Close()
	if err := l.write(t.Context(), "filling", func(ctx context.Context, tx *sql.Tx, now int64) error {
		a, err := findAccount(ctx, tx, 0, kindDataset, "adult")
		if err != nil {
			return err
		}
		for seq := int64(0); seq < n; {
			b := a.body()
			b.Time = now
			k, err := l.appendLink(ctx, tx, kindGrant, b)
			if err != nil {
				return err
			}
			seq = k.Seq
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := l.syncHead(t.Context(), n); err != nil {
		t.Fatal(err)
	}
}

// What a hand at the rows does is found when the ledger is opened: with a
// checkpoint, without one, and with one in the middle. Reconciling makes the
// rows anew, and nothing spent falls.
func TestHandEditsSealAtOpen(t *testing.T) {
	randtest.SkipShort(t)
	testHandEdits(t, false)
}

func TestLongHandEditsSealAtOpen(t *testing.T) {
	randtest.Long(t)
	testHandEdits(t, true)
}

// testHandEdits makes all edits in a chain without a checkpoint; in longer chains one,
// and if long all.
func testHandEdits(t *testing.T, long bool) {
	for _, links := range []int64{0, 1023, 1024, 1025} {
		for _, edit := range []struct {
			sql   string
			spent int64 // after reconciling
		}{
			{"UPDATE account SET spent_eps_nano = 0 WHERE kind = 'dataset'", 2 * milli},
			{"UPDATE account SET spent_eps_nano = spent_eps_nano + 5000000", 7 * milli},
			{"UPDATE account SET spent_delta = spent_delta + 1 WHERE kind = 'analyst'", 2 * milli},
			{"UPDATE account SET cap_eps_nano = 2 * cap_eps_nano", 2 * milli},
			{"UPDATE account SET cap_delta = cap_delta - 1 WHERE kind = 'analyst'", 2 * milli},
			{"UPDATE account SET unit = 'person'", 2 * milli},
			{"UPDATE account SET neighbours = 'replace-one'", 2 * milli},
			{"UPDATE account SET fingerprint = 'x' WHERE kind = 'dataset'", 2 * milli},
			{"UPDATE account SET path = '/x' WHERE kind = 'dataset'", 2 * milli},
			{"UPDATE account SET name = 'x' || name", 2 * milli},
			{"UPDATE account SET closed = 1 - closed WHERE kind = 'analyst'", 2 * milli},
			{"DELETE FROM account WHERE kind = 'analyst' AND name = 'bob'", 2 * milli},
			{
				"INSERT INTO account (id, parent, kind, name, unit, neighbours, fingerprint, path, cap_eps_nano, spent_eps_nano, cap_delta, " +
					"spent_delta, closed) SELECT 9, NULL, kind, 'more', unit, neighbours, 'x', path, 5, 0, 5, 0, 0 FROM account WHERE kind = 'dataset'",
				2 * milli,
			},
			{"UPDATE dataset_version SET version = 2", 2 * milli},
			{"UPDATE dataset_version SET print = 'x'", 2 * milli},
			{"UPDATE dataset_version SET definition = '{}'", 2 * milli},
			{"UPDATE dataset_version SET columns = 'x'", 2 * milli},
			{"DELETE FROM dataset_version", 2 * milli},
			{"DELETE FROM dataset_print", 2 * milli},
			{"UPDATE dataset_path SET path = '/x'", 2 * milli},
		} {
			if links != 0 && (links != 1025 || !long) && !strings.Contains(edit.sql, "SET spent_eps_nano = 0") || testing.Short() && links != 0 {
				continue
			}
			t.Run(fmt.Sprint(links, " ", edit.sql), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
				l := f.open(t)
				for _, name := range []string{"ana", "bob"} {
					if _, err := l.GrantAnalyst(t.Context(), "adult", name, Cost{Epsilon: one, Delta: 1000}); err != nil {
						t.Fatal(err)
					}
				}
				l.Close()
				f.run(t, 1, 2)
				if links > 0 {
					f.fillTo(t, links)
				}
				sound := f.open(t)
				if err := sound.Sealed(); err != nil {
					t.Fatal(err)
				}
				var checkpoints int64
				if err := sound.db.QueryRow("SELECT count(*) FROM checkpoint").Scan(&checkpoints); err != nil ||
					(checkpoints == 1) != (links >= checkpointEvery) {
					t.Errorf("%d checkpoints, %v", checkpoints, err)
				}
				sound.Close()
				f.byHand(t, edit.sql)
				l = f.open(t)
				mustSealed(t, l)
				if err := l.Sealed(); !strings.Contains(err.Error(), "it was changed from outside: ") {
					t.Error(err)
				}
				did, err := l.Reconcile(t.Context(), ReconcileOptions{})
				if err != nil || len(did.Rebuilt) == 0 {
					t.Fatalf("%+v, %v", did, err)
				}
				b, err := l.Book(t.Context(), "adult")
				if err != nil || b.Spent.Epsilon != edit.spent || b.Version != 1 || b.Cap.Epsilon != one || len(b.Analysts) != 2 || b.Unit != "record" {
					t.Errorf("%+v, %v", b, err)
				}
				verifyClean(t, l)
				l.Close()
				l = f.open(t)
				if err := l.Sealed(); err != nil {
					t.Fatal(err)
				}
				if _, err := ask(t.Context(), l, request(5, Cost{Epsilon: milli, Delta: 0}), answer(5)); err != nil {
					t.Error(err)
				}
				if did, err = l.Reconcile(t.Context(), ReconcileOptions{}); err != nil || len(did.Rebuilt)+len(did.Raised) != 0 {
					t.Errorf("again: %+v, %v", did, err)
				}
			})
		}
	}
}

// A checkpoint is taken only if this ledger wrote it for this chain.
func TestCheckpointByHand(t *testing.T) {
	t.Parallel()
	randtest.SkipShort(t)
	for _, edit := range []string{
		"UPDATE checkpoint SET state = replace(state, '\"spent_eps_nano\":1000000', '\"spent_eps_nano\":0')",
		"UPDATE checkpoint SET mac = zeroblob(32)",
		"UPDATE checkpoint SET seq = 3",
	} {
		f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
		f.run(t, 1)
		f.fillTo(t, checkpointEvery+3)
		f.byHand(t, edit)
		l := f.open(t)
		mustSealed(t, l)
		if r, err := l.Verify(t.Context()); err != nil || r.Err() == nil {
			t.Error(r, err)
		}
		if _, err := l.Reconcile(t.Context(), ReconcileOptions{}); err != nil {
			t.Fatal(err)
		}
		verifyClean(t, l)
		l.Close()
		l = f.open(t)
		if l.Sealed() != nil {
			t.Error(l.Sealed())
		}
	}
	// Without one the whole chain is replayed, once.
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	f.fillTo(t, checkpointEvery+3)
	f.byHand(t, "DELETE FROM checkpoint")
	l := f.open(t)
	var seq int64
	if err := errors.Join(l.Sealed(), l.db.QueryRow("SELECT seq FROM checkpoint").Scan(&seq)); err != nil || seq != checkpointEvery+3 {
		t.Error(seq, err)
	}
	// A chain that was changed seals too, and cannot be rebuilt.
	l.Close()
	f.byHand(t, "DELETE FROM checkpoint; UPDATE chain SET body = replace(body, '\"cap_delta\":1000', '\"cap_delta\":2000') WHERE seq = 2")
	l = f.open(t)
	mustSealed(t, l)
	_, err := l.Reconcile(t.Context(), ReconcileOptions{})
	wantCode(t, err, "cannot-rebuild", noren.BadData, "entry 2 does not follow entry 1")
}

// A row changed while a process has the ledger open does not enter the next
// checkpoint.
func TestCheckpointIsNotOfTheRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	f.run(t, 1)
	f.byHand(t, "UPDATE account SET spent_eps_nano = 0")
	db, err := openDB(f.path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	l := &Ledger{path: f.path, db: db, clock: systemClock()}
	if err := db.QueryRow("SELECT id, secret FROM ledger").Scan(&l.id, &l.secret); err != nil {
		t.Fatal(err)
	}
	if err := l.write(t.Context(), "filling", func(ctx context.Context, tx *sql.Tx, now int64) error {
		a, err := findAccount(ctx, tx, 0, kindDataset, "adult")
		for n := 0; n < checkpointEvery && err == nil; n++ {
			_, err = l.appendLink(ctx, tx, kindGrant, a.body())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	p, err := l.lastCheckpoint(t.Context(), db)
	if err != nil || p.seq != checkpointEvery || p.accounts[1].spent.eps != milli {
		t.Errorf("%+v, %v", p, err)
	}
	db.Close()
	mustSealed(t, f.open(t))
}

// A checkpoint says what replay says, after random grants and charges.
func TestCheckpointEqualsReplay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newBooks()
		next := func(kind string, body any) {
			text, err := json.Marshal(body)
			if err != nil {
				rt.Fatal(err)
			}
			k := &link{Seq: p.seq + 1, Kind: kind, Body: text, Prev: p.hash}
			k.Hash = k.digest()
			if _, err := p.apply(k); err != nil {
				rt.Fatal(err)
			}
			state, err := p.encode()
			if err != nil {
				rt.Fatal(err)
			}
			q, err := decodeBooks(p.seq, state)
			if err != nil {
				rt.Fatal(err)
			}
			// The copy goes on in place of the original.
			if a, b := fmt.Sprintf("%+v", describe(p)), fmt.Sprintf("%+v", describe(q)); a != b {
				rt.Fatalf("%s\n%s", a, b)
			}
			p = q
		}
		next(kindCreate, createBody{Ledger: "l"})
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			id := int64(rapid.IntRange(1, 3).Draw(rt, "account"))
			a := p.accounts[id]
			if a == nil {
				a = &account{id: id, kind: kindDataset, name: fmt.Sprint("d", id), unit: "record", neighbours: "add-remove", cap: amounts{eps: 100}}
			}
			if rapid.Bool().Draw(rt, "charge") && p.accounts[id] != nil && a.cap.eps > a.spent.eps {
				next(kindCharge, chargeBody{
					Charge: fmt.Sprint(p.seq),
					Lines:  []line{{Account: id, Eps: rapid.Int64Range(1, a.cap.eps-a.spent.eps).Draw(rt, "eps")}},
				})
				continue
			}
			b := a.body()
			b.Fingerprint, b.Path = rapid.StringMatching(`[a-d]`).Draw(rt, "print"), rapid.StringMatching(`/[a-d]`).Draw(rt, "path")
			b.CapEps += rapid.Int64Range(0, 50).Draw(rt, "cap")
			if rapid.Bool().Draw(rt, "version") {
				b.Version, b.Definition, b.DefinitionHash = a.version+1, "{}", hexHash([]byte(b.Path))
			}
			next(kindGrant, b)
		}
	})
}

// describe is p without pointers.
func describe(p *books) any {
	accounts := map[int64]account{}
	for id, a := range p.accounts {
		accounts[id] = *a
	}
	return []any{p.seq, p.hash, p.ledger, accounts, p.versions, p.prints, p.paths}
}
