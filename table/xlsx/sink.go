package xlsx

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/spool"
)

// longestText is how many UTF-16 units a cell can hold.
const longestText = 32767

// Sink writes a workbook with one sheet.
type Sink struct {
	name    string
	columns []table.StoredColumn
	styles  stylist
	letters [][]byte
	out     *atomicfile.Output
	zip     *zip.Writer
	buf     *bufio.Writer
	cell    []byte // the text of a value in the making
	line    []byte
	records int64
	err     error
	closed  bool
}

var _ table.Sink = (*Sink)(nil)

// NewSink begins a workbook on w; name stands for the file in errors. Close ends
// it and, where w has a Sync method, syncs it, but does not close w.
func NewSink(w io.Writer, name string, columns []table.StoredColumn) (*Sink, error) {
	out := &atomicfile.Output{Writer: w}
	if len(columns) == 0 || len(columns) > mostColumns {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.File(name), What: "a sheet has 1 to %d columns, got %d",
			Args: []any{mostColumns, len(columns)},
		}
	}
	s := &Sink{name: name, columns: columns, out: out, zip: zip.NewWriter(out)}
	// The sheet stands last in the file and is written as it comes, but its
	// styles stand before it: they follow from the columns.
	for i := range columns {
		s.letters = append(s.letters, appendColumn(nil, i))
		for t := spool.Integer; t <= spool.Clock; t++ {
			s.styles.of(&columns[i], t)
		}
	}
	for _, p := range fixedParts {
		if err := s.part(p.name, []byte(xml.Header+p.content)); err != nil {
			return nil, err
		}
	}
	if err := s.part("xl/styles.xml", s.styles.part()); err != nil {
		return nil, err
	}
	w, err := s.zip.Create("xl/worksheets/sheet1.xml")
	if err != nil {
		return nil, s.failed(err)
	}
	s.buf = bufio.NewWriterSize(w, 256<<10)
	s.line = append(s.line, xml.Header+`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`...)
	return s, s.header()
}

func (s *Sink) part(name string, content []byte) error {
	w, err := s.zip.Create(name)
	if err == nil {
		_, err = w.Write(content)
	}
	if err != nil {
		return s.failed(err)
	}
	return nil
}

func (s *Sink) failed(err error) error {
	return &noren.Error{Where: noren.File(s.name), What: "cannot be written", Hint: atomicfile.Space(err), Err: atomicfile.Reason(err)}
}

func (s *Sink) header() error {
	s.line = append(s.line, `<row r="1">`...)
	seen := map[string]bool{}
	for i := range s.columns {
		name := s.columns[i].Name
		if strings.TrimSpace(name) == "" || seen[name] {
			return s.fail(i, noren.Textf("every column needs a name of its own"))
		}
		seen[name] = true
		if err := s.appendText(i, []byte(name)); err != nil {
			return err
		}
	}
	return s.endRow()
}

// Write implements [table.Sink]. A text that a cell cannot hold, and more records
// than a sheet can hold, are errors of kind BadData.
func (s *Sink) Write(c *table.Chunk) error {
	if s.err == nil {
		s.err = s.write(c)
	}
	return s.err
}

func (s *Sink) write(c *table.Chunk) error {
	if len(c.Cols) != len(s.columns) {
		return &noren.Error{
			Where: noren.File(s.name), What: "got a chunk of %d {column|columns} for a table of %d",
			Args: []any{len(c.Cols), len(s.columns)},
		}
	}
	for row := range c.Rows {
		if s.records+2 > mostRows {
			return &noren.Error{
				Kind: noren.BadData, Where: noren.File(s.name), What: "a sheet holds %d {record|records} at most",
				Args: []any{mostRows - 1}, Hint: "write the table as CSV or Parquet",
			}
		}
		s.records++
		s.line = append(s.line, `<row r="`...)
		s.line = strconv.AppendInt(s.line, s.records+1, 10)
		s.line = append(s.line, `">`...)
		empty := true
		for i := range c.Cols {
			v := &c.Cols[i]
			if v.IsNull(row) {
				continue
			}
			empty = false
			if err := s.value(i, v, row); err != nil {
				return err
			}
		}
		if empty {
			// A row without a cell would not be a record.
			if err := s.appendText(0, nil); err != nil {
				return err
			}
		}
		if err := s.endRow(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Sink) endRow() error {
	s.line = append(s.line, `</row>`...)
	if len(s.line) < 128<<10 {
		return nil
	}
	return s.flush()
}

func (s *Sink) flush() error {
	_, err := s.buf.Write(s.line)
	s.line = s.line[:0]
	if err != nil {
		return s.failed(err)
	}
	return nil
}

// value writes a value as a cell of its type, or as a text.
func (s *Sink) value(i int, v *table.Vector, row int) error {
	c := &s.columns[i]
	switch {
	case c.Logical.Of == table.Mixed && v.Kind == table.Text:
		cell := v.Texts[row]
		if t, bits, ok := spool.Number(cell); ok {
			if s.typed(i, t, int64(bits), math.Float64frombits(bits)) {
				return nil
			}
		} else if t == spool.Fault {
			s.open(i, styleGeneral, "e")
			s.line = append(s.line, `><v>`...)
			s.line = appendEscaped(s.line, cell[1:])
			s.line = append(s.line, `</v></c>`...)
			return nil
		}
	case v.Kind == table.Int:
		n, t := v.Ints[row], spool.Integer
		switch c.Logical.Of {
		case table.Boolean:
			t = spool.Boolean
		case table.Day:
			t = spool.Day
		case table.Instant, table.Clock:
			t = spool.Instant
			if c.Logical.Of == table.Clock {
				t = spool.Clock
			}
			var exact bool
			n, exact = microseconds(n, c.Logical.PerSecond)
			if !exact {
				t = spool.Null
			}
		case table.UTCInstant:
			t = spool.Null
		case table.Plain:
			if c.AppendText != nil {
				t = spool.Decimal // a decimal without its point, or more than 63 bits
			}
		}
		if t != spool.Decimal && s.typed(i, t, n, 0) {
			return nil
		}
	case v.Kind == table.Float && c.AppendText == nil:
		if s.typed(i, spool.Float, 0, v.Floats[row]) {
			return nil
		}
	}
	s.cell = table.AppendText(s.cell[:0], c, v, row)
	if f, ok := shortNumber(s.cell); ok && numeric(c, v) {
		s.cell = strconv.AppendFloat(s.cell[:0], f, 'g', -1, 64)
		s.number(i, s.styles.of(c, spool.Decimal), s.cell)
		return nil
	}
	return s.appendText(i, s.cell)
}

// numeric reports whether texts of the column are numbers.
func numeric(c *table.StoredColumn, v *table.Vector) bool {
	return v.Kind == table.Float || c.Proposed != nil && (*c.Proposed == table.Decimal || *c.Proposed == table.Integer)
}

// microseconds converts units; exact is false where parts of a microsecond are
// lost.
func microseconds(v, perSecond int64) (us int64, exact bool) {
	switch perSecond {
	case 1000:
		us = v * 1000
		return us, us/1000 == v
	case 1_000_000:
		return v, true
	}
	return v / 1000, v%1000 == 0
}

const (
	mostDigits  = 15
	mostInteger = 999_999_999_999_999
)

// typed writes a cell of a tag where a workbook can hold the value exactly.
func (s *Sink) typed(i int, t spool.Tag, n int64, f float64) bool {
	c := &s.columns[i]
	style := s.styles.of(c, t)
	switch t {
	case spool.Integer:
		if n > mostInteger || n < -mostInteger {
			return false
		}
		s.cell = strconv.AppendInt(s.cell[:0], n, 10)
	case spool.Float:
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
		s.cell = strconv.AppendFloat(s.cell[:0], f, 'g', -1, 64)
	case spool.Boolean:
		s.open(i, styleGeneral, "b")
		s.line = append(s.line, `><v>`...)
		s.line = append(strconv.AppendInt(s.line, n, 10), `</v></c>`...)
		return true
	case spool.Day:
		day, ok := serial(n * msPerDay * 1000)
		if !ok || n > lastDay || n < -epoch {
			return false
		}
		s.cell = strconv.AppendFloat(s.cell[:0], day, 'f', -1, 64)
	case spool.Instant:
		v, ok := serial(n)
		if !ok {
			return false
		}
		s.cell = strconv.AppendFloat(s.cell[:0], v, 'f', -1, 64)
	case spool.Clock:
		if n < 0 || n >= msPerDay*1000 || n%1000 != 0 {
			return false
		}
		s.cell = strconv.AppendFloat(s.cell[:0], float64(n)/(msPerDay*1000), 'f', -1, 64)
	default:
		return false
	}
	s.number(i, style, s.cell)
	return true
}

// shortNumber reads a plain number of at most 15 digits, which a workbook shows
// as it is.
func shortNumber(text []byte) (f float64, ok bool) {
	digit := func(i int) bool { return i < len(text) && text[i] >= '0' && text[i] <= '9' }
	first := 0
	if len(text) > 0 && text[0] == '-' {
		first = 1
	}
	// What begins otherwise than by a digit, or by a zero that a number would not
	// have, is a code.
	if len(text) > 2*mostDigits || !digit(first) || text[first] == '0' && digit(first+1) {
		return 0, false
	}
	f, _, err := table.ParseDecimal(text)
	digits := 0
	for _, b := range text {
		if b >= '0' && b <= '9' {
			digits++
		}
	}
	return f, err == nil && digits <= mostDigits
}

func (s *Sink) open(i, style int, kind string) {
	s.line = append(append(s.line, `<c r="`...), s.letters[i]...)
	s.line = strconv.AppendInt(s.line, s.row(), 10)
	s.line = append(s.line, '"')
	if style != styleGeneral {
		s.line = append(s.line, ` s="`...)
		s.line = append(strconv.AppendInt(s.line, int64(style), 10), '"')
	}
	if kind != "" {
		s.line = append(append(append(s.line, ` t="`...), kind...), '"')
	}
}

// row is the number of the row in the making.
func (s *Sink) row() int64 { return s.records + 1 }

func (s *Sink) number(i, style int, text []byte) {
	s.open(i, style, "")
	s.line = append(append(append(s.line, `><v>`...), text...), `</v></c>`...)
}

func (s *Sink) appendText(i int, text []byte) error {
	units := 0
	for _, r := range string(text) {
		if units++; r > 0xffff {
			units++
		}
	}
	switch {
	case !utf8.Valid(text):
		return s.fail(i, noren.Textf("a text is not valid UTF-8"))
	case units > longestText:
		return s.fail(i, noren.Textf("a text is longer than the %d {character|characters} that a cell holds", longestText))
	}
	style := styleGeneral
	if isRisky(text) {
		style = styleText
	}
	s.open(i, style, "inlineStr")
	s.line = append(s.line, `><is><t xml:space="preserve">`...)
	s.line = appendEscaped(s.line, text)
	s.line = append(s.line, `</t></is></c>`...)
	return nil
}

// appendEscaped appends text as XML; what XML cannot hold as _xHHHH_, and what
// would read as such with its underscore so.
func appendEscaped(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '&':
			dst = append(dst, "&amp;"...)
		case c == '<':
			dst = append(dst, "&lt;"...)
		case c == '>':
			dst = append(dst, "&gt;"...)
		case c < ' ' && c != '\t' && c != '\n':
			dst = fmt.Appendf(dst, "_x%04X_", c)
		case c == '_':
			if _, ok := controlAt(text[i:]); ok {
				dst = append(dst, "_x005F_"...)
				break
			}
			dst = append(dst, c)
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(text[i:])
			if r == 0xfffe || r == 0xffff {
				dst = fmt.Appendf(dst, "_x%04X_", r)
			} else {
				dst = append(dst, text[i:i+size]...)
			}
			i += size
			continue
		default:
			dst = append(dst, c)
		}
		i++
	}
	return dst
}

// fail makes an error about column i of the record in the making.
func (s *Sink) fail(i int, what noren.Text) error {
	at := noren.Position{File: s.name, Record: s.records, Field: i + 1, Column: s.columns[i].Name}
	return &noren.Error{Kind: noren.BadData, Where: at, What: what.Format, Args: what.Args, Hint: "write the table as CSV or Parquet"}
}

// Records is the number of records written.
func (s *Sink) Records() int64 { return s.records }

// Close implements [table.Sink].
func (s *Sink) Close() error {
	if s.closed {
		return s.err
	}
	if s.err != nil {
		err := s.err
		s.Abort()
		return err
	}
	s.closed = true
	s.line = append(s.line, `</sheetData></worksheet>`...)
	err := s.flush()
	if err == nil {
		err = s.buf.Flush()
	}
	if err == nil {
		err = s.zip.Close()
	}
	if err = s.out.Close(err); err != nil {
		s.err = s.failed(err)
	}
	return s.err
}

// Abort implements [table.Sink].
func (s *Sink) Abort() {
	if s.closed {
		return
	}
	s.closed = true
	s.out.Remove()
}
