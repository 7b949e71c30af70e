package parts_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/parts"
)

func write(t interface{ Fatal(...any) }, dir string, files map[string]string) {
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// records are all records of a table, joined by commas, and the numbers of the chunks.
func records(t interface{ Fatal(...any) }, src table.Source, columns []int) (rows []string) {
	r, err := src.Open(context.Background(), columns)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	described := src.Columns()
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		if c.First != int64(len(rows)) {
			t.Fatal("a chunk begins at", c.First, "after", len(rows))
		}
		for i := range c.Rows {
			var b bytes.Buffer
			for j := range c.Cols {
				if j > 0 {
					b.WriteByte(',')
				}
				k := j
				if columns != nil {
					k = columns[j]
				}
				b.Write(table.AppendText(nil, &described[k], &c.Cols[j], i))
			}
			rows = append(rows, b.String())
		}
	}
}

func TestFolderIsOneTable(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"2.csv": "a,b\n3,x\n4,y\n", "10.csv": "a,b\n1,u\n2,v\n", "sub/1.csv": "a;b\n5;z\n",
		"_SUCCESS": "", ".hidden.csv": "q\n", "_tmp/3.csv": "c\n1\n",
	})
	src, err := file.Open(t.Context(), dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	want := []string{"1,u", "2,v", "3,x", "4,y", "5,z"}
	for range 2 { // it can be read again
		if got := records(t, src, nil); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if got := records(t, src, []int{1}); !slices.Equal(got, []string{"u", "v", "x", "y", "z"}) {
		t.Errorf("column b is %v", got)
	}
	pattern, err := file.Open(t.Context(), filepath.Join(dir, "?.csv"), file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pattern.Close() }()
	if got := records(t, pattern, nil); !slices.Equal(got, []string{"3,x", "4,y"}) {
		t.Errorf("the pattern holds %v", got)
	}
}

func TestPositionsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"1.csv": "a,b\n1,2\n", "2.csv": "a,b\n1,2\n1,2,3\n"})
	src, err := file.Open(t.Context(), dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	r, err := src.Open(t.Context(), nil)
	for err == nil {
		_, err = r.Next()
	}
	if want := filepath.Join(dir, "2.csv") + ": line 3"; !strings.Contains(err.Error(), want) || noren.KindOf(err) != noren.BadData {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		path  string
		want  string
		kind  noren.Kind
	}{
		"other names": {
			map[string]string{"1.csv": "a,b\n1,2\n", "2.csv": "b,a\n1,2\n"},
			"", "2.csv: column 1: expected the name a as in",
			noren.BadData,
		},
		"other width": {map[string]string{"1.csv": "a,b\n1,2\n", "2.csv": "a\n1\n"}, "", "2.csv: expected 2 columns as in", noren.BadData},
		"no table": {
			map[string]string{"1.csv": "a\n1\n", "note.doc": "x"},
			"", "note.doc: expected a table file by its ending",
			noren.Usage,
		},
		"empty":         {map[string]string{"_SUCCESS": ""}, "", "expected a folder with table files, found none", noren.Usage},
		"no match":      {map[string]string{"1.csv": "a\n1\n"}, "*.parquet", "expected at least one file that matches", noren.Usage},
		"bad pattern":   {map[string]string{"1.csv": "a\n1\n"}, "[.csv", "is no valid pattern", noren.Usage},
		"folder inside": {map[string]string{"x/1.csv": "a\n1\n"}, "*", "is a folder", noren.Usage},
		"no folder":     {nil, "none/", "the folder cannot be listed: no such file", noren.Usage},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.files)
			path := dir
			if c.path != "" {
				path = dir + "/" + c.path
			}
			_, err := file.Open(t.Context(), path, file.Options{})
			if err == nil || !strings.Contains(err.Error(), c.want) || noren.KindOf(err) != c.kind {
				t.Errorf("got %v (kind %v), want %q (kind %v)", err, noren.KindOf(err), c.want, c.kind)
			}
		})
	}
}

// More files than stay open are read as well, and one that was replaced is refused.
func TestManyFilesAndChanges(t *testing.T) {
	randtest.SkipShort(t)
	dir := t.TempDir()
	var want []string
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("%04d.csv", i)] = fmt.Sprintf("a\n%d\n", i)
		want = append(want, fmt.Sprint(i))
	}
	write(t, dir, files)
	src, err := file.Open(t.Context(), dir, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	if got := records(t, src, nil); !slices.Equal(got, want) {
		t.Errorf("got %d records", len(got))
	}
	for _, changed := range []string{"0003.csv", "0280.csv"} {
		path := filepath.Join(dir, changed)
		text, _ := os.ReadFile(path)
		if err := os.WriteFile(path, append(text, "7\n"...), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := src.Open(t.Context(), nil)
		for err == nil {
			_, err = r.Next()
		}
		if !strings.Contains(err.Error(), changed+": the file has changed") || noren.KindOf(err) != noren.BadData {
			t.Errorf("%s: %v", changed, err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err = file.Open(t.Context(), dir, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// What is written as several files is read back as it was, in files of the size that was
// asked for.
func TestSplitAndReadBack(t *testing.T) {
	randtest.SkipShort(t)
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(rt, "records")
		size := rapid.IntRange(1, 15).Draw(rt, "rows of a file")
		ending := rapid.SampledFrom([]string{".csv", ".parquet", ".csv.gz", ".xlsx"}).Draw(rt, "ending")
		if ending == ".xlsx" {
			size += 5 // workbooks are slow
		}
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		text := "a,b\n"
		var want []string
		for i := range n {
			line := fmt.Sprintf("%d,%s", i, string(rune('a'+i%26)))
			text += line + "\n"
			want = append(want, line)
		}
		write(rt, dir, map[string]string{"in.csv": text})
		in, err := file.Open(t.Context(), filepath.Join(dir, "in.csv"), file.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = in.Close() }()
		out := filepath.Join(dir, "out")
		target, err := file.NewSplitTarget(filepath.Join(out, "p-*"+ending), file.SplitOptions{Rows: int64(size), Like: in})
		if err != nil {
			rt.Fatal(err)
		}
		sink, err := target.Create(t.Context(), in.Columns())
		if err != nil {
			rt.Fatal(err)
		}
		r, err := in.Open(t.Context(), nil)
		if err != nil {
			rt.Fatal(err)
		}
		for {
			c, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				rt.Fatal(err)
			}
			if err := sink.Write(c); err != nil {
				rt.Fatal(err)
			}
		}
		_ = r.Close()
		if err := sink.Close(); err != nil {
			rt.Fatal(err)
		}
		back, err := target.ReadBack(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		if got := records(rt, back, nil); !slices.Equal(got, want) {
			rt.Fatal("read back", got, "want", want)
		}
		_ = back.Close()
		if _, err := os.Stat(out); err == nil {
			rt.Fatal("the folder exists before it is committed")
		}
		if err := target.Commit(t.Context()); err != nil {
			rt.Fatal(err)
		}
		target.Discard()
		if names, _ := filepath.Glob(filepath.Join(out, "p-*")); len(names) != max(1, (n+size-1)/size) {
			rt.Fatal("files:", names)
		}
		if err := parts.CheckManifest(t.Context(), out); err != nil {
			rt.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			rt.Fatal("left behind:", left)
		}
		again, err := file.Open(t.Context(), out, file.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = again.Close() }()
		if got := records(rt, again, nil); !slices.Equal(got, want) {
			rt.Fatal("the folder holds", got, "want", want)
		}
	})
}

func TestTargetRefusesAndReplaces(t *testing.T) {
	sink := func(w io.Writer, name string, columns []table.StoredColumn) (table.Sink, error) {
		return file.NewSink(w, name, columns, csvio.Dialect{Delimiter: ','})
	}
	target := func(path string, rows int64, replace bool) error {
		_, err := parts.NewTarget(parts.TargetOptions{Path: path, Rows: rows, Replace: replace, Sink: sink})
		return err
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"old/p-00001.csv": "a\n1\n", "mixed/p-00001.csv": "a\n", "mixed/letter.txt": "x", "file": ""})
	for path, c := range map[string]struct {
		rows    int64
		replace bool
		want    string
	}{
		"new/p.csv":     {1, false, "a name with one star"},
		"new/p-**.csv":  {1, false, "a name with one star"},
		"new*/p-*.csv":  {1, false, "a name with one star"},
		"new/_p-*.csv":  {1, false, "would not be read"},
		"new/p-*.csv":   {0, false, "at least 1 record"},
		"old/p-*.csv":   {1, false, "is not empty"},
		"mixed/p-*.csv": {1, true, "letter.txt: the folder holds more"},
		"file/p-*.csv":  {1, true, "expected a folder"},
	} {
		if err := target(filepath.Join(dir, path), c.rows, c.replace); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", path, err, c.want)
		}
	}
	made, err := parts.NewTarget(parts.TargetOptions{Path: filepath.Join(dir, "old", "p-*.csv"), Rows: 2, Replace: true, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	s, err := made.Create(t.Context(), []table.StoredColumn{{Name: "z"}})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "old", "p-00001.csv")); string(text) != "a\n1\n" {
		t.Error("replaced before it was committed")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := made.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, "old", "p-00001.csv")); string(text) != "z\n" {
		t.Errorf("holds %q", text)
	}
	if names, _ := os.ReadDir(dir); len(names) != 3 {
		t.Errorf("left behind: %v", names)
	}
}
