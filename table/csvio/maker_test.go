package csvio

import (
	"bytes"
	"fmt"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/table"
)

// A chunk of many records is written as its records are, one at a time: the bytes, or the
// error with its place.
func TestLargeChunksAreTheirRecords(t *testing.T) {
	texts := []string{"plain", "", "a,b", "two\nlines", `"quoted"`, " blank", "日本", "1.5", "-3", "x\ty"}
	rapid.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 3).Draw(t, "columns")
		d := Dialect{
			Delimiter: rapid.SampledFrom([]rune{',', ';', '\t'}).Draw(t, "delimiter"), CRLF: rapid.Bool().Draw(t, "crlf"),
			Encoding: rapid.SampledFrom([]Encoding{UTF8, UTF8, UTF16LE, ShiftJIS}).Draw(t, "encoding"),
		}
		n := rapid.IntRange(0, 5*leastRun).Draw(t, "records")
		pick := rapid.SliceOfN(rapid.SampledFrom(texts), 1, 17).Draw(t, "texts")
		rows := make([][]string, n)
		for i := range rows {
			for a := range columns {
				rows[i] = append(rows[i], pick[(i*columns+a)%len(pick)])
			}
		}
		if n > 0 && rapid.Bool().Draw(t, "a fault") {
			rows[rapid.IntRange(0, n-1).Draw(t, "row")][0] = rapid.SampledFrom([]string{"a\x00b", "\xff"}).Draw(t, "fault")
		}
		fields := make([]table.StoredColumn, columns)
		for a := range fields {
			fields[a] = table.StoredColumn{Name: fmt.Sprint("c", a), Kind: table.Text, Nullable: true}
		}
		written := func(step int) (string, int64, error) {
			var b bytes.Buffer
			s, err := NewSink(&b, "t.csv", fields, d)
			if err != nil {
				t.Fatal(err)
			}
			if step > 1 && s.makers != nil {
				for len(s.makers) < 3 { // on a machine of one processor as well
					s.makers = append(s.makers, s.makers[0])
				}
			}
			for first := 0; first < n; first += step {
				if err = s.Write(chunkOf(columns, rows[first:min(n, first+step)])); err != nil {
					break
				}
			}
			if e := s.Close(); err == nil {
				err = e
			}
			return b.String(), s.Records(), err
		}
		want, records, wantErr := written(1)
		got, made, err := written(max(n, 1))
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || made != records {
			t.Fatalf("got %v and %d records, want %v and %d", err, made, wantErr, records)
		}
		if err == nil && got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// The first byte that is not ASCII is the first rune that is not, valid or not.
func TestFirstHigh(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]byte{'a', 'b', '\n', 0, 0x7f}), 0, 40).Draw(t, "text")
		if len(text) > 0 && rapid.Bool().Draw(t, "high") {
			text[rapid.IntRange(0, len(text)-1).Draw(t, "at")] = rapid.SampledFrom([]byte{0x80, 0xc3, 0xff}).Draw(t, "byte")
		}
		if got, want := firstHigh(text), bytes.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }); got != want {
			t.Fatalf("%q: %d, want %d", text, got, want)
		}
	})
}
