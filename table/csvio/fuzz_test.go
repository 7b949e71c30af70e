package csvio

import (
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table"
)

// FuzzRead holds the reader to three things: bad input is an error of kind
// BadData and never a panic; good input written and read again is the same;
// and encoding/csv reads the same where it keeps what it reads.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "a;b\r\n\"x;\"\"\";2", "\ufeffa\tb\n\t\n", "a\n\n\"\"\n", "a,b\n\"\n", "a\r\n\x00",
		"\x8e\x81,b\n\x83\x5c,1\n", "\x1f\x8b\x08", "\x28\xb5\x2f\xfd", "PAR1", "a,a\n", "\"a\"b\n", "a,b\n1\r2,3\n",
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		path := filepath.Join(dir, "in.csv")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := Open(context.Background(), path, Options{})
		if err != nil {
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("got %v, want an error of kind bad-data", err)
			}
			return
		}
		defer func() { _ = src.Close() }()
		names, rows, err := readSource(src, nil)
		if err != nil {
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("got %v, want an error of kind bad-data", err)
			}
			return
		}
		d := src.Dialect()
		if d.Compression == None && d.Encoding == UTF8 && !d.CR && len(src.Notes()) == 0 && len(names) > 1 {
			compare(t, string(text), d, names, rows)
		}
		out := filepath.Join(dir, "out.csv")
		defer func() { _ = os.Remove(out) }()
		columns := make([]table.StoredColumn, len(names))
		for i := range names {
			columns[i].Name = names[i]
		}
		s, err := Create(out, columns, d)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Write(chunkOf(len(names), rows)), s.Close()); err != nil {
			t.Fatal(err)
		}
		names2, rows2, err := read(out, Options{Delimiter: d.Delimiter, Encoding: d.Encoding})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(names, names2) || !slices.EqualFunc(rows, rows2, slices.Equal) {
			t.Fatalf("%q, %q was written and read back as %q, %q", names, rows, names2, rows2)
		}
	})
}

// compare checks against encoding/csv.
func compare(t *testing.T, text string, d Dialect, names []string, rows [][]string) {
	t.Helper()
	text = strings.TrimPrefix(text, "\ufeff")
	r := csv.NewReader(strings.NewReader(text))
	r.Comma = d.Delimiter
	records, err := r.ReadAll()
	if err != nil {
		t.Fatalf("encoding/csv refuses what was read: %v", err)
	}
	ours := append([][]string{names}, rows...)
	for _, record := range ours {
		for i := range record {
			record[i] = strings.Clone(record[i])
		}
	}
	plain := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	if !slices.EqualFunc(ours, records, func(a, b []string) bool {
		return slices.EqualFunc(a, b, func(x, y string) bool { return plain(x) == plain(y) })
	}) {
		t.Fatalf("read %q, encoding/csv %q", ours, records)
	}
}

// FuzzDetect holds detection to two things: a dialect that it returns can be
// written, and what is no table is an error of kind BadData.
func FuzzDetect(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "a;b\r\n", "\ufeffa\tb\n", "\xff\xfea\x00", "\x8e\x81|b", "\x1f\x8b\x08\x00", "PK\x03\x04",
		"a\n\xe6\x97",
	} {
		f.Add([]byte(text), "in.csv")
	}
	f.Add([]byte("a\tb"), "in.tsv.gz")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		metertest.Hold(t, len(text)+len(name))
		path := filepath.Join(dir, "in")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = src.Close() }()
		found, err := detect(context.Background(), src, int64(len(text)), Options{Name: name})
		if err != nil {
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("got %v, want an error of kind bad-data", err)
			}
			return
		}
		if err := found.dialect.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
