package xlsx

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// CodeTotals is the code of the refusal of a table with rows of totals or notes of which nothing was decided.
const CodeTotals = table.CodeTotals

// mostTotals is how many rows of totals are remembered by their numbers.
const mostTotals = 1000

// totals are the rows of a sheet that hold totals or notes and no record: half of the cells or more
// are empty, and one of the first others says so; one cell has a value, which begins as a note
// does; or a record is above, none follows, and at most one cell has a value or the row begins as a
// note does and is half empty.
type totals struct {
	policy  Policy
	looks   table.Looks // the row that is read
	rows    int64       // without those below the last record
	below   int64       // rows that are no records if none follows, since the last record
	ended   int         // the row after the last record
	tail    int         // the same, of a reading before; 0 where there was none
	at      map[int]bool
	first   int // the first row of totals or notes
	started int // the first of the rows below the last record
}

// take looks at a value of the row that is read.
func (t *totals) take(value []byte) { t.looks.Take(value) }

// endRow ends a row of a table of so many columns, which holds some cells, such as empty texts, and
// reports whether it is left out.
func (t *totals) endRow(row, columns int, some bool) bool {
	if !some {
		return false // a blank row is no record
	}
	switch k := t.looks.End(columns); {
	case k == table.TotalRow:
		if t.rows++; t.rows == 1 {
			t.first = row
		}
		if t.at == nil {
			t.at = map[int]bool{}
		}
		if len(t.at) < mostTotals {
			t.at[row] = true
		}
		return t.policy == Leave
	case k == table.TailRow && t.ended == 0:
		return false // a table that has no other rows
	case k == table.TailRow:
		if t.below++; t.below == 1 {
			t.started = row
		}
		return t.policy == Leave && t.tail > 0 && row >= t.tail
	default:
		t.below, t.ended = 0, row+1
	}
	return false
}

// count is how many rows hold totals or notes, once all were read.
func (t *totals) count() int64 { return t.rows + t.below }

// begin is the first row of totals or notes, once all were read.
func (t *totals) begin() int {
	if t.below > 0 && (t.rows == 0 || t.started < t.first) {
		return t.started
	}
	return t.first
}

// again reports whether the sheet has to be read again, as rows are left out of which it is known
// only now that no record follows.
func (t *totals) again() bool { return t.policy == Leave && t.tail == 0 && t.below > 0 }

// merges reports whether cells of the rows may be merged, once all were read: they are totals or notes.
func (t *totals) merges(from, to int) bool {
	return t.policy != Read && (from == to && t.at[from] || t.ended > 0 && from >= t.ended)
}

// ParseTotals reads what becomes of rows of totals and notes, as [ParsePolicy] does.
func ParseTotals(s string) (Policy, error) {
	p, err := ParsePolicy(s)
	if err != nil {
		return 0, noren.Usagef("totals", "expected read or leave, got %q", s)
	}
	return p, nil
}

// totalsRefusal is the error about a table with rows of totals or notes of which nothing was decided.
func totalsRefusal(where any, rows int64) error {
	return &noren.Error{
		Kind: noren.Usage, Code: CodeTotals, Where: where,
		What: "%d {row looks|rows look} like totals or notes, not like records", Args: []any{rows},
		Hint: "decide whether they are read as records or left out",
	}
}
