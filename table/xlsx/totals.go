package xlsx

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// CodeTotals is the code of the refusal of a table with total rows of which nothing was decided.
const CodeTotals = table.CodeTotals

// mostTotals is how many rows of totals are remembered by their numbers.
const mostTotals = 1000

// totals are the rows of a sheet that hold totals and no record: half of the cells or more
// are empty, and one of the first others says so.
type totals struct {
	policy Policy
	cells  int  // with a value, of the row that is read
	named  bool // one of the first of them names a total
	rows   int64
	at     map[int]bool
}

// take looks at a value of the row that is read.
func (t *totals) take(value []byte) {
	if t.cells++; t.cells <= table.TotalNames && !t.named {
		t.named = table.NamesTotal(value)
	}
}

// endRow ends a row of a table of so many columns, and reports whether it is left out.
func (t *totals) endRow(row, columns int) bool {
	is := t.named && t.cells <= table.TotalCells(columns) && columns >= table.TotalColumns
	t.cells, t.named = 0, false
	if !is {
		return false
	}
	t.rows++
	if t.at == nil {
		t.at = map[int]bool{}
	}
	if len(t.at) < mostTotals {
		t.at[row] = true
	}
	return t.policy == Leave
}

// ParseTotals reads what becomes of rows of totals, as [ParsePolicy] does.
func ParseTotals(s string) (Policy, error) {
	p, err := ParsePolicy(s)
	if err != nil {
		return 0, noren.Usagef("totals", "expected read or leave, got %q", s)
	}
	return p, nil
}

// totalsRefusal is the error about a table with total rows of which nothing was decided.
func totalsRefusal(where any, rows int64) error {
	return &noren.Error{Kind: noren.Usage, Code: CodeTotals, Where: where, What: "%d {row holds|rows hold} totals and no record", Args: []any{rows}, Hint: "decide whether they are read as records or left out"}
}
