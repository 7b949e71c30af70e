// Package bombs makes small files that state more than a machine holds, for tests.
package bombs

import (
	"archive/zip"
	"fmt"
	"io"
	"strings"
)

// Repeated is a text many times, between two others.
type Repeated struct {
	Before, Text string
	Times        int
	After        string
}

// Repeat is a text many times, between two others.
func Repeat(before, text string, times int, after string) Repeated {
	return Repeated{Before: before, Text: text, Times: times, After: after}
}

// Write writes the texts in blocks, so that long ones take little memory.
func (r Repeated) Write(w io.Writer) error {
	_, err := io.WriteString(w, r.Before)
	block := min(max(1, r.Times), max(1, (1<<20)/max(1, len(r.Text))))
	some := strings.Repeat(r.Text, block)
	for i := r.Times; i > 0 && err == nil; i -= block {
		_, err = io.WriteString(w, some[:min(i, block)*len(r.Text)])
	}
	if err == nil {
		_, err = io.WriteString(w, r.After)
	}
	return err
}

// relations is the beginning of the types of relations between parts.
const relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"

// Sheet is a worksheet with a column "name", whose further rows are a text many times.
func Sheet(text string, times int) Repeated {
	return Repeated{`<worksheet><sheetData><row><c t="str"><v>name</v></c></row>`, text, times, `</sheetData></worksheet>`}
}

// Workbook writes a workbook of one sheet with the given parts instead of ordinary ones, and
// as many empty parts beside them.
func Workbook(w io.Writer, parts map[string]Repeated, empty int) error {
	all := map[string]Repeated{
		"xl/workbook.xml": {Before: `<workbook xmlns:r="` + relations +
			`"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>`},
		"xl/_rels/workbook.xml.rels": {Before: `<Relationships><Relationship Id="r1" Type="` + relations +
			`/worksheet" Target="worksheets/sheet1.xml"/>` +
			`<Relationship Id="r2" Type="` + relations + `/styles" Target="styles.xml"/>` +
			`<Relationship Id="r3" Type="` + relations + `/sharedStrings" Target="sharedStrings.xml"/></Relationships>`},
		"xl/styles.xml":            {Before: `<styleSheet/>`},
		"xl/sharedStrings.xml":     {Before: `<sst/>`},
		"xl/worksheets/sheet1.xml": Sheet(`<row><c><v>1</v></c></row>`, 1),
	}
	for name, p := range parts {
		all[name] = p
	}
	z := zip.NewWriter(w)
	for name, p := range all {
		part, err := z.Create(name)
		if err != nil {
			return err
		}
		if err := p.Write(part); err != nil {
			return err
		}
	}
	for i := range empty {
		if _, err := z.CreateRaw(&zip.FileHeader{Name: fmt.Sprint(i)}); err != nil {
			return err
		}
	}
	return z.Close()
}
