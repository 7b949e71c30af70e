package file_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
)

type sum = [table.SumSize]byte

// putFile writes a file of a test.
func putFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// sumOf is the sum of the table at path, by a reading of its own and as it is kept by a
// reading of some columns, which must be equal.
func sumOf(t *testing.T, path string, o file.Options) sum {
	t.Helper()
	src, err := file.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	own, err := table.Sum(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	again, err := file.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.Close() }()
	table.KeepSum(again)
	readColumns(t, again, []int{0})
	kept, err := table.Sum(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	if kept != own {
		t.Errorf("%s: the sum that a reading keeps is another", path)
	}
	return own
}

func readColumns(t *testing.T, src table.Source, columns []int) {
	t.Helper()
	r, err := src.Open(t.Context(), columns)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

const clinic = "age,ward,cost\n30,a,1.5\n31,b,2\n31,b,\n"

// A sum is of what a table holds and of how it is read, and not of names and times.
func TestSumIsOfTheTable(t *testing.T) {
	dir := t.TempDir()
	base := sumOf(t, putFile(t, filepath.Join(dir, "a.csv"), clinic), file.Options{})
	other := putFile(t, filepath.Join(dir, "below", "other.csv"), clinic)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(other, old, old); err != nil {
		t.Fatal(err)
	}
	if sumOf(t, other, file.Options{}) != base || sumOf(t, other, file.Options{Delimiter: ',', Encoding: csvio.UTF8}) != base {
		t.Error("names, times or what is detected anyway count")
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(clinic)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[sum]string{base: "the table"}
	for name, s := range map[string]sum{
		"another cell":          sumOf(t, putFile(t, filepath.Join(dir, "b.csv"), strings.Replace(clinic, "1.5", "1.6", 1)), file.Options{}),
		"the last cell":         sumOf(t, putFile(t, filepath.Join(dir, "c.csv"), strings.TrimSuffix(clinic, "\n")+"3\n"), file.Options{}),
		"another order":         sumOf(t, putFile(t, filepath.Join(dir, "d.csv"), "age,ward,cost\n31,b,2\n30,a,1.5\n31,b,\n"), file.Options{}),
		"another name":          sumOf(t, putFile(t, filepath.Join(dir, "e.csv"), strings.Replace(clinic, "ward", "unit", 1)), file.Options{}),
		"packed":                sumOf(t, putFile(t, filepath.Join(dir, "f.csv.gz"), packed.String()), file.Options{}),
		"packed, and more":      sumOf(t, putFile(t, filepath.Join(dir, "g.csv.gz"), packed.String()+packed.String()), file.Options{}),
		"the first line counts": sumOf(t, other, file.Options{Header: csvio.HeaderAbsent}),
		"another delimiter":     sumOf(t, other, file.Options{Delimiter: ';'}),
		"another encoding":      sumOf(t, other, file.Options{Encoding: csvio.Latin1}),
		"another first line":    sumOf(t, other, file.Options{HeaderRow: 2}),
	} {
		if was, known := seen[s]; known {
			t.Errorf("%s has the sum of %s", name, was)
		}
		seen[s] = name
	}
}

// The sum of a table in several files is of all of them in their order, of many as of few.
func TestSumOfParts(t *testing.T) {
	write := func(n int, change func(i int, text string) string) string {
		dir := t.TempDir()
		for i := range n {
			putFile(t, filepath.Join(dir, fmt.Sprintf("part-%03d.csv", i)), change(i, fmt.Sprintf("age\n%d\n", i)))
		}
		return dir
	}
	same := func(_ int, text string) string { return text }
	exchanged := func(i int, text string) string {
		if i < 2 {
			return fmt.Sprintf("age\n%d\n", 1-i)
		}
		return text
	}
	for _, n := range []int{1, 3, 140} {
		base := sumOf(t, write(n, same), file.Options{})
		if sumOf(t, write(n, same), file.Options{}) != base {
			t.Errorf("%d files: the folder counts", n)
		}
		if sumOf(t, write(n, func(i int, text string) string { return strings.Replace(text, fmt.Sprint(n-1), "999", 1) }),
			file.Options{}) == base {
			t.Errorf("%d files: the last file does not count", n)
		}
		if n > 1 && sumOf(t, write(n, exchanged), file.Options{}) == base {
			t.Errorf("%d files: two files can be exchanged", n)
		}
		if n == 1 && base != sumOf(t, putFile(t, filepath.Join(t.TempDir(), "x.csv"), "age\n0\n"), file.Options{}) {
			t.Error("a folder of one file has another sum than the file")
		}
	}
}

// The format of numbers counts, and a copy by rows has the sum of the rows in each format.
func TestSumOfWrapped(t *testing.T) {
	dir := t.TempDir()
	path := putFile(t, filepath.Join(dir, "a.csv"), "age;cost\n30;1.234\n31;2.000\n")
	open := func(path string) file.Source {
		src, err := file.Open(t.Context(), path, file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = src.Close() })
		return src
	}
	numbers := func(format table.NumberFormat) sum {
		src, _, err := file.WithNumbers(open(path), []table.Field{{Name: "age"}, {Name: "cost", Type: table.Decimal, Number: format}})
		if err != nil {
			t.Fatal(err)
		}
		table.KeepSum(src)
		readColumns(t, src, nil)
		s, err := table.Sum(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	plain, dots := numbers(""), numbers("1.234,5")
	if plain == dots || dots != numbers("1.234,5") {
		t.Error("the format of numbers does not decide the sum")
	}
	src := open(path)
	copied := filepath.Join(dir, "copy.parquet")
	sink, err := file.Create(copied, src.Columns(), csvio.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = sink.Write(c)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	of := func(src table.Source) sum {
		s, err := table.Sum(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	rows, err := table.SumRows(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	if of(file.ByRows(open(copied))) != rows || of(file.ByRows(src)) != rows {
		t.Error("the rows of a copy have another sum")
	}
	if of(open(copied)) == rows || of(src) == rows {
		t.Error("the sum of a file is that of its rows")
	}
}

// A file that is written to between two readings, and a context that ends, give no sum.
func TestSumOfAChangingFile(t *testing.T) {
	path := putFile(t, filepath.Join(t.TempDir(), "a.csv"), clinic)
	src, err := file.Open(t.Context(), path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := table.Sum(ctx, src); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	putFile(t, path, clinic+"1,1,1\n")
	if _, err := table.Sum(t.Context(), src); noren.KindOf(err) != noren.BadData {
		t.Errorf("got %v", err)
	}
}
