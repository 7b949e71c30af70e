package kinds

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/query"
)

// statistic is a question about the values of a column, which are moved into bounds.
type statistic struct {
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
	// Noise is the mechanism: laplace or gaussian. Defaults to the one with the smallest cost for a margin,
	// otherwise to that of the query.
	Noise string `json:"noise,omitempty"`
	// MaxRows is the largest number of records per person that count. Required where the
	// privacy unit is a column.
	MaxRows int64 `json:"max_rows,omitempty"`
	// GridBits is the precision to which values are rounded: multiples of 2^-GridBits.
	// Defaults to a value that fits the bounds.
	GridBits *int `json:"grid_bits,omitempty"`
}

// statisticFacts are the facts of a statistic.
func statisticFacts(kind query.Kind, text noren.Phrase, unit Unit, size Size) *Facts {
	return &Facts{
		Name: string(kind), Query: kind, Text: text,
		Fields: []Field{numberColumn, where, by, keys, bounds, maxRows, gridBits},
		Noises: queryNoises, Delta: queryDelta, Unit: unit, Margin: OfValue, Size: size, Grouped: true, Persons: true,
	}
}
