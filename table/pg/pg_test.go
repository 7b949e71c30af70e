package pg_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/table/tabletest"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/pg"
)

const everyType = `CREATE TABLE %s (
	b boolean, s smallint, i integer, l bigint, r real, d double precision, n numeric(12,3), day date, ts timestamp(3), tz timestamptz, at time,
	word varchar(20), fixed char(4), u uuid, j jsonb, bytes bytea, many integer[], span interval, "Odd ""Name" text)`

const everyValue = `INSERT INTO %s VALUES
	(true, -5, 7, 9007199254740993, 0.1, 0.1, 12.500, '2024-02-29', '2024-02-29 13:05:09.5', '2024-02-29 13:05:09+09', '13:05:09', 'a', 'ab', '123e4567-e89b-12d3-a456-426614174000', '{"a": 1}', '\xdead', '{1,2}', '1 day 2 hours', E'tab\tline\nback\\slash\r"\\.'),
	(false, 32767, -2147483648, -9223372036854775808, 'NaN', '-Infinity', -0.001, '0044-03-15', '1969-12-31 23:59:59.999', '1970-01-01Z', '23:59:59.999999', '', '', NULL, 'null', '', '{}', '-1 mon', '日本'),
	(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`

// Every type is read as what it is, and a table that is written from it has the
// same types and values.
func TestTypes(t *testing.T) {
	conn, schema := server(t)
	from := pg.Name{Schema: schema, Table: "Every.Type"}
	run(t, conn, strings.Replace(everyType, "%s", from.String(), 1))
	run(t, conn, strings.Replace(everyValue, "%s", from.String(), 1))
	src, err := pg.Open(t.Context(), pg.Options{Table: from})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	none := strings.Split(strings.Repeat("<null> ", 19), " ")[:19]
	want := [][]string{
		{
			"true", "-5", "7", "9007199254740993", "0.1", "0.1", "12.500", "2024-02-29", "2024-02-29T13:05:09.500000", "2024-02-29T04:05:09Z",
			"13:05:09", "a", "ab  ", "123e4567-e89b-12d3-a456-426614174000", `{"a": 1}`, `\xdead`, "{1,2}", "1 day 02:00:00",
			"tab\tline\nback\\slash\r\"\\.",
		},
		{
			"false", "32767", "-2147483648", "-9223372036854775808", "NaN", "-Inf", "-0.001", "0044-03-15", "1969-12-31T23:59:59.999000",
			"1970-01-01T00:00:00Z", "23:59:59.999999", "", "    ", "<null>", "null", `\x`, "{}", "-1 mons", "日本",
		},
		none,
	}
	if diff := cmp.Diff(want, tabletest.Texts(t, src)); diff != "" {
		t.Error(diff)
	}
	kinds := map[string]table.LogicalType{
		"b": table.Boolean, "day": table.Day, "ts": table.Instant, "tz": table.UTCInstant, "at": table.Clock,
		"word": table.Plain, "l": table.Plain,
	}
	for _, c := range src.Columns() {
		if k, ok := kinds[c.Name]; ok && c.Logical.Of != k {
			t.Errorf("column %s is %v, want %v", c.Name, c.Logical.Of, k)
		}
	}

	to := pg.Name{Schema: schema, Table: "copy"}
	target := pg.NewTarget(pg.TargetOptions{Table: to})
	defer target.Discard()
	if err := pour(t.Context(), src, target); err != nil {
		t.Fatal(err)
	}
	if n := len(ask(t, conn, "SELECT 1 FROM pg_class WHERE relnamespace = '"+schema+"'::regnamespace")); n != 1 {
		t.Errorf("before the end another session sees %d tables", n)
	}
	back, err := target.ReadBack(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = back.Close() }()
	if diff := cmp.Diff(want, tabletest.Texts(t, back)); diff != "" {
		t.Error(diff)
	}
	if err := target.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	types := "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '" + "%s" +
		"'::regclass AND attnum > 0 ORDER BY attnum"
	if diff := cmp.Diff(ask(t, conn, strings.Replace(types, "%s", from.String(), 1)),
		ask(t, conn, strings.Replace(types, "%s", to.String(), 1))); diff != "" {
		t.Error(diff)
	}
	if n := ask(t, conn, "SELECT count(*) FROM (TABLE "+from.String()+" EXCEPT SELECT * FROM "+to.String()+") x")[0][0]; n != "0" {
		t.Errorf("%s rows differ", n)
	}
}

// Days that never come are text, beside days that are.
func TestInfinity(t *testing.T) {
	server(t)
	src, err := pg.Open(t.Context(), pg.Options{
		Query: "SELECT * FROM (VALUES (date '2024-02-29', timestamptz '-infinity'), ('infinity', '2024-02-29Z')) AS v(a, b)", QueryName: "q",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	if diff := cmp.Diff([][]string{{"2024-02-29", "-infinity"}, {"infinity", "2024-02-29T00:00:00Z"}}, tabletest.Texts(t, src)); diff != "" {
		t.Error(diff)
	}
}

// All records are of one moment, however long reading takes.
func TestSnapshot(t *testing.T) {
	conn, schema := server(t)
	name := pg.Name{Schema: schema, Table: "t"}
	run(t, conn, "CREATE TABLE "+name.String()+" AS SELECT 1 AS v FROM generate_series(1, 20000)")
	done := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
				if err := conn.Exec(context.Background(), "UPDATE "+name.String()+" SET v = v + 1; INSERT INTO "+name.String()+" SELECT max(v) FROM "+
					name.String()).Close(); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	for range 5 {
		src, err := pg.Open(t.Context(), pg.Options{Table: name})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for _, row := range tabletest.Texts(t, src) {
			seen[row[0]]++
		}
		if len(seen) != 1 {
			t.Errorf("records of %d moments", len(seen))
		}
		_ = src.Close()
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// A query reads, and is one statement.
func TestQueries(t *testing.T) {
	conn, schema := server(t)
	run(t, conn, "CREATE TABLE "+schema+".t AS SELECT 1 AS v")
	for query, want := range map[string]string{
		"SELECT v FROM " + schema + ".t ; ":                    "",
		"WITH x AS (SELECT 2 AS v) SELECT v FROM x -- the end": "",
		"VALUES (1)":                                                   "",
		"SELECT 1; DROP TABLE " + schema + ".t":                        "SQLSTATE 42601",
		"DELETE FROM " + schema + ".t RETURNING v":                     "SQLSTATE 42601",
		"WITH x AS (DELETE FROM " + schema + ".t RETURNING v) TABLE x": "SQLSTATE 0A000",
		"SELECT v FROM " + schema + ".t FOR UPDATE":                    "SQLSTATE 25006",
		"SELECT v, v FROM " + schema + ".t":                            "column 2: expected a name of its own",
		"SELECT 1 + 1":                                                 "column 1: expected a name of its own",
		"SELECT secret FROM " + schema + ".t":                          "SQLSTATE 42703",
		"SELECT 'secret'::integer AS v":                                "a value does not fit its type: SQLSTATE 22P02",
		"SELECT v FROM " + schema + ".secret":                          "the table does not exist: SQLSTATE 42P01",
		"SELECT CASE WHEN i = 9000 THEN pg_terminate_backend(pg_backend_pid()) END AS v FROM generate_series(1, 20000) i": "the server ended " +
			"the connection: SQLSTATE 57P01",
		"SELECT CASE WHEN i = 9000 THEN 1 / (i - 9000) END AS v FROM generate_series(1, 20000) i": "SQLSTATE 22012",
	} {
		dir := t.TempDir()
		src, err := pg.Open(t.Context(), pg.Options{Query: query, QueryName: "q.sql", Dir: dir})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", query, err)
		case want == "":
			_ = src.Close()
		case err == nil:
			t.Errorf("%s: no error", query)
		case !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "pg: query q.sql:") ||
			strings.Contains(err.Error(), "secret"):
			t.Errorf("%s: %v", query, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s: left behind %v", query, entries)
		}
	}
	if n := ask(t, conn, "SELECT count(*) FROM "+schema+".t")[0][0]; n != "1" {
		t.Errorf("the table has %s rows", n)
	}
}

// A target that is given up, that exists, or that appears meanwhile.
func TestTarget(t *testing.T) {
	conn, schema := server(t)
	name := pg.Name{Schema: schema, Table: "out"}
	src, err := pg.Open(t.Context(), pg.Options{Query: "SELECT i, 'x' || i AS s FROM generate_series(1, 10000) i", QueryName: "q"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	tables := func() string {
		var names []string
		for _, row := range ask(t, conn, "SELECT relname FROM pg_class WHERE relnamespace = '"+schema+
			"'::regnamespace AND relkind IN ('r', 'v') ORDER BY 1") {
			names = append(names, row[0])
		}
		return strings.Join(names, " ")
	}
	given := pg.NewTarget(pg.TargetOptions{Table: name})
	if err := pour(t.Context(), src, given); err != nil {
		t.Fatal(err)
	}
	given.Discard()
	if got := tables(); got != "" {
		t.Errorf("given up, it left %s", got)
	}

	meanwhile := pg.NewTarget(pg.TargetOptions{Table: name})
	if err := pour(t.Context(), src, meanwhile); err != nil {
		t.Fatal(err)
	}
	run(t, conn, "CREATE TABLE "+name.String()+" (a int)")
	if err := meanwhile.Commit(t.Context()); noren.CodeOf(err) != pg.CodeExists || noren.KindOf(err) != noren.Usage {
		t.Errorf("a table appeared: %v", err)
	}
	if got := tables(); got != "out" {
		t.Errorf("left %s", got)
	}
	if err := pg.Check(t.Context(), pg.TargetOptions{Table: name}); noren.CodeOf(err) != pg.CodeExists {
		t.Errorf("it exists: %v", err)
	}
	if err := pg.Check(t.Context(), pg.TargetOptions{Table: name, Replace: true}); err != nil {
		t.Error(err)
	}

	// What depends on the table keeps it from being replaced.
	run(t, conn, "CREATE VIEW "+schema+".view AS SELECT a FROM "+name.String())
	replacing := pg.NewTarget(pg.TargetOptions{Table: name, Replace: true})
	if err := pour(t.Context(), src, replacing); err != nil {
		t.Fatal(err)
	}
	if err := replacing.Commit(t.Context()); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "2BP01") {
		t.Errorf("a view depends on it: %v", err)
	}
	if err := pg.Check(t.Context(), pg.TargetOptions{Table: pg.Name{Schema: schema, Table: "view"}, Replace: true}); noren.KindOf(
		err) != noren.Usage {
		t.Errorf("a view was to be replaced: %v", err)
	}
	run(t, conn, "DROP VIEW "+schema+".view")
	if err := pour(t.Context(), src, replacing); err != nil {
		t.Fatal(err)
	}
	if err := replacing.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := ask(t, conn, "SELECT count(*) FROM "+name.String())[0][0]; n != "10000" || tables() != "out" {
		t.Errorf("%s rows in %s", n, tables())
	}

	// Values that the types or the server refuse, and a caller who stops.
	bad := pg.NewTarget(pg.TargetOptions{Table: pg.Name{Schema: schema, Table: "bad"}})
	sink, err := bad.Create(t.Context(), []table.StoredColumn{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Write(&table.Chunk{Rows: 1, Cols: []table.Vector{{Texts: [][]byte{[]byte("secret\x00")}}}}); noren.KindOf(
		err) != noren.BadData || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "record 1, column 1 (a)") {
		t.Errorf("a NUL: %v", err)
	}
	sink.Abort()
	if sink, err = bad.Create(t.Context(), []table.StoredColumn{{Name: "a"}}); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(sink.Write(&table.Chunk{Rows: 1, Cols: []table.Vector{{Texts: [][]byte{[]byte("secret\xff")}}}}), sink.Close())
	if noren.KindOf(err) != noren.BadData && !strings.Contains(err.Error(), "22021") || strings.Contains(err.Error(), "secret") {
		t.Errorf("no UTF-8: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stopped := pg.NewTarget(pg.TargetOptions{Table: pg.Name{Schema: schema, Table: "stopped"}})
	if err := pour(ctx, src, stopped); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := stopped.Commit(ctx); noren.KindOf(err) != noren.Interrupted {
		t.Errorf("stopped: %v", err)
	}
	if got := tables(); got != "out" {
		t.Errorf("left %s", got)
	}
}

// Rights are the server's, and its refusals hold neither user nor password.
func TestRefusals(t *testing.T) {
	conn, schema := server(t)
	run(t, conn, "CREATE TABLE "+schema+".t AS SELECT 1 AS v; DROP ROLE IF EXISTS noren_poor; CREATE ROLE noren_poor")
	defer run(t, conn, "DROP ROLE noren_poor")
	name := pg.Name{Schema: schema, Table: "t"}
	for _, c := range []struct {
		env   map[string]string
		want  string
		table pg.Name
	}{
		{map[string]string{"PGOPTIONS": "-c role=noren_poor"}, "the user may not do this: SQLSTATE 42501", name},
		{map[string]string{"PGUSER": "hidden_user"}, "SQLSTATE 28", name},
		{map[string]string{"PGDATABASE": "hidden_base"}, "the database does not exist: SQLSTATE 3D000", name},
		{map[string]string{"PGPORT": "1"}, "no connection to the server", name},
		{map[string]string{"PGPORT": "hidden"}, "the settings of the connection cannot be read", name},
		{map[string]string{"PGSERVICE": "hidden_service"}, "the settings of the connection cannot be read", name},
		{nil, "the table does not exist: SQLSTATE 42P01", pg.Name{Schema: schema, Table: "T"}},
	} {
		t.Run(c.want, func(t *testing.T) {
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			_, err := pg.Open(t.Context(), pg.Options{Table: c.table})
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hidden") {
				t.Errorf("%v", err)
			}
		})
	}
}

// A connection that is cut is an error, when reading and when writing.
func TestCut(t *testing.T) {
	conn, schema := server(t)
	run(t, conn, "CREATE TABLE "+schema+".t AS SELECT i, repeat('secret', 100) AS s FROM generate_series(1, 20000) i")
	network, address := "tcp", net.JoinHostPort(os.Getenv("PGHOST"), os.Getenv("PGPORT"))
	if strings.HasPrefix(os.Getenv("PGHOST"), "/") {
		network, address = "unix", filepath.Join(os.Getenv("PGHOST"), ".s.PGSQL."+os.Getenv("PGPORT"))
	}
	src, err := pg.Open(t.Context(), pg.Options{Table: pg.Name{Schema: schema, Table: "t"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, after := range []int64{0, 100, 1 << 20} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				client, err := l.Accept()
				if err != nil {
					return
				}
				back, err := net.Dial(network, address)
				if err != nil {
					_ = client.Close()
					return
				}
				shut := func() { _ = client.Close(); _ = back.Close() }
				go func() { _, _ = io.CopyN(back, client, max(after, 1000)); shut() }()
				go func() { _, _ = io.CopyN(client, back, max(after, 1)); shut() }()
			}
		}()
		t.Setenv("PGHOST", "127.0.0.1")
		t.Setenv("PGPORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
		t.Setenv("PGSSLMODE", "disable")
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		if _, err := pg.Open(ctx, pg.Options{Table: pg.Name{Schema: schema, Table: "t"}}); err == nil || noren.KindOf(err) != noren.Internal ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("cut after %d bytes: %v", after, err)
		}
		target := pg.NewTarget(pg.TargetOptions{Table: pg.Name{Schema: schema, Table: "cut"}})
		if err := pour(ctx, src, target); err == nil || noren.KindOf(err) != noren.Internal || strings.Contains(err.Error(), "secret") {
			t.Errorf("cut after %d bytes of writing: %v", after, err)
		}
		target.Discard()
		cancel()
		_ = l.Close()
	}
	for range 100 {
		if n := ask(t, conn, "SELECT count(*) FROM pg_class WHERE relnamespace = '"+schema+"'::regnamespace AND relkind = 'r'")[0][0]; n == "1" {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Error("a cut connection left a table")
}
