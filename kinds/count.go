package kinds

import (
	"encoding/json"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
)

// Count asks how many records meet a condition.
type Count struct {
	// Where is a condition that selects records, such as "age >= 65".
	Where string `json:"where,omitempty"`
	// By are the columns whose values make groups.
	By []string `json:"by,omitempty"`
	// Keys are lists of public values, one list per column of By; all combinations are
	// answered. Defaults to the keys of the schema.
	Keys [][]string `json:"keys,omitempty"`
	// Noise is the mechanism: laplace or gaussian. Defaults to the one with the smallest cost for a margin,
	// otherwise to that of the query.
	Noise string `json:"noise,omitempty"`
	// MaxRows is the largest number of records per person that count. Required where the
	// privacy unit is a column.
	MaxRows int64 `json:"max_rows,omitempty"`
}

// Facts are those of the kind.
func (Count) Facts() *Facts {
	return &Facts{
		Name: "count", Query: query.Count, Text: "how many records meet a condition",
		Fields: []Field{where, by, keys, maxRows},
		Noises: queryNoises, Delta: queryDelta, Unit: Records, Margin: OfValue, Size: ChangesSampling, Grouped: true, Persons: true,
	}
}

// Said is the question in words.
func (k Count) Said() lang.Message { return said("count", k) }

// Rows are the values of an answer, one for each group.
func (Count) Rows(answer json.RawMessage, _ float64) ([]AnswerRow, error) { return queryRows(answer) }
