package sqlite_test

import (
	"context"
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

// Whatever a database file holds, it is a table or an error, within the memory of the limits.
func FuzzRead(f *testing.F) {
	for _, statements := range [][]string{
		{"CREATE TABLE t (x, y BOOLEAN)", "INSERT INTO t VALUES (1, 0), ('a', NULL), (x'00ff', 2.5)"},
		{"CREATE TABLE t (x)", "CREATE VIEW v AS SELECT x || x AS y FROM t", "CREATE INDEX i ON t (x)"},
		{"CREATE VIEW v AS " + endless},
		{"CREATE VIEW v AS SELECT hex(zeroblob(400000000)) AS x"},
		{"CREATE TABLE t (x, y AS (hex(zeroblob(x))))", "INSERT INTO t VALUES (40000000)"},
	} {
		file, err := os.ReadFile(database(f, append([]string{"PRAGMA page_size = 512"}, statements...)...))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file, "v")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, file []byte, table string) {
		metertest.Hold(t, len(file))
		path := filepath.Join(dir, "a.db")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second) // of a view without end
		defer cancel()
		_, err := through(ctx, path, sqlite.Options{Table: table, Dir: dir, Limits: meter.Limits{Unpacked: 1 << 20}})
		if err != nil && noren.KindOf(err) == noren.Internal && !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%v", err)
		}
	})
}
