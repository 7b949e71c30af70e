// Package formula finds the texts of a table that spreadsheets take for formulas, and writes
// them so that they are texts.
//
// Excel, LibreOffice, Google Sheets and others compute a cell of a text file that begins
// with =, +, - or @, also in full width (＝, ＋, －, ＠) and after blanks, tabs or line
// breaks. A number with a sign is no formula, and neither is a sign alone.
//
// [Text] puts an apostrophe before such a text. A text that begins with apostrophes and is a
// formula without them gets one more. So no two texts become the same, and [Unmark] gives
// back what was marked.
package formula

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
)

// Choice is what becomes of texts that spreadsheets take for formulas.
type Choice uint8

const (
	// Keep writes them as they are.
	Keep Choice = iota
	// Text writes them with an apostrophe before.
	Text
)

// Choices are the names of all choices, for help and errors.
const Choices noren.Phrase = "keep or text"

// String is the name of a choice: keep or text.
func (c Choice) String() string {
	if c == Text {
		return "text"
	}
	return "keep"
}

// Parse reads the name of a choice; the empty text is Keep.
func Parse(s string) (Choice, error) {
	switch s {
	case "", "keep":
		return Keep, nil
	case "text":
		return Text, nil
	}
	return Keep, &noren.Error{Kind: noren.Usage, What: "expected %s, got %q", Args: []any{Choices, s}}
}

// Count counts the texts of a table that spreadsheets take for formulas, before they were
// written as texts.
type Count struct {
	// Cells are the numbers of such cells, by column.
	Cells []int64
	// Names tell which columns have such a name.
	Names []bool
}

// Add adds the cells of another part of the same table.
func (c *Count) Add(part Count) {
	if c.Cells == nil {
		c.Cells, c.Names = make([]int64, len(part.Cells)), part.Names
	}
	for i, n := range part.Cells {
		c.Cells[i] += n
	}
}

// Counter is a sink of a format in which a text can be taken for a formula.
type Counter interface {
	// Formulas counts what was written.
	Formulas() Count
}

// Mark is the character that is put before a text.
const Mark = '\''

// May reports whether a text with this first byte may be a formula, or be one behind
// apostrophes.
func May(first byte) bool {
	switch first {
	case '=', '+', '-', '@', Mark:
		return true
	}
	return first <= ' ' || first >= 0x7f // blanks, controls and full width
}

// Is reports whether spreadsheets take a text for a formula.
func Is(text []byte) bool {
	if len(text) == 0 || !May(text[0]) {
		return false
	}
	text = bytes.TrimLeftFunc(text, blank)
	first, size := utf8.DecodeRune(text)
	rest := bytes.TrimRightFunc(text[size:], blank)
	switch narrow(first) {
	case '=', '@':
		return len(rest) > 0
	case '+', '-':
		return len(rest) > 0 && !number(rest)
	}
	return false
}

// blank reports whether programs may leave out a character at the ends of a text.
func blank(r rune) bool {
	return r != utf8.RuneError && (unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}

// narrow is the ASCII character of one in full width.
func narrow(r rune) rune {
	if r >= 0xff01 && r <= 0xff5e {
		return r - 0xff01 + '!'
	}
	return r
}

// number reports whether a text is a number without its sign: digits with points or commas
// between, an exponent and a percent sign where it has some.
func number(text []byte) bool {
	digits, exponent := 0, false
	var before rune
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		r = narrow(r)
		i += size
		switch {
		case r >= '0' && r <= '9':
			digits++
		case (r == '.' || r == ',') && before != '.' && before != ',' && !exponent:
		case (r == 'e' || r == 'E') && digits > 0 && !exponent:
			exponent, digits = true, 0
		case (r == '+' || r == '-') && (before == 'e' || before == 'E'):
		case r == '%' && digits > 0 && i == len(text):
		default:
			return false
		}
		before = r
	}
	return digits > 0
}

// Needs reports whether [Text] puts an apostrophe before a text: whether it is a formula
// behind any number of apostrophes.
func Needs(text []byte) bool {
	return len(text) > 0 && May(text[0]) && Is(bytes.TrimLeft(text, string(Mark)))
}

// Unmark is the text that was written as text by [Text]. It fails for one that was not: a
// formula.
func Unmark(text []byte) ([]byte, bool) {
	switch {
	case len(text) == 0 || !May(text[0]):
		return text, true
	case text[0] == Mark:
		if Needs(text) {
			return text[1:], true
		}
		return text, true
	}
	return text, !Is(text)
}
