// Package grid prints rows of text as columns that are aligned on a terminal.
//
// Widths are counted in cells of a terminal and not in bytes or runes: a Japanese
// character takes two, a combining mark none. Where the output is a terminal that is
// too narrow for a table, its widest columns are cut, numbers excepted, and the text at
// the end of a row goes on in the next line.
package grid

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// Width is the number of cells that a text takes on a terminal.
func Width(s string) int { return uniseg.StringWidth(s) }

// Pad appends spaces until a text takes at least n cells.
func Pad(s string, n int) string {
	return s + strings.Repeat(" ", max(0, n-Width(s)))
}

// Cut shortens a text to at most n cells, of which the last is an ellipsis where
// something was cut. Characters are kept whole.
func Cut(s string, n int) string {
	if Width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	head, _ := split(s, n-1)
	return head + "…"
}

// split returns the longest start of s of at most n cells, and what follows it.
func split(s string, n int) (head, rest string) {
	end, used, state := 0, 0, -1
	for end < len(s) {
		cluster, _, w, next := uniseg.FirstGraphemeClusterInString(s[end:], state)
		if used+w > n {
			break
		}
		end, used, state = end+len(cluster), used+w, next
	}
	return s[:end], s[end:]
}

// gap is the number of spaces between columns.
const gap = 2

// least is the number of cells that a column keeps when it is cut.
const least = 8

// Writer aligns what is written to it: a tab ends a cell, a new line a row. Neighbouring
// rows with a cell at the same place make a column; the text after the last tab of a row
// belongs to none, as in text/tabwriter. Nothing is printed before Flush.
type Writer struct {
	out   io.Writer
	width int // of the terminal; 0 for no bound
	text  strings.Builder
}

// New returns a Writer to out. The width of the table is bounded if out is a terminal.
func New(out io.Writer) *Writer { return NewWidth(out, TerminalWidth(out)) }

// NewWidth returns a Writer to out with tables of at most width cells; 0 for no bound.
func NewWidth(out io.Writer, width int) *Writer { return &Writer{out: out, width: width} }

// TerminalWidth is the width of the terminal that out is, in cells; 0 where it is none.
func TerminalWidth(out io.Writer) int {
	for {
		inner, ok := out.(interface{ Unwrap() io.Writer })
		if !ok {
			break
		}
		out = inner.Unwrap()
	}
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// Unwrap is what the table is printed to.
func (w *Writer) Unwrap() io.Writer { return w.out }

// Write implements [io.Writer]; it never fails.
func (w *Writer) Write(p []byte) (int, error) { return w.text.Write(p) }

// Flush prints what was written since the last Flush.
func (w *Writer) Flush() error {
	text := w.text.String()
	w.text.Reset()
	if text == "" {
		return nil
	}
	body, whole := strings.CutSuffix(text, "\n")
	var rows [][]string
	for line := range strings.SplitSeq(body, "\n") {
		rows = append(rows, strings.Split(line, "\t"))
	}
	var out strings.Builder
	for start := 0; start < len(rows); {
		end := start + 1
		if len(rows[start]) > 1 { // rows without a column in common are tables of their own
			for end < len(rows) && len(rows[end]) > 1 {
				end++
			}
		}
		w.print(&out, rows[start:end])
		start = end
	}
	text = out.String()
	if !whole {
		text = strings.TrimSuffix(text, "\n")
	}
	_, err := io.WriteString(w.out, text)
	return err
}

// Hang prints a head and a text beside it. On a terminal a text that is too long for the
// line goes on below its beginning.
func Hang(out io.Writer, head, text string) error {
	var line strings.Builder
	line.WriteString(head)
	NewWidth(out, TerminalWidth(out)).last(&line, text, Width(head))
	_, err := io.WriteString(out, line.String())
	return err
}

// print writes one table.
func (w *Writer) print(out *strings.Builder, rows [][]string) {
	widths := columns(rows)
	if w.width > 0 {
		w.narrow(rows, widths)
	}
	for i, row := range rows {
		at := 0
		for j, cell := range row[:len(row)-1] {
			cell = Pad(Cut(cell, max(0, widths[i][j]-gap)), widths[i][j])
			out.WriteString(cell)
			at += widths[i][j]
		}
		w.last(out, row[len(row)-1], at)
	}
}

// last writes the text after the last tab, which begins at a cell of the terminal. It
// goes on below its beginning where it is too long for the line and some words fit
// there.
func (w *Writer) last(out *strings.Builder, text string, at int) {
	const enough = 20
	for w.width-at >= enough && Width(text) > w.width-at {
		head, rest := split(text, w.width-at)
		if cut := lastSpace(head, rest); cut > 0 {
			head, rest = text[:cut], strings.TrimLeft(text[cut:], " ")
		}
		out.WriteString(strings.TrimRight(head, " ") + "\n" + strings.Repeat(" ", at))
		text = rest
	}
	out.WriteString(text + "\n")
}

// lastSpace is where a line that was filled may end: at the last space of head, or at its
// end if rest begins with one or either side of the end is a character that takes two
// cells, which Japanese text may break beside; 0 where it cannot.
func lastSpace(head, rest string) int {
	before, _ := utf8.DecodeLastRuneInString(head)
	after, _ := utf8.DecodeRuneInString(rest)
	if after == ' ' || wide(before) && wide(after) {
		return len(head)
	}
	return strings.LastIndexByte(head, ' ')
}

// wide reports whether a line may end beside a character: one of two cells that is no
// punctuation, which may not begin a line.
func wide(r rune) bool { return Width(string(r)) == 2 && !unicode.IsPunct(r) }

// columns are the widths of the cells of each row but its last: those of the cells in the
// rows above and below that have one at the same place, and the gap.
func columns(rows [][]string) [][]int {
	widths := make([][]int, len(rows))
	for i, row := range rows {
		widths[i] = make([]int, len(row)-1)
	}
	for i, row := range rows {
		for j := range row[:len(row)-1] {
			if i > 0 && j < len(widths[i-1]) {
				continue // of a column that began above
			}
			end, most := i, 0
			for ; end < len(rows) && j < len(widths[end]); end++ {
				most = max(most, Width(rows[end][j]))
			}
			for k := i; k < end; k++ {
				widths[k][j] = most + gap
			}
		}
	}
	return widths
}

// narrow takes from the widest columns until every row fits the terminal, or each has its
// least width. The last text of a row may need a few cells more: it goes on below.
func (w *Writer) narrow(rows [][]string, widths [][]int) {
	columns := 0
	for _, row := range widths {
		columns = max(columns, len(row))
	}
	keep := make([]int, columns) // columns of numbers are not cut
	for i, row := range rows {
		for j, cell := range row[:len(row)-1] {
			keep[j] = max(keep[j], least+gap)
			if number(cell) {
				keep[j] = max(keep[j], widths[i][j])
			}
		}
	}
	const text = 24 // of the last text
	for {
		over, widest, at := 0, 0, -1
		for i, row := range rows {
			total := min(text, Width(row[len(row)-1]))
			for _, n := range widths[i] {
				total += n
			}
			over = max(over, total-w.width)
		}
		if over == 0 {
			return
		}
		for j := range columns {
			most := 0
			for i := range widths {
				if j < len(widths[i]) {
					most = max(most, widths[i][j])
				}
			}
			if most > keep[j] && most > widest {
				widest, at = most, j
			}
		}
		if at < 0 {
			return
		}
		for i := range widths {
			if at < len(widths[i]) {
				widths[i][at] = min(widths[i][at], widest-1)
			}
		}
	}
}

// number reports whether a cell is a figure, of which no digit may be cut.
func number(cell string) bool {
	digits := 0
	for _, r := range cell {
		switch {
		case unicode.IsDigit(r):
			digits++
		case unicode.IsLetter(r) && r != 'e':
			return false
		}
	}
	return digits > 0
}
