package table

import "strings"

// CodeTotals is the code of the refusal of a table with rows of totals of which nothing was
// decided.
const CodeTotals = "totals"

// totalWords name rows of totals, in lower case and without blanks.
var totalWords = map[string]bool{
	"合計": true, "総計": true, "小計": true, "総合計": true, "計": true,
	"total": true, "totals": true, "grandtotal": true, "subtotal": true, "sum": true,
}

// Bounds of a row of totals: a cell that says so and one figure, in a table with more columns.
const (
	// TotalCells is the largest number of cells with a value that a row of totals has.
	TotalCells = 2
	// TotalColumns is the smallest number of columns of a table in which a row of so few
	// cells differs from a record.
	TotalColumns = 3
)

// NamesTotal reports whether a text is the name of a row of totals, such as 合計 or Total.
func NamesTotal(text []byte) bool {
	const longest = 64
	if len(text) > longest {
		return false
	}
	return totalWords[strings.ToLower(strings.Trim(strings.Join(strings.Fields(string(text)), ""), ":："))]
}
