package api

import "github.com/noren-privacy/noren/correlated"

// CorrelatedFitRequest asks for an estimate of a model from public data, or from data
// that is older than the records to be protected: a model that was estimated from the
// private records would reveal them.
type CorrelatedFitRequest struct {
	Table
	// Column is the column of states, for a chain: a record a row. Give it or Columns.
	Column string `json:"column,omitempty"`
	// Columns are the records of a tree: a sample a row.
	Columns []string `json:"columns,omitempty"`
	// Sequence is a column whose equal values mark the rows of one sequence. Only for a
	// chain; without it all rows are one sequence.
	Sequence string `json:"sequence,omitempty"`
	// Length is the number of records of the model. Required for a chain.
	Length int `json:"length,omitempty"`
	// States are the names of the states, in their order. Defaults to the values of the
	// data, in byte order.
	States []string `json:"states,omitempty"`
	// Source says where the data came from; every guarantee states it. Required.
	Source string `json:"source"`
	// Confidence is the probability with which the interval model contains the true
	// distribution. Defaults to 0.95.
	Confidence float64 `json:"confidence,omitempty"`
	// Smoothing is added to every count for the point estimate. Defaults to 0.5.
	Smoothing float64 `json:"smoothing,omitempty"`
}

// CorrelatedFit is an estimated model.
type CorrelatedFit struct {
	// Model is the interval model around the estimate: the model to calibrate noise for.
	Model *correlated.ModelFile `json:"model"`
	// Centre is the point estimate. A guarantee for it depends on one estimate.
	Centre *correlated.ModelFile `json:"centre"`
	// Observations is the number of transitions (of a chain) or samples (of a tree).
	Observations int `json:"observations"`
}
