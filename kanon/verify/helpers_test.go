package verify_test

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/kanon/privacy"
	"github.com/noren-privacy/noren/kanon/verify"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/xlsx"
)

// fataler is a test or a rapid check.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// writeCSV writes a table by the standard library's writer.
func writeCSV(t fataler, dir string, names []string, rows [][]string) string {
	t.Helper()
	path := filepath.Join(dir, "release.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := csv.NewWriter(f)
	if err := w.Write(names); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return path
}

// null stands for a null in the rows of a Parquet table.
const null = "<null>"

// writeParquet writes a table of nullable texts, and of whole numbers where the
// name begins with n.
func writeParquet(t fataler, dir string, names []string, rows [][]string) string {
	t.Helper()
	path := filepath.Join(dir, "release.parquet")
	_ = os.Remove(path)
	chunk := &table.Chunk{Rows: len(rows), Cols: make([]table.Vector, len(names))}
	stored := make([]table.StoredColumn, len(names))
	for j, name := range names {
		stored[j] = table.StoredColumn{Name: name, Nullable: true}
		v := &chunk.Cols[j]
		if name[0] == 'n' {
			stored[j].Kind, v.Kind = table.Int, table.Int
		}
		for _, row := range rows {
			v.Null = append(v.Null, row[j] == null)
			switch {
			case v.Kind == table.Text:
				v.Texts = append(v.Texts, []byte(row[j]))
			case row[j] == null:
				v.Ints = append(v.Ints, 0)
			default:
				n, err := strconv.ParseInt(row[j], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				v.Ints = append(v.Ints, n)
			}
		}
	}
	sink, err := file.Create(path, stored, file.DialectFor(path, nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Write(chunk); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// verifyFile opens and verifies the file at path.
func verifyFile(t fataler, path string, o verify.Options) (*verify.Result, error) {
	t.Helper()
	src, err := file.Open(context.Background(), path, file.Options{Delimiter: ',', Encoding: csvio.UTF8, Totals: xlsx.Look})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	return verify.Verify(context.Background(), src, o)
}

// verifyText verifies a table that is given as text.
func verifyText(t *testing.T, text string, o verify.Options) (*verify.Result, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "release.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return verifyFile(t, path, o)
}

func k(n int) privacy.Requirement { return privacy.Requirement{K: n} }
