package kinds

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/query"
)

// Ratio estimates a figure of the private table from a public one, whose records are weighted to match the private
// ones in some columns.
type Ratio struct {
	// Column is the column of a mean or a quantile.
	Column string `json:"column,omitempty"`
	// Where is a condition that selects records, such as "age >= 65". Required for a share.
	Where string `json:"where,omitempty"`
	// Rank is the quantile, between 0 and 1. Defaults to 0.5, the median.
	Rank string `json:"rank,omitempty"`
	// Noise is the mechanism of the weights. Defaults to that of the columns.
	Noise string `json:"noise,omitempty"`
	// Columns are the columns in which the tables are compared. Required.
	Columns []string `json:"columns,omitempty"`
	// Public is the path of the public table, and on a server its name. Required.
	Public string `json:"public,omitempty"`
	// Of is the statistic: share (of the records that meet Where), mean or quantile (of
	// Column). Required.
	Of string `json:"of,omitempty"`
}

// Facts are those of the kind.
func (Ratio) Facts() *Facts {
	return &Facts{
		Name: "ratio", Text: "an estimate from a public table that is weighted to match the private one",
		Fields: []Field{
			{Name: "public", Form: PublicTable, Required: true, Text: "the public table"},
			{
				Name: "of", Form: Choice, Required: true, Choices: []string{"share", "mean", "quantile"},
				Text: "the share of the records that meet the condition, or the mean or a quantile of the column",
			},
			{Name: "columns", Form: Several, Required: true, Text: "the columns in which the tables are compared"},
			{Name: "column", Form: AColumn, Columns: measurable, Text: "the column of a mean or a quantile"},
			where, rank,
		},
		Unit: Share, Margin: Unknown, Size: ChangesNothing,
	}
}

// Said is the question in words.
func (k Ratio) Said() lang.Message {
	args := chosen(k)
	args["of"], args["columns"] = k.Of, strings.Join(k.Columns, ", ")
	delete(args, "rank")
	switch k.Of {
	case "share":
		return lang.Say("asked.ratio_share", args)
	case "quantile":
		args["rank"] = k.Rank
		return lang.Say("asked.ratio_quantile", args)
	}
	return lang.Say("asked.ratio_mean", args)
}

// Estimate is the answer.
type Estimate struct {
	// Released is what the weights are made of.
	Released any `json:"released"`
	// Value is the estimate; null where the weights give none.
	Value *float64 `json:"value"`
	// SE is its standard error, without hidden bias.
	SE *float64 `json:"se"`
	// Warnings are about the estimate.
	Warnings []noren.Text `json:"warnings"`
}

// Rows is the estimate with the interval of its standard error.
func (Ratio) Rows(answer json.RawMessage, level float64) ([]AnswerRow, error) {
	var r Estimate
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, unreadable(err)
	}
	return r.Rows(level), nil
}

// Rows is the estimate with the interval of its standard error.
func (r *Estimate) Rows(level float64) []AnswerRow {
	row := AnswerRow{Keys: []string{}}
	if r.Value == nil {
		return []AnswerRow{row}
	}
	value := query.Number(*r.Value)
	row.Value = &value
	if r.SE != nil {
		half := math.Sqrt2 * math.Erfinv(level) * *r.SE
		low, high := value-query.Number(half), value+query.Number(half)
		row.Low, row.High, row.Noise = &low, &high, &half
	}
	return []AnswerRow{row}
}
