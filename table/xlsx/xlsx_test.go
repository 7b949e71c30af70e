package xlsx_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/csvio"
	"github.com/noren-privacy/noren/table/file"
	"github.com/noren-privacy/noren/table/tabletest"
	"github.com/noren-privacy/noren/table/xlsx"
)

func open(t *testing.T, path string, o xlsx.Options) (*xlsx.Source, error) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if o.Name == "" {
		o.Name = filepath.Base(path)
	}
	src, err := xlsx.OpenFile(t.Context(), f, o)
	if err == nil {
		t.Cleanup(func() { _ = src.Close() })
	}
	return src, err
}

// write makes a workbook by an independent program.
func write(t *testing.T, rows [][]any, also func(f *excelize.File)) string {
	t.Helper()
	f := excelize.NewFile()
	for i, row := range rows {
		for j, v := range row {
			if v == nil {
				continue
			}
			at, _ := excelize.CoordinatesToCellName(j+1, i+1)
			if err := f.SetCellValue("Sheet1", at, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	if also != nil {
		also(f)
	}
	path := filepath.Join(t.TempDir(), "book.xlsx")
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func format(t *testing.T, f *excelize.File, cells, code string) {
	t.Helper()
	id, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
	if err != nil {
		t.Fatal(err)
	}
	from, to, _ := strings.Cut(cells, ":")
	if err := f.SetCellStyle("Sheet1", from, to, id); err != nil {
		t.Fatal(err)
	}
}

// Cells of every type, made by another program: by their type and format.
func TestTypes(t *testing.T) {
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	path := write(t, [][]any{
		{"id", "名前", "fee", "born", "seen", "at", "ok", "mixed", "long", "days", 2024, "gaps"},
		{1, "a <&> \"b\"", 12.5, day, day.Add(13*time.Hour + 5*time.Minute), 0.5, true, "NA", 1.5, 0.25, "x", nil},
		{2, "  blank ", 13, day.AddDate(-90, 0, 0), day.Add(time.Second), 0.75, false, 7, 2, 1.25, "y", 3},
		{}, // no record
		{3, "=1+1", 0.1, day, day, 0.999988425925926, true, day, 12345678901234567.0, 2, "z", nil},
	}, func(f *excelize.File) {
		format(t, f, "D2:D5", "yyyy/mm/dd")
		format(t, f, "E2:E5", "[$-411]ggge\"年\"m\"月\"d\"日\" h:mm")
		format(t, f, "F2:F5", "h:mm:ss AM/PM")
		format(t, f, "H5:H5", "d. mmm")
		format(t, f, "J2:J5", "[h]:mm")
		format(t, f, "C2:C5", `#,##0.00 "days"`)
	})
	src, err := open(t, path, xlsx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range src.Columns() {
		names = append(names, c.Name)
	}
	if diff := cmp.Diff([]string{"id", "名前", "fee", "born", "seen", "at", "ok", "mixed", "long", "days", "2024", "gaps"}, names); diff != "" {
		t.Error(diff)
	}
	want := [][]string{
		{"1", "a <&> \"b\"", "12.5", "2024-02-29", "2024-02-29T13:05:00", "12:00:00", "true", "NA", "1.5", "0.25", "x", "<null>"},
		{"2", "  blank ", "13", "1934-03-01", "2024-02-29T00:00:01", "18:00:00", "false", "7", "2", "1.25", "y", "3"},
		{"3", "=1+1", "0.1", "2024-02-29", "2024-02-29T00:00:00", "23:59:59", "true", "2024-02-29", "12345678901234568", "2", "z", "<null>"},
	}
	if diff := cmp.Diff(want, tabletest.Texts(t, src)); diff != "" {
		t.Error(diff)
	}
	kinds := map[string]table.LogicalType{
		"born": table.Day, "seen": table.Instant, "at": table.Clock, "ok": table.Boolean,
		"mixed": table.Mixed, "days": table.Plain,
	}
	for _, c := range src.Columns() {
		if want, ok := kinds[c.Name]; ok && c.Logical.Of != want {
			t.Errorf("column %s is %v, want %v", c.Name, c.Logical.Of, want)
		}
	}

	// Written and read by the other program: types, formats and values stay.
	out := filepath.Join(t.TempDir(), "out.xlsx")
	copyTo(t, src, out)
	again, err := open(t, out, xlsx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, tabletest.Texts(t, again)); diff != "" {
		t.Error(diff)
	}
	f, err := excelize.OpenFile(out)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for cell, want := range map[string]string{
		"C2": "12.50 days", "D2": "2024/02/29", "F2": "12:00:00 PM", "B4": "=1+1", "H2": "NA", "H3": "7",
		"G2": "TRUE", "J3": "30:00",
	} {
		if got, err := f.GetCellValue("Sheet1", cell); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", cell, got, err, want)
		}
	}
	for cell, want := range map[string]excelize.CellType{
		"A2": excelize.CellTypeUnset, "B4": excelize.CellTypeInlineString,
		"G2": excelize.CellTypeBool, "D2": excelize.CellTypeUnset,
	} {
		if got, err := f.GetCellType("Sheet1", cell); err != nil || got != want {
			t.Errorf("%s is of type %v, want %v", cell, got, want)
		}
	}
	for _, cell := range []string{"B4"} {
		if formula, err := f.GetCellFormula("Sheet1", cell); err != nil || formula != "" {
			t.Errorf("%s is the formula %s", cell, formula)
		}
	}
}

func copyTo(t testing.TB, src table.Source, path string) {
	t.Helper()
	sink, err := file.Create(path, src.Columns(), csvio.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for {
		c, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := sink.Write(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
}

// Sheets by name and number, header rows, titles, merged cells, formulas.
func TestSheetsAndTitles(t *testing.T) {
	set := func(f *excelize.File, sheet, cell string, v any) {
		if err := f.SetCellValue(sheet, cell, v); err != nil {
			t.Fatal(err)
		}
	}
	path := write(t, [][]any{{"a", "b"}, {1, 2}}, func(f *excelize.File) {
		for _, name := range []string{"Title", "Merged", "Beside", "Computed", "Uncomputed", "Empty", "2"} {
			if _, err := f.NewSheet(name); err != nil {
				t.Fatal(err)
			}
		}
		set(f, "Title", "B2", "Report of 2024")
		if err := f.MergeCell("Title", "B2", "D2"); err != nil {
			t.Fatal(err)
		}
		for i, v := range []any{"x", "y", "z"} {
			at, _ := excelize.CoordinatesToCellName(i+2, 4)
			set(f, "Title", at, v)
			at, _ = excelize.CoordinatesToCellName(i+2, 5)
			set(f, "Title", at, i)
		}
		for _, at := range []string{"A1", "B1", "A2", "B2", "A3"} {
			set(f, "Merged", at, at)
		}
		if err := f.MergeCell("Merged", "B2", "B3"); err != nil {
			t.Fatal(err)
		}
		set(f, "Beside", "A1", "a")
		set(f, "Beside", "C2", 1)
		set(f, "Computed", "A1", "a")
		set(f, "Computed", "A2", 42)
		set(f, "Uncomputed", "A1", "a")
		if err := f.SetCellFormula("Uncomputed", "A2", "1+1"); err != nil {
			t.Fatal(err)
		}
		set(f, "2", "A1", "second by name")
	})
	for _, c := range []struct {
		sheet  string
		header int
		want   string // the names, or a part of the error
		kind   noren.Kind
	}{
		{"", 0, "a b", 0},
		{"Sheet1", 1, "a b", 0},
		{"1", 0, "a b", 0},
		{"2", 0, "second by name", 0}, // a name comes first
		{"Title", 4, "x y z", 0},
		{"Title", 0, "x y z", 0}, // found below the title
		{"Title", 2, "sheet Title, row 4, column C: holds a value beside the table: row 2 names the columns B to B alone (if the rows above " +
			"the table hold a title", noren.BadData},
		{"Title", 3, "row 3: the row is blank", noren.BadData},
		{"Title", 9, "row 9: the row is blank or missing", noren.BadData},
		{"Merged", 0, "sheet Merged, row 2, column B (B1): the cells B2:B3 are merged", noren.BadData},
		{"Beside", 0, "row 2, column C: holds a value beside", noren.BadData},
		{"Computed", 0, "a", 0},
		{"Uncomputed", 0, "row 2, column A (a): is a formula without a stored value", noren.BadData},
		{"Empty", 0, "the sheet is empty", noren.BadData},
		{
			"none", 0,
			`expected one of its sheets (Sheet1, Title, Merged, Beside, Computed, Uncomputed, Empty, 2) or a number from 1 to 8, got "none"`,
			noren.Usage,
		},
		{"9", 0, "a number from 1 to 8", noren.Usage},
	} {
		src, err := open(t, path, xlsx.Options{Sheet: c.sheet, HeaderRow: c.header})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) || noren.KindOf(err) != c.kind {
				t.Errorf("sheet %s, row %d: %v", c.sheet, c.header, err)
			}
			continue
		}
		var names []string
		for _, col := range src.Columns() {
			names = append(names, col.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("sheet %s, row %d: columns %s, want %s", c.sheet, c.header, got, c.want)
		}
	}
}

// parts makes a workbook of one sheet by hand.
func parts(t testing.TB, sheet string, more map[string]string) []byte {
	t.Helper()
	all := map[string]string{
		"_rels/.rels":                `<Relationships xmlns="p"><Relationship Id="r" Type="x/officeDocument" Target="/xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml":            `<x:workbook xmlns:x="m" xmlns:r="o"><x:workbookPr date1904="0"/><x:sheets><x:sheet name="S" sheetId="1" r:id="rId1"/></x:sheets></x:workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="s" Type="x/styles" Target="styles.xml"/><Relationship Id="t" Type="x/sharedStrings" Target="sharedStrings.xml"/></Relationships>`,
		"xl/styles.xml":              `<styleSheet><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="20"/></cellXfs></styleSheet>`,
		"xl/sharedStrings.xml":       `<sst><si><t>a</t></si><si><r><t xml:space="preserve">東 </t></r><r><t>京</t></r><rPh sb="0" eb="1"><t>トウ</t></rPh></si><si><t>x_x000D__x005F_x0041_</t></si></sst>`,
		"xl/worksheets/sheet1.xml":   `<worksheet><sheetData>` + sheet + `</sheetData></worksheet>`,
	}
	for name, content := range more {
		all[name] = content
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, content := range all {
		if content == "-" {
			continue
		}
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// held is a workbook in memory.
type held struct{ *bytes.Reader }

func (held) Close() error { return nil }
func (h held) Stat() (os.FileInfo, error) {
	return info{h.Size()}, nil
}

type info struct{ size int64 }

func (i info) Name() string     { return "b.xlsx" }
func (i info) Size() int64      { return i.size }
func (info) Mode() os.FileMode  { return 0o600 }
func (info) ModTime() time.Time { return time.Time{} }
func (info) IsDir() bool        { return false }
func (info) Sys() any           { return nil }

func openBytes(b []byte) (*xlsx.Source, error) {
	return xlsx.OpenFile(context.Background(), held{bytes.NewReader(b)}, xlsx.Options{Name: "b.xlsx"})
}

// Forms of cells that other programs write: without references, by shared texts
// with phonetic readings, rich, computed, and dates before March 1900.
func TestForms(t *testing.T) {
	for _, c := range []struct{ name, cells, want string }{
		{"shared", `<c r="A2" t="s"><v>1</v></c>`, "東 京"},
		{"escaped", `<c t="s"><v>2</v></c>`, "x\r_x0041_"},
		{"inline", `<c t="inlineStr"><is><r><t>&#x3042;&lt;</t></r><t>b</t></is></c>`, "あ<b"},
		{"cdata", `<c t="str"><v><![CDATA[<x>]]></v></c>`, "<x>"},
		{"computed text", `<c t="str"><f>A1&amp;"x"</f><v>ax</v></c>`, "ax"},
		{"computed number", `<c><f>1+1</f><v>2</v></c>`, "2"},
		{"computed nothing", `<c t="str"><f>""</f><v></v></c>`, "<null>"},
		{"error", `<c t="e"><f>1/0</f><v>#DIV/0!</v></c>`, "#DIV/0!"},
		{"boolean", `<c t="b"><v>1</v></c>`, "true"},
		{"strict date", `<c t="d"><v>2024-02-29T12:30:00.5</v></c>`, "2024-02-29T12:30:00.500000"},
		{"first day", `<c s="1"><v>1</v></c>`, "1900-01-01"},
		{"28 February 1900", `<c s="1"><v>59</v></c>`, "1900-02-28"},
		{"1 March 1900", `<c s="1"><v>61</v></c>`, "1900-03-01"},
		{"last day", `<c s="1"><v>2958465</v></c>`, "9999-12-31"},
		{"no day", `<c s="1"><v>2958466</v></c>`, "2958466"},
		{"negative day", `<c s="1"><v>-1</v></c>`, "-1"},
		{"rounded instant", `<c s="2"><v>45351.545243055552</v></c>`, "2024-02-29T13:05:09"},
		{"exponent", `<c><v>1.5E-3</v></c>`, "0.0015"},
		{"comment", `<!-- <c><v>9</v></c> --><c><v>1</v></c><?p >?>`, "1"},
		{"quoted >", `<c s='0' x="a>b"><v>3</v></c>`, "3"},
	} {
		src, err := openBytes(parts(t, `<row><c t="s"><v>0</v></c></row><row r="2">`+c.cells+`</row>`, nil))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		rows := tabletest.Texts(t, src)
		if c.want == "<null>" && len(rows) == 1 && rows[0][0] == "<null>" {
			continue
		}
		if len(rows) != 1 || rows[0][0] != c.want {
			t.Errorf("%s: %q, want %q", c.name, rows, c.want)
		}
		_ = src.Close()
	}
	old, err := openBytes(parts(t, `<row><c t="s"><v>0</v></c></row><row><c s="1"><v>0</v></c></row><row><c s="1"><v>1</v></c></row>`,
		map[string]string{
			"xl/workbook.xml": `<workbook><workbookPr date1904="1"/><sheets><sheet name="S" id="rId1"/></sheets></workbook>`,
		}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"1904-01-01"}, {"1904-01-02"}}, tabletest.Texts(t, old)); diff != "" {
		t.Error(diff)
	}
}

// Bad workbooks are errors with a place, and none holds a value.
func TestBad(t *testing.T) {
	head := `<row><c t="s"><v>0</v></c></row>`
	good := parts(t, head, nil)
	secret := "secret"
	for _, c := range []struct {
		name string
		book []byte
		want string
	}{
		{"empty", nil, "is no workbook, or was cut short"},
		{"text", []byte("a,b\n"), "is no workbook, or was cut short"},
		{"truncated", good[:len(good)/2], "is no workbook, or was cut short"},
		{"no workbook", parts(t, head, map[string]string{"xl/workbook.xml": "-"}), "it has no part xl/workbook.xml"},
		{"no sheet", parts(t, head, map[string]string{"xl/worksheets/sheet1.xml": "-"}), "its part xl/worksheets/sheet1.xml is missing"},
		{"open element", parts(t, head+"<row>", map[string]string{}), "cannot be read: the XML is damaged"},
		{"short", parts(t, head, map[string]string{"xl/worksheets/sheet1.xml": "<worksheet><sheetData>"}), "the XML ends too early"},
		{
			"document type", parts(t, head, map[string]string{"xl/worksheets/sheet1.xml": `<!DOCTYPE x [<!ENTITY a "b">]><worksheet/>`}),
			"declares a document type",
		},
		{
			"UTF-16", parts(t, head, map[string]string{"xl/worksheets/sheet1.xml": `<?xml version="1.0" encoding="UTF-16"?><worksheet/>`}),
			"not in UTF-8",
		},
		{"no number", parts(t, head+`<row><c><v>`+secret+`</v></c></row>`, nil), "sheet S, row 2, column A (a): expected a number"},
		{"infinite", parts(t, head+`<row><c><v>1e999</v></c></row>`, nil), "expected a number"},
		{"no boolean", parts(t, head+`<row><c t="b"><v>`+secret+`</v></c></row>`, nil), "expected TRUE or FALSE"},
		{"no date", parts(t, head+`<row><c t="d"><v>`+secret+`</v></c></row>`, nil), "expected a date"},
		{"no shared text", parts(t, head+`<row><c t="s"><v>99</v></c></row>`, nil), "names a text that the workbook does not hold"},
		{"not UTF-8", parts(t, head+`<row><c t="str"><v>`+"\xff"+secret+`</v></c></row>`, nil), "not valid UTF-8"},
		{"rows out of order", parts(t, `<row r="5"><c t="s"><v>0</v></c></row><row r="5"/>`, nil), "rows are not in order"},
		{"cells out of order", parts(t, `<row><c r="B1" t="s"><v>0</v></c><c r="A1" t="s"><v>0</v></c></row>`, nil), "cells are not in order"},
		{"cell of another row", parts(t, `<row><c r="B7" t="s"><v>0</v></c></row>`, nil), "cells are not in order"},
		{"same name", parts(t, `<row><c t="s"><v>0</v></c><c t="s"><v>0</v></c></row>`, nil), `the name "a" is that of column A already`},
		{
			"no name", parts(t, `<row><c r="A1" t="s"><v>0</v></c><c r="C1" t="str"><v>c</v></c></row>`, nil),
			"row 1, column B: the column has no name",
		},
		{
			"merged header",
			parts(t, head,
				map[string]string{
					"xl/worksheets/sheet1.xml": `<worksheet><sheetData><row><c t="s"><v>0</v></c></row></sheetData><mergeCells><mergeCell ref="A1:B1"/></mergeCells></worksheet>`,
				}), "the cells A1:B1 are merged",
		},
	} {
		src, err := openBytes(c.book)
		if err == nil {
			_ = src.Close()
			t.Errorf("%s: no error", c.name)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || noren.KindOf(err) != noren.BadData || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
	if err := xlsx.Refuse("old.xls", []byte("\xd0\xcf\x11\xe0")); noren.KindOf(err) != noren.BadData {
		t.Errorf("an old workbook: %v", err)
	}
}

// changing is a file that another program writes to.
type changing struct {
	held
	asked int
}

func (c *changing) Stat() (os.FileInfo, error) {
	c.asked++
	return info{c.Size() + int64(c.asked-1)}, nil
}

func TestChanged(t *testing.T) {
	book := parts(t, `<row><c t="s"><v>0</v></c></row><row><c><v>1</v></c></row>`, nil)
	_, err := xlsx.OpenFile(t.Context(), &changing{held: held{bytes.NewReader(book)}}, xlsx.Options{Name: "b.xlsx"})
	if noren.KindOf(err) != noren.BadData || !strings.Contains(err.Error(), "b.xlsx: the file was changed while it was read") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := xlsx.OpenFile(ctx, held{bytes.NewReader(book)}, xlsx.Options{Name: "b.xlsx"}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// FuzzBook holds all parts of a workbook to the memory of the limits.
func FuzzBook(f *testing.F) {
	f.Add(`<row><c t="s"><v>0</v></c></row>`, `<sst><si><t>a</t></si></sst>`,
		`<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`,
		`<x:workbook xmlns:x="m" xmlns:r="o"><x:sheets><x:sheet name="S" sheetId="1" r:id="rId1"/></x:sheets></x:workbook>`)
	f.Add(strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 500), `<sst>`+strings.Repeat(`<si/>`, 5000)+`</sst>`, `<styleSheet><cellXfs>`+
		strings.Repeat(`<xf/>`, 2000)+`</cellXfs></styleSheet>`, `<workbook/>`)
	f.Add(`<row><c r="XFD1048576"><v>1</v></c></row></sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells><sheetData>`,
		`<sst><si><t>`+strings.Repeat("a", 30_000)+`</t></si></sst>`,
		`<styleSheet><numFmts><numFmt numFmtId="200" formatCode="yyyy"/></numFmts></styleSheet>`, `<workbook/>`)
	f.Fuzz(func(t *testing.T, sheet, shared, styles, book string) {
		metertest.Hold(t, len(sheet)+len(shared)+len(styles)+len(book))
		more := map[string]string{"xl/sharedStrings.xml": shared, "xl/styles.xml": styles, "xl/workbook.xml": book}
		src, err := openBytes(parts(t, sheet, more))
		if err == nil {
			err = src.Close()
		}
		if err != nil && noren.KindOf(err) != noren.BadData && noren.KindOf(err) != noren.Usage {
			t.Errorf("of kind %v: %v", noren.KindOf(err), err)
		}
	})
}

// FuzzSheet makes sure that no sheet is read into records that do not fit its
// columns, or makes the reader panic, and that what is read can be written and is
// then read alike.
func FuzzSheet(f *testing.F) {
	for _, seed := range []string{
		`<row><c t="s"><v>0</v></c></row><row><c><v>1</v></c></row>`,
		`<row r="2"><c r="B2" t="str"><v>x</v></c><c t="str"><v>y</v></c></row><row r="9"><c r="C9" s="1"><v>45351</v></c></row>`,
		`<row><c t="inlineStr"><is><t>a</t></is></c></row><row><row><c><v>2</v></c></row></row>`,
		`<c><v>1</v></c>`, `<row><c t="s"><v>0</v></c></row><row><c t="b"><v>1</v></c></row><row><c t="e"><v>#N/A</v></c></row>`,
		`<row><c t="s"><v>0</v></c></row></sheetData><mergeCells><mergeCell ref="A1:B2"/></mergeCells><sheetData>`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, sheet string) {
		metertest.Hold(t, len(sheet))
		src, err := openBytes(parts(t, sheet, nil))
		if err != nil {
			if noren.KindOf(err) != noren.BadData {
				t.Fatalf("of kind %v: %v", noren.KindOf(err), err)
			}
			return
		}
		defer func() { _ = src.Close() }()
		rows := tabletest.Texts(t, src)
		for _, row := range rows {
			if len(row) != len(src.Columns()) {
				t.Fatalf("a record of %d values", len(row))
			}
		}
		path := filepath.Join(t.TempDir(), "again.xlsx")
		copyTo(t, src, path)
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		again, err := xlsx.OpenFile(t.Context(), in, xlsx.Options{Name: "again.xlsx"})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = again.Close() }()
		if diff := cmp.Diff(rows, tabletest.Texts(t, again)); diff != "" {
			t.Fatal(diff)
		}
	})
}
