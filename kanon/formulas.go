package kanon

import (
	"github.com/noren-privacy/noren/table"
	"github.com/noren-privacy/noren/table/formula"
)

// Formulas counts the texts of a release that spreadsheets take for formulas (package
// formula): those that leave, before they were written as texts. Suppressed records are not
// counted.
type Formulas struct {
	// Choice is what became of them: keep, or text where an apostrophe was written before each.
	Choice string `json:"choice"`
	// Cells is the number of cells.
	Cells int64 `json:"cells"`
	// Names is the number of columns with such a name.
	Names int `json:"names"`
	// Columns are the columns with such cells or such a name.
	Columns []FormulaColumn `json:"columns"`
}

// FormulaColumn is a column with texts that spreadsheets take for formulas.
type FormulaColumn struct {
	// Column is the column's name.
	Column string `json:"column"`
	// Cells is the number of cells.
	Cells int64 `json:"cells"`
	// Name is true if the name of the column is taken for a formula.
	Name bool `json:"name,omitempty"`
}

// CountFormulas is what a release with these columns has of them, nil where there is none and
// they were to be kept.
func CountFormulas(choice formula.Choice, columns []table.StoredColumn, found formula.Count) *Formulas {
	out := &Formulas{Choice: choice.String(), Columns: []FormulaColumn{}}
	for i, n := range found.Cells {
		if n == 0 && !found.Names[i] {
			continue
		}
		out.Cells += n
		if found.Names[i] {
			out.Names++
		}
		out.Columns = append(out.Columns, FormulaColumn{Column: columns[i].Name, Cells: n, Name: found.Names[i]})
	}
	if len(out.Columns) == 0 && choice == formula.Keep {
		return nil
	}
	return out
}

// countFormulas takes over what a sink that was closed has counted.
func (r *run) countFormulas(columns []table.StoredColumn, sink table.Sink) {
	if c, ok := sink.(formula.Counter); ok {
		if found := c.Formulas(); found.Cells != nil {
			r.result.Formulas = CountFormulas(r.dialect().Formulas, columns, found)
		}
	}
}
