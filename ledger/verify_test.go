package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"

	"github.com/noren-privacy/noren/internal/randtest"
)

// What the triggers and checks forbid, tried by hand on a sound ledger.
func TestTriggersForbid(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	f.run(t, 1, 2)
	l := f.open(t)
	for _, forbidden := range []string{
		"DELETE FROM ledger", "DELETE FROM chain", "DELETE FROM account", "DELETE FROM charge", "DELETE FROM charge_line", "DELETE FROM release",
		"UPDATE account SET spent_eps_nano = spent_eps_nano - 1", "UPDATE account SET spent_delta = 0",
		"UPDATE account SET spent_eps_nano = cap_eps_nano + 1", "UPDATE account SET unit = 'person'",
		"UPDATE account SET neighbours = 'replace-one'",
		"UPDATE account SET cap_eps_nano = spent_eps_nano - 1", "UPDATE account SET id = 7",
		"UPDATE charge SET state = 'reserved', ended_at = NULL", "UPDATE charge SET state = 'forfeited'", "UPDATE charge SET principal = 'eve'",
		"UPDATE charge SET request_hash = zeroblob(32)", "UPDATE charge SET mechanism_json = '{}'", "UPDATE charge SET idempotency_key = id",
		"UPDATE charge_line SET eps = 0", "UPDATE charge_line SET delta = delta + 1", "UPDATE release SET payload = x'00'",
		"UPDATE chain SET body = '{}'", "INSERT INTO chain VALUES (99, 'grant', '{}', zeroblob(32), randomblob(32))",
		"INSERT INTO chain SELECT max(seq) + 1, 'grant', '{}', zeroblob(32), randomblob(32) FROM chain",
		"UPDATE ledger SET last_seen = last_seen - 1", "UPDATE ledger SET secret = randomblob(32)",
		"UPDATE ledger SET id = lower(hex(randomblob(16)))",
		"REPLACE INTO charge_line SELECT charge, account, 0, 0 FROM charge_line",
		"REPLACE INTO account SELECT id, parent, kind, name, unit, neighbours, fingerprint, path, cap_eps_nano, 0, cap_delta, 0, 0 FROM account",
		"DELETE FROM dataset_version", "UPDATE dataset_version SET print = 'x'", "UPDATE dataset_version SET version = 2",
		"REPLACE INTO dataset_version SELECT account, version, seq, '{}', definition_hash, print, columns, path FROM dataset_version",
		"DELETE FROM dataset_print", "UPDATE dataset_print SET account = 1", "DELETE FROM dataset_path", "UPDATE dataset_path SET path = 'x'",
		"REPLACE INTO dataset_print SELECT print, account FROM dataset_print", "UPDATE account SET closed = 2",
		"INSERT INTO charge_line SELECT id, 99, 1, 1 FROM charge",
		"UPDATE account SET spent_eps_nano = 'much'",
	} {
		if _, err := l.db.ExecContext(t.Context(), forbidden); err == nil {
			t.Errorf("not forbidden: %s", forbidden)
		}
	}
	verifyClean(t, l)
}

// What a hand at the file can do, once it has removed the triggers.
func TestVerifyFindsTampering(t *testing.T) {
	t.Parallel()
	randtest.SkipShort(t)
	for _, tamper := range []struct{ sql, want string }{
		{"", "trigger account_spent is missing"}, // the removal alone
		{"UPDATE account SET spent_eps_nano = 0", "add up to"},
		{"UPDATE account SET spent_eps_nano = spent_eps_nano + 1", "add up to"},
		{"UPDATE account SET cap_eps_nano = 2 * cap_eps_nano", "not as it was granted"},
		{"UPDATE account SET unit = 'person'", "not as it was granted"},
		{"UPDATE account SET fingerprint = 'x'", "not as it was granted"},
		{"INSERT INTO account (id, parent, kind, name, unit, neighbours, fingerprint, path, cap_eps_nano, spent_eps_nano, cap_delta, " +
			"spent_delta, closed) SELECT 9, NULL, kind, 'more', unit, neighbours, 'x', path, 5, 0, 5, 0, 0 FROM account", "never granted"},
		{"UPDATE account SET closed = 1", "not as it was granted"},
		{"UPDATE dataset_version SET definition = '{}'", "version 1 of account 1 is not as it was granted"},
		{"UPDATE dataset_version SET columns = '{}'", "version 1 of account 1 is not as it was granted"},
		{"DELETE FROM dataset_version", "1 version of data sets is missing"},
		{
			"INSERT INTO dataset_version SELECT account, 2, 1, definition, definition_hash, 'x', columns, path FROM dataset_version",
			"version 2 of account 1 was never granted",
		},
		{"DELETE FROM dataset_print", "the prints of the data sets"},
		{"UPDATE dataset_path SET path = 'x'", "the paths of the data sets"},
		{"INSERT INTO checkpoint VALUES (2, '{}', zeroblob(32))", "checkpoint was not written by this ledger"},
		{"UPDATE charge SET principal = 'eve' WHERE idempotency_key = 'k1'", "not as it was made"},
		{"UPDATE charge SET mechanism_json = '{}' WHERE idempotency_key = 'k1'", "not as it was made"},
		{"UPDATE charge SET state = 'forfeited' WHERE idempotency_key = 'k1'", "chain says released"},
		{"UPDATE charge_line SET eps = 1", "is not on the chain"},
		{"DELETE FROM charge_line", "lines of costs"},
		{"DELETE FROM release", "stored answers are missing"},
		{"UPDATE release SET payload = x'00'", "not the one that was released"},
		{"UPDATE release SET signature = x'00'", "not the one that was released"},
		{"DELETE FROM chain WHERE seq = 4", "does not follow"},
		{"DELETE FROM chain WHERE seq > 4; DELETE FROM release; DELETE FROM charge_line", "does not"},
		{"UPDATE chain SET body = replace(body, '1000000', '1')", "does not follow"},
		{"UPDATE chain SET hash = zeroblob(32) WHERE seq = 3", "does not follow"},
		{"UPDATE ledger SET id = lower(hex(zeroblob(16)))", "of another ledger"},
		{"UPDATE ledger SET secret = zeroblob(32)", "secret was exchanged"},
		{"CREATE TRIGGER sly AFTER INSERT ON charge BEGIN UPDATE account SET spent_eps_nano = 0; END", "trigger sly does not belong here"},
		{"CREATE TRIGGER account_spent BEFORE UPDATE ON account BEGIN SELECT 1; END", "trigger account_spent is not as it was made"},
	} {
		f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
		f.run(t, 1, 2)
		l := f.open(t)
		verifyClean(t, l)
		names, err := schemaText(t.Context(), l.db)
		if err != nil {
			t.Fatal(err)
		}
		exec := "PRAGMA foreign_keys = 0;"
		for name := range names {
			if trigger, ok := strings.CutPrefix(name, "trigger "); ok {
				exec += "DROP TRIGGER " + trigger + ";"
			}
		}
		if _, err := l.db.ExecContext(t.Context(), exec+tamper.sql); err != nil {
			t.Fatalf("%s: %v", tamper.sql, err)
		}
		r, err := l.Verify(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", tamper.sql, err)
		}
		if err := r.Err(); noren.KindOf(err) != noren.NotMet || !strings.Contains(err.Error(), tamper.want) {
			t.Errorf("%s: found %v; want %q", tamper.sql, err, tamper.want)
		}
	}
}

func TestOpenFaults(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sound := newFixture(t, Cost{Epsilon: one, Delta: 0})
	text, err := os.ReadFile(sound.path)
	if err != nil {
		t.Fatal(err)
	}
	garbage := append([]byte(nil), text...)
	for i := 4096; i < len(garbage); i++ {
		garbage[i] = byte(i * 7)
	}
	changed := func(sql string) string {
		f := newFixture(t, Cost{Epsilon: one, Delta: 0})
		l := f.open(t)
		defer l.Close()
		if _, err := l.db.ExecContext(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		return f.path
	}
	for name, c := range map[string]struct {
		path, want string
		kind       noren.Kind
	}{
		"missing":        {filepath.Join(dir, "none.db"), "create one first", noren.Usage},
		"missing folder": {filepath.Join(dir, "none", "noren.db"), "create one first", noren.Usage},
		"folder":         {dir, "is a folder", noren.Usage},
		"empty":          {write("empty.db", nil), "not a ledger", noren.BadData},
		"text":           {write("text.db", []byte(strings.Repeat("a,b\n", 2000))), "not a ledger", noren.BadData},
		"damaged":        {write("damaged.db", garbage), "reconcile it", noren.BadData},
		"cut short":      {write("short.db", text[:len(text)/2]), "reconcile it", noren.BadData},
		"other database": {changed("PRAGMA application_id = 1"), "is a database and not a ledger", noren.BadData},
		"newer schema": {
			changed("INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000, 1)"), "a newer noren made it",
			noren.Usage,
		},
		"table missing": {changed("DROP TABLE charge_line; DROP TABLE release"), "", noren.BadData},
	} {
		l, err := Open(t.Context(), c.path, Options{})
		if err == nil {
			// SQLite may come upon the damage later: it must then be found there.
			r, verr := l.Verify(t.Context())
			l.Close()
			if verr == nil && r.Err() == nil {
				t.Errorf("%s: opens, and nothing is found", name)
			}
			continue
		}
		if noren.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "(") {
			t.Errorf("%s: %v; want %v with %q and a hint", name, err, c.kind, c.want)
		}
	}
	if files, err := filepath.Glob(filepath.Join(dir, "none*")); err != nil || files != nil {
		t.Errorf("opening made %v", files)
	}
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a b?%.db") // a name that a URI must escape
	if err := Create(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("left behind: %v, %v", files, err)
	}
	for _, p := range []string{path, headPath(path)} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", p, info.Mode(), err)
		}
	}
	l, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	verifyClean(t, l)
	if files, err = os.ReadDir(dir); err != nil || len(files) != 4 {
		t.Errorf("%v, %v", files, err)
	}
	for _, file := range files { // -wal and -shm too
		if info, err := file.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
	}
	var mode string
	var sync int
	if err := errors.Join(l.db.QueryRow("PRAGMA journal_mode").Scan(&mode), l.db.QueryRow("PRAGMA synchronous").Scan(&sync)); err != nil ||
		mode != "wal" || sync != 2 {
		t.Errorf("journal mode %s, synchronous %d, %v", mode, sync, err)
	}
	l.Close()
	for _, p := range []string{path, filepath.Join(dir, "none", "x.db")} {
		if err := Create(t.Context(), p); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", p, err)
		}
	}
	// A ledger that was deleted leaves its head file: a new one would forget.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := Create(t.Context(), path); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "a ledger was here") {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// SQLite's own limit stands for a full disk: what does not fit is an error with
// a hint, is not answered, and leaves the ledger sound.
func TestDatabaseFull(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Cost{Epsilon: one, Delta: 0})
	l := f.open(t)
	var pages int
	if err := l.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := l.db.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages+4)); err != nil {
		t.Fatal(err)
	}
	answered := int64(0)
	var failure error
	for n := 1; failure == nil && n < 1000; n++ {
		r, _, err := l.Reserve(t.Context(), request(n, Cost{Epsilon: milli / 10, Delta: 0}))
		if err == nil {
			err = r.Settle(t.Context(), []byte(strings.Repeat("x", 500)), nil, "")
		}
		failure = err
		if err == nil {
			answered++
		}
	}
	if noren.KindOf(failure) != noren.Internal || !strings.Contains(failure.Error(), "the disk is full") {
		t.Fatal(failure)
	}
	if got := spent(t, l).Epsilon; got < answered*milli/10 || got > (answered+1)*milli/10 {
		t.Errorf("%d answered, spent %d", answered, got)
	}
	verifyClean(t, l)
	if _, err := l.db.Exec("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), l, request(5000, Cost{Epsilon: milli, Delta: 0}), answer(1)); err != nil {
		t.Error(err)
	}
}

// A process that is killed while it makes a ledger leaves one without a head file, which is
// opened and sound. A ledger with more than its first entry is neither.
func TestVerifyWithoutHeadFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	if err := Create(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(headPath(path)); err != nil {
		t.Fatal(err)
	}
	l, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	verifyClean(t, l)
	f := newFixture(t, Cost{Epsilon: one, Delta: 1000})
	f.run(t, 1, 2)
	used := f.open(t)
	if err := os.Remove(headPath(used.path)); err != nil {
		t.Fatal(err)
	}
	if r, err := used.Verify(t.Context()); err != nil || len(r.Faults) != 1 || r.Faults[0].String() != "the head file is missing" {
		t.Errorf("got %v, %v", r, err)
	}
}
