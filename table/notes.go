package table

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// noteMarks begin a note, whatever follows.
const noteMarks = "※＊*†‡"

// noteWords begin a note where no letter follows: 注) but not 注射. They are in lower case.
var noteWords = []string{
	"注釈", "注記", "注意", "脚注", "備考", "出典", "出所", "資料", "凡例", "単位", "注",
	"footnotes", "footnote", "notes", "note", "n.b", "nb", "sources", "source", "remarks", "remark", "legend", "units", "unit",
}

// NamesNote reports whether a text begins as a note below a table does: ※単位は円, 注1) …, (注) …,
// 出典: …, Note: ….
func NamesNote(text []byte) bool {
	const longest = 32 // bytes that are looked at
	if len(text) == 0 || text[0] < utf8.RuneSelf && !strings.ContainsRune("fnrsluFNRSLU*([<\t\n\v\f\r ", rune(text[0])) {
		return false
	}
	head := string(text[:min(len(text), longest)])
	head = strings.TrimLeftFunc(head, unicode.IsSpace)
	for _, mark := range noteMarks {
		if strings.HasPrefix(head, string(mark)) {
			return true
		}
	}
	head = strings.ToLower(strings.TrimLeft(head, "(（[［【<＜〔"))
	for _, word := range noteWords {
		rest, ok := strings.CutPrefix(head, word)
		if !ok {
			continue
		}
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		rest = strings.TrimLeftFunc(rest, unicode.IsDigit)
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		return rest == "" || strings.ContainsAny(rest[:1], ":).]>") || hasAny(rest, "：）．。、］】＞〕")
	}
	return false
}

// hasAny reports whether s begins with one of the runes of set.
func hasAny(s, set string) bool {
	for _, r := range s {
		return strings.ContainsRune(set, r)
	}
	return false
}

// RowKind is what a row of a table is, by its cells alone.
type RowKind uint8

const (
	// RecordRow is a row of values.
	RecordRow RowKind = iota
	// TotalRow is a row of totals or a note, wherever it is.
	TotalRow
	// TailRow is a row that is no record where a record is above it and none follows: it has no value,
	// or one, or begins as a note does and is half empty.
	TailRow
)

// Looks takes the cells of a row in their order, and tells what the row is. The zero value is
// ready for a row.
type Looks struct {
	cells       int // with a value
	total, note bool
}

// Take looks at a cell with a value.
func (l *Looks) Take(value []byte) {
	if l.cells++; l.cells <= TotalNames && !l.total {
		l.total = NamesTotal(value)
	}
	if l.cells == 1 {
		l.note = NamesNote(value)
	}
}

// Cells is how many cells with a value were taken.
func (l *Looks) Cells() int { return l.cells }

// End tells what the row is, in a table of so many columns, and is ready for the next row.
func (l *Looks) End(columns int) RowKind {
	was := *l
	*l = Looks{}
	switch {
	case columns >= TotalColumns && was.total && was.cells <= TotalCells(columns):
		return TotalRow
	case columns >= NoteColumns && was.cells == 0:
		return TailRow
	case columns >= NoteColumns && was.cells == 1 && was.note:
		return TotalRow
	case columns >= TotalColumns && (was.cells == 1 || was.note && was.cells <= TotalCells(columns)):
		return TailRow
	}
	return RecordRow
}
