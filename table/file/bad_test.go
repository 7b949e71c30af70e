package file_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

// cell is what no error may show.
const cell = "Yamada Taro"

// badSources are tables of 3000 records in every format that is a file; path is the file
// that is damaged, and name how the table is named.
func badSources(t *testing.T, dir string) map[string]struct{ path, name string } {
	t.Helper()
	chunk := &table.Chunk{Rows: 3000, Cols: []table.Vector{{Kind: table.Int}, {Kind: table.Text}}}
	for i := range chunk.Rows {
		chunk.Cols[0].Ints = append(chunk.Cols[0].Ints, int64(i*7919))
		chunk.Cols[1].Texts = append(chunk.Cols[1].Texts, []byte(cell))
	}
	columns := []table.StoredColumn{{Name: "n", Kind: table.Int}, {Name: "who", Kind: table.Text}}
	all := map[string]struct{ path, name string }{}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.csv", "a.csv.gz", "a.csv.zst", "a.parquet", "a.xlsx", "folder/1.parquet", "folder/2.parquet"} {
		path := filepath.Join(dir, name)
		sink, err := file.Create(path, columns, csvDialect(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(sink.Write(chunk), sink.Close()); err != nil {
			t.Fatal(err)
		}
		all[name] = struct{ path, name string }{path, path}
	}
	delete(all, "folder/1.parquet")
	delete(all, "folder/2.parquet")
	all["folder"] = struct{ path, name string }{filepath.Join(dir, "folder", "2.parquet"), filepath.Join(dir, "folder")}
	base := filepath.Join(dir, "a.db")
	db, err := sql.Open("sqlite", base)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"CREATE TABLE a (n INTEGER, who TEXT)",
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 3000) INSERT INTO a SELECT i, '" + cell + "' FROM c",
	} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	all["a.db"] = struct{ path, name string }{base, "sqlite:" + base + "?table=a"}
	return all
}

func csvDialect(name string) csvio.Dialect {
	d, _ := csvio.DialectFor(name)
	return d
}

// readAll opens a table and reads it whole.
func readAll(ctx context.Context, name string) error {
	src, err := file.Open(ctx, name, file.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	return readSource(ctx, src)
}

func readSource(ctx context.Context, src file.Source) error {
	r, err := src.Open(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for {
		if _, err := r.Next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Every source says what is wrong with it, with its name and no cell.
func TestBadSources(t *testing.T) {
	half := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, info.Size()/2)
	}
	for fault, c := range map[string]struct {
		do    func(path string) error
		kinds []noren.Kind
		skip  string // a source that has no such fault
	}{
		// A text that ends early is a text: its last record may lack a field.
		"truncated": {half, []noren.Kind{noren.BadData}, "a.csv"},
		"other data": {func(path string) error {
			return os.WriteFile(path, []byte("\xff\xff\x80\x81"+cell+"\n\xff\xff\n"), 0o600)
		}, []noren.Kind{noren.BadData}, ""},
		"empty":     {func(path string) error { return os.Truncate(path, 0) }, []noren.Kind{noren.BadData, noren.Usage}, ""},
		"forbidden": {func(path string) error { return os.Chmod(path, 0) }, []noren.Kind{noren.Usage, noren.BadData}, ""},
		"vanished":  {os.Remove, []noren.Kind{noren.Usage}, "folder"},
	} {
		if fault == "forbidden" && os.Geteuid() == 0 {
			continue // root may read everything
		}
		t.Run(fault, func(t *testing.T) {
			for name, at := range badSources(t, t.TempDir()) {
				if name == c.skip {
					continue
				}
				if err := readAll(t.Context(), at.name); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if err := c.do(at.path); err != nil {
					t.Fatal(err)
				}
				err := readAll(t.Context(), at.name)
				known := false
				for _, kind := range c.kinds {
					known = known || noren.KindOf(err) == kind
				}
				if err == nil || !known {
					t.Errorf("%s: got %v (kind %v)", name, err, noren.KindOf(err))
					continue
				}
				if !strings.Contains(err.Error(), filepath.Base(at.path)) || strings.Contains(err.Error(), "Yamada") {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// A file that is cut while it is open is an error, or is read as it was: never as a
// shorter table.
func TestCutWhileOpen(t *testing.T) {
	for name, at := range badSources(t, t.TempDir()) {
		src, err := file.Open(t.Context(), at.name, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(at.path, 100); err != nil {
			t.Fatal(err)
		}
		err = readSource(t.Context(), src)
		if spooled := name == "a.xlsx" || name == "a.db"; spooled != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (noren.KindOf(err) != noren.BadData || strings.Contains(err.Error(), "Yamada")) {
			t.Errorf("%s: %v (kind %v)", name, err, noren.KindOf(err))
		}
		_ = src.Close()
	}
}

// full is a disk on which no more than left bytes fit.
type full struct{ left int }

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.left {
		return 0, &fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC} // as of an os.File
	}
	f.left -= len(p)
	return len(p), nil
}

// Every format says that the disk is full.
func TestDiskFull(t *testing.T) {
	columns := []table.StoredColumn{{Name: "n", Kind: table.Int}}
	for _, name := range []string{"a.csv", "a.csv.gz", "a.csv.zst", "a.parquet", "a.xlsx"} {
		for _, left := range []int{0, 60} {
			sink, err := file.NewSink(&full{left}, name, columns, csvDialect(name))
			for i := 0; err == nil && i < 20; i++ {
				ints := make([]int64, 1000)
				for j := range ints {
					ints[j] = int64(i*j) * 7919
				}
				err = sink.Write(&table.Chunk{Rows: len(ints), Cols: []table.Vector{{Kind: table.Int, Ints: ints}}})
			}
			if err == nil {
				err = sink.Close()
			}
			if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "a.") {
				t.Errorf("%s, %d bytes: %v", name, left, err)
			}
		}
	}
}
