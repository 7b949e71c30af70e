package csvio

import (
	"bufio"
	"encoding/binary"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/transform"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
)

// Sink writes a text table. Fields are quoted only where they must be: those
// that hold the delimiter, a quote or a line break, that begin or end with a
// blank, and the empty field of a table of one column, which would read as
// nothing.
//
// Texts that spreadsheets take for formulas are counted, and marked where the
// dialect asks for it.
type Sink struct {
	maker
	named   []bool // columns whose name is taken for a formula
	out     *atomicfile.Output
	packer  io.Closer // nil when nothing is packed
	buf     *bufio.Writer
	makers  []maker // of runs of a chunk side by side, none where that is not possible
	records int64
	wide    []byte // a record in UTF-16
	err     error  // once a write failed
	closed  bool
}

// maker makes the lines of records.
type maker struct {
	name    string
	columns []table.StoredColumn
	dialect Dialect
	classes [256]uint8
	delim   byte
	ending  string
	encoder transform.Transformer // nil for UTF-8

	line    []byte // the record in the making
	field   []byte // the text of a field in the making
	encoded []byte // the same in the encoding of the file
	lines   int64  // lines made
	breaks  int64  // line breaks within the record in the making

	marked   []byte  // a text with its mark
	formulas []int64 // texts that spreadsheets take for formulas, by column
}

var (
	_ table.Sink      = (*Sink)(nil)
	_ formula.Counter = (*Sink)(nil)
)

// What the bytes of a field ask for.
const (
	mustQuote uint8 = 1 << iota
	notASCII
	isNUL
	mayFormula
)

// NewSink writes the header of a table to w; name stands for the file in
// errors. Close ends the table and, where w has a Sync method, syncs it, but
// does not close w.
func NewSink(w io.Writer, name string, columns []table.StoredColumn, d Dialect) (*Sink, error) {
	out := &atomicfile.Output{Writer: w}
	if err := d.Validate(); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, &noren.Error{Kind: noren.Usage, Where: noren.File(name), What: "a table needs a column at least"}
	}
	d = d.withDefaults()
	s := &Sink{maker: maker{name: name, columns: columns, dialect: d, delim: byte(d.Delimiter), ending: "\n"}, out: out}
	if d.CRLF {
		s.ending = "\r\n"
	}
	for _, c := range []byte{s.delim, '"', '\n', '\r'} {
		s.classes[c] |= mustQuote
	}
	for c := utf8.RuneSelf; c < 256; c++ {
		s.classes[c] |= notASCII
	}
	s.classes[0] |= isNUL
	for c := range s.classes {
		if formula.May(byte(c)) {
			s.classes[c] |= mayFormula
		}
	}
	s.formulas = make([]int64, len(columns))
	s.encoder = d.Encoding.encoder()
	switch d.Compression {
	case Gzip:
		z := gzip.NewWriter(w)
		w, s.packer = z, z
	case Zstd:
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, &noren.Error{Where: noren.File(name), What: "cannot be packed", Err: err}
		}
		w, s.packer = z, z
	}
	s.buf = bufio.NewWriterSize(w, 256<<10)
	if err := s.header(); err != nil {
		return nil, err
	}
	own := func(c table.StoredColumn) bool { return c.AppendText != nil }
	if s.encoder == nil && !d.Encoding.wide() && !slices.ContainsFunc(columns, own) {
		s.makers = make([]maker, min(runtime.GOMAXPROCS(0), mostMakers))
		for w := range s.makers {
			s.makers[w] = s.maker
			s.makers[w].line, s.makers[w].field = nil, nil
			s.makers[w].marked, s.makers[w].formulas = nil, make([]int64, len(columns))
		}
	}
	return s, nil
}

const (
	// mostMakers is the most goroutines that make the lines of a chunk.
	mostMakers = 8
	// leastRun is the least number of records that is worth a goroutine.
	leastRun = 256
)

func (s *Sink) header() error {
	if s.dialect.BOM {
		s.line = append(s.line, utf8BOM...)
	}
	for i, c := range s.columns {
		if i > 0 {
			s.line = append(s.line, s.delim)
		}
		name := []byte(c.Name)
		if c.Name == "" {
			return s.fail(i, noren.Textf("the column has no name"))
		}
		s.named = append(s.named, formula.Is(name))
		if s.dialect.Formulas == formula.Text && formula.Needs(name) {
			name = append([]byte{formula.Mark}, name...)
		}
		if i == 0 && len(name) >= len(utf8BOM) && string(name[:len(utf8BOM)]) == string(utf8BOM) {
			// Unquoted it would read as a byte order mark.
			s.line = s.quote(s.line, name)
			continue
		}
		if err := s.appendQuoted(i, name); err != nil {
			return err
		}
	}
	return s.endLine()
}

// Formulas implements [formula.Counter].
func (s *Sink) Formulas() formula.Count { return formula.Count{Cells: s.formulas, Names: s.named} }

// Write implements [table.Sink]. A text that the encoding cannot hold is an
// error of kind BadData.
func (s *Sink) Write(c *table.Chunk) error {
	if s.err != nil {
		return s.err
	}
	if len(c.Cols) != len(s.columns) {
		return &noren.Error{
			Where: noren.File(s.name), What: "got a chunk of %d {column|columns} for a table of %d",
			Args: []any{len(c.Cols), len(s.columns)},
		}
	}
	if n := min(len(s.makers), c.Rows/leastRun); n > 1 {
		if made := s.make(c, s.makers[:n]); made {
			return s.append(c.Rows, s.makers[:n])
		}
		// One record after the other, the error names its line.
	}
	for row := range c.Rows {
		s.line = s.line[:0]
		if err := s.appendRecord(c, row); err != nil {
			s.err = err
			return err
		}
		if err := s.endLine(); err != nil {
			s.err = err
			return err
		}
		s.records++
	}
	return nil
}

// make makes the lines of a chunk in runs, side by side, and reports whether there is no
// error in any.
func (s *Sink) make(c *table.Chunk, makers []maker) bool {
	var failed atomic.Bool
	var wg sync.WaitGroup
	for w := range makers {
		wg.Go(func() {
			m := &makers[w]
			m.line, m.lines = m.line[:0], 0
			clear(m.formulas)
			for row := c.Rows * w / len(makers); row < c.Rows*(w+1)/len(makers); row++ {
				if m.appendRecord(c, row) != nil {
					failed.Store(true)
					return
				}
				m.end()
			}
		})
	}
	wg.Wait()
	return !failed.Load()
}

// append writes the lines of a chunk of n records.
func (s *Sink) append(n int, makers []maker) error {
	for w := range makers {
		if _, err := s.buf.Write(makers[w].line); err != nil {
			s.err = s.writeError(err)
			return s.err
		}
		s.lines += makers[w].lines
		for i, n := range makers[w].formulas {
			s.formulas[i] += n
		}
	}
	s.records += int64(n)
	return nil
}

// appendRecord appends record row of c, without the line's end.
func (m *maker) appendRecord(c *table.Chunk, row int) error {
	for i := range c.Cols {
		if i > 0 {
			m.line = append(m.line, m.delim)
		}
		if err := m.appendValue(i, &c.Cols[i], row); err != nil {
			return err
		}
	}
	return nil
}

// end ends a line.
func (m *maker) end() {
	m.line = append(m.line, m.ending...)
	m.lines += 1 + m.breaks
	m.breaks = 0
}

func (m *maker) appendValue(i int, v *table.Vector, row int) error {
	switch column := &m.columns[i]; {
	case v.IsNull(row):
		m.appendEmpty()
		return nil
	case v.Kind == table.Text && column.AppendText == nil:
		return m.appendText(i, v.Texts[row])
	default:
		m.field = table.AppendText(m.field[:0], column, v, row)
		return m.appendText(i, m.field)
	}
}

func (m *maker) appendEmpty() {
	if len(m.columns) == 1 {
		m.line = append(m.line, '"', '"')
	}
}

// appendText appends a value, and marks it where it is to be a text.
func (m *maker) appendText(i int, text []byte) error {
	if len(text) == 0 {
		m.appendEmpty()
		return nil
	}
	if m.classes[text[0]]&mayFormula != 0 {
		if formula.Is(text) {
			m.formulas[i]++
		}
		if m.dialect.Formulas == formula.Text && formula.Needs(text) {
			m.marked = append(append(m.marked[:0], formula.Mark), text...)
			text = m.marked
		}
	}
	return m.appendQuoted(i, text)
}

// appendQuoted appends a text that is not empty, between quotes where it needs them.
func (m *maker) appendQuoted(i int, text []byte) error {
	var class uint8
	classes := &m.classes
	for _, c := range text {
		class |= classes[c]
	}
	if class&(notASCII|isNUL) != 0 {
		switch {
		case class&isNUL != 0:
			return m.fail(i, noren.Textf("a text holds a NUL byte, which no text table can"))
		case !utf8.Valid(text):
			return m.fail(i, noren.Textf("a text is not valid UTF-8"))
		}
	}
	blank := func(c byte) bool { return c == ' ' || c == '\t' }
	from := len(m.line)
	if class&mustQuote != 0 || blank(text[0]) || blank(text[len(text)-1]) {
		m.line = m.quote(m.line, text)
	} else {
		m.line = append(m.line, text...)
	}
	if m.encoder != nil && class&notASCII != 0 {
		return m.encode(i, from)
	}
	return nil
}

// quote appends text between quotes, those within doubled.
func (m *maker) quote(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		switch c {
		case '"':
			dst = append(dst, '"')
		case '\n':
			m.breaks++
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// encode turns the field at line[from:] into the encoding of the file. In UTF-16
// that is done a record at a time, as delimiters have two bytes too.
func (m *maker) encode(i, from int) error {
	field := m.line[from:]
	if m.dialect.Encoding.wide() {
		if m.dialect.Encoding.undecoded(field) < len(field) {
			return m.lacks(i)
		}
		return nil
	}
	out, ok := m.dialect.Encoding.encode(m.encoded[:0], field, m.encoder)
	if !ok {
		return m.lacks(i)
	}
	m.encoded = out
	m.line = append(m.line[:from], out...)
	return nil
}

func (m *maker) lacks(i int) error {
	return &LackError{
		Column: m.columns[i].Name,
		err:    m.fail(i, noren.Textf("a text holds a character that %s does not have", m.dialect.Encoding.title())),
	}
}

// fail makes an error about column i of the record in the making.
func (m *maker) fail(i int, what noren.Text) error {
	at := noren.Position{File: m.name, Line: m.lines + 1, Field: i + 1, Column: m.columns[i].Name}
	var hint noren.Format
	if m.encoder != nil {
		hint = "write the table as UTF-8"
	}
	return &noren.Error{Kind: noren.BadData, Where: at, What: what.Format, Args: what.Args, Hint: hint}
}

// LackError says that a text of a column holds a character that the encoding of
// the file lacks. It wraps the error that names the place.
type LackError struct {
	Column string
	err    error
}

// Error implements error.
func (e *LackError) Error() string { return e.err.Error() }

// Unwrap is the error that names the place.
func (e *LackError) Unwrap() error { return e.err }

func (s *Sink) endLine() error {
	s.end()
	out := s.line
	if s.dialect.Encoding.wide() {
		s.wide = appendWide(s.wide[:0], s.line, s.dialect.Encoding == UTF16BE)
		out = s.wide
	}
	if _, err := s.buf.Write(out); err != nil {
		return s.writeError(err)
	}
	s.line = s.line[:0]
	return nil
}

// appendWide appends text in UTF-16.
func appendWide(dst, text []byte, high bool) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if r < 0x10000 {
			dst = appendUnit(dst, uint16(r), high)
			continue
		}
		a, b := utf16.EncodeRune(r)
		dst = appendUnit(appendUnit(dst, uint16(a), high), uint16(b), high)
	}
	return dst
}

func appendUnit(dst []byte, u uint16, high bool) []byte {
	if high {
		return binary.BigEndian.AppendUint16(dst, u)
	}
	return binary.LittleEndian.AppendUint16(dst, u)
}

func (s *Sink) writeError(err error) error {
	return &noren.Error{Where: noren.File(s.name), What: "cannot be written", Hint: atomicfile.Space(err), Err: atomicfile.Reason(err)}
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
	err := s.buf.Flush()
	if s.packer != nil {
		if e := s.packer.Close(); err == nil {
			err = e
		}
	}
	if err = s.out.Close(err); err != nil {
		s.err = s.writeError(err)
	}
	return s.err
}

// Abort implements [table.Sink].
func (s *Sink) Abort() {
	if s.closed {
		return
	}
	s.closed = true
	if s.packer != nil {
		_ = s.packer.Close() // frees what it holds
	}
	s.out.Remove()
}
