package kinds

import (
	"encoding/json"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
)

// queryRows are the values of the answer to a query.
func queryRows(answer json.RawMessage) ([]AnswerRow, error) {
	var r query.Result
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, unreadable(err)
	}
	return QueryRows(&r), nil
}

// QueryRows are the values of the answer to a query.
func QueryRows(r *query.Result) []AnswerRow {
	groups := r.Groups
	if r.Group != nil {
		groups = []query.Group{*r.Group}
	}
	rows := make([]AnswerRow, len(groups))
	for i := range groups {
		rows[i] = queryRow(&groups[i])
	}
	return rows
}

// queryRow is the value of a group or a bin.
func queryRow(g *query.Group) AnswerRow {
	row := AnswerRow{Keys: append([]string{}, g.Key...), Value: g.Value, Text: g.Text}
	switch {
	case g.Bin != nil:
		row.Keys = append(row.Keys, "["+lang.Figure(g.Bin[0])+", "+lang.Figure(g.Bin[1])+")")
	case g.Of != nil:
		row.Keys = append(row.Keys, *g.Of)
	}
	if g.Interval != nil {
		low, high := g.Interval[0], g.Interval[1]
		row.Low, row.High = &low, &high
		half := float64(high-low) / 2
		row.Noise = &half
	}
	if g.Records != nil {
		records := float64(*g.Records)
		row.Records = &records
	}
	if g.RankWithin != nil {
		within := *g.RankWithin
		row.Noise = &within
	}
	return row
}
