package statements

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"

	_ "modernc.org/sqlite"
)

// open is a database of one connection with a table of one column.
func open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (n INTEGER)"); err != nil {
		t.Fatal(err)
	}
	return db
}

// Transactions of one connection find their statements after the first time, and those
// who prepare do not keep the others from going on.
func TestStatementsInTransactions(t *testing.T) {
	db := open(t)
	c := New(db)
	const query = "INSERT INTO t VALUES (?)"
	found := make([]bool, 200)
	var group sync.WaitGroup
	for i := range found {
		group.Go(func() {
			c.Prepare(context.Background())
			tx, err := db.BeginTx(context.Background(), nil)
			if err != nil {
				t.Error(err)
				return
			}
			if s := c.In(context.Background(), tx, query); s != nil {
				found[i] = true
				_, err = s.ExecContext(context.Background(), i)
			} else {
				_, err = tx.ExecContext(context.Background(), query, i)
			}
			if err == nil {
				err = tx.Commit()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	n, without := 0, 0
	if err := c.Row(t.Context(), "SELECT count(DISTINCT n) FROM t", nil, &n); err != nil || n != len(found) {
		t.Errorf("%d rows of %d, %v", n, len(found), err)
	}
	for _, ok := range found {
		if !ok {
			without++
		}
	}
	if without == len(found) {
		t.Error("no transaction found its statement")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
