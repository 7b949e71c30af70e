package sqlite_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/sqlite"
	"github.com/noren-privacy/noren/table/tabletest"
)

// database makes a file by statements and returns its path.
func database(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "odd ?name%.db")
	db, err := sql.Open("sqlite", "file:"+strings.NewReplacer("?", "%3f", "%", "%25", " ", "%20").Replace(path))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return path
}

// Values have the types that they are stored with, whatever the columns declare.
func TestTypes(t *testing.T) {
	path := database(t,
		`CREATE TABLE "Odd ""T" (id integer primary key, r real, day date, at timestamp, ok boolean, any, bytes blob, "odd ""name" text)`,
		`INSERT INTO "Odd ""T" VALUES (1, 1.5, '2024-02-29', 1709211909, 1, 7, x'dead', 'a'), (2, 2, '29.02.2024', '2024-02-29 13:05:09', 0, 'seven', x'', ''), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`)
	src, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	want := [][]string{
		{"1", "1.5", "2024-02-29", "1709211909", "true", "7", "dead", "a"},
		{"2", "2", "29.02.2024", "2024-02-29 13:05:09", "false", "seven", "", ""},
		{"3", "<null>", "<null>", "<null>", "<null>", "<null>", "<null>", "<null>"},
	}
	if diff := cmp.Diff(want, tabletest.Texts(t, src)); diff != "" {
		t.Error(diff)
	}
	if c := src.Columns(); c[0].Kind != table.Int || c[1].Kind != table.Float || c[4].Logical.Of != table.Boolean || c[7].Name != `odd "name` {
		t.Errorf("%+v", c)
	}
}

func TestQueriesAndTables(t *testing.T) {
	path := database(t, "CREATE TABLE a (x)", "CREATE TABLE b (x)", "INSERT INTO a VALUES ('secret'), (2)",
		"CREATE VIEW v AS SELECT count(*) AS n FROM a")
	for _, c := range []struct {
		o    sqlite.Options
		want string // the first cell, or a part of the error
		kind noren.Kind
	}{
		{sqlite.Options{Table: "a"}, "secret", 0},
		{sqlite.Options{Table: "V"}, "2", 0},
		{sqlite.Options{Query: "-- first\nSELECT count(*) AS n FROM a -- last\n;\n"}, "2", 0},
		{sqlite.Options{Query: "SELECT 1 AS n ;"}, "1", 0},
		{sqlite.Options{}, "expected one of its tables (a, b, v)", noren.Usage},
		{sqlite.Options{Table: "c"}, "has no table c, only a, b, v", noren.Usage},
		{sqlite.Options{Query: "SELECT secret FROM a", QueryName: "q.sql"}, "query q.sql: the query cannot be run", noren.Usage},
		{sqlite.Options{Query: "DELETE FROM a RETURNING x", QueryName: "q.sql"}, "query q.sql", noren.Usage},
		{sqlite.Options{Query: "SELECT 1) ; DELETE FROM a; SELECT * FROM (SELECT 1", QueryName: "q.sql"}, "query q.sql", noren.Usage},
		{sqlite.Options{Query: "SELECT x, x FROM a"}, "secret", 0},
		{sqlite.Options{Query: "SELECT CAST(x'ff' AS text) AS x"}, "record 1, column 1: its text is not valid UTF-8", noren.BadData},
	} {
		src, err := sqlite.Open(t.Context(), path, c.o)
		if err != nil {
			if c.kind == 0 || noren.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%+v: %v", c.o, err)
			}
			continue
		}
		if got := tabletest.Texts(t, src)[0][0]; got != c.want {
			t.Errorf("%+v: %s", c.o, got)
		}
		_ = src.Close()
	}
	src, err := sqlite.Open(t.Context(), path, sqlite.Options{Table: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if n := src.Rows(); n != 2 {
		t.Errorf("%d records are left", n)
	}
	_ = src.Close()
}

func TestBad(t *testing.T) {
	path := database(t, "CREATE TABLE a (x)", "INSERT INTO a SELECT hex(randomblob(500)) FROM (WITH RECURSIVE c(i) AS (VALUES (1) UNION "+
		"ALL SELECT i + 1 FROM c WHERE i < 400) SELECT i FROM c)")
	dir := t.TempDir()
	put := func(name string, data []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	scratched := append([]byte(nil), whole...)
	for i := 4096; i < len(scratched); i++ {
		scratched[i] = 0xff
	}
	for name, c := range map[string]struct {
		path string
		want string
		kind noren.Kind
	}{
		"absent":    {filepath.Join(dir, "none.db"), "no such file", noren.Usage},
		"a folder":  {dir, "is a folder", noren.Usage},
		"a table":   {filepath.Join(path, "a"), "?table=a", noren.Usage},
		"text":      {put("a.csv", []byte("a,b\n1,2\nmore text\n")), "is no SQLite database", noren.BadData},
		"empty":     {put("empty.db", nil), "is no SQLite database", noren.BadData},
		"truncated": {put("short.db", whole[:len(whole)/2]), "the database is damaged or was cut short", noren.BadData},
		"scratched": {put("bad.db", scratched), "the database is damaged or was cut short", noren.BadData},
	} {
		spoolDir := t.TempDir()
		_, err := sqlite.Open(t.Context(), c.path, sqlite.Options{Table: "a", Dir: spoolDir})
		if err == nil || noren.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(spoolDir); len(left) > 0 {
			t.Errorf("%s left %v", name, left)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(ctx, path, sqlite.Options{}); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("stopped: %v", err)
	}
}
