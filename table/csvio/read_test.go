package csvio

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
)

func TestReads(t *testing.T) {
	type rows = [][]string
	for _, c := range []struct {
		name  string
		text  string
		names []string
		rows  rows
	}{
		{"plain", "a,b\n1,2\n3,4\n", []string{"a", "b"}, rows{{"1", "2"}, {"3", "4"}}},
		{"no line end at the end", "a,b\n1,2", []string{"a", "b"}, rows{{"1", "2"}}},
		{"CRLF", "a,b\r\n1,2\r\n", []string{"a", "b"}, rows{{"1", "2"}}},
		{"CR at the end of the file", "a,b\r\n1,2\r", []string{"a", "b"}, rows{{"1", "2"}}},
		{"mixed line ends", "a,b\n1,2\r\n3,4\n", []string{"a", "b"}, rows{{"1", "2"}, {"3", "4"}}},
		{"quotes", "a,b\n\"x,\"\"y\"\"\",\"\"\n", []string{"a", "b"}, rows{{`x,"y"`, ""}}},
		{"line breaks within quotes stay as they are", "a,b\n\"x\r\ny\",\"\r\"\n", []string{"a", "b"}, rows{{"x\r\ny", "\r"}}},
		{"blanks are kept", "a,b\n x ,\t\n", []string{"a", "b"}, rows{{" x ", "\t"}}},
		{"byte order mark", "\ufeffa,b\n1,2\n", []string{"a", "b"}, rows{{"1", "2"}}},
		{"empty fields", "a,b\n,\n", []string{"a", "b"}, rows{{"", ""}}},
		{"header alone", "a,b\n", []string{"a", "b"}, nil},
		{"header alone without line end", "a,b", []string{"a", "b"}, nil},
		{"blank lines among several columns are nothing", "a,b\n\n1,2\n\r\n3,4\n\n", []string{"a", "b"}, rows{{"1", "2"}, {"3", "4"}}},
		{"blank lines of one column are records", "a\n\n1\n\n", []string{"a"}, rows{{""}, {"1"}, {""}}},
		{"quoted nothing in one column", "a\n\"\"\n", []string{"a"}, rows{{""}}},
		{"a quoted header", "\"a\nb\",c\n1,2\n", []string{"a\nb", "c"}, rows{{"1", "2"}}},
		{"tabs", "a\tb\n1,5\t2\n", []string{"a", "b"}, rows{{"1,5", "2"}}},
		{"semicolons and decimal commas", "a;b\n1,5;2,5\n3;4\n", []string{"a", "b"}, rows{{"1,5", "2,5"}, {"3", "4"}}},
		{"bars", "a|b\n1|2\n", []string{"a", "b"}, rows{{"1", "2"}}},
		{"one column with commas in quotes", "a\n\"1,2\"\n3\n", []string{"a"}, rows{{"1,2"}, {"3"}}},
		{"Shift_JIS", "\x8e\x81\x96\xbc,b\n\x83\x5c,\x95\x5c\n", []string{"氏名", "b"}, rows{{"ソ", "表"}}},
		{"short Shift_JIS", "a\n\x93\xfa", []string{"a"}, rows{{"日"}}},
		{"UTF-8", "氏名,b\nソ,表\n", []string{"氏名", "b"}, rows{{"ソ", "表"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			names, got, err := read(put(t, "in.csv", c.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.names, names); d != "" {
				t.Error("names (-want +got)", d)
			}
			if d := cmp.Diff(c.rows, got); d != "" {
				t.Error("records (-want +got)", d)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	// secret is in every cell; no error may hold it.
	const secret = "s3cr3t"
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, "a,b\n"+strings.Repeat(secret+",1\n", 1000))
	_ = z.Close()
	long, many := strings.Repeat("x", randtest.Size(1, maxField+1)), randtest.Size(1, 70000)
	for _, c := range []struct {
		name, text string
		where      string // after the file's name
		what       string
	}{
		{"empty", "", "", "the file is empty"},
		{"only a mark", "\ufeff", "", "the file is empty"},
		{"blank header", "\na,b\n", "line 1", "is blank"},
		{"too few fields", "a,b\ns3cr3t,1\ns3cr3t\n", "line 3", "1 field, expected 2"},
		{"too many fields", "a,b\n\"s3cr3t\n\",1\n1,2,s3cr3t\n", "line 4", "3 fields, expected 2"},
		{"bare quote", "a,b\ns3cr3t,s3\"cr3t\n", "line 2, column 2 (b)", "a quote within a field"},
		{"text after a quote", "a,b\n\"s3cr3t\"x,1\n", "line 2, column 1 (a)", "text after the closing quote"},
		{"unclosed", "a,b\n1,\"s3cr3t\n1,2\n", "line 2, column 2 (b)", "never closed"},
		{
			"a line feed among carriage returns", "a,b\r" + strings.Repeat("s3cr3t,1\r", 40000) + "s3cr3t,2\n", "line 40002, column 2 (b)",
			"line feed",
		},
		{"a carriage return among line feeds", "a,b\rs3cr3t,2\n", "line 1, column 2", "carriage return"},
		{"a value behind the last name", "a,b,,\n1,2,,\n1,2,,s3cr3t\n", "line 3, column 4", "no name"},
		{"more fields than the header", "a,b,\n1,2,,s3cr3t\n", "line 2", "4 fields, expected 3"},
		{"half of UTF-16", "\xff\xfea\x00\n\x00s", "line 2, column 1 (a)", "not UTF-16"},
		{"carriage return in a field", "a,b\n1\n", "line 2", "1 field, expected 2"},
		{"twice", "a,b,a\n", "line 1, column 3", "the column has the name of column 1"},
		{"no name", "a,,c\n", "line 1, column 2", "no name"},
		{"not UTF-8 nor Shift_JIS", "a,b\n1,2\ns3cr3t,\xff\xff\n", "line 3, column 2 (b)", "not UTF-8"},
		{"half a character at the end", "a,b\ns3cr3t,\xe6", "line 2, column 2 (b)", "not UTF-8"},
		{"NUL", "a,b\n" + strings.Repeat("1,2\n", 1000) + "s3cr3t,\x00\n", "line 1002, column 2 (b)", "NUL"},
		{"binary", "a,b\x00\n", "", "NUL"},
		{"workbook", "PK\x03\x04abc", "", "Excel"},
		{"cut gzip", packed.String()[:packed.Len()-20], "", "end too early"},
		{"damaged gzip", "\x1f\x8b\x08\x00" + strings.Repeat("\xff", 100), "", "damaged"},
		{"damaged zstd", "\x28\xb5\x2f\xfd" + strings.Repeat("\xff", 100), "", "damaged"},
		{"long field", "a,b\n1," + long + "\n", "line 2, column 2 (b)", "longer than 16 MiB"},
		{"long quoted field", "a,b\n1,\"" + long + "\"\n", "line 2, column 2 (b)", "longer than 16 MiB"},
		{"long unclosed field", "a,b\n1,\"" + long, "line 2, column 2 (b)", "longer than 16 MiB"},
		{"endless record", "a,b\n" + strings.Repeat(strings.Repeat("x", 1000)+",", many), "line 2", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.HasPrefix(c.name, "long") || strings.HasPrefix(c.name, "endless") {
				randtest.SkipShort(t)
			}
			path := put(t, "in.csv", c.text)
			_, _, err := read(path, Options{})
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("got %v, want an error of kind bad-data", err)
			}
			message := err.Error()
			rest, ok := strings.CutPrefix(message, path+": ")
			if !ok || !strings.HasPrefix(rest, c.where) || !strings.Contains(rest, c.what) {
				t.Errorf("got %q, want it at %q about %q", message, c.where, c.what)
			}
			if strings.Contains(message, secret) || strings.Contains(message, "xxx") {
				t.Errorf("the error holds the value of a cell: %q", message)
			}
		})
	}
}

// A packed file that was cut or changed far from its beginning: the records
// before come out, then the error.
func TestDamagedFar(t *testing.T) {
	randtest.SkipShort(t)
	var text strings.Builder
	text.WriteString("a,b\n")
	rng := rand.New(rand.NewPCG(1, 2))
	for text.Len() < 3<<20 {
		_, _ = fmt.Fprintf(&text, "%d,%d\n", rng.Uint64(), rng.Uint64())
	}
	for _, c := range []Compression{Gzip, Zstd} {
		var packed bytes.Buffer
		columns := []table.StoredColumn{{Name: "a"}, {Name: "b"}}
		s, err := NewSink(&packed, "out", columns, Dialect{Compression: c})
		if err != nil {
			t.Fatal(err)
		}
		_, rows, err := read(put(t, "in.csv", text.String()), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Write(chunkOf(2, rows)), s.Close()); err != nil {
			t.Fatal(err)
		}
		changed := bytes.Clone(packed.Bytes())
		for i := range 100 {
			changed[len(changed)*3/4+i] ^= 0x55
		}
		for what, data := range map[string][]byte{"cut": packed.Bytes()[:packed.Len()*3/4], "changed": changed} {
			_, got, err := read(put(t, "in.csv."+c.String(), string(data)), Options{})
			if noren.KindOf(err) != noren.BadData {
				t.Errorf("%s, %s: got %v, want an error of kind bad-data", c, what, err)
			}
			if len(got) == 0 || len(got) >= len(rows) {
				t.Errorf("%s, %s: %d of %d records", c, what, len(got), len(rows))
			}
		}
	}
}

func TestShiftJISFaults(t *testing.T) {
	head := "a,b\n" + strings.Repeat("1,2\n", 5)
	for name, bytes := range map[string]string{
		"cut at the end":  "\x8e",
		"undefined":       "\xfd\xfd",
		"user-defined":    "\xf0\x40",
		"byte 80":         "\x80",
		"followed by nul": "\x8e\x00",
	} {
		t.Run(name, func(t *testing.T) {
			_, rows, err := read(put(t, "in.csv", head+"1,"+bytes), Options{Encoding: ShiftJIS})
			if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "line 7, column 2 (b)") &&
				!strings.Contains(err.Error(), "NUL bytes") {
				t.Errorf("got %v", err)
			}
			if name != "followed by nul" && len(rows) != 5 {
				t.Errorf("got %d records before the bad one, want 5", len(rows))
			}
		})
	}
}

// A fault behind good records comes after them, wherever the blocks of the
// file end.
func TestFaultFarInTheFile(t *testing.T) {
	randtest.SkipShort(t)
	line := "aaaaaaaaaa,bbbbbbbbbbbbb\n"
	for _, n := range []int{1, blockSize / len(line), blockSize/len(line) + 1, chunkRows, chunkRows + 1, 40000} {
		for name, bad := range map[string]string{"utf-8": "1,\xff\n", "ragged": "1\n", "nul": "\x00,\n", "quote": "1,x\"\n"} {
			_, rows, err := read(put(t, "in.csv", "a,b\n"+strings.Repeat(line, n)+bad+line), Options{Encoding: UTF8})
			at := noren.Position{Line: int64(n + 2)}.String()
			if noren.KindOf(err) != noren.BadData || n > 1 && !strings.Contains(err.Error(), at) {
				t.Errorf("%s after %d records: got %v", name, n, err)
			}
			if len(rows) != n && n > 1024 {
				t.Errorf("%s: got %d records before the bad one, want %d", name, len(rows), n)
			}
		}
	}
}

func TestUsage(t *testing.T) {
	path := put(t, "in.csv", "a,b\n1,2\n")
	for _, delim := range []rune{'"', '\n', '5', 'x', 'ー', '.'} {
		if _, err := Open(context.Background(), path, Options{Delimiter: delim}); noren.KindOf(err) != noren.Usage {
			t.Errorf("delimiter %q: got %v, want an error of kind usage", delim, err)
		}
	}
	src, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	if _, err := src.Open(context.Background(), []int{2}); noren.KindOf(err) != noren.Usage {
		t.Errorf("got %v, want an error of kind usage", err)
	}
}

func TestSomeColumns(t *testing.T) {
	src, err := Open(context.Background(), put(t, "in.csv", "a,b,c\n1,\"x\"\"y\",3\n4,5,6\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, c := range []struct {
		columns []int
		want    [][]string
	}{
		{[]int{2, 0}, [][]string{{"3", "1"}, {"6", "4"}}},
		{[]int{1, 1}, [][]string{{`x"y`, `x"y`}, {"5", "5"}}},
		{[]int{}, [][]string{{}, {}}},
	} {
		if _, got, err := readSource(src, c.columns); err != nil || !cmp.Equal(got, c.want) {
			t.Errorf("columns %v: got %v, %v, want %v", c.columns, got, err, c.want)
		}
	}
}

func TestPosition(t *testing.T) {
	path := put(t, "in.csv", "a,b,c\n1,2,3\n\n\"x\ny\",\"p\nq\",\"r\ns\"\n1,2,3\n")
	src, err := Open(context.Background(), path, Options{Name: "visits.csv"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	r, err := src.Open(context.Background(), []int{0, 2, 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		record, column int
		want           string
	}{
		{0, 0, "visits.csv: line 2, column 1 (a)"},
		{1, 0, "visits.csv: line 4, column 1 (a)"},
		{1, 1, "visits.csv: line 6, column 3 (c)"},
		{1, 2, "visits.csv: line 5, column 2 (b)"},
		{2, 1, "visits.csv: line 8, column 3 (c)"},
	} {
		if got := r.Position(c.record, c.column).String(); got != c.want {
			t.Errorf("position of (%d,%d): got %q, want %q", c.record, c.column, got, c.want)
		}
	}
}

func TestChangedWhileRead(t *testing.T) {
	path := put(t, "in.csv", "a,b\n1,2\n")
	src, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteString("3,4\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := src.Open(context.Background(), nil); noren.KindOf(err) != noren.BadData {
		t.Errorf("got %v, want an error that the file was changed", err)
	}
}

func TestCancelAndClose(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, "a,b\n"+strings.Repeat("123456,1234567\n", 200000))
	_ = z.Close()
	src, err := Open(context.Background(), put(t, "in.csv.gz", packed.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for _, chunks := range []int{0, 1, 5} {
		ctx, cancel := context.WithCancel(context.Background())
		r, err := src.Open(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range chunks {
			if _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if _, err := r.Next(); noren.KindOf(err) != noren.Interrupted {
			t.Errorf("got %v, want the context's error", err)
		}
		for range 2 {
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.Next(); err == nil {
			t.Error("a closed reader goes on")
		}
	}
}

func TestProgress(t *testing.T) {
	src, err := Open(context.Background(), put(t, "in.csv", "a,b\n"+strings.Repeat("123456,1234567\n", 100000)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	last := 0.0
	for {
		_, err := r.Next()
		p := r.Progress()
		if p < last || p > 1 {
			t.Fatalf("progress went from %g to %g", last, p)
		}
		last = p
		if err != nil {
			break
		}
	}
	if last != 1 {
		t.Errorf("progress at the end: %g, want 1", last)
	}
}
