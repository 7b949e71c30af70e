package csvio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/transform"
	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"

	"github.com/noren-privacy/noren/internal/randtest"
)

const japaneseTable = "氏名,住所,売上\n山田太郎,\"東京都,千代田区\",１２３\n鈴木,\"大阪\n\"\"北\"\"\",4\n"

const westernTable = "name,city\nMüller,Köln\nGarção,São Paulo\n"

// iconv converts by the program of that name, the reference for encodings.
func iconv(t *testing.T, from, to, text string) string {
	t.Helper()
	program, err := exec.LookPath("iconv")
	if err != nil {
		t.Skip("no iconv on this machine")
	}
	c := exec.Command(program, "-f", from, "-t", to)
	c.Stdin = strings.NewReader(text)
	out, err := c.Output()
	if err != nil {
		t.Fatalf("iconv -f %s -t %s: %v", from, to, err)
	}
	return string(out)
}

// What iconv writes is read, with the encoding detected where that can be, and
// what the sink writes is read by iconv.
func TestIconv(t *testing.T) {
	for _, c := range []struct {
		program  string // iconv's name
		encoding Encoding
		text     string
		detected bool
	}{
		{"UTF-16LE", UTF16LE, japaneseTable, false},
		{"UTF-16BE", UTF16BE, japaneseTable, false},
		{"UTF-16LE", UTF16LE, "a" + japaneseTable, true},
		{"UTF-16BE", UTF16BE, "a" + japaneseTable, true},
		{"UTF-16LE", UTF16LE, "\ufeff" + japaneseTable, true},
		{"UTF-16BE", UTF16BE, "\ufeff" + japaneseTable, true},
		{"UTF-16LE", UTF16LE, "\ufeffa,b\n😀,𠮷\n", true},
		{"EUC-JP", EUCJP, japaneseTable, true},
		{"ISO-2022-JP", ISO2022JP, japaneseTable, true},
		{"CP932", ShiftJIS, japaneseTable, true},
		{"LATIN1", Latin1, westernTable, false},
		{"CP1252", Windows1252, westernTable + "€ „x“,–\n", false},
	} {
		t.Run(c.encoding.String(), func(t *testing.T) {
			path := put(t, "in.csv", iconv(t, "UTF-8", c.program, c.text))
			o := Options{}
			if !c.detected {
				o.Encoding = c.encoding
			}
			src, err := Open(context.Background(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = src.Close() }()
			if got := src.Dialect().Encoding; got != c.encoding {
				t.Errorf("read as %v, want %v", got, c.encoding)
			}
			if said := slices.ContainsFunc(src.Notes(),
				func(n noren.Text) bool { return strings.Contains(n.String(), c.encoding.String()) }); said != c.detected {
				t.Errorf("notes %q, detected %v", src.Notes(), c.detected)
			}
			names, rows, err := readSource(src, nil)
			if err != nil {
				t.Fatal(err)
			}
			wantNames, want, err := read(put(t, "utf8.csv", c.text), Options{})
			if err != nil || !slices.Equal(names, wantNames) || !slices.EqualFunc(rows, want, slices.Equal) {
				t.Fatalf("got %q %q, want %q %q (%v)", names, rows, wantNames, want, err)
			}
			out, err := write(t, src.Dialect(), names, rows)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			if back := iconv(t, c.program, "UTF-8", string(text)); back != c.text {
				t.Errorf("iconv reads %q, want %q", back, c.text)
			}
		})
	}
}

// Every character is written so that it is read back, or refused, in every
// encoding; ASCII is never refused.
func TestEveryCharacter(t *testing.T) {
	randtest.SkipShort(t)
	for e := ShiftJIS; e < endOfEncodings; e++ {
		enc, held := e.encoder(), 0
		var buf []byte
		for r := rune(1); r <= utf8.MaxRune; r++ {
			if !utf8.ValidRune(r) || r == 0x1b && e == ISO2022JP {
				continue
			}
			text := []byte(string(r))
			out, ok := e.encode(buf[:0], text, enc)
			if !ok {
				if r < utf8.RuneSelf {
					t.Fatalf("%v lacks %U", e, r)
				}
				continue
			}
			held++
			back, _, err := transform.Bytes(e.decoder(), out)
			if err != nil || !bytes.Equal(back, text) || validPrefix(back, e) != len(back) {
				t.Fatalf("%v: %U comes back as %q", e, r, back)
			}
			if r > 0x10000 && !e.wide() && r&0xff == 0xff {
				r += 0xff // rare rows of the planes above are sampled
			}
		}
		if least := map[Encoding]int{Latin1: 223, Windows1252: 250, EUCJP: 13000, ISO2022JP: 6900, ShiftJIS: 7000}[e]; held < least {
			t.Errorf("%v holds %d characters, expected %d at least", e, held, least)
		}
	}
}

// A character that an encoding lacks is an error about the column.
func TestLackingCharacter(t *testing.T) {
	for _, c := range []struct {
		e    Encoding
		text string
	}{
		{Latin1, "€"},
		{Latin1, "\u0085"},
		{Windows1252, "日"},
		{Windows1252, "\u0081"},
		{EUCJP, "é̂"},
		{EUCJP, "😀"},
		{ISO2022JP, "ｶﾅ"},
		{ISO2022JP, "😀"},
		{ShiftJIS, "é"},
		{UTF16LE, "\ufffd"},
	} {
		_, err := write(t, Dialect{Encoding: c.e}, []string{"a", "b"}, [][]string{{"x", "y"}, {"x", "s3cr3t" + c.text}})
		var lack *LackError
		if noren.KindOf(err) != noren.BadData || !errors.As(err, &lack) || lack.Column != "b" {
			t.Errorf("%v, %q: got %v", c.e, c.text, err)
			continue
		}
		if m := err.Error(); !strings.Contains(m, "line 3, column 2 (b)") || strings.Contains(m, "s3cr3t") {
			t.Errorf("%v: got %q", c.e, m)
		}
	}
}

func TestForms(t *testing.T) {
	ab := [][]string{{"1", "2"}, {"3", "4"}}
	for _, c := range []struct {
		name, text string
		o          Options
		names      []string
		rows       [][]string
		note       string
	}{
		{name: "carriage returns", text: "a,b\r1,2\r3,4\r", names: []string{"a", "b"}, rows: ab, note: "carriage return alone"},
		{name: "carriage returns, no last", text: "a;b\r1;2\r\r3;4", names: []string{"a", "b"}, rows: ab, note: "carriage return alone"},
		{
			name: "carriage returns, quoted", text: "a,b\r\"1\r\",2\r3,4\r", names: []string{"a", "b"}, rows: [][]string{{"1\r", "2"}, {"3", "4"}},
			note: "carriage return alone",
		},
		{name: "sep", text: "sep=;\r\na;b\r\n1;2\r\n3;4\r\n", names: []string{"a", "b"}, rows: ab, note: "names the delimiter"},
		{name: "sep and mark", text: "\ufeffSEP=|\na|b\n1|2\n3|4\n", names: []string{"a", "b"}, rows: ab, note: "names the delimiter"},
		{name: "sep beats commas", text: "sep=;\na,x;b\n1;2\n3;4\n", names: []string{"a,x", "b"}, rows: ab, note: "names the delimiter"},
		{name: "no sep", text: "sep=;x\n1\n", names: []string{"sep=", "x"}, rows: nil, o: Options{Delimiter: ';'}},
		{name: "trailing commas", text: "a,b,,\n1,2,,\n3,4,,\n", names: []string{"a", "b"}, rows: ab, note: "2 empty columns"},
		{name: "some trailing commas", text: "a,b,,\n1,2,\n3,4\n", names: []string{"a", "b"}, rows: ab, note: "2 empty columns"},
		{name: "title rows", text: "Report, \"2024\nof all\n\na,b\n1,2\n3,4\n", o: Options{HeaderRow: 4}, names: []string{"a", "b"}, rows: ab},
		{
			name: "title rows, semicolons", text: "x,y,z\na;b\n1;2\n3;4\n", o: Options{HeaderRow: 2, Header: HeaderChecked},
			names: []string{"a", "b"}, rows: ab,
		},
		{
			name: "sep without names", text: "sep=;\n1;2\n3;4\n", o: Options{Header: HeaderAbsent}, names: []string{"c1", "c2"}, rows: ab,
			note: "names the delimiter",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, err := Open(context.Background(), put(t, "in.csv", c.text), c.o)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = src.Close() }()
			names, rows, err := readSource(src, nil)
			if c.name == "no sep" {
				if noren.KindOf(err) != noren.BadData {
					t.Fatalf("got %v, want an error: no first line but sep= and a delimiter is one", err)
				}
				return
			}
			if err != nil || !slices.Equal(names, c.names) || !slices.EqualFunc(rows, c.rows, slices.Equal) {
				t.Fatalf("got %q %q, %v", names, rows, err)
			}
			if notes := noren.Texts(src.Notes()).String(); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("notes %q, want one about %q", notes, c.note)
			}
		})
	}
}

// Lines are counted as the file has them, below title rows and with CR too.
func TestFormPositions(t *testing.T) {
	for _, c := range []struct {
		text, where string
		o           Options
	}{
		{"t\n\"t\na,b\n1,2\n3\n", "line 5", Options{HeaderRow: 3}},
		{"a,b\r\"1\r\",2\r3\r", "line 4", Options{}},
		{"sep=;\na;b\n1;2\n3\n", "line 4", Options{}},
		{"t\nt\xff\na,b\n", "line 2, column 1", Options{HeaderRow: 3}},
		{"t\nt\n", "expected the names of the columns on line 7", Options{HeaderRow: 7}},
	} {
		if _, _, err := read(put(t, "in.csv", c.text), c.o); err == nil || !strings.Contains(err.Error(), c.where) {
			t.Errorf("%q: got %v, want it at %s", c.text, err, c.where)
		}
	}
	if _, _, err := read(put(t, "in.csv", "a\n1\n"), Options{HeaderRow: 2, Header: HeaderAbsent}); noren.KindOf(err) != noren.Usage {
		t.Errorf("a line of names in a table without names: got %v", err)
	}
}

// Plain reads none of the forms: definitions of data sets depend on it.
func TestPlain(t *testing.T) {
	for name, text := range map[string]string{
		"carriage returns": "a,b\r1,2\r", "trailing commas": "a,b,\n1,2,\n", "sep": "sep=;\na;b\n1;2\n",
		"UTF-16": "\xff\xfea\x00,\x00", "UTF-16 without a mark": "a\x00\n\x00",
	} {
		for _, e := range []Encoding{AnyEncoding, UTF8, ShiftJIS} {
			_, _, err := read(put(t, "in.csv", text), Options{Plain: true, Encoding: e})
			if noren.KindOf(err) != noren.BadData {
				t.Errorf("%s as %v: got %v, want an error of kind bad-data", name, e, err)
			}
		}
	}
	jis := "a,b\n\x1b$B;3ED\x1b(B,2\n"
	if _, rows, err := read(put(t, "in.csv", jis), Options{Plain: true}); err != nil || rows[0][0] != "\x1b$B;3ED\x1b(B" {
		t.Errorf("plain text with escape sequences: got %q, %v", rows, err)
	}
	if _, rows, err := read(put(t, "in.csv", jis), Options{}); err != nil || rows[0][0] != "山田" {
		t.Errorf("ISO-2022-JP: got %q, %v", rows, err)
	}
}

// Bytes that ISO-2022-JP does not have are errors, wherever the buffer is cut.
func TestJISBytes(t *testing.T) {
	for _, text := range []string{"\x1b$B;\x1b(B", "\x1b$B; \x1b(B", "\x1b$B\x7f\x21", "\x1b$X", "\x1b", "a\x80", "\x1b(I\x60"} {
		out, _, err := transform.Bytes(ISO2022JP.decoder(), []byte(text))
		if err != nil || validPrefix(out, ISO2022JP) == len(out) {
			t.Errorf("%q was decoded as %q (%v)", text, out, err)
		}
	}
}

// Whatever a table of characters of the encoding holds comes back the same.
func TestEncodedRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := rapid.SampledFrom([]Encoding{ShiftJIS, UTF16LE, UTF16BE, EUCJP, ISO2022JP, Latin1, Windows1252}).Draw(rt, "encoding")
		letters := []rune("aZ0 ,;\"\n\r\té日本語ｶ〜①髙ß€𠮷\ufeff")
		enc := e.encoder()
		letters = slices.DeleteFunc(letters, func(r rune) bool { _, ok := e.encode(nil, []byte(string(r)), enc); return !ok })
		field := rapid.StringOfN(rapid.SampledFrom(letters), 0, 12, -1)
		rows := rapid.SliceOfN(rapid.SliceOfN(field, 2, 2), 0, 40).Draw(rt, "rows")
		bom := rapid.Bool().Draw(rt, "bom")
		names := []string{"é", "b"}
		if !e.unicode() && e != Latin1 && e != Windows1252 {
			names[0] = "語"
		}
		path, err := write(t, Dialect{Encoding: e, BOM: bom, Compression: Compression(rapid.IntRange(0, 2).Draw(rt, "packed"))}, names, rows)
		if err != nil {
			rt.Fatal(err)
		}
		gotNames, got, err := read(path, Options{Encoding: e, Delimiter: ','})
		if err != nil || !slices.Equal(names, gotNames) || !slices.EqualFunc(rows, got, slices.Equal) {
			rt.Fatalf("%v: wrote %q, read %q %q, %v", e, rows, gotNames, got, err)
		}
	})
}

// FuzzEncoding holds every encoding to three things: bad bytes are an error of
// kind BadData with a place, good ones come back the same when they are written,
// and it does not matter how the bytes arrive.
func FuzzEncoding(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "a\x00\n\x00", "\x1b$B;3ED\x1b(B,a\n", "\xa4\xa2,b\r1,2\r", "\xe9,\x80\n",
		"sep=;\na;b;\n1;2\n",
	} {
		for e := ShiftJIS; e < endOfEncodings; e++ {
			f.Add([]byte(text), uint8(e), uint16(0))
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, which uint8, row uint16) {
		metertest.Hold(t, len(text))
		e := Encoding(which) % endOfEncodings
		path := filepath.Join(dir, "in.csv")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		names, rows, err := read(path, Options{Encoding: e, HeaderRow: int(row % 4), Delimiter: ','})
		if err != nil {
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("got %v, want an error of kind bad-data", err)
			}
			return
		}
		if len(names) == 1 && strings.HasPrefix(names[0], "sep=") {
			return // a lone column of such a name reads as the line that names the delimiter
		}
		if e == AnyEncoding || e == ISO2022JP { // half-width katakana are read and not written
			return
		}
		out, err := write(t, Dialect{Encoding: e}, names, rows)
		if err != nil {
			t.Fatal(fmt.Errorf("what was read as %v cannot be written: %w", e, err))
		}
		names2, rows2, err := read(out, Options{Encoding: e, Delimiter: ','})
		if err != nil || !slices.Equal(names, names2) || !slices.EqualFunc(rows, rows2, slices.Equal) {
			t.Fatalf("%q, %q was written and read back as %q, %q, %v", names, rows, names2, rows2, err)
		}
	})
}
