package csvio

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/transform"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/table"
)

// Sink writes a text table. Fields are quoted only where they must be: those
// that hold the delimiter, a quote or a line break, that begin or end with a
// blank, and the empty field of a table of one column, which would read as
// nothing.
type Sink struct {
	name    string
	columns []table.StoredColumn
	dialect Dialect
	out     *atomicfile.Output
	packer  io.Closer // nil when nothing is packed
	buf     *bufio.Writer
	classes [256]uint8
	delim   byte
	ending  string

	line    []byte // the record in the making
	field   []byte // the text of a field in the making
	lines   int64  // lines written
	breaks  int64  // line breaks within the record in the making
	records int64
	encoder transform.Transformer // nil for UTF-8
	wide    []byte                // a record in UTF-16
	err     error                 // once a write failed
	closed  bool
}

var _ table.Sink = (*Sink)(nil)

// What the bytes of a field ask for.
const (
	mustQuote uint8 = 1 << iota
	notASCII
	isNUL
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
		return nil, &noren.Error{Kind: noren.Usage, Where: name, What: "a table needs a column at least"}
	}
	d = d.withDefaults()
	s := &Sink{name: name, columns: columns, dialect: d, out: out, delim: byte(d.Delimiter), ending: "\n"}
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
	s.encoder = d.Encoding.encoder()
	switch d.Compression {
	case Gzip:
		z := gzip.NewWriter(w)
		w, s.packer = z, z
	case Zstd:
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, &noren.Error{Where: name, What: "cannot be packed", Err: err}
		}
		w, s.packer = z, z
	}
	s.buf = bufio.NewWriterSize(w, 256<<10)
	if err := s.header(); err != nil {
		return nil, err
	}
	return s, nil
}

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
			return s.fail(i, "the column has no name")
		}
		if i == 0 && len(name) >= len(utf8BOM) && string(name[:len(utf8BOM)]) == string(utf8BOM) {
			// Unquoted it would read as a byte order mark.
			s.line = s.quote(s.line, name)
			continue
		}
		if err := s.appendText(i, name); err != nil {
			return err
		}
	}
	return s.endLine()
}

// Write implements [table.Sink]. A text that the encoding cannot hold is an
// error of kind BadData.
func (s *Sink) Write(c *table.Chunk) error {
	if s.err != nil {
		return s.err
	}
	if len(c.Cols) != len(s.columns) {
		return &noren.Error{Where: s.name, What: fmt.Sprintf("got a chunk of %d columns for a table of %d", len(c.Cols), len(s.columns))}
	}
	for row := range c.Rows {
		s.line = s.line[:0]
		for i := range c.Cols {
			if i > 0 {
				s.line = append(s.line, s.delim)
			}
			if err := s.appendValue(i, &c.Cols[i], row); err != nil {
				s.err = err
				return err
			}
		}
		if err := s.endLine(); err != nil {
			s.err = err
			return err
		}
		s.records++
	}
	return nil
}

func (s *Sink) appendValue(i int, v *table.Vector, row int) error {
	switch column := &s.columns[i]; {
	case v.IsNull(row):
		s.appendEmpty()
		return nil
	case v.Kind == table.Text && column.AppendText == nil:
		return s.appendText(i, v.Texts[row])
	default:
		s.field = table.AppendText(s.field[:0], column, v, row)
		return s.appendText(i, s.field)
	}
}

func (s *Sink) appendEmpty() {
	if len(s.columns) == 1 {
		s.line = append(s.line, '"', '"')
	}
}

func (s *Sink) appendText(i int, text []byte) error {
	if len(text) == 0 {
		s.appendEmpty()
		return nil
	}
	var class uint8
	classes := &s.classes
	for _, c := range text {
		class |= classes[c]
	}
	if class&^mustQuote != 0 {
		switch {
		case class&isNUL != 0:
			return s.fail(i, "a text holds a NUL byte, which no text table can")
		case !utf8.Valid(text):
			return s.fail(i, "a text is not valid UTF-8")
		}
	}
	blank := func(c byte) bool { return c == ' ' || c == '\t' }
	from := len(s.line)
	if class&mustQuote != 0 || blank(text[0]) || blank(text[len(text)-1]) {
		s.line = s.quote(s.line, text)
	} else {
		s.line = append(s.line, text...)
	}
	if s.encoder != nil && class&notASCII != 0 {
		return s.encode(i, from)
	}
	return nil
}

// quote appends text between quotes, those within doubled.
func (s *Sink) quote(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		switch c {
		case '"':
			dst = append(dst, '"')
		case '\n':
			s.breaks++
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

// encode turns the field at line[from:] into the encoding of the file. In UTF-16
// that is done a record at a time, as delimiters have two bytes too.
func (s *Sink) encode(i, from int) error {
	field := s.line[from:]
	if s.dialect.Encoding.wide() {
		if s.dialect.Encoding.undecoded(field) < len(field) {
			return s.lacks(i)
		}
		return nil
	}
	out, ok := s.dialect.Encoding.encode(s.wide[:0], field, s.encoder)
	if !ok {
		return s.lacks(i)
	}
	s.wide = out
	s.line = append(s.line[:from], out...)
	return nil
}

func (s *Sink) lacks(i int) error {
	return &LackError{Column: s.columns[i].Name, err: s.fail(i, "a text holds a character that "+s.dialect.Encoding.title()+" does not have")}
}

// fail makes an error about column i of the record in the making.
func (s *Sink) fail(i int, what string) error {
	at := noren.Position{File: s.name, Line: s.lines + 1, Field: i + 1, Column: s.columns[i].Name}
	hint := ""
	if s.encoder != nil {
		hint = "write the table as UTF-8"
	}
	return &noren.Error{Kind: noren.BadData, Where: at.String(), What: what, Hint: hint}
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
	s.line = append(s.line, s.ending...)
	s.lines += 1 + s.breaks
	s.breaks = 0
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
	return &noren.Error{Where: s.name, What: "cannot be written", Err: atomicfile.Reason(err)}
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
