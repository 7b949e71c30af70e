package api

import (
	"github.com/noren-privacy/noren/query"
	"github.com/noren-privacy/noren/table"
)

// QuerySchema is the form of [Query], and of the price of one.
const QuerySchema = query.Format

// QueryRequest asks for a count, sum, mean, variance, histogram or quantile. Bounds,
// bins, values, keys and the condition are public: they must come from what is known
// of the subject, never from the table.
type QueryRequest struct {
	Ask
	// Kind is count, sum, mean, variance, histogram or quantile. Required.
	Kind query.Kind `json:"query"`
	// Column is the column that is asked about. Required, except for a count.
	Column string `json:"column,omitempty"`
	// Where is a condition that selects records, such as "age >= 65".
	Where string `json:"where,omitempty"`
	// By are the columns whose values make groups.
	By []string `json:"by,omitempty"`
	// Keys holds a list of public values for each column of By; all combinations are
	// answered. Defaults to the keys of the schema.
	Keys [][]string `json:"keys,omitempty"`
	// KeysFile is the path of a CSV file of groups, whose header names the columns of By.
	KeysFile string `json:"keys_file,omitempty"`
	// Bounds are the smallest and the largest value that counts, as the column writes
	// its values. Defaults to the bounds of the schema.
	Bounds []string `json:"bounds,omitempty"`
	// Bins are the rising edges of a histogram of a number column.
	Bins []string `json:"bins,omitempty"`
	// Values are the bins of a histogram of a category or ordered column.
	Values []string `json:"values,omitempty"`
	// Rank is the quantile, between 0 and 1. Defaults to 0.5, the median.
	Rank string `json:"rank,omitempty"`
	// Noise is laplace, gaussian, exponential or smooth. Defaults to laplace, and for a
	// quantile to exponential.
	Noise query.Noise `json:"mechanism,omitempty"`
	// MaxRows is the largest number of records of one person that count. Required where
	// the privacy unit is a column.
	MaxRows int64 `json:"max_rows,omitempty"`
	// GridBits rounds values to multiples of 2^-GridBits. Defaults to what fits the
	// bounds.
	GridBits *int `json:"grid_bits,omitempty"`
	// Level is the confidence of the intervals. Defaults to 0.95.
	Level float64 `json:"level,omitempty"`
	// Records is about how many records a group has, for the expected accuracy of a price.
	// Defaults to what is public: at most 1000 where that is a bound alone.
	Records int64 `json:"records,omitempty"`
}

// Query is the answer to a query.
type Query struct {
	// Schema is noren.query/1.
	Schema string `json:"schema"`
	*query.Result
	Receipt
	// Care are remarks beside the values: what they do not count, and that an error is one of ranks.
	// They follow from the query alone.
	Care []Message `json:"care,omitempty"`

	// Where is the condition of the query as it was read, Rank its quantile, and Field its column, for those who
	// print the answer.
	Where string      `json:"-"`
	Rank  string      `json:"-"`
	Field table.Field `json:"-"`
}

// QueryAccuracySchema is the form of [QueryAccuracy].
const QueryAccuracySchema = "noren.query.accuracy/1"

// QueryAccuracy compares the mechanisms that can answer a query, from public facts.
type QueryAccuracy struct {
	// Accuracy is the expected accuracy, one entry per mechanism.
	Accuracy []NoiseAccuracy `json:"accuracy"`
	// Query is the kind of query.
	Query query.Kind `json:"query"`
	// Schema is noren.query.accuracy/1.
	Schema string `json:"schema"`
}

// NoiseAccuracy is the expected accuracy with one mechanism.
type NoiseAccuracy struct {
	// Mechanism is the name of the mechanism.
	Mechanism query.Noise `json:"mechanism"`
	// Accuracy is the expected error of an answer.
	Accuracy query.Accuracy `json:"accuracy"`
}
