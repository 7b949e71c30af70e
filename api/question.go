package api

import "encoding/json"

// The kinds of a [Question] beside those of package query.
const (
	// KindOutliers counts distance-based outliers.
	KindOutliers = "outliers"
	// KindCorrelated asks under a model of dependent records.
	KindCorrelated = "correlated"
	// KindRatio estimates a figure of the private table from a public one that is weighted
	// to match it.
	KindRatio = "ratio"
)

// Question is one question to a data set, with its privacy cost or how close the answer
// must be. Everything in it is public: it must come from what is known of the subject,
// never from the table. Fields that are not of its kind must be left out.
type Question struct {
	// Kind is the kind of the question: count, sum, mean, variance, histogram, quantile,
	// outliers, correlated or ratio. Required.
	Kind string `json:"kind"`
	// Column is the column of which a statistic is computed. For sum, mean, variance,
	// histogram and quantile, and for a ratio whose Of is mean or quantile.
	Column string `json:"column,omitempty"`
	// Where is a condition that selects records, such as "age >= 65".
	Where string `json:"where,omitempty"`
	// By are the columns whose values make groups. For the kinds of queries.
	By []string `json:"by,omitempty"`
	// Keys are lists of public values, one list per column of By; all combinations are
	// answered. Defaults to the keys of the schema.
	Keys [][]string `json:"keys,omitempty"`
	// Bounds are the smallest and the largest value that counts, written as in the column.
	// Defaults to the bounds of the schema.
	Bounds []string `json:"bounds,omitempty"`
	// Bins are the rising edges of a histogram of a number column.
	Bins []string `json:"bins,omitempty"`
	// Values are the bins of a histogram of a category or ordered column.
	Values []string `json:"values,omitempty"`
	// Rank is the quantile, between 0 and 1. Defaults to 0.5, the median.
	Rank string `json:"rank,omitempty"`
	// Noise is the mechanism: for queries laplace, gaussian, exponential or smooth, for
	// outliers lomax, student-t, laplace, gaussian or global-laplace. Defaults to the
	// mechanism with the smallest cost for a margin, otherwise as in the operation of the
	// kind.
	Noise string `json:"noise,omitempty"`
	// MaxRows is the largest number of records per person that count. Required where the
	// privacy unit is a column.
	MaxRows int64 `json:"max_rows,omitempty"`
	// GridBits is the precision to which values are rounded: multiples of 2^-GridBits.
	// Defaults to a value that fits the bounds.
	GridBits *int `json:"grid_bits,omitempty"`

	// Columns are the columns of the space. For outliers and ratio.
	Columns []string `json:"columns,omitempty"`
	// K is the number of others within the radius below which a record is an outlier.
	K int `json:"k,omitempty"`
	// Radius is the distance within which others are counted, in units of distance. For
	// outliers.
	Radius float64 `json:"radius,omitempty"`
	// Step is the grid of coordinates, in units of distance. Defaults to Radius / 100.
	Step float64 `json:"step,omitempty"`
	// Box is the bounds of the columns: two numbers for all columns, or two numbers per
	// column. Defaults to the bounds of the schema. For outliers.
	Box []float64 `json:"box,omitempty"`
	// Scale is the scaling of the columns: none, or bounds, with which the width of a column's
	// bounds is one unit of distance. For outliers.
	Scale string `json:"scale,omitempty"`
	// Guess is a public guess of the local sensitivity on typical data. For outliers.
	Guess int `json:"guess,omitempty"`
	// IntervalShare is the share of the cost for an interval that follows from the noise that
	// was drawn. For outliers.
	IntervalShare float64 `json:"interval_share,omitempty"`

	// Query is the query to the records of the model, as in {"count":"on"}. For correlated.
	Query json.RawMessage `json:"query,omitempty"`
	// Adversaries are the adversaries to protect against: "all", "empty", "full" or a list.
	// For correlated. Defaults to "all".
	Adversaries json.RawMessage `json:"adversaries,omitempty"`

	// Public is the path of the public table. For ratio.
	Public string `json:"public,omitempty"`
	// Of is the statistic: share (of the records that meet Where), mean or quantile (of
	// Column). For ratio.
	Of string `json:"of,omitempty"`

	// Pay is the privacy cost of the question. Either Pay or Margin is required.
	Pay *Amount `json:"pay,omitempty"`
	// Margin is how close the answer must be; the smallest cost that reaches it is charged.
	Margin *Margin `json:"margin,omitempty"`
}

// Margin is how close an answer must be to the answer without noise.
type Margin struct {
	// Within is the largest error: of the value, in the unit of the column or in records; for
	// a quantile by the exponential mechanism of the rank, in records. Required, above 0.
	Within float64 `json:"within"`
	// At is the confidence, a decimal above 0 and below 1. Defaults to 0.95.
	At string `json:"at,omitempty"`
	// About is a guess of the number of records of a group, on which the error of means and
	// variances depends. Defaults, for these, to the public number of records divided by the
	// number of groups; required where no such number is public.
	About int64 `json:"about,omitempty"`
	// Quartiles are the lower and the upper quartile of the column, as published elsewhere.
	// They give the spread from which the error of sampling is computed. Optional.
	Quartiles []float64 `json:"quartiles,omitempty"`
	// Delta is the delta of Gaussian noise in a budget of epsilon. Required there for
	// Gaussian noise, and absent elsewhere.
	Delta string `json:"delta,omitempty"`
}

// AskSchema is the form of [Answers], and of their quote.
const AskSchema = "noren.ask/1"

// AskRequest asks several questions of one data set as one request, with one charge and
// one certificate.
type AskRequest struct {
	// Dataset is the name of a data set of the ledger, or the path of its file.
	Dataset string `json:"dataset"`
	// Questions are 1 to 20 questions. Required.
	Questions []Question `json:"questions"`
	// Analyst is the name of the analyst. Defaults to that of the service.
	Analyst string `json:"analyst,omitempty"`
	// Records is about how many records of the data set count, as its steward states in public. From it
	// follows the number of records of a group where a margin does not guess it. Optional.
	Records int64 `json:"records,omitempty"`
	// RequestKey makes the request idempotent: asked again under the same key, it is
	// answered with the same bytes and free of charge.
	RequestKey string `json:"request_key,omitempty"`
	// Reuse asks for the stored answer to the same questions, where the ledger has one,
	// free of charge.
	Reuse bool `json:"reuse,omitempty"`
	// Most is the largest cost that may be charged. A request that costs more is refused
	// and nothing is charged. Optional.
	Most *Amount `json:"most,omitempty"`
	// Definition is the hash of the schema that a quote was made for. Where the data set
	// has another by now, the request is refused and nothing is charged. Optional.
	Definition string `json:"definition,omitempty"`
	// Request is the hash of the request that a quote was made for. Where the request is
	// another by now (a version of the data set, a public table), it is refused and nothing is
	// charged. Optional.
	Request string `json:"request,omitempty"`
	// Outputs are files that the caller will write. One that is the private file or the
	// ledger is refused before anything is charged.
	Outputs []string `json:"-"`
}
