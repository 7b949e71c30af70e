package xlsx

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind uint8

const (
	start kind = iota + 1
	end
	text
)

var (
	errXML   = errors.New("the XML is damaged")
	errShort = errors.New("the XML ends too early")
	errLong  = errors.New("a text or tag is longer than 16 MiB")
	errEntry = errors.New("the XML declares a document type, which workbooks do not have")
	errUTF   = errors.New("the XML is not in UTF-8")
	errDeep  = errors.New("its elements are nested too deep")
)

// deepest bounds the names of the elements that are open, in bytes.
const deepest = 1 << 20

// longest bounds a tag or a text.
const longest = 16 << 20

// scanner reads XML in UTF-8 token by token, in memory bounded by the longest
// tag or text. Names are local: without their prefix. It checks that elements
// nest, resolves the five entities and character references, and refuses
// document types, so that nothing can expand.
type scanner struct {
	in    io.Reader
	buf   []byte
	at    int
	err   error  // of in
	tag   []byte // the tag last read, without < and >
	name  []byte // of the element
	attrs []byte
	text  []byte
	open  []byte // names of open elements, each followed by a zero
	close bool   // the tag closed itself: its end is next
	seen  bool   // there was an element
}

func newScanner(in io.Reader) *scanner {
	return &scanner{in: in, buf: make([]byte, 0, 256<<10)}
}

// fill reads more behind what is left of buf, which it moves to the front.
func (s *scanner) fill() error {
	if s.err != nil {
		return s.err
	}
	if s.at > 0 {
		s.buf = append(s.buf[:0], s.buf[s.at:]...)
		s.at = 0
	}
	if len(s.buf) == cap(s.buf) {
		if cap(s.buf) >= 2*longest {
			return errLong
		}
		s.buf = append(make([]byte, 0, 2*cap(s.buf)), s.buf...)
	}
	n, err := s.in.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	if err != nil {
		s.err = err
		if n > 0 {
			return nil
		}
	}
	return err
}

// until returns what stands before sep, from skip bytes on, and passes both.
func (s *scanner) until(skip int, sep string) ([]byte, error) {
	from := skip
	for {
		if len(s.buf)-s.at > from {
			if i := bytes.Index(s.buf[s.at+from:], []byte(sep)); i >= 0 {
				out := s.buf[s.at+skip : s.at+from+i]
				s.at += from + i + len(sep)
				return out, nil
			}
			from = max(skip, len(s.buf)-s.at-len(sep)+1)
		}
		if err := s.fill(); err == io.EOF {
			return nil, errShort
		} else if err != nil {
			return nil, err
		}
	}
}

// need reports whether n more bytes are there.
func (s *scanner) need(n int) (bool, error) {
	for len(s.buf)-s.at < n {
		if err := s.fill(); err == io.EOF {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

// next reads a token; io.EOF at the end of the document.
func (s *scanner) next() (kind, error) {
	if s.close {
		s.close = false
		return end, s.pop()
	}
	for {
		more, err := s.need(1)
		if err != nil {
			return 0, err
		}
		if !more {
			if len(s.open) > 0 || !s.seen {
				return 0, errShort
			}
			return 0, io.EOF
		}
		if s.buf[s.at] != '<' {
			if err := s.characters(); err != nil {
				return 0, err
			}
			return text, nil
		}
		if _, err := s.need(9); err != nil {
			return 0, err
		}
		rest := s.buf[s.at:]
		switch {
		case bytes.HasPrefix(rest, []byte("<?")):
			pi, err := s.until(2, "?>")
			if err != nil {
				return 0, err
			}
			if !utf8Declared(pi) {
				return 0, errUTF
			}
		case bytes.HasPrefix(rest, []byte("<!--")):
			if _, err := s.until(4, "-->"); err != nil {
				return 0, err
			}
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			data, err := s.until(9, "]]>")
			if err != nil {
				return 0, err
			}
			if len(s.open) == 0 {
				return 0, errXML
			}
			s.text = lineEnds(append(s.text[:0], data...))
			return text, nil
		case bytes.HasPrefix(rest, []byte("<!")):
			return 0, errEntry
		default:
			return s.element()
		}
	}
}

// utf8Declared reports whether an XML declaration names UTF-8, or no encoding.
func utf8Declared(pi []byte) bool {
	if !bytes.HasPrefix(pi, []byte("xml")) {
		return true
	}
	_, enc, found := bytes.Cut(pi, []byte("encoding"))
	if !found {
		return true
	}
	enc = bytes.ToLower(enc)
	return bytes.Contains(enc, []byte("utf-8")) || bytes.Contains(enc, []byte("utf8")) || bytes.Contains(enc, []byte("us-ascii"))
}

// wholeTag returns the text between < and its >, which may be in a quoted
// value too, and passes both.
func (s *scanner) wholeTag() ([]byte, error) {
	quote := byte(0)
	for i := 1; ; {
		for rest := s.buf[s.at:]; i < len(rest); i++ {
			switch c := rest[i]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '"' || c == '\'':
				quote = c
			case c == '<':
				return nil, errXML
			case c == '>':
				s.at += i + 1
				return rest[1:i], nil
			}
		}
		if more, err := s.need(i + 1); err != nil {
			return nil, err
		} else if !more {
			return nil, errShort
		}
	}
}

func (s *scanner) element() (kind, error) {
	tag, err := s.wholeTag()
	if err != nil {
		return 0, err
	}
	s.tag = append(s.tag[:0], tag...)
	tag = s.tag
	if len(tag) > 0 && tag[0] == '/' {
		s.name = local(bytes.TrimRight(tag[1:], " \t\r\n"))
		if !bytes.Equal(s.name, s.top()) {
			return 0, errXML
		}
		return end, s.pop()
	}
	if len(tag) > 0 && tag[len(tag)-1] == '/' {
		s.close = true
		tag = tag[:len(tag)-1]
	}
	i := bytes.IndexAny(tag, " \t\r\n")
	if i < 0 {
		i = len(tag)
	}
	s.name, s.attrs = local(tag[:i]), tag[i:]
	if len(s.name) == 0 || s.seen && len(s.open) == 0 {
		return 0, errXML
	}
	s.seen = true
	if len(s.open)+len(s.name) > deepest {
		return 0, errDeep
	}
	s.open = append(append(s.open, s.name...), 0)
	return start, nil
}

// top is the name of the innermost open element.
func (s *scanner) top() []byte {
	if len(s.open) == 0 {
		return nil
	}
	rest := s.open[:len(s.open)-1]
	return rest[bytes.LastIndexByte(rest, 0)+1:]
}

func (s *scanner) pop() error {
	top := s.top()
	if top == nil {
		return errXML
	}
	s.name = top // good until the next start
	s.open = s.open[:len(s.open)-1-len(top)]
	return nil
}

func local(name []byte) []byte { return name[bytes.IndexByte(name, ':')+1:] }

// characters reads text up to the next tag.
func (s *scanner) characters() error {
	s.text = s.text[:0]
	blank := len(s.open) == 0
	for {
		rest := s.buf[s.at:]
		i := bytes.IndexByte(rest, '<')
		if i >= 0 {
			rest = rest[:i]
		}
		s.text = append(s.text, rest...)
		s.at += len(rest)
		if len(s.text) > longest {
			return errLong
		}
		if i >= 0 {
			break
		}
		if err := s.fill(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	if blank {
		s.text = bytes.TrimPrefix(s.text, []byte("\ufeff"))
		if len(bytes.TrimSpace(s.text)) > 0 {
			return errXML
		}
		return nil
	}
	var err error
	s.text, err = unescape(lineEnds(s.text))
	return err
}

// lineEnds turns CR LF and CR into LF, as XML has it (1.0, 2.11).
func lineEnds(b []byte) []byte {
	if bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}

// unescape resolves entities in place.
func unescape(b []byte) ([]byte, error) {
	i := bytes.IndexByte(b, '&')
	if i < 0 {
		return b, nil
	}
	out := b[:i]
	for i < len(b) {
		if b[i] != '&' {
			out = append(out, b[i])
			i++
			continue
		}
		n := bytes.IndexByte(b[i:], ';')
		if n < 0 || n > 12 {
			return nil, errXML
		}
		switch name := string(b[i+1 : i+n]); name {
		case "amp":
			out = append(out, '&')
		case "lt":
			out = append(out, '<')
		case "gt":
			out = append(out, '>')
		case "quot":
			out = append(out, '"')
		case "apos":
			out = append(out, '\'')
		default:
			if len(name) < 2 || name[0] != '#' {
				return nil, errXML
			}
			digits, base := name[1:], 10
			if digits[0] == 'x' {
				digits, base = digits[1:], 16
			}
			r, err := strconv.ParseUint(digits, base, 32)
			if err != nil || r > utf8.MaxRune || !utf8.ValidRune(rune(r)) {
				return nil, errXML
			}
			out = utf8.AppendRune(out, rune(r))
		}
		i += n + 1
	}
	return out, nil
}

// attr returns the value of the attribute of this local name.
func (s *scanner) attr(name string) (string, bool) {
	value := s.rawAttr(name)
	if value == nil {
		return "", false
	}
	v, err := unescape(append([]byte(nil), value...))
	return string(v), err == nil
}

// rawAttr is attr with its entities as they are, nil where there is none; it is
// good until the next token.
func (s *scanner) rawAttr(name string) []byte {
	b := s.attrs
	for {
		i := bytes.IndexByte(b, '=')
		if i < 0 {
			return nil
		}
		key := bytes.TrimSpace(b[:i])
		b = bytes.TrimLeft(b[i+1:], " \t\r\n")
		if len(b) == 0 || b[0] != '"' && b[0] != '\'' {
			return nil
		}
		n := bytes.IndexByte(b[1:], b[0])
		if n < 0 {
			return nil
		}
		value := b[1 : 1+n : 1+n]
		b = b[n+2:]
		if string(local(key)) == name && !bytes.HasPrefix(key, []byte("xmlns")) {
			return value
		}
	}
}
