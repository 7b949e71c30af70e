package table

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func TestNumberFormat(t *testing.T) {
	for _, c := range []struct {
		format NumberFormat
		text   string
		want   string // "" where it is no number of the format
	}{
		{"1,234", "25,657", "25657"},
		{"1,234", "999", "999"},
		{"1,234", "1234567", "1234567"},
		{"1,234", "-1,234,567", "-1234567"},
		{"1,234", "△1,234", "-1234"},
		{"1,234", "１，２３４", "1234"},
		{"1,234", "1,23", ""},
		{"1,234", "1234,567", ""},
		{"1,234", "1,2345", ""},
		{"1,234", "0,123", ""},
		{"1,234", "1,234.5", ""},
		{"1,234", ",234", ""},
		{"1,234", "1,", ""},
		{"1,234.5", "1,234.50", "1234.50"},
		{"1,234.5", "1,234.", ""},
		{"1,234.5", "12.5", "12.5"},
		{"1.234,5", "1.234,50", "1234.50"},
		{"1.234,5", "0,125", "0.125"},
		{"1.234,5", "1.5", ""},
		{"1.234,5", "1.234", "1234"},
		{"1 234,5", "12\u00a0345,6", "12345.6"},
		{"1 234,5", " 12 345 ", "12345"},
		{"1'234.5", "1’234.5", "1234.5"},
		{"1234,5", "1234,5", "1234.5"},
		{"1234,5", "1.234,5", ""},
		{"1234.5", "１２．５", "12.5"},
		{"1234", "007", "007"},
		{"¥1,234", "¥1,234", "1234"},
		{"¥1,234", "￥1,234", "1234"},
		{"¥1,234", "\\1,234", "1234"},
		{"¥1,234", "-¥1,234", "-1234"},
		{"¥1,234", "¥-1,234", "-1234"},
		{"¥1,234", "-¥-1,234", ""},
		{"¥1,234", "1,234", ""},
		{"1,234円", "1,234 円", "1234"},
		{"1 234円", "1 234 円", "1234"},
		{"1234.5%", "12.5%", "12.5"},
		{"1234.5%", "１２．５％", "12.5"},
		{"1234.5%", "12.5", ""},
		{"1,234", "", ""},
		{"1,234", "-", ""},
		{"1,234", "abc", ""},
		{"1,234", "1e5", ""},
		{"1,234", "\xff", ""},
	} {
		r, err := c.format.Reader()
		if err != nil {
			t.Fatal(c.format, err)
		}
		got, ok := r.Plain([]byte("x"), []byte(c.text))
		if ok != (c.want != "") || string(got) != "x"+c.want {
			t.Errorf("%s: %q is read as %q, %v, want %q", c.format, c.text, got, ok, c.want)
		}
	}
	for _, bad := range []NumberFormat{
		"", "1", "12,345", "1,234,5", "1.234.5", "¥1,234円", "YYYY", "1_234", "1,234.56", "%1234", "$1,234",
		"1x234",
	} {
		if _, err := bad.Reader(); err == nil {
			t.Errorf("%q was taken for a number format", bad)
		}
	}
}

// A number that is plain and not of the format is an error, everything else that
// is not of it stays as it is.
func TestReadMixedNumbers(t *testing.T) {
	r, err := NumberFormat("1.234,5").Reader()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(nil, []byte("12.5")); !errors.Is(err, errFormat) || strings.Contains(err.Error(), "12") &&
		!strings.Contains(err.Error(), "1.234,5") {
		t.Errorf("a plain number: got %v", err)
	}
	for text, want := range map[string]string{"12,5": "12.5", "unknown": "unknown", "": "", "1.23,4": "1.23,4"} {
		if got, err := r.Read(nil, []byte(text)); err != nil || string(got) != want {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
}

// write is a number as a format writes it, with or without separators.
func (r *NumberReader) write(digits, places string, negative, grouped, wide bool) string {
	var b strings.Builder
	if negative {
		b.WriteByte('-')
	}
	if r.prefix != 0 {
		b.WriteRune(r.prefix)
	}
	for i, c := range digits {
		if grouped && r.group != 0 && i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteRune(r.group)
		}
		if wide {
			c += '０' - '0'
		}
		b.WriteRune(c)
	}
	if places != "" && r.point != 0 {
		b.WriteRune(r.point)
		b.WriteString(places)
	}
	if r.suffix != 0 {
		b.WriteRune(r.suffix)
	}
	return b.String()
}

// Every number is read exactly, in every format.
func TestNumberFormatIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		core := rapid.SampledFrom([]string{
			"1234", "1234.5", "1234,5", "1,234", "1.234", "1 234", "1'234", "1,234.5", "1.234,5", "1 234,5",
			"1'234.5", "1 234.5",
		}).Draw(rt, "core")
		format := NumberFormat(fmt.Sprintf(rapid.SampledFrom([]string{"%s", "¥%s", "%s円", "%s%%"}).Draw(rt, "sign"), core))
		r, err := format.Reader()
		if err != nil {
			rt.Fatal(format, err)
		}
		digits := strconv.FormatUint(rapid.Uint64().Draw(rt, "n"), 10)
		places := rapid.StringMatching("[0-9]{0,6}").Draw(rt, "places")
		negative := rapid.Bool().Draw(rt, "negative")
		text := r.write(digits, places, negative, rapid.Bool().Draw(rt, "grouped"), rapid.Bool().Draw(rt, "wide"))
		want := digits
		if negative {
			want = "-" + want
		}
		if places != "" && !r.Whole() {
			want += "." + places
		}
		if got, ok := r.Plain(nil, []byte(text)); !ok || string(got) != want {
			rt.Fatalf("%s: %q is read as %q, %v, want %q", format, text, got, ok, want)
		}
	})
}

// FuzzNumberFormat holds every format to this: what it reads is a plain number
// that it reads as the same again, apart from signs, and it never panics.
func FuzzNumberFormat(f *testing.F) {
	for _, format := range []string{"1,234.5", "1.234,5", "¥1 234", "1'234円", "1234.5%", "x"} {
		for _, text := range []string{"1,234", "-1.234,5", "¥１ ２３４", "12%", "abc", "\xff"} {
			f.Add(format, []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, format string, text []byte) {
		metertest.Hold(t, len(format)+len(text))
		r, err := NumberFormat(format).Reader()
		if err != nil {
			return
		}
		out, ok := r.Plain(nil, text)
		if !ok {
			if len(out) != 0 {
				t.Fatal("something was appended for no number")
			}
			return
		}
		if strings.Trim(string(out), "-.0123456789") != "" {
			t.Fatalf("%q is no plain number", out)
		}
		digits, places, _ := strings.Cut(strings.TrimPrefix(string(out), "-"), ".")
		again := r.write(digits, places, out[0] == '-', false, false)
		if got, ok := r.Plain(nil, []byte(again)); !ok || string(got) != string(out) {
			t.Fatalf("%q was read as %q, and %q as %q", text, out, again, got)
		}
	})
}
