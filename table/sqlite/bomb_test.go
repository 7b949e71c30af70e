package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table/sqlite"
)

// through reads a table whole and keeps nothing.
func through(ctx context.Context, path string, o sqlite.Options) (rows int64, err error) {
	src, err := sqlite.Open(ctx, path, o)
	if err != nil {
		return 0, err
	}
	defer func() { _ = src.Close() }()
	r, err := src.Open(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }()
	for {
		c, err := r.Next()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows += int64(c.Rows)
	}
}

// many is a text n times, with its number, between commas.
func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// chain is a view of n levels, each of which names the one below twice.
func chain(n int, format string) []string {
	format = strings.TrimSpace(format)
	out := []string{"CREATE TABLE v0 (x)"}
	for i := range n {
		out = append(out, fmt.Sprintf(format, i+1, i, i))
	}
	return out
}

// doubling are common table expressions, each of which names the one before twice.
func doubling(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("c%d AS (SELECT a.x FROM c%d a, c%d b)", i+1, i, i))
	}
	return out
}

const endless = "WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c) SELECT i, 'some text' FROM c"

// A database of a few pages that states more than a machine holds is refused with the
// place and the limit, within the limits of its reader.
func TestBombs(t *testing.T) {
	small := meter.Limits{Held: 64 << 20, Unpacked: 4 << 20}
	for name, c := range map[string]struct {
		statements []string
		o          sqlite.Options
		want       string // part of the error; none where the table is read
	}{
		"a long value": {
			[]string{"CREATE TABLE t (x)", "INSERT INTO t VALUES (zeroblob(200000000))"},
			sqlite.Options{},
			"table t: holds a record, value or statement of more than 8 MiB",
		},
		"a long computed value": {
			[]string{"CREATE VIEW t AS SELECT hex(zeroblob(400000000)) AS x"},
			sqlite.Options{},
			"table t: holds a record, value or statement of more than",
		},
		"many long values": {
			[]string{"CREATE VIEW t AS SELECT " + many(500, "hex(zeroblob(4000000 + %d)) AS a%[1]d")},
			sqlite.Options{},
			"table t: holds a record, value or statement of more than",
		},
		"long generated values": {[]string{
			"CREATE TABLE t (x, " + many(50, "a%d AS (hex(zeroblob(x)))") + ")",
			"INSERT INTO t VALUES (4000000)",
		}, sqlite.Options{}, "table t: holds a record, value or statement of more than"},
		"a long aggregate": {
			[]string{"CREATE VIEW t AS SELECT group_concat(x) AS x FROM (WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL " +
				"SELECT i + 1 FROM c WHERE i < 10000) SELECT hex(zeroblob(10000)) AS x FROM c)"},
			sqlite.Options{},
			"table t: holds a record, value or statement of more than",
		},
		"endless rows":            {[]string{"CREATE VIEW t AS " + endless}, sqlite.Options{}, "table t: record "},
		"endless rows of a query": {[]string{"CREATE TABLE t (x)"}, sqlite.Options{Query: endless, QueryName: "q.sql"}, "query q.sql: record "},
		"views that double":       {chain(40, "CREATE VIEW v%d AS SELECT a.x FROM v%d a, v%d b"), sqlite.Options{Table: "v40"}, "too-large"},
		"wide views that double": {append([]string{"CREATE TABLE w0 (" + many(1900, "a%d") + ")"},
			chain(16, "CREATE VIEW w%d AS SELECT a.* FROM w%d a, w%d b")...), sqlite.Options{Table: "w16"}, "too-large"},
		"expressions that double": {[]string{"CREATE VIEW t AS WITH c0 AS (SELECT 1 AS x), " + strings.Join(doubling(60), ", ") +
			" SELECT * FROM c60"}, sqlite.Options{}, "table t: its views"},
		"unions that double": {
			chain(40, "CREATE VIEW v%d AS SELECT x FROM v%d UNION ALL SELECT x FROM v%d"),
			sqlite.Options{Table: "v40"},
			"too-large",
		},
		"a tower of views": {chain(1000, "CREATE VIEW v%d AS SELECT x FROM v%d /* %d */"), sqlite.Options{Table: "v1000"}, "too-large"},
		"nested queries": {
			[]string{"CREATE TABLE t (x)"},
			sqlite.Options{Query: strings.Repeat("SELECT * FROM (", 50_000) + "SELECT 1 AS x" + strings.Repeat(")", 50_000), QueryName: "q.sql"},
			"query q.sql",
		},
		"a long description": {
			[]string{"CREATE TABLE t (x, " + many(1900, "a%d"+strings.Repeat("b", 1000)) + ")"},
			sqlite.Options{},
			"the description of its tables: needs more than 64 MiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := database(t, "PRAGMA journal_mode = off", "PRAGMA synchronous = off", "BEGIN; "+strings.Join(c.statements, ";\n")+"; COMMIT")
			c.o.Limits = small
			var err error
			most := metertest.Resident(t, func() { _, err = through(t.Context(), path, c.o) })
			t.Logf("%d MB: %v", most/1e6, err)
			if c.want == "too-large" {
				c.want = ": "
			}
			if noren.CodeOf(err) != meter.Code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			if most > 100e6 {
				t.Errorf("took %d MB", most/1e6)
			}
		})
	}
}

// A small file states a long description where its entries share their pages.
func TestSharedDescription(t *testing.T) {
	path := database(t, "PRAGMA page_size = 512", "CREATE TABLE t (x, "+many(200, "a%d")+")", "CREATE TABLE u (x)")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Each of 40 pointers of the first page is made that of the longest cell.
	count := 0
	for _, at := range []int{108, 110} {
		cell := int(file[at])<<8 | int(file[at+1])
		if file[cell] >= 0x80 {
			for i := range 40 {
				file[108+2*i], file[109+2*i] = byte(cell>>8), byte(cell)
			}
			file[103], file[104] = 0, 40
			count++
			break
		}
	}
	if count != 1 {
		t.Fatal("the page is not laid out as expected")
	}
	path = filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = through(t.Context(), path, sqlite.Options{Limits: meter.Limits{Held: 2 << 20}})
	if noren.CodeOf(err) != meter.Code || !strings.Contains(err.Error(), "the description of its tables: needs more than 2 MiB") {
		t.Error(err)
	}
}

// What the write-ahead log adds to the description counts too.
func TestDescriptionInLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, s := range []string{
		"PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)",
		"CREATE TABLE u (x, " + many(1000, "a%d") + ")",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if rows, err := through(t.Context(), path, sqlite.Options{Table: "t"}); rows != 1 || err != nil {
		t.Errorf("%d rows: %v", rows, err)
	}
	if _, err := through(t.Context(), path, sqlite.Options{Table: "t", Limits: meter.Limits{Held: 400_000}}); noren.CodeOf(err) != meter.Code {
		t.Error(err)
	}
}

// A query that makes no row ends with its context.
func TestInterrupt(t *testing.T) {
	path := database(t, "CREATE VIEW t AS SELECT * FROM ("+endless+") WHERE i < 0")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := through(ctx, path, sqlite.Options{}); noren.KindOf(err) != noren.Interrupted {
		t.Error(err)
	}
}

// Many tables are no bomb, and errors show few of their names.
func TestManyTables(t *testing.T) {
	statements := []string{
		"CREATE TABLE t (x, " + many(1999, "a%d") + ")", "INSERT INTO t (x) VALUES (1)",
		"CREATE VIEW v AS SELECT a.x, b.a1 FROM t a, t b",
	}
	path := database(t, append(statements, "PRAGMA writable_schema = on",
		"INSERT INTO sqlite_master SELECT 'view', 't' || i, 't' || i, 0, 'CREATE VIEW t' || i || ' AS SELECT x FROM t' FROM (WITH RECURSIVE "+
			"c(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM c WHERE i < 9999) SELECT i FROM c)")...)
	for _, name := range []string{"t", "t9999", "v"} {
		if _, err := through(t.Context(), path, sqlite.Options{Table: name}); err != nil {
			t.Error(err)
		}
	}
	_, err := through(t.Context(), path, sqlite.Options{Table: "none"})
	if err == nil || !strings.Contains(err.Error(), "and 9982 more") || len(err.Error()) > 1000 {
		t.Error(err)
	}
}

// A query reads what the listing has, and nothing of what SQLite keeps for itself.
func TestOnlyListed(t *testing.T) {
	path := database(t, "CREATE TABLE sqlitex (x)", "INSERT INTO sqlitex VALUES (1)",
		"CREATE VIEW names AS SELECT sql AS x FROM sqlite_master", "ANALYZE")
	for query, ok := range map[string]bool{
		"SELECT x FROM sqlitex": true, "SELECT value AS x FROM json_each('[1,2]')": true,
		"SELECT name FROM sqlite_master": false, "SELECT name FROM sqlite_schema": false, "SELECT x FROM names": false,
		"SELECT tbl FROM sqlite_stat1": false, "SELECT name FROM pragma_table_info('sqlitex')": false, "SELECT name FROM dbstat": false,
		"SELECT pgno FROM sqlite_dbpage": false, "SELECT load_extension('a') AS x": false,
	} {
		_, err := through(t.Context(), path, sqlite.Options{Query: query, QueryName: "q.sql"})
		if ok != (err == nil) || !ok && noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: %v", query, err)
		}
	}
	if rows, err := through(t.Context(), path, sqlite.Options{Table: "sqlitex"}); rows != 1 || err != nil {
		t.Errorf("%d rows: %v", rows, err)
	}
}
