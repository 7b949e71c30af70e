package kinds

import (
	"encoding/json"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
)

// Quantile asks for a quantile of a column.
type Quantile struct {
	// Column is the column that is asked about. Required.
	Column string `json:"column,omitempty"`
	// Where is a condition that selects records, such as "age >= 65".
	Where string `json:"where,omitempty"`
	// By are the columns whose values make groups.
	By []string `json:"by,omitempty"`
	// Keys are lists of public values, one list per column of By; all combinations are
	// answered. Defaults to the keys of the schema.
	Keys [][]string `json:"keys,omitempty"`
	// Bounds are the smallest and the largest value that counts, written as in the column.
	// Defaults to the bounds of the schema.
	Bounds []string `json:"bounds,omitempty"`
	// Rank is the quantile, between 0 and 1. Defaults to 0.5, the median.
	Rank string `json:"rank,omitempty"`
	// Noise is the mechanism: exponential or smooth. Defaults to the one with the smallest cost for a margin,
	// otherwise to that of the query.
	Noise string `json:"noise,omitempty"`
	// MaxRows is the largest number of records per person that count. Required where the
	// privacy unit is a column.
	MaxRows int64 `json:"max_rows,omitempty"`
	// GridBits is the precision to which values are rounded: multiples of 2^-GridBits.
	// Defaults to a value that fits the bounds.
	GridBits *int `json:"grid_bits,omitempty"`
}

// Facts are those of the kind.
func (Quantile) Facts() *Facts {
	return &Facts{
		Name: "quantile", Query: query.Quantile, Text: "a quantile of a column, the median where no rank is stated",
		Fields: []Field{numberColumn, where, by, keys, bounds, rank, maxRows, gridBits},
		Noises: []string{"exponential", "smooth"}, Unit: OfColumn, Margin: OfRank, Size: ChangesNothing, Grouped: true, Persons: true,
	}
}

// Said is the question in words.
func (k Quantile) Said() lang.Message {
	if k.Rank == "" || k.Rank == "0.5" {
		k.Rank = ""
		return said("median", k)
	}
	return said("quantile", k)
}

// Rows are the values of an answer, one for each group.
func (Quantile) Rows(answer json.RawMessage, _ float64) ([]AnswerRow, error) {
	return queryRows(answer)
}
