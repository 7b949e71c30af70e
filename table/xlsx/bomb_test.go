package xlsx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
	"github.com/noren-privacy/noren/internal/meter/bombs"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/internal/randtest"
)

// bombBook is a workbook of one sheet with the given parts instead of ordinary ones.
func bombBook(t *testing.T, parts map[string]bombs.Repeated, empty int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.xlsx")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(bombs.Workbook(f, parts, empty), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// through reads a workbook whole and keeps nothing.
func through(path string, limits meter.Limits) (rows int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	src, err := OpenFile(context.Background(), f, Options{Name: "a.xlsx", Limits: limits})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		return 0, err
	}
	for {
		c, err := r.Next()
		if err == io.EOF {
			return rows, r.Close()
		}
		if err != nil {
			return rows, err
		}
		rows += c.Rows
	}
}

// Small workbooks that unpack to much: each is read, or refused with the code, within 256
// MiB.
func TestBombs(t *testing.T) {
	randtest.SkipShort(t)
	sheet := func(text string, times int) map[string]bombs.Repeated {
		return map[string]bombs.Repeated{"xl/worksheets/sheet1.xml": bombs.Sheet(text, times)}
	}
	shared := func(size, rows int) map[string]bombs.Repeated {
		m := sheet(`<row><c t="s"><v>0</v></c></row>`, rows)
		m["xl/sharedStrings.xml"] = bombs.Repeat("<sst><si><t>", "a", size, "</t></si></sst>")
		return m
	}
	wide := shared(2<<20, 0)
	wide["xl/worksheets/sheet1.xml"] = bombs.Repeat(`<worksheet><sheetData><row>`, `<c t="s"><v>0</v></c>`, 1000,
		`</row></sheetData></worksheet>`)
	wideRow := shared(2<<20, 0)
	names := ""
	for i := range 1000 {
		names += fmt.Sprintf(`<c t="str"><v>n%d</v></c>`, i)
	}
	wideRow["xl/worksheets/sheet1.xml"] = bombs.Repeat(`<worksheet><sheetData><row>`+names+`</row><row>`, `<c t="s"><v>0</v></c>`, 1000,
		`</row></sheetData></worksheet>`)
	for _, c := range []struct {
		name    string
		parts   map[string]bombs.Repeated
		empty   int
		rows    int // 0: refused
		refusal string
	}{
		{
			"empty shared texts",
			map[string]bombs.Repeated{"xl/sharedStrings.xml": bombs.Repeat("<sst>", "<si/>", 60_000_000, "</sst>")},
			0, 0,
			"a.xlsx: part xl/sharedStrings.xml",
		},
		{"shared text", shared(2<<20, 300), 0, 300, ""},
		{"shared text, more in all than the limit", shared(2<<20, 3000), 0, 0, "a.xlsx: sheet Sheet1, row"},
		{"shared text in a row", wideRow, 0, 0, "a.xlsx: sheet Sheet1, row 2, column"},
		{"shared text in the names", wide, 0, 0, "a.xlsx: sheet Sheet1, row 1, column"},
		{"styles", map[string]bombs.Repeated{"xl/styles.xml": bombs.Repeat("<styleSheet><cellXfs>", "<xf/>", 20_000_000,
			"</cellXfs></styleSheet>")}, 0, 0, "a.xlsx: part xl/styles.xml"},
		{"nesting", sheet("<nest>", 1_000_000), 0, 0, "a.xlsx: part xl/worksheets/sheet1.xml"},
		{"one cell of many texts", sheet(`<row><c t="inlineStr"><is>`+strings.Repeat(`<t>`+strings.Repeat("a", 1<<20)+`</t>`, 20)+
			`</is></c></row>`, 1), 0, 0, "a.xlsx: part xl/worksheets/sheet1.xml"},
		{"parts", nil, 300_000, 0, "a.xlsx: its directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := bombBook(t, c.parts, c.empty)
			var rows int
			var err error
			most := metertest.Peak(t, func() { rows, err = through(path, meter.Limits{Unpacked: 1 << 30}) })
			t.Logf("%d MiB, %v", most>>20, err)
			if most > 256<<20 {
				t.Errorf("it takes %d MiB", most>>20)
			}
			switch {
			case c.rows > 0 && (err != nil || rows != c.rows):
				t.Errorf("%d rows, %v", rows, err)
			case c.rows == 0 && (noren.CodeOf(err) != meter.Code || !strings.HasPrefix(err.Error(), c.refusal)):
				t.Errorf("got %v, want the code %s at %s", err, meter.Code, c.refusal)
			}
		})
	}
}

// A row of one cell has as many cells as the table has columns: all of them count.
func TestSparseRows(t *testing.T) {
	names := ""
	for i := range 1000 {
		names += fmt.Sprintf(`<c t="str"><v>n%d</v></c>`, i)
	}
	parts := map[string]bombs.Repeated{"xl/worksheets/sheet1.xml": bombs.Repeat(`<worksheet><sheetData><row>`+names+`</row>`,
		`<row><c><v>1</v></c></row>`, 100_000, `</sheetData></worksheet>`)}
	rows, err := through(bombBook(t, parts, 0), meter.Limits{Unpacked: 16 << 20})
	if noren.CodeOf(err) != meter.Code || !strings.HasPrefix(err.Error(), "a.xlsx: sheet Sheet1, row ") {
		t.Errorf("%d records; %v", rows, err)
	}
}
