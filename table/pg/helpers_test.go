package pg_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/pg"
)

// server connects to the server of NOREN_PG_DSN and makes it that of the
// environment. The test has a schema of its own.
func server(t testing.TB) (*pgconn.PgConn, string) {
	t.Helper()
	dsn := os.Getenv("NOREN_PG_DSN")
	if dsn == "" {
		t.Skip("needs a PostgreSQL server: NOREN_PG_DSN is not set")
	}
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		t.Fatal("NOREN_PG_DSN cannot be read")
	}
	for name, value := range map[string]string{
		"PGHOST": c.Host, "PGPORT": strconv.Itoa(int(c.Port)), "PGUSER": c.User,
		"PGDATABASE": c.Database, "PGPASSWORD": c.Password, "PGSERVICE": "", "PGSSLMODE": "",
	} {
		t.Setenv(name, value)
	}
	conn, err := pgconn.ConnectConfig(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	schema := fmt.Sprintf("noren_test_%d", os.Getpid())
	run(t, conn, "DROP SCHEMA IF EXISTS "+schema+" CASCADE; CREATE SCHEMA "+schema)
	t.Cleanup(func() {
		_ = conn.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE").Close()
		_ = conn.Close(context.Background())
	})
	return conn, schema
}

func run(t testing.TB, conn *pgconn.PgConn, sql string) {
	t.Helper()
	if err := conn.Exec(context.WithoutCancel(t.Context()), sql).Close(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// ask returns the rows of a query as text.
func ask(t testing.TB, conn *pgconn.PgConn, sql string) [][]string {
	t.Helper()
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var rows [][]string
	for _, r := range results[0].Rows {
		var row []string
		for _, v := range r {
			if v == nil {
				row = append(row, "<null>")
			} else {
				row = append(row, string(v))
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// pour writes all of src to a target, as a release does, without committing it.
func pour(ctx context.Context, src table.Source, to *pg.Target) error {
	sink, err := to.Create(ctx, src.Columns())
	if err != nil {
		return err
	}
	r, err := src.Open(ctx, nil)
	if err != nil {
		sink.Abort()
		return err
	}
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return sink.Close()
		}
		if err == nil {
			err = sink.Write(c)
		}
		if err != nil {
			sink.Abort()
			return err
		}
	}
}
