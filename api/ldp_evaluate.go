package api

import "github.com/noren-privacy/noren/ldp/evaluate"

// LDPEvaluateRequest asks what models learn from a table that is randomised at its
// source.
type LDPEvaluateRequest struct {
	// Table is the table. Required.
	Table
	// Label is the column of the class. Required.
	Label string `json:"label"`
	// Columns to learn from. Default to all others but identifiers.
	Columns []string `json:"columns,omitempty"`
	// Drop names columns not to learn from.
	Drop []string `json:"drop,omitempty"`
	// Bounds are the public ends of numbers and dates, by column: the lower and the upper
	// end, as the table would write them.
	Bounds map[string][2]string `json:"bounds,omitempty"`
	// Mechanisms are grr, oue and sue. Default to grr and sue.
	Mechanisms []string `json:"mechanisms,omitempty"`
	// Epsilons of one attribute. Default to 0.5, 1, 2, 3, 4 and 6.
	Epsilons []float64 `json:"epsilons,omitempty"`
	// PerRecord says that the epsilons are of a whole record.
	PerRecord bool `json:"per_record,omitempty"`
	// RandomiseLabel randomises the class of training records too.
	RandomiseLabel bool `json:"randomise_label,omitempty"`
	// Bins of a number. Defaults to 5.
	Bins int `json:"bins,omitempty"`
	// EqualWidth fits bins of one width, instead of bins that hold equally many.
	EqualWidth bool `json:"equal_width,omitempty"`
	// Select keeps this number of attributes. Defaults to all.
	Select int `json:"select,omitempty"`
	// MaxCategories is the largest number of categories of a column. Defaults to 64.
	MaxCategories int `json:"max_categories,omitempty"`
	// Sample is the largest number of records to learn from. Defaults to 5,000; negative
	// means all.
	Sample int `json:"sample,omitempty"`
	// Folds of the cross-validation. Defaults to 10.
	Folds int `json:"folds,omitempty"`
	// Repeats of the cross-validation. Defaults to 3.
	Repeats int `json:"repeats,omitempty"`
	// Models are svm and forest. Default to both.
	Models []string `json:"models,omitempty"`
	// C of the support vector machine. Defaults to 1.
	C float64 `json:"svm_c,omitempty"`
	// Trees of the forest. Defaults to 20.
	Trees int `json:"trees,omitempty"`
	// Depth of its trees, 0 for no limit. Defaults to 5.
	Depth *int `json:"depth,omitempty"`
	// Seed of the sample, folds and forests. Noise has no seed.
	Seed uint64 `json:"seed,omitempty"`
	// Workers is the number of parallel workers. Defaults to one a processor.
	Workers int `json:"workers,omitempty"`
}

// LDPEvaluate is what models learn from a table that is randomised at its source. It
// holds figures of the table and is private.
type LDPEvaluate struct {
	*evaluate.Result
	// Private is the text "do not release".
	Private string `json:"private"`
	// Input is the table.
	Input string `json:"input"`
}
