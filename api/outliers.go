package api

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/outlier"
	"github.com/noren-privacy/noren/spec"
)

// OutliersSchema is the form of [Outliers], and of the price of one.
const OutliersSchema = "noren.outliers/1"

// OutliersCountRequest asks for the number of distance-based outliers: records with fewer
// than K others within Radius. Columns, bounds and scales are public: they must come
// from what is known of the subject, never from the table.
type OutliersCountRequest struct {
	Ask
	// Columns are the columns of the space. Required.
	Columns []string `json:"columns"`
	// K is the number of others within the radius below which a record is an outlier.
	// Required.
	K int `json:"k"`
	// Radius is in units of distance. Required.
	Radius float64 `json:"radius"`
	// Step is the grid of coordinates, in units of distance. Defaults to Radius / 100.
	Step float64 `json:"step,omitempty"`
	// Box holds the bounds of every column, two numbers, or two numbers for each column.
	// Defaults to the bounds of the scale file or the schema.
	Box []float64 `json:"box,omitempty"`
	// ScaleFile is the path of a public CSV file with the header column,scale or
	// column,low,high,scale: one unit of distance in each column, and its bounds.
	ScaleFile string `json:"public_scale,omitempty"`
	// Scale is none, or bounds: the width of a column's bounds is one unit of distance.
	// Defaults to none.
	Scale string `json:"scale,omitempty"`
	// Records is the public number of records, where neighbours are replace-one. Defaults
	// to that of the schema.
	Records int `json:"records,omitempty"`
	// Noise is lomax, student-t, laplace, gaussian or global-laplace. Defaults to what
	// the plan chooses.
	Noise outlier.Noise `json:"mechanism,omitempty"`
	// Guess is a public guess of the local sensitivity on typical data. With it the answer
	// has the interval that holds if the guess is right.
	Guess int `json:"guess,omitempty"`
	// IntervalShare is the share of epsilon for an interval by the noise that was really
	// drawn. Defaults to 0.
	IntervalShare float64 `json:"interval_share,omitempty"`
}

// Outliers is the count of outliers.
type Outliers struct {
	// Schema is noren.outliers/1.
	Schema string `json:"schema"`
	outlier.Answer
	Receipt
}

// OutliersAccuracy is the expected error of a count of outliers, from public facts.
type OutliersAccuracy struct {
	// Noise is a description of the noise.
	Noise noren.Text `json:"noise"`
	// SD is the standard deviation that is expected if the guess is right; absent without
	// a guess.
	SD float64 `json:"expected_sd,omitempty"`
	// HalfWidth is the half-width of the 95% interval that is expected if the guess is right;
	// absent without a guess.
	HalfWidth float64 `json:"expected_half_width_95,omitempty"`
	// MostSD is the largest standard deviation, whatever the data.
	MostSD float64 `json:"most_sd"`
	// MostHalfWidth is the largest half-width of the 95% interval, whatever the data.
	MostHalfWidth float64 `json:"most_half_width_95"`

	// About describes the count in one line.
	About noren.Text `json:"-"`
}

// OutliersPlanSchema is the form of [OutliersPlan].
const OutliersPlanSchema = "noren.outliers.plan/1"

// OutliersPlanRequest asks which noise to choose, from public facts alone.
type OutliersPlanRequest struct {
	outlier.Facts
	// Neighbours is add-remove or replace-one. Defaults to add-remove.
	Neighbours string `json:"neighbours,omitempty"`
	// Share is a public guess of the share of records that are outliers. Required.
	Share float64 `json:"outlier_share"`
}

// OutliersPlan is the noise to choose, with the error that is expected.
type OutliersPlan struct {
	// Schema is noren.outliers.plan/1.
	Schema string `json:"schema"`
	*outlier.Plan
	// Share is the guess of the share of records that are outliers.
	Share float64 `json:"outlier_share"`
	// Table is a comparison of noise and count for numbers of records and epsilons.
	Table []outlier.PlanRow `json:"table"`
}

// OutliersSensitivitySchema is the form of [OutliersSensitivity].
const OutliersSensitivitySchema = "noren.outliers.sensitivity/1"

// OutliersSensitivityRequest asks for the sensitivity from which noise is made, computed
// from private data without noise.
type OutliersSensitivityRequest struct {
	// Input is the path of a table of whole numbers, or - for the standard input of the
	// service. Required.
	Input string `json:"input"`
	// Spec states the form of the file. Optional.
	Spec *spec.Spec `json:"spec,omitempty"`
	// Columns are the columns of the space. Defaults to all.
	Columns []string `json:"columns,omitempty"`
	// K is the number of others within the radius below which a record is an outlier.
	// Required.
	K int `json:"k"`
	// Radius2 is the squared radius, in squared units of the coordinates. Required.
	Radius2 int64 `json:"radius2"`
	// UpTo is the largest distance t for which U is computed.
	UpTo int `json:"up_to"`
	// Neighbours is add-remove or replace-one. Defaults to add-remove.
	Neighbours string `json:"neighbours,omitempty"`
	// Beta are the values, in decimal, for which S is computed.
	Beta []string `json:"beta,omitempty"`
	// Coverage is auto, core or exact: how the number of points in one ball is bounded.
	// Defaults to auto.
	Coverage string `json:"coverage,omitempty"`
}

// OutliersSensitivity is private: it must not be released.
type OutliersSensitivity struct {
	// Schema is noren.outliers.sensitivity/1.
	Schema string `json:"schema"`
	// Private is the text "do not release".
	Private string `json:"private"`
	*outlier.Diagnosis
	// S is the smooth bound for one beta; for several, an object of bounds by beta.
	S any `json:"S"`

	// Neighbours is the relation that U, G and S are for.
	Neighbours string `json:"-"`
}
