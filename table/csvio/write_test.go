package csvio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/japanese"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

func TestWritesQuotesOnlyWhereNeeded(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     Dialect
		names []string
		rows  [][]string
		want  string
	}{
		{"plain", Dialect{}, []string{"a", "b"}, [][]string{{"1", "x y"}, {"", ""}}, "a,b\n1,x y\n,\n"},
		{"CRLF", Dialect{CRLF: true}, []string{"a", "b"}, [][]string{{"1", "2"}}, "a,b\r\n1,2\r\n"},
		{"mark", Dialect{BOM: true}, []string{"a", "b"}, [][]string{{"1", "2"}}, "\ufeffa,b\n1,2\n"},
		{"a name that begins like a mark", Dialect{}, []string{"\ufeffa", "b"}, nil, "\"\ufeffa\",b\n"},
		{"delimiter", Dialect{Delimiter: ';'}, []string{"a", "b"}, [][]string{{"1,5", "2;5"}}, "a;b\n1,5;\"2;5\"\n"},
		{
			"quotes and line breaks",
			Dialect{},
			[]string{"a", "b"},
			[][]string{{`"`, "\r"}, {"\n", `x"y`}},
			"a,b\n\"\"\"\",\"\r\"\n\"\n\",\"x\"\"y\"\n",
		},
		{"outer blanks", Dialect{}, []string{"a", "b"}, [][]string{{" x", "y\t"}}, "a,b\n\" x\",\"y\t\"\n"},
		{"one empty column", Dialect{}, []string{"a"}, [][]string{{""}, {"x"}}, "a\n\"\"\nx\n"},
		{"Shift_JIS", Dialect{Encoding: ShiftJIS}, []string{"氏名", "b"}, [][]string{{"ソ,", "表"}}, "\x8e\x81\x96\xbc,b\n\"\x83\x5c,\",\x95\x5c\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, err := write(t, c.d, c.names, c.rows)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestWritesVectors(t *testing.T) {
	columns := []table.StoredColumn{
		{Name: "i", Kind: table.Int, Nullable: true},
		{Name: "f", Kind: table.Float},
		{Name: "t"},
		{Name: "own", Kind: table.Int, AppendText: func(dst []byte, v *table.Vector, i int) []byte { return append(dst, "a,b"...) }},
	}
	var out bytes.Buffer
	s, err := NewSink(&out, "out", columns, Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	c := &table.Chunk{Rows: 3, Cols: []table.Vector{
		{Kind: table.Int, Ints: []int64{math.MinInt64, 0, 7}, Null: []bool{false, true, false}},
		{Kind: table.Float, Floats: []float64{1e6, math.Inf(-1), 0.1}},
		{Kind: table.Text, Texts: [][]byte{[]byte("x"), nil, []byte("z")}, Null: []bool{false, false, true}},
		{Kind: table.Int, Ints: []int64{1, 2, 3}},
	}}
	if err := errors.Join(s.Write(c), s.Close()); err != nil {
		t.Fatal(err)
	}
	want := "i,f,t,own\n-9223372036854775808,1000000,x,\"a,b\"\n,-Inf,,\"a,b\"\n7,0.1,,\"a,b\"\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if s.Records() != 3 {
		t.Errorf("%d records, want 3", s.Records())
	}
}

// Whatever is written is read back the same, in every dialect.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		d := Dialect{
			Delimiter:   rapid.SampledFrom([]rune{',', ';', '\t', '|', ' '}).Draw(t, "delimiter"),
			Encoding:    rapid.SampledFrom([]Encoding{UTF8, ShiftJIS}).Draw(t, "encoding"),
			BOM:         rapid.Bool().Draw(t, "bom"),
			CRLF:        rapid.Bool().Draw(t, "crlf"),
			Compression: rapid.SampledFrom([]Compression{None, Gzip, Zstd}).Draw(t, "compression"),
		}
		letters := []rune("abc,;\t| \"\n\r'0é日本表ソ～－𠮷\ufeff\ufffd\u0080")
		if d.Encoding == ShiftJIS {
			letters = []rune("abc,;\t| \"\n\r'0日本表ソ～－ｱ①髙")
		}
		field := rapid.StringOf(rapid.SampledFrom(letters))
		n := rapid.IntRange(1, 4).Draw(t, "columns")
		names := rapid.SliceOfNDistinct(rapid.StringOfN(rapid.SampledFrom(letters), 1, 8, -1), n, n, rapid.ID).Draw(t, "names")
		rows := rapid.SliceOfN(rapid.SliceOfN(field, n, n), 0, 20).Draw(t, "rows")
		path := filepath.Join(dir, "out")
		defer func() { _ = os.Remove(path) }()
		columns := make([]table.StoredColumn, n)
		for i := range names {
			columns[i].Name = names[i]
		}
		s, err := Create(path, columns, d)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Write(chunkOf(n, rows)), s.Close()); err != nil {
			t.Fatal(err)
		}
		gotNames, got, err := read(path, Options{Delimiter: d.Delimiter, Encoding: d.Encoding})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(names, gotNames); diff != "" {
			t.Fatal(diff)
		}
		if len(rows) != len(got) || len(rows) > 0 && !cmp.Equal(rows, got) {
			t.Fatal(cmp.Diff(rows, got))
		}
	})
}

// Every character that Shift_JIS decodes to is encoded again, though perhaps
// to other bytes of the same meaning.
func TestShiftJISHoldsItsCharacters(t *testing.T) {
	n := 0
	for hi := 0x81; hi <= 0xfc; hi++ {
		for lo := 0x40; lo <= 0xfc; lo++ {
			decoded, _ := japanese.ShiftJIS.NewDecoder().Bytes([]byte{byte(hi), byte(lo)})
			if validPrefix(decoded, ShiftJIS) != len(decoded) || len(decoded) == 0 || strings.ContainsRune(string(decoded), 0x7f) {
				continue
			}
			encoded, err := japanese.ShiftJIS.NewEncoder().Bytes(decoded)
			if err != nil {
				t.Errorf("%x decodes but does not encode", []byte{byte(hi), byte(lo)})
				continue
			}
			again, _ := japanese.ShiftJIS.NewDecoder().Bytes(encoded)
			if !bytes.Equal(again, decoded) {
				t.Errorf("%x does not come back", []byte{byte(hi), byte(lo)})
			}
			n++
		}
	}
	if n < 7000 {
		t.Errorf("only %d characters", n)
	}
}

func TestUnwritable(t *testing.T) {
	for _, c := range []struct {
		name  string
		d     Dialect
		rows  [][]string
		where string
	}{
		{"no such character", Dialect{Encoding: ShiftJIS}, [][]string{{"x", "y"}, {"x\ny", "z"}, {"x", "é"}}, "line 5, column 2 (b)"},
		{"invalid UTF-8", Dialect{}, [][]string{{"\xff", "y"}}, "line 2, column 1 (a)"},
		{"NUL", Dialect{}, [][]string{{"\x00", "y"}}, "line 2, column 1 (a)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, err := write(t, c.d, []string{"a", "b"}, c.rows)
			if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), c.where) {
				t.Errorf("got %v, want an error of kind bad-data at %s", err, c.where)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("Abort left the file")
			}
		})
	}
	for name, d := range map[string]Dialect{"delimiter": {Delimiter: 'x'}, "encoding": {Encoding: 9}, "compression": {Compression: 9}} {
		if _, err := write(t, d, []string{"a"}, nil); noren.KindOf(err) != noren.Usage {
			t.Errorf("%s: got %v, want an error of kind usage", name, err)
		}
	}
	if _, err := write(t, Dialect{}, []string{""}, nil); err == nil {
		t.Error("a column without a name was written")
	}
}

// full is a disk that is full after n bytes.
type full int

func (f *full) Write(b []byte) (int, error) {
	if len(b) > int(*f) {
		return 0, errors.New("no space left on device")
	}
	*f -= full(len(b))
	return len(b), nil
}

func TestFullDisk(t *testing.T) {
	for _, d := range []Dialect{{}, {Compression: Gzip}, {Compression: Zstd}} {
		room := full(10)
		s, err := NewSink(&room, "out.csv", []table.StoredColumn{{Name: "a"}}, d)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Write(chunkOf(1, [][]string{{"0123456789012345678901234567890"}})); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err == nil || noren.KindOf(err) != noren.Internal {
			t.Errorf("%s: got %v, want the disk's error", d.Compression, err)
		}
		if err := s.Close(); err == nil {
			t.Error("a second Close forgets the error")
		}
	}
}

func TestNotOnePipeSynced(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	s, err := NewSink(w, "standard output", []table.StoredColumn{{Name: "a"}}, Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(r); string(got) != "a\n" {
		t.Errorf("got %q", got)
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		want             Dialect
	}{
		{"comma", "in.csv", "a,b\n1,2\n", Dialect{Delimiter: ',', Encoding: UTF8}},
		{"tab by name", "in.tsv", "a\tb,c,d\n1\t2,3,4\n", Dialect{Delimiter: '\t', Encoding: UTF8}},
		{"comma in a .tsv", "in.tsv", "a,b\n1,2\n", Dialect{Delimiter: ',', Encoding: UTF8}},
		{"one column in a .tsv", "in.tsv", "a\n1\n", Dialect{Delimiter: '\t', Encoding: UTF8}},
		{"semicolon, CRLF, mark", "in.csv", "\ufeffa;b\r\n1,0;2,0\r\n", Dialect{Delimiter: ';', Encoding: UTF8, BOM: true, CRLF: true}},
		{"delimiter in quotes", "in.csv", "\"a;b\",c\n\"1;2;3\",4\n", Dialect{Delimiter: ',', Encoding: UTF8}},
		{"ragged", "in.csv", "a,b\n1,2\n3\n", Dialect{Delimiter: ',', Encoding: UTF8}},
		{
			"Shift_JIS far in the file", "in.csv", "a,b\n" + strings.Repeat("1,2\n", 200000) + "\x95\x5c,1\n",
			Dialect{Delimiter: ',', Encoding: ShiftJIS},
		},
		{
			"UTF-8 far in the file", "in.csv", "a,b\n" + strings.Repeat("1,2\n", 200000) + "表,1\n" + strings.Repeat("1,2\n", 200000),
			Dialect{Delimiter: ',', Encoding: UTF8},
		},
		{"UTF-8 across the sample's end", "in.csv", "a,b\n" + strings.Repeat("1,表\n", 100000), Dialect{Delimiter: ',', Encoding: UTF8}},
		{
			"UTF-8 just before the sample's end", "in.csv", "a,b\n" + strings.Repeat("1", sampleSize-6) + "表,1\n",
			Dialect{Delimiter: ',', Encoding: UTF8},
		},
		{
			"Shift_JIS across the sample's end", "in.csv", "a,b\n" + strings.Repeat("1,\x95\x5c\n", 100000),
			Dialect{Delimiter: ',', Encoding: ShiftJIS},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := Open(context.Background(), put(t, c.file, c.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = src.Close() }()
			got := src.Dialect()
			if got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]Dialect{
		"a.csv":         {Delimiter: ',', Encoding: UTF8},
		"A.TSV":         {Delimiter: '\t', Encoding: UTF8},
		"a.csv.gz":      {Delimiter: ',', Encoding: UTF8, Compression: Gzip},
		"dir/a.tsv.zst": {Delimiter: '\t', Encoding: UTF8, Compression: Zstd},
	} {
		if got, ok := DialectFor(name); !ok || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, ok, want)
		}
	}
	if _, ok := DialectFor("a.parquet"); ok {
		t.Error("a.parquet is no text table")
	}
	for _, e := range []Encoding{AnyEncoding, UTF8, ShiftJIS} {
		if got, err := ParseEncoding(e.String()); err != nil || got != e {
			t.Errorf("%q: got %v, %v", e, got, err)
		}
	}
	for text, want := range map[string]rune{"": 0, "tab": '\t', ";": ';', "pipe": '|', `\t`: '\t'} {
		if got, err := ParseDelimiter(text); err != nil || got != want {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	for _, text := range []string{",,", "x", "表"} {
		if _, err := ParseDelimiter(text); noren.KindOf(err) != noren.Usage {
			t.Errorf("%q: got %v, want an error of kind usage", text, err)
		}
	}
	if _, err := ParseEncoding("latin"); noren.KindOf(err) != noren.Usage {
		t.Errorf("got %v, want an error of kind usage", err)
	}
}
