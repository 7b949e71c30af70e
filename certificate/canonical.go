package certificate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
)

const (
	maxSize  = 1 << 20
	maxDepth = 32
	maxInt   = 1<<53 - 1
)

// Canonical returns the canonical form of the JSON text data (see the package
// comment); one text has one canonical form, and Canonical of it is itself. A
// text outside the accepted language is an error of kind BadData, which names
// the rule and never quotes the text.
func Canonical(data []byte) ([]byte, error) {
	out, err := canonical(data)
	if err != nil {
		return nil, &noren.Error{Kind: noren.BadData, Where: "certificate", What: "is not well-formed", Err: err}
	}
	return out, nil
}

func canonical(data []byte) ([]byte, error) {
	switch {
	case len(data) > maxSize:
		return nil, noren.Reasonf("it is longer than %d bytes", maxSize)
	case !utf8.Valid(data):
		return nil, errors.New("it is not UTF-8")
	}
	if !json.Valid(data) {
		return nil, plain(json.Unmarshal(data, new(json.RawMessage)), len(data))
	}
	w := walker{rest: data}
	return w.value(make([]byte, 0, len(data)), 0)
}

// plain strips from a decoder's error the piece of text it quotes.
func plain(err error, size int) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	switch {
	case ok && syntax.Offset >= int64(size):
		return errors.New("it ends too early")
	case ok:
		return noren.Reasonf("it is not JSON at byte %d", syntax.Offset)
	}
	return err
}

// walker walks through a text that is known to be JSON, and looks at what JSON leaves
// open: sizes of numbers, keys that repeat, texts without a meaning.
type walker struct{ rest []byte }

// next skips space and is the first byte after it.
func (w *walker) next() byte {
	for i, c := range w.rest {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			w.rest = w.rest[i:]
			return c
		}
	}
	return 0
}

// take takes the first n bytes.
func (w *walker) take(n int) []byte {
	taken := w.rest[:n]
	w.rest = w.rest[n:]
	return taken
}

// value appends the canonical form of a value to dst.
func (w *walker) value(dst []byte, depth int) ([]byte, error) {
	switch w.next() {
	case 'n', 't':
		return append(dst, w.take(4)...), nil
	case 'f':
		return append(dst, w.take(5)...), nil
	case '"':
		text, err := w.text()
		if err != nil {
			return nil, err
		}
		return appendString(dst, text)
	case '[', '{':
		if depth == maxDepth {
			return nil, noren.Reasonf("it is nested deeper than %d", maxDepth)
		}
		if w.take(1)[0] == '[' {
			return w.array(dst, depth+1)
		}
		return w.object(dst, depth+1)
	}
	end := bytes.IndexAny(w.rest, ",]} \t\n\r")
	if end < 0 {
		end = len(w.rest)
	}
	return appendNumber(dst, string(w.take(end)))
}

// text reads a string.
func (w *walker) text() (string, error) {
	end, escaped := 1, false
	for ; w.rest[end] != '"'; end++ {
		if w.rest[end] == '\\' {
			escaped = true
			end++
		}
	}
	literal := w.take(end + 1)
	if !escaped {
		return string(literal[1:end]), nil
	}
	var text string
	err := json.Unmarshal(literal, &text)
	return text, err
}

// array appends an array after its bracket.
func (w *walker) array(dst []byte, depth int) ([]byte, error) {
	dst = append(dst, '[')
	for first := true; w.next() != ']'; first = false {
		if !first {
			w.take(1) // the comma
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.value(dst, depth); err != nil {
			return nil, err
		}
	}
	w.take(1)
	return append(dst, ']'), nil
}

// member is a key with its value, as "key":value in a buffer.
type member struct {
	key        string
	start, end int
}

// object appends an object after its brace.
func (w *walker) object(dst []byte, depth int) ([]byte, error) {
	var members []member
	dst = append(dst, '{')
	begin, sorted := len(dst), true
	for w.next() != '}' {
		if len(members) > 0 {
			w.take(1) // the comma
			w.next()
			dst = append(dst, ',')
		}
		start := len(dst)
		key, err := w.text()
		if err != nil {
			return nil, err
		}
		if dst, err = appendString(dst, key); err != nil {
			return nil, err
		}
		w.next()
		w.take(1) // the colon
		if dst, err = w.value(append(dst, ':'), depth); err != nil {
			return nil, err
		}
		sorted = sorted && (len(members) == 0 || compareUTF16(members[len(members)-1].key, key) < 0)
		members = append(members, member{key, start, len(dst)})
	}
	w.take(1)
	if !sorted {
		plain := bytes.Clone(dst[begin:])
		slices.SortFunc(members, func(a, b member) int { return compareUTF16(a.key, b.key) })
		dst = dst[:begin]
		for i, m := range members {
			if i > 0 {
				if members[i-1].key == m.key {
					return nil, errors.New("a key occurs twice in one object")
				}
				dst = append(dst, ',')
			}
			dst = append(dst, plain[m.start-begin:m.end-begin]...)
		}
	}
	return append(dst, '}'), nil
}

// compareUTF16 compares texts by their UTF-16 code units, which is the order of RFC 8785,
// section 3.2.3: a character beyond U+FFFF begins with a unit in D800 to DBFF.
func compareUTF16(a, b string) int {
	for i := 0; i < len(a) && i < len(b); {
		x, n := utf8.DecodeRuneInString(a[i:])
		y, _ := utf8.DecodeRuneInString(b[i:])
		if x == y {
			i += n
			continue
		}
		if (x > 0xffff) != (y > 0xffff) {
			return cmp.Compare(unit(x), unit(y))
		}
		return cmp.Compare(x, y)
	}
	return cmp.Compare(len(a), len(b))
}

// unit is the first UTF-16 code unit of a character.
func unit(r rune) rune {
	if first, _ := utf16.EncodeRune(r); first != utf8.RuneError {
		return first
	}
	return r
}

// appendString writes s as RFC 8785 section 3.2.2.2 does: the two-letter
// escapes, \u00xx in lower case for the other controls, all else as it is.
func appendString(dst []byte, s string) ([]byte, error) {
	const hex = "0123456789abcdef"
	if strings.ContainsRune(s, utf8.RuneError) {
		return nil, errors.New("a text holds U+FFFD or half a surrogate pair")
	}
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\r':
			dst = append(dst, `\r`...)
		default:
			if c < 0x20 {
				dst = append(dst, `\u00`...)
				dst = append(dst, hex[c>>4], hex[c&15])
				continue
			}
			dst = append(dst, c)
		}
	}
	return append(dst, '"'), nil
}

// appendNumber writes a number literal as ECMAScript's Number::toString does,
// which RFC 8785 section 3.2.2.3 prescribes.
func appendNumber(dst []byte, literal string) ([]byte, error) {
	if !strings.ContainsAny(literal, ".eE") {
		n, err := strconv.ParseInt(literal, 10, 64)
		if err != nil || n > maxInt || n < -maxInt {
			return nil, errors.New("an integer is beyond 2^53 - 1")
		}
		return strconv.AppendInt(dst, n, 10), nil
	}
	f, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		return nil, errors.New("a number is no finite double")
	}
	abs := math.Abs(f)
	if abs == 0 {
		return append(dst, '0'), nil
	}
	if abs >= 1e-6 && abs < 1e21 {
		if abs > maxInt {
			// Written without a point it would be read as an integer too large.
			return nil, errors.New("a number is beyond 2^53 - 1")
		}
		return strconv.AppendFloat(dst, f, 'f', -1, 64), nil
	}
	if abs >= 1e21 {
		return nil, errors.New("a number is beyond 2^53 - 1")
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	// 1e-07 is written 1e-7.
	if n := len(text); text[n-4:n-1] == "e-0" {
		text = text[:n-2] + text[n-1:]
	}
	return append(dst, text...), nil
}
