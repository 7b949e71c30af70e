package kinds

import (
	"encoding/json"
	"strings"

	"github.com/noren-privacy/noren/lang"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/query"
)

// Outliers asks how many records are distance-based outliers: records with fewer than K others within a radius.
type Outliers struct {
	// Noise is the mechanism: lomax, student-t, laplace, gaussian or global-laplace. Defaults to
	// the choice of the plan.
	Noise string `json:"noise,omitempty"`
	// Columns are the columns of the space. Required.
	Columns []string `json:"columns,omitempty"`
	// K is the number of others within the radius below which a record is an outlier. Required.
	K int `json:"k,omitempty"`
	// Radius is the distance within which others are counted, in units of distance. Required.
	Radius float64 `json:"radius,omitempty"`
	// Step is the grid of coordinates, in units of distance. Defaults to Radius / 100.
	Step float64 `json:"step,omitempty"`
	// Box is the bounds of the columns: two numbers for all columns, or two numbers per
	// column. Defaults to the bounds of the schema.
	Box []float64 `json:"box,omitempty"`
	// Scale is the scaling of the columns: none, or bounds, with which the width of a column's
	// bounds is one unit of distance.
	Scale string `json:"scale,omitempty"`
	// Guess is a public guess of the local sensitivity on typical data.
	Guess int `json:"guess,omitempty"`
	// IntervalShare is the share of the cost for an interval that follows from the noise that
	// was drawn.
	IntervalShare float64 `json:"interval_share,omitempty"`
}

// Facts are those of the kind.
func (Outliers) Facts() *Facts {
	return &Facts{
		Name: "outliers", Text: "how many records have fewer than k others within a radius",
		Fields: []Field{
			{Name: "columns", Form: Several, Required: true, Columns: measurable, Text: "the columns of the space"},
			{Name: "k", Form: Whole, Required: true, Text: "a record with fewer others within the radius is an outlier"},
			{Name: "radius", Form: Number, Required: true, Text: "the distance within which others are counted"},
			{Name: "step", Form: Number, Text: "the grid of coordinates; a hundredth of the radius where it is not stated"},
			{Name: "box", Form: Numbers, Filled: "bounds", Text: "the bounds of the columns: two numbers for all, or two for each"},
			{
				Name: "scale", Form: Choice, Choices: []string{"none", "bounds"}, Default: "none",
				Text: "with bounds the width of a column's bounds is one unit of distance",
			},
			{Name: "guess", Form: Whole, Text: "a public guess of the local sensitivity on typical data"},
			{Name: "interval_share", Form: Number, Text: "the share of the cost for an interval that follows from the noise that was drawn"},
		},
		Noises: []string{"lomax", "student-t", "laplace", "gaussian", "global-laplace"}, Delta: []string{"laplace", "gaussian"},
		Unit: Records, Margin: OfValue, Size: ChangesNothing,
	}
}

// Said is the question in words.
func (k Outliers) Said() lang.Message {
	return lang.Say("asked.outliers", map[string]any{"k": k.K, "radius": k.Radius, "columns": strings.Join(k.Columns, ", ")})
}

// Rows is the one value of an answer.
func (Outliers) Rows(answer json.RawMessage, _ float64) ([]AnswerRow, error) {
	var r outlier.Answer
	if err := json.Unmarshal(answer, &r); err != nil {
		return nil, unreadable(err)
	}
	return OutlierRows(&r), nil
}

// OutlierRows is the one value of a count of outliers.
func OutlierRows(r *outlier.Answer) []AnswerRow {
	interval := r.Interval
	if r.Expected != nil {
		interval = *r.Expected
	}
	value, low, high := query.Number(r.Count), query.Number(interval.Low), query.Number(interval.High)
	half := float64(interval.High-interval.Low) / 2
	return []AnswerRow{{Keys: []string{}, Value: &value, Low: &low, High: &high, Noise: &half}}
}
