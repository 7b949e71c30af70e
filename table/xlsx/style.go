package xlsx

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
	"github.com/noren-privacy/noren/table/spool"
)

// Positions of the cell styles that every workbook of ours has.
const (
	styleGeneral = iota
	styleText    // with a mark: never a formula
	styleDay
	styleInstant
	styleClock
)

// stylist numbers the cell styles of a workbook.
type stylist struct {
	codes []string // of the styles behind the common ones
	ids   map[string]int
}

// of is the style of cells of a tag in column c.
func (s *stylist) of(c *table.StoredColumn, t spool.Tag) int {
	common := styleGeneral
	switch t {
	case spool.Day:
		common = styleDay
	case spool.Instant:
		common = styleInstant
	case spool.Clock:
		common = styleClock
	}
	o, ok := c.Origin.(*origin)
	if !ok {
		return common
	}
	if t == spool.Float || t == spool.Decimal {
		t = spool.Integer // numbers have one format
	}
	code := o.formats[t]
	// A code that does not show what the cell is would change its type.
	shows := map[spool.Tag]sense{spool.Integer: number, spool.Day: date, spool.Instant: instant, spool.Clock: timeOfDay}
	if want, ok := shows[t]; code == "" || !ok || senseOf(code) != want {
		return common
	}
	id, known := s.ids[code]
	if !known {
		if s.ids == nil {
			s.ids = map[string]int{}
		}
		id = styleClock + 1 + len(s.codes)
		s.ids[code] = id
		s.codes = append(s.codes, code)
	}
	return id
}

// part is xl/styles.xml.
func (s *stylist) part() []byte {
	const first = 164 // number of the first format of a file's own
	codes := append([]string{"yyyy-mm-dd", "yyyy-mm-dd hh:mm:ss", "hh:mm:ss"}, s.codes...)
	var b bytes.Buffer
	b.WriteString(xml.Header + `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">`)
	fmt.Fprintf(&b, `<numFmts count="%d">`, len(codes))
	for i, code := range codes {
		fmt.Fprintf(&b, `<numFmt numFmtId="%d" formatCode="`, first+i)
		_ = xml.EscapeText(&b, []byte(code))
		b.WriteString(`"/>`)
	}
	b.WriteString(`</numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>`)
	fmt.Fprintf(&b, `<cellXfs count="%d"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>`, 2+len(codes))
	b.WriteString(`<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" quotePrefix="1" applyNumberFormat="1"/>`)
	for i := range codes {
		fmt.Fprintf(&b, `<xf numFmtId="%d" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`, first+i)
	}
	b.WriteString(`</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`)
	return b.Bytes()
}

// The parts that are always the same.
var fixedParts = []struct{ name, content string }{
	{"[Content_Types].xml", `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
		`<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
		`<Default Extension="xml" ContentType="application/xml"/>` +
		`<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>` +
		`<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>` +
		`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`},
	{"_rels/.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="` + relations + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
	{"xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="` + relations + `">` +
		`<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`},
	{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
		`<Relationship Id="rId1" Type="` + relations + `/worksheet" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="rId2" Type="` + relations + `/styles" Target="styles.xml"/></Relationships>`},
}

const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

// isRisky reports whether a program could take a text for a formula.
func isRisky(text []byte) bool {
	return len(text) > 0 && strings.IndexByte("=+-@\t\r", text[0]) >= 0 || formula.Is(text)
}
