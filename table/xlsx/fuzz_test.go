package xlsx

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/noren-privacy/noren/internal/meter/metertest"
)

// events are the elements and texts of a document, neighbouring texts joined.
func events(next func() (string, error)) (string, error) {
	var b strings.Builder
	for {
		e, err := next()
		if errors.Is(err, io.EOF) {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		b.WriteString(e)
	}
}

func ours(in io.Reader) (string, error) {
	s := newScanner(in)
	return events(func() (string, error) {
		k, err := s.next()
		if err != nil {
			return "", err
		}
		switch k {
		case start:
			v, _ := s.attr("r")
			return fmt.Sprintf("<%s %q>", s.name, v), nil
		case end:
			return fmt.Sprintf("</%s>", s.name), nil
		}
		if len(s.open) == 0 {
			return "", nil
		}
		return string(s.text), nil
	})
}

func theirs(in io.Reader) (string, error) {
	d := xml.NewDecoder(in)
	depth := 0
	return events(func() (string, error) {
		t, err := d.Token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.StartElement:
			depth++
			v := ""
			for _, a := range t.Attr {
				if a.Name.Local == "r" && a.Name.Space != "xmlns" {
					v = a.Value
					break
				}
			}
			return fmt.Sprintf("<%s %q>", t.Name.Local, v), nil
		case xml.EndElement:
			depth--
			return fmt.Sprintf("</%s>", t.Name.Local), nil
		case xml.CharData:
			if depth > 0 {
				return string(t), nil
			}
		case xml.Directive:
			return "", errEntry
		}
		return "", nil
	})
}

// FuzzScanner compares the scanner with encoding/xml: on what both accept they
// agree, in whatever pieces it comes.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`<a r="1"><b/>x &lt;&#x3042;<![CDATA[<y>]]></a>`,
		`<?xml version="1.0" encoding="UTF-8"?><x:a xmlns:x="u"><x:c r='A"1' t="s"><v>3</v></x:c></x:a>`,
		"<a>\r\n\r</a>", "<!-- <b> --><a/>", `<!DOCTYPE a><a/>`, "<a", "<a></b>", "<a>&no;</a>", "<a r=\"a>b\"/>", "<a/><b/>", "x<a/>", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		metertest.Hold(t, len(doc))
		a, err := ours(bytes.NewReader(doc))
		pieces, err2 := ours(iotest.OneByteReader(bytes.NewReader(doc)))
		if a != pieces || (err == nil) != (err2 == nil) {
			t.Fatalf("in pieces %q %v, else %q %v", pieces, err2, a, err)
		}
		if err != nil {
			return
		}
		b, err := theirs(bytes.NewReader(doc))
		if err == nil && a != b {
			t.Fatalf("got %q, want %q", a, b)
		}
	})
}

// FuzzNumFmt makes sure that no format code makes senseOf panic.
func FuzzNumFmt(f *testing.F) {
	for _, seed := range []string{
		"yyyy-mm-dd", `[$-411]ggge"年"m"月"`, "[h]:mm:ss", `#,##0.00 "d"`, "0.00E+00", "mm:ss.0", "General", `\d0`,
		"[", `"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) {
		metertest.Hold(t, len(code))
		_ = senseOf(code)
	})
}

func TestSenseOf(t *testing.T) {
	for code, want := range map[string]sense{
		"yyyy-mm-dd": date, "m/d/yyyy h:mm": instant, `yyyy-mm-dd"T"hh:mm`: instant, "mmm": date, "d": date, `[$-411]ggge"年"m"月"d"日"`: date,
		"[$-F800]dddd, mmmm dd, yyyy": date, `yyyy"年"m"月"`: date, "DD.MM.YY": date, "[Red]yyyy": date,
		"h:mm": timeOfDay, "hh:mm:ss": timeOfDay, "mm:ss.0": timeOfDay, "h:mm AM/PM": timeOfDay, `h"時"mm"分"`: timeOfDay,
		"[h]:mm": number, "[mm]:ss": number, "[ss]": number, "General": number, "0": number, "#,##0.00": number, "0.00E+00": number,
		`"day "0`: number, `\d0`: number, "@": number, "": number, `0.0_d`: number, "[Red]0;[Blue]yyyy": number, "¥#,##0": number,
		"# ?/?": number, `"yyyy"`: number,
	} {
		if got := senseOf(code); got != want {
			t.Errorf("%q is %d, want %d", code, got, want)
		}
	}
}

func TestPlace(t *testing.T) {
	for _, column := range []int{0, 25, 26, 51, 701, 702, mostColumns - 1} {
		ref := append(appendColumn(nil, column), "17"...)
		if c, row, ok := place(ref); !ok || c != column || row != 16 {
			t.Errorf("%s is column %d, row %d, %v", ref, c, row, ok)
		}
	}
	for _, ref := range []string{"", "A", "1", "A0", "XFE1", "A1048577", "AAAAA1", "a1", "A1B"} {
		if _, _, ok := place([]byte(ref)); ok {
			t.Errorf("%q was taken for a place", ref)
		}
	}
}

func BenchmarkScanner(b *testing.B) {
	doc := []byte("<sheetData>" + strings.Repeat(`<row r="1"><c r="A1" s="3"><v>45351.5</v></c><c r="B1" t="s"><v>17</v></c></row>`, 10000) +
		"</sheetData>")
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		s := newScanner(bytes.NewReader(doc))
		for {
			if _, err := s.next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}
