package table

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/noren-privacy/noren"
)

// CodeTotals is the code of the refusal of a table with rows of totals or notes of which nothing
// was decided.
const CodeTotals = "totals"

// totalWords name rows of totals, in lower case and without blanks.
var totalWords = map[string]bool{
	"合計": true, "総計": true, "小計": true, "総合計": true, "計": true, "平均": true, "平均値": true, "件数": true, "人数": true,
	"total": true, "totals": true, "grandtotal": true, "subtotal": true, "sum": true, "average": true,
}

const (
	// TotalColumns is the smallest number of columns of a table in which a row of so few
	// cells differs from a record.
	TotalColumns = 3
	// NoteColumns is the same of a row with a single cell that begins as a note does.
	NoteColumns = 2
	// TotalNames is how many of the first cells with a value may name a row of totals.
	TotalNames = 2
)

// TotalCells is the largest number of cells with a value that a row of totals has, in a table of so many
// columns: the name and one figure, or half of the cells.
func TotalCells(columns int) int { return max(2, columns/2) }

// NamesTotal reports whether a text is the name of a row of totals, such as 合計, 合計（400名）, 合計 400件 or Total.
func NamesTotal(text []byte) bool {
	const longest = 64
	if len(text) > longest || len(text) == 0 || text[0] < utf8.RuneSelf && !strings.ContainsRune("tgsaTGSA \t", rune(text[0])) {
		return false
	}
	name := strings.ToLower(strings.Join(strings.Fields(string(text)), ""))
	if at := strings.IndexAny(name, "(（"); at > 0 && (strings.HasSuffix(name, ")") || strings.HasSuffix(name, "）")) {
		name = name[:at]
	}
	name = strings.TrimRight(name, "件名人行")
	name = strings.TrimRightFunc(name, func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune(":：,，", r) })
	return totalWords[name] || totalWords[strings.TrimRight(name, ":：")]
}

// NoteOfTotals says that n rows hold totals or notes, which are left out or read; empty for none.
func NoteOfTotals(n int64, left bool) noren.Text {
	switch {
	case n == 0:
		return noren.Text{}
	case left:
		return noren.Textf("%d {row|rows} of totals or notes {1|is|are} left out", n)
	default:
		return noren.Textf("%d {row of totals or notes is read as a record|rows of totals or notes are read as records}", n)
	}
}
