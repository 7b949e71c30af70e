package xlsx

import (
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
)

// Policy says what becomes of the rows and columns that a workbook hides: those that are
// hidden by hand, by an outline or by a filter, or that have no height or width. A person who looks at the
// sheet does not see them.
type Policy uint8

const (
	// Undecided refuses a sheet that hides rows or columns of its table, with the code
	// [CodeHidden].
	Undecided Policy = iota
	// Read reads them as all others.
	Read
	// Leave leaves them out of the table.
	Leave
	// Look reads them as all others although nothing was decided: for a table that is
	// looked at and not released.
	Look
)

// CodeHidden is the code of the refusal of a table with hidden rows or columns.
const CodeHidden = "hidden"

// ParsePolicy reads "read", "leave" or the empty text, which decides nothing.
func ParsePolicy(s string) (Policy, error) {
	switch s {
	case "":
		return Undecided, nil
	case "read":
		return Read, nil
	case "leave":
		return Leave, nil
	}
	return 0, noren.Usagef("hidden", "expected read or leave, got %q", s)
}

// String is the inverse of [ParsePolicy], and empty for [Look].
func (p Policy) String() string { return [...]string{"", "read", "leave", ""}[p] }

// Hidden is what a sheet hides of its table.
type Hidden struct {
	// Rows is how many rows with values it hides, that of the names included.
	Rows int64
	// Columns are the names of the columns that it hides, in their order.
	Columns []string
}

// Any reports whether something is hidden.
func (h Hidden) Any() bool { return h.Rows > 0 || len(h.Columns) > 0 }

// Note says what is hidden and what became of it; empty where nothing is hidden.
func (h Hidden) Note(p Policy) noren.Text {
	names := strings.Join(h.Columns, ", ")
	switch left := p == Leave; {
	case h.Rows > 0 && names != "" && left:
		return noren.Textf("%d hidden {row|rows} and %d hidden {column|columns} are left out: %s", h.Rows, len(h.Columns), names)
	case h.Rows > 0 && names != "":
		return noren.Textf("%d hidden {row|rows} and %d hidden {column|columns} are read: %s", h.Rows, len(h.Columns), names)
	case h.Rows > 0 && left:
		return noren.Textf("%d hidden {row is|rows are} left out", h.Rows)
	case h.Rows > 0:
		return noren.Textf("%d hidden {row is|rows are} read", h.Rows)
	case names != "" && left:
		return noren.Textf("%d hidden {column is|columns are} left out: %s", len(h.Columns), names)
	case names != "":
		return noren.Textf("%d hidden {column is|columns are} read: %s", len(h.Columns), names)
	}
	return noren.Text{}
}

// refusal is the error about a table with hidden parts of which nothing was decided.
func (h Hidden) refusal(where any) error {
	names := strings.Join(h.Columns, ", ")
	e := &noren.Error{Kind: noren.Usage, Code: CodeHidden, Where: where, Hint: "decide whether they are read or left out"}
	switch {
	case h.Rows > 0 && names != "":
		e.Saying("hides %d {row|rows} and the columns %s of the table", h.Rows, names)
	case h.Rows > 0:
		e.Saying("hides %d {row|rows} of the table", h.Rows)
	default:
		e.Saying("hides the columns %s of the table", names)
	}
	return e
}

// concealed is what a sheet hides, as it is read.
type concealed struct {
	policy  Policy
	spans   int    // elements that describe columns
	columns []byte // by column what is stated of it
	others  bool   // columns that are not stated are hidden
	row     bool   // the row that is read is hidden
	value   bool   // and a value was found in it
	found   Hidden
}

// What is stated of a column.
const (
	unstated byte = iota
	shownColumn
	hiddenColumn
)

func isTrue(v []byte) bool { return string(v) == "1" || string(v) == "true" }

// isNothing reports whether a height or width is stated and zero.
func isNothing(v []byte) bool {
	f, err := strconv.ParseFloat(string(v), 64)
	return v != nil && err == nil && f == 0
}

// takeColumns reads the element of a run of columns.
func (c *concealed) takeColumns(in *scanner) {
	from, err1 := strconv.Atoi(string(in.rawAttr("min")))
	to, err2 := strconv.Atoi(string(in.rawAttr("max")))
	if c.spans++; err1 != nil || err2 != nil || from < 1 || to < from || c.spans > mostColumns {
		return
	}
	state := shownColumn
	if isTrue(in.rawAttr("hidden")) || isNothing(in.rawAttr("width")) {
		state = hiddenColumn
	}
	to = min(to, mostColumns)
	for len(c.columns) < to {
		c.columns = append(c.columns, unstated)
	}
	for i := from - 1; i < to; i++ {
		c.columns[i] = state
	}
}

// column reports whether a column is hidden.
func (c *concealed) column(i int) bool {
	if i < len(c.columns) && c.columns[i] != unstated {
		return c.columns[i] == hiddenColumn
	}
	return c.others
}

// startRow begins a row.
func (c *concealed) startRow(in *scanner) {
	c.row, c.value = isTrue(in.rawAttr("hidden")) || isNothing(in.rawAttr("ht")), false
}

// leaves reports whether the row that is read is left out.
func (c *concealed) leaves() bool { return c.row && c.policy == Leave }

// endRow ends a row of the table, or one that is left out.
func (c *concealed) endRow() {
	if c.row && c.value {
		c.found.Rows++
	}
}
