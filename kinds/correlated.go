package kinds

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/correlated"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
)

// Correlated asks under the model of dependent records of a data set.
type Correlated struct {
	// Noise is the mechanism: laplace.
	Noise string `json:"noise,omitempty"`
	// Query is the query to the records of the model, as in {"count":"on"}. Required.
	Query json.RawMessage `json:"query,omitempty"`
	// Adversaries are the adversaries to protect against: "all", "empty", "full" or a list.
	// Defaults to "all".
	Adversaries json.RawMessage `json:"adversaries,omitempty"`
}

// Facts are those of the kind.
func (Correlated) Facts() *Facts {
	return &Facts{
		Name: "correlated", Text: "a query to dependent records, under the model of the table",
		Fields: []Field{
			{Name: "query", Form: Model, Required: true, Text: `the query to the records of the model, as in {"count":"on"}`},
			{Name: "adversaries", Form: Others, Default: "all", Text: "the adversaries to protect against: all, empty, full or a list"},
		},
		Noises: []string{"laplace"}, Unit: Unspecified, Margin: OfValue, Size: ChangesNothing, Persons: true,
	}
}

// Said is the question in words.
func (k Correlated) Said() lang.Message {
	if states := k.States(); states != nil {
		return lang.Say("asked.correlated_count", map[string]any{"states": strings.Join(states, ", ")})
	}
	return lang.Say("asked.correlated", map[string]any{"query": string(k.Query)})
}

// States are the states that the query counts; nil for every other query.
func (k Correlated) States() []string {
	var q map[string]json.RawMessage
	if json.Unmarshal(k.Query, &q) != nil || len(q) != 1 {
		return nil
	}
	var one string
	if json.Unmarshal(q["count"], &one) == nil {
		return []string{one}
	}
	var several []string
	if json.Unmarshal(q["count"], &several) != nil || len(several) == 0 {
		return nil
	}
	return several
}

// Rows are the values of an answer, one for each coordinate.
func (Correlated) Rows(answer json.RawMessage, _ float64) ([]AnswerRow, error) {
	var r correlated.Answer
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, unreadable(err)
	}
	return CorrelatedRows(&r), nil
}

// CorrelatedRows are the values of an answer about dependent records.
func CorrelatedRows(r *correlated.Answer) []AnswerRow {
	var rows []AnswerRow
	for i, v := range r.Values {
		row := AnswerRow{Keys: []string{}}
		if len(r.Values) > 1 {
			row.Keys = append(row.Keys, strconv.Itoa(i+1))
		}
		if x, err := strconv.ParseFloat(string(v), 64); err == nil {
			within := r.Within95[i]
			value, low, high := query.Number(x), query.Number(x-within), query.Number(x+within)
			row.Value, row.Low, row.High, row.Noise = &value, &low, &high, &within
		}
		rows = append(rows, row)
	}
	return rows
}
