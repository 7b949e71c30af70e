package statements

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"modernc.org/sqlite"
)

// counted counts how often a connection parses a query.
type counted struct {
	driver.Connector
	mu       sync.Mutex
	prepared map[string]int
}

type countedConn struct {
	connection
	of *counted
}

func (c *counted) Connect(ctx context.Context) (driver.Conn, error) {
	in, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countedConn{in.(connection), c}, nil
}

func (c *countedConn) parsed(query string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.prepared[query]++
}

func (c *countedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.parsed(query)
	return c.connection.PrepareContext(ctx, query)
}

func (c *countedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.parsed(query)
	return c.connection.ExecContext(ctx, query, args)
}

func (c *countedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.parsed(query)
	return c.connection.QueryContext(ctx, query, args)
}

// open is a database of some connections with a table of one column.
func open(t *testing.T, connections int) (*sql.DB, *counted) {
	t.Helper()
	in, err := sqlite.NewConnector("file:" + filepath.ToSlash(filepath.Join(t.TempDir(), "test.db")) +
		"?_txlock=immediate&_pragma=synchronous(OFF)&_pragma=busy_timeout(20000)")
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Connector: in, prepared: map[string]int{}}
	db := sql.OpenDB(Keeping(c))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	return db, c
}

// A query that is made a hundred times in transactions of many goroutines is parsed twice
// by each connection: the first time, and when it is kept.
func TestQueriesAreParsedOnce(t *testing.T) {
	const insert, count = "INSERT INTO t VALUES (?)", "SELECT count(*) FROM t WHERE n = ?"
	db, c := open(t, 2)
	var group sync.WaitGroup
	for i := range 100 {
		group.Go(func() {
			tx, err := db.BeginTx(t.Context(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = tx.Rollback() }()
			n := 0
			if _, err := tx.ExecContext(t.Context(), insert, i); err != nil {
				t.Error(err)
			} else if err := tx.QueryRowContext(t.Context(), count, i).Scan(&n); err != nil || n != 1 {
				t.Errorf("%d rows, %v", n, err)
			} else if err := tx.Commit(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	for _, query := range []string{insert, count} {
		if c.prepared[query] > 4 {
			t.Errorf("%q was parsed %d times", query, c.prepared[query])
		}
	}
}

// The same query within its own rows has a statement of its own, and one whose rows were
// left half read begins anew.
func TestQueryWithinItself(t *testing.T) {
	db, _ := open(t, 1)
	for i := range 3 {
		if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", i); err != nil {
			t.Fatal(err)
		}
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	const query = "SELECT n FROM t ORDER BY n"
	read := func(within func(n int) bool) {
		t.Helper()
		rows, err := tx.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		for want := 0; rows.Next(); want++ {
			n := -1
			if err := rows.Scan(&n); err != nil || n != want {
				t.Fatalf("row %d is %d, %v", want, n, err)
			}
			if !within(n) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		read(func(int) bool { return false })
		inner := 0
		read(func(int) bool { read(func(int) bool { inner++; return true }); return true })
		if inner != 9 {
			t.Errorf("%d rows within rows, expected 9", inner)
		}
	}
}

// A statement follows a change of the schema, an error does not spoil it, and a query that
// is wrong stays wrong.
func TestStatementsAfterErrorsAndChanges(t *testing.T) {
	db, _ := open(t, 1)
	const unique, insert, all = "CREATE UNIQUE INDEX i ON t (n)", "INSERT INTO t VALUES (?)", "SELECT * FROM t"
	run := func(query string, args ...any) error {
		_, err := db.ExecContext(t.Context(), query, args...)
		return err
	}
	for _, err := range []error{run(insert, 1), run(insert, 2), run(insert, 3), run(unique)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := run(insert, 3); err == nil {
		t.Error("a second 3 was taken")
	}
	if err := run(insert, 4); err != nil {
		t.Errorf("after an error: %v", err)
	}
	for columns := 1; columns < 4; columns++ {
		for range 3 {
			rows, err := db.QueryContext(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			names, err := rows.Columns()
			if err != nil || len(names) != columns {
				t.Errorf("columns %v, expected %d; %v", names, columns, err)
			}
			n := 0
			for rows.Next() {
				n++
			}
			if err := rows.Close(); err != nil || n != 4 {
				t.Errorf("%d rows, %v", n, err)
			}
		}
		if err := run(fmt.Sprintf("ALTER TABLE t ADD COLUMN c%d TEXT", columns)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := run("SELECT nothing FROM t"); err == nil {
			t.Error("a query of a column that is missing was taken")
		}
	}
	if err := run("DROP TABLE t"); err != nil {
		t.Errorf("a kept statement holds its table: %v", err)
	}
}

// A query whose context ends while it runs leaves a statement that can be used.
func TestStatementAfterInterrupt(t *testing.T) {
	db, _ := open(t, 1)
	const long = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT max(n) FROM c"
	read := func(ctx context.Context, most int) (n int, err error) {
		err = db.QueryRowContext(ctx, long, most).Scan(&n)
		return n, err
	}
	for range 3 {
		if n, err := read(t.Context(), 10); n != 10 || err != nil {
			t.Fatal(n, err)
		}
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := read(ctx, 1<<40)
			ended <- err
		}()
		end()
		if err := <-ended; err == nil {
			t.Fatal("it was not interrupted")
		}
	}
}

// A connection keeps a bounded number of statements.
func TestStatementsAreBounded(t *testing.T) {
	db, c := open(t, 1)
	for i := range 2 * most {
		for range 3 {
			if _, err := db.ExecContext(t.Context(), fmt.Sprintf("SELECT %d", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	kept := 0
	for _, n := range c.prepared {
		if n == 2 {
			kept++
		}
	}
	if kept >= most || kept < most/2 {
		t.Errorf("%d queries were kept, the bound is %d", kept, most)
	}
}
