package table

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
)

// NumberFormat is how the numbers of a text column are written, shown by the
// number 1234.5: "1,234.5", "1.234,5", "1 234,5", "1'234.5", "1234,5", and the
// same without the last digit where all are whole. A yen sign may stand before it
// and a per cent sign or 円 behind it ("¥1,234", "12.5%" is written "1234.5%").
// The empty format is the plain one: digits and a point.
//
// Every format reads full-width digits and signs as their ASCII forms, − and △ as
// a minus, and blanks around the number. A separator of thousands may be left out,
// but a number has all of its separators or none. A sign that the format has is in
// every number. Per cent are not divided by 100.
type NumberFormat string

// NumberReader reads numbers of one format. It may be used by several goroutines.
type NumberReader struct {
	format NumberFormat
	group  rune // between thousands, 0 for none
	point  rune // before decimal places, 0 for none
	prefix rune // '¥' or 0
	suffix rune // '%', '円' or 0
}

// Reader is the reader of f, which must not be empty.
func (f NumberFormat) Reader() (*NumberReader, error) {
	bad := func() (*NumberReader, error) {
		return nil,
			noren.Reasonf("number format: expected the number 1234.5 as the column writes it, as in 1,234.5 or 1.234,5 or ¥1,234 or 1234.5%%")
	}
	r := &NumberReader{format: f}
	rest := string(f)
	if s, ok := strings.CutPrefix(rest, "¥"); ok {
		r.prefix, rest = '¥', s
	}
	for _, sign := range []string{"%", "円"} {
		if s, ok := strings.CutSuffix(rest, sign); ok && r.suffix == 0 {
			r.suffix, _ = utf8.DecodeRuneInString(sign)
			rest = s
		}
	}
	if r.prefix != 0 && r.suffix != 0 {
		return bad()
	}
	rest, ok := strings.CutPrefix(rest, "1")
	if !ok {
		return bad()
	}
	group, rest, ok := strings.Cut(rest, "234")
	if !ok || len(group) > 1 || group != "" && !strings.Contains(",. '", group) {
		return bad()
	}
	if group != "" {
		r.group = rune(group[0])
	}
	switch rest {
	case "":
	case ".5", ",5":
		r.point = rune(rest[0])
		if r.point == r.group {
			return bad()
		}
	default:
		return bad()
	}
	return r, nil
}

// IsPlain reports whether f is the plain format, in which ASCII numbers are as
// [ParseDecimal] reads them.
func (f NumberFormat) IsPlain() bool { return f == "" || f == "1234" || f == "1234.5" }

// Whole reports whether the format has no decimal places.
func (r *NumberReader) Whole() bool { return r.point == 0 }

var errFormat = errors.New("expected a number in the format of the column")

// fold is the ASCII form of a character of a number.
func fold(c rune) rune {
	switch {
	case c < 0x80:
		if c == '\\' { // the yen sign of Shift_JIS
			return '¥'
		}
		return c
	case c >= '０' && c <= '９':
		return c - '０' + '0'
	}
	switch c {
	case '．':
		return '.'
	case '，':
		return ','
	case '％':
		return '%'
	case '￥', '¥':
		return '¥'
	case '－', '−', '△', '▲':
		return '-'
	case '＋':
		return '+'
	case '\u00a0', '\u202f', '\u2009', '\u3000':
		return ' '
	case '’':
		return '\''
	}
	return c
}

// Plain appends the number that text stands for in the plain format, all its
// digits kept. ok is false, and dst as it was, where text is no number of the
// format.
func (r *NumberReader) Plain(dst, text []byte) (out []byte, ok bool) {
	at, start := 0, len(dst)
	next := func() (rune, int) {
		c, size := utf8.DecodeRune(text[at:])
		if size == 0 {
			return 0, 0
		}
		return fold(c), size
	}
	skip := func(c rune) bool {
		got, size := next()
		if size == 0 || got != c {
			return false
		}
		at += size
		return true
	}
	blanks := func() {
		for skip(' ') {
		}
	}
	signed := false
	sign := func() {
		if signed {
			return
		}
		switch {
		case skip('-'):
			dst, signed = append(dst, '-'), true
		case skip('+'):
			signed = true
		}
	}
	blanks()
	sign()
	if r.prefix != 0 {
		if !skip(r.prefix) {
			return dst[:start], false
		}
		blanks()
		sign()
	}
	digits := func() (n int) {
		for {
			c, size := next()
			if size == 0 || c < '0' || c > '9' {
				return n
			}
			dst, at, n = append(dst, byte(c)), at+size, n+1
		}
	}
	first := len(dst)
	n := digits()
	if n == 0 {
		return dst[:start], false
	}
	if r.group != 0 && n <= 3 {
		for {
			before := at
			if !skip(r.group) {
				break
			}
			m := digits()
			if m == 0 && r.group == ' ' { // a blank behind the number
				at = before
				break
			}
			if m != 3 || dst[first] == '0' {
				return dst[:start], false
			}
		}
	}
	if r.point != 0 && skip(r.point) {
		dst = append(dst, '.')
		if digits() == 0 {
			return dst[:start], false
		}
	}
	blanks()
	if r.suffix != 0 {
		if !skip(r.suffix) {
			return dst[:start], false
		}
		blanks()
	}
	if at != len(text) {
		return dst[:start], false
	}
	return dst, true
}

// Read is Plain for a cell of any column: where text is no number of the format
// it returns text as it is, or an error where the plain format would take it for
// a number: of two ways of writing numbers in a column one is a mistake. The error
// does not repeat the text.
func (r *NumberReader) Read(dst, text []byte) ([]byte, error) {
	out, ok := r.Plain(dst, text)
	if ok {
		return out, nil
	}
	if _, _, err := ParseDecimal(text); err == nil {
		return dst, noren.Reasonf("%s, %s", errFormat, r.format)
	}
	return append(dst, text...), nil
}
