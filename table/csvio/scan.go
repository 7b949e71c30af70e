package csvio

import (
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter"
)

const (
	maxField   = 16 << 20
	maxRecord  = 64 << 20
	maxColumns = 1<<16 - 1
	blockSize  = 256 << 10

	// A buffer that grows holds its former bytes meanwhile, and as much again is held for
	// the fields whose doubled quotes are made single.
	bufferWeight = 3
)

// span is the place of a field in the scanner's buffer, without its quotes.
type span struct {
	from, to int
	escaped  bool // holds doubled quotes
}

// fault is what is wrong with a record, and where.
type fault struct {
	line  int64
	field int // 1-based; 0 for the whole record
	what  noren.Text
	hint  noren.Format
	Code  string
}

type status uint8

const (
	complete status = iota // spans and end tell the record at pos
	partial                // the record at pos goes on behind the buffer
	finished               // there is no further record
	faulty                 // fault tells what is wrong with the record at pos
)

// scanner splits text in UTF-8 into records. The record at buf[pos:] is parsed
// by scan without moving; skip moves on to the next and fill reads more.
type scanner struct {
	in       io.Reader
	encoding Encoding // that the text was written in; AnyEncoding looks at no characters
	special  [256]bool
	delim    byte
	newline  byte
	meter    *meter.Meter // that the buffer is drawn on beyond its first size

	buf   []byte
	pos   int
	eof   bool
	err   error // other than io.EOF, that ended reading
	line  int64 // 1-based line at pos
	bad   int   // offset in buf of the first byte that cannot be text; -1 for none
	check int   // offset up to which buf was looked through for such bytes

	spans []span
	end   int   // where the record after the scanned one begins
	lines int64 // line ends in the scanned record
	fault fault
}

func newScanner(in io.Reader, d Dialect, m *meter.Meter) *scanner {
	s := &scanner{
		in: in, meter: m, encoding: d.Encoding, delim: byte(d.Delimiter), newline: d.newline(), line: 1, bad: -1,
		buf: make([]byte, 0, blockSize),
	}
	for _, c := range []byte{s.delim, '"', '\n', '\r'} {
		s.special[c] = true
	}
	return s
}

// fill reads more text behind buf[pos:], which moves to the start of buf; all
// spans become void. It reports whether scan may now come to another result.
func (s *scanner) fill() bool {
	if s.eof || s.err != nil {
		return false
	}
	n := copy(s.buf[:cap(s.buf)], s.buf[s.pos:])
	s.buf, s.check = s.buf[:n], s.check-s.pos
	if s.bad >= 0 {
		s.bad -= s.pos
	}
	s.pos = 0
	if n == cap(s.buf) {
		if s.err = s.grow(); s.err != nil {
			return false
		}
	}
	for empty := 0; len(s.buf) < cap(s.buf) && !s.eof && s.err == nil; {
		m, err := s.in.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+m]
		switch {
		case err == io.EOF:
			s.eof = true
		case err != nil:
			s.err = err
		case m > 0:
			empty = 0
		default:
			if empty++; empty == 100 {
				s.err = io.ErrNoProgress
			}
		}
	}
	s.inspect()
	return true
}

// grow makes the buffer larger, up to what the longest record needs.
func (s *scanner) grow() error {
	size := min(2*cap(s.buf), maxRecord+blockSize)
	if err := s.meter.Hold(bufferWeight * int64(size-cap(s.buf))); err != nil {
		return err
	}
	grown := make([]byte, len(s.buf), size)
	copy(grown, s.buf)
	s.buf = grown
	return nil
}

// inspect looks for bytes that cannot be text in what was read last.
func (s *scanner) inspect() {
	if s.bad >= 0 || s.encoding == AnyEncoding {
		return
	}
	fresh := s.buf[s.check:]
	bad := bytes.IndexByte(fresh, 0)
	if bad < 0 {
		bad = len(fresh)
	}
	valid := validPrefix(fresh[:bad], s.encoding)
	if rest := len(fresh) - valid; valid == bad && bad == len(fresh) {
		s.check = len(s.buf)
	} else if bad == len(fresh) && !s.eof && s.err == nil && rest < utf8.UTFMax && !utf8.FullRune(fresh[valid:]) {
		s.check += valid // a character cut by the end of the buffer
	} else {
		s.bad = s.check + valid
	}
}

// validPrefix is the length of the part of b before the first byte that cannot
// be text, see [Encoding.undecoded].
func validPrefix(b []byte, e Encoding) int {
	n := len(b)
	if !utf8.Valid(b) {
		for n = 0; n < len(b); {
			r, size := utf8.DecodeRune(b[n:])
			if r == utf8.RuneError && size <= 1 {
				break
			}
			n += size
		}
	}
	return e.undecoded(b[:n])
}

// skip moves behind the record that was scanned last.
func (s *scanner) skip() {
	s.pos = s.end
	s.line += s.lines
}

// skipLines moves behind n lines of any text; the status is complete when it is
// done.
func (s *scanner) skipLines(n int) status {
	for s.line <= int64(n) {
		at := bytes.IndexByte(s.buf[s.pos:], s.newline)
		if s.bad >= s.pos && (at < 0 || s.bad < s.pos+at) {
			return s.unreadable()
		}
		if at >= 0 {
			s.pos, s.line = s.pos+at+1, s.line+1
			continue
		}
		if len(s.buf)-s.pos > maxRecord {
			s.fault = fault{s.line, 0, noren.Textf("a line is longer than %d MiB", maxRecord>>20), "is this a table?", meter.Code}
			return faulty
		}
		switch {
		case s.fill():
		case s.err != nil:
			return partial
		default:
			return finished
		}
	}
	return complete
}

// scan parses the record at pos.
func (s *scanner) scan() status {
	st := s.split()
	if s.bad >= 0 && (st != complete || s.end > s.bad) {
		return s.unreadable()
	}
	if st != partial {
		return st
	}
	if s.err == nil && len(s.buf)-s.pos > maxRecord {
		s.fault = fault{
			s.line, 0, noren.Textf("a record is longer than %d MiB", maxRecord>>20),
			"look for a quote that is never closed, or a file that is no table", meter.Code,
		}
		return faulty
	}
	return partial
}

// blank reports whether the record scanned last is an empty line.
func (s *scanner) blank() bool { return len(s.spans) == 1 && s.spans[0].to == s.pos }

// split is scan without a look at bytes that cannot be text.
func (s *scanner) split() status {
	buf, i, special := s.buf, s.pos, &s.special
	spans := s.spans[:0]
	s.lines = 0
	if i == len(buf) {
		if s.eof {
			return finished
		}
		return partial
	}
	for {
		quoted := i < len(buf) && buf[i] == '"'
		if quoted {
			f := span{from: i + 1}
			to, st := s.closingQuote(&f, len(spans)+1)
			if st != complete {
				return st
			}
			spans = append(spans, f)
			s.lines += int64(bytes.Count(buf[f.from:f.to], []byte{s.newline}))
			i = to
		} else {
			from := i
			for i < len(buf) && !special[buf[i]] {
				i++
			}
			if i-from > maxField {
				return s.tooLong(len(spans)+1, false)
			}
			spans = append(spans, span{from: from, to: i})
		}
		if i == len(buf) {
			if !s.eof {
				return partial
			}
			s.spans, s.end = spans, i
			return complete
		}
		switch c := buf[i]; {
		case c == s.delim:
			i++
			if len(spans) == maxColumns {
				s.fault = fault{s.line + s.lines, 0, noren.Textf("more than %d fields in a record", maxColumns), "is this a table?", meter.Code}
				return faulty
			}
			continue
		case c == s.newline:
			s.spans, s.end = spans, i+1
			s.lines++
			return complete
		case c == '\n':
			s.fault = fault{
				s.line + s.lines, len(spans), noren.Textf("a line feed in a file whose lines end with a carriage return"),
				"end all lines in the same way, and quote fields that hold line breaks", "",
			}
			return faulty
		case c == '\r':
			if i+1 == len(buf) && !s.eof {
				return partial
			}
			if i+1 < len(buf) && buf[i+1] != '\n' {
				s.fault = fault{
					s.line + s.lines, len(spans), noren.Textf("a carriage return that is not followed by a line feed"),
					"end lines with LF or CR LF, and quote fields that hold line breaks", "",
				}
				return faulty
			}
			s.spans, s.end = spans, min(i+2, len(buf))
			s.lines++
			return complete
		case quoted:
			s.fault = fault{
				s.line + s.lines, len(spans), noren.Textf("text after the closing quote of a field"),
				"double every quote that is part of a quoted field", "",
			}
			return faulty
		default:
			s.fault = fault{
				s.line + s.lines, len(spans), noren.Textf("a quote within a field that does not begin with one"),
				"quote the whole field and double the quotes in it", "",
			}
			return faulty
		}
	}
}

// closingQuote finds the end of the quoted field that begins at f.from and
// returns the offset behind its closing quote.
func (s *scanner) closingQuote(f *span, field int) (int, status) {
	buf, i := s.buf, f.from
	for {
		k := bytes.IndexByte(buf[i:], '"')
		if k < 0 {
			switch {
			case len(buf)-f.from > maxField:
				return 0, s.tooLong(field, true)
			case s.eof:
				s.fault = fault{
					s.line + s.lines, field, noren.Textf("a quote that begins a field is never closed"),
					"close it, or double it and quote the field if it is part of the text", "",
				}
				return 0, faulty
			}
			return 0, partial
		}
		i += k
		switch {
		case i+1 == len(buf) && !s.eof:
			return 0, partial
		case i+1 < len(buf) && buf[i+1] == '"':
			f.escaped = true
			i += 2
			continue
		case i-f.from > maxField:
			return 0, s.tooLong(field, true)
		}
		f.to = i
		return i + 1, complete
	}
}

func (s *scanner) tooLong(field int, quoted bool) status {
	s.fault = fault{
		s.line + s.lines, field, noren.Textf("a field is longer than %d MiB", maxField>>20),
		"is this a table, and the delimiter right?", meter.Code,
	}
	if quoted {
		s.fault.hint = "look for a quote that is never closed"
	}
	return faulty
}

// unreadable makes the fault for the byte at s.bad.
func (s *scanner) unreadable() status {
	s.fault = fault{line: s.line, field: 1}
	open := false
	for _, c := range s.buf[s.pos:s.bad] {
		switch {
		case c == '"':
			open = !open
		case c == s.newline:
			s.fault.line++
		case c == s.delim && !open:
			s.fault.field++
		}
	}
	switch {
	case s.buf[s.bad] == 0:
		s.fault.what, s.fault.hint = noren.Textf("a NUL byte, expected text"),
			"is this a text file? give its encoding if it is UTF-16, or save it as CSV in UTF-8"
	case s.encoding != UTF8:
		s.fault.what, s.fault.hint = noren.Textf("bytes that are not %s", s.encoding.title()), "give the file's encoding, or save it as UTF-8"
	default:
		s.fault.what, s.fault.hint = noren.Textf("bytes that are not UTF-8"),
			"give the file's encoding (shift_jis, perhaps, or windows-1252), or save it as UTF-8"
	}
	return faulty
}

// fieldLine is the line on which a field of the record at from, which begins
// on the given line, begins. s.buf must not have been filled since.
func (s *scanner) fieldLine(from int, line int64, field int) int64 {
	p := place{from, line, 0, false}
	return s.walk(&p, field)
}

// place is where a field of a record begins.
type place struct {
	at    int
	line  int64
	field int
	open  bool // within quotes
}

// walk moves p to a later field of its record and returns its line: the places of all
// fields of a record take one walk through it.
func (s *scanner) walk(p *place, field int) int64 {
	for ; p.at < len(s.buf) && p.field < field; p.at++ {
		switch c := s.buf[p.at]; {
		case c == '"':
			p.open = !p.open
		case c == s.newline && !p.open:
			return p.line
		case c == s.newline:
			p.line++
		case c == s.delim && !p.open:
			p.field++
		}
	}
	return p.line
}

// unescape appends text with its doubled quotes made single.
func unescape(dst, text []byte) []byte {
	for {
		k := bytes.IndexByte(text, '"')
		if k < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:k+1]...)
		text = text[k+2:]
	}
}
