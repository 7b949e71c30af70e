package kinds

import (
	"encoding/json"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/table"
)

var (
	binned = Field{
		Name: "column", Form: AColumn, Required: true, Text: "the column that is asked about",
		Columns: []table.Type{table.Integer, table.Decimal, table.Date, table.Category, table.Ordered},
	}
	bins   = Field{Name: "bins", Form: List, Text: "the rising edges of the bins, for a column of numbers or dates"}
	listed = Field{Name: "values", Form: List, Filled: "keys", Text: "the values that are counted, for a column of categories"}
)

// Histogram asks how many records each of some bins holds: intervals of a number column, or values of another.
type Histogram struct {
	// Column is the column that is asked about. Required.
	Column string `json:"column,omitempty"`
	// Where is a condition that selects records, such as "age >= 65".
	Where string `json:"where,omitempty"`
	// By are the columns whose values make groups.
	By []string `json:"by,omitempty"`
	// Keys are lists of public values, one list per column of By; all combinations are
	// answered. Defaults to the keys of the schema.
	Keys [][]string `json:"keys,omitempty"`
	// Bins are the rising edges of a histogram of a number column.
	Bins []string `json:"bins,omitempty"`
	// Values are the bins of a histogram of a category or ordered column.
	Values []string `json:"values,omitempty"`
	// Noise is the mechanism: laplace or gaussian. Defaults to the one with the smallest cost for a margin,
	// otherwise to that of the query.
	Noise string `json:"noise,omitempty"`
	// MaxRows is the largest number of records per person that count. Required where the
	// privacy unit is a column.
	MaxRows int64 `json:"max_rows,omitempty"`
}

// Facts are those of the kind.
func (Histogram) Facts() *Facts {
	return &Facts{
		Name: "histogram", Query: query.Histogram, Text: "how many records each bin of a column holds",
		Fields: []Field{binned, where, by, keys, bins, listed, maxRows},
		Noises: queryNoises, Delta: queryDelta, Unit: Records, Margin: OfValue, Size: ChangesSampling, Grouped: true, Persons: true,
	}
}

// Said is the question in words.
func (k Histogram) Said() lang.Message { return said("histogram", k) }

// Rows are the values of an answer, one for each group and bin.
func (Histogram) Rows(answer json.RawMessage, _ float64) ([]AnswerRow, error) {
	return queryRows(answer)
}
