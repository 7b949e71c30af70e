package api

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/spec"
)

// RatioAnswerSchema is the form of [RatioAnswer].
const RatioAnswerSchema = "noren.ratio.answer/1"

// RatioAnswerRequest asks a weighted public table about the private one. It costs nothing.
type RatioAnswerRequest struct {
	RatioWeights
	// SpecFile is the path of a specification of the weighted table. Optional.
	SpecFile string `json:"spec_file,omitempty"`
	// Schema states types and form of the weighted table, over those of SpecFile.
	Spec *spec.Spec `json:"spec,omitempty"`
	// Question is mean, count, quantile, histogram or regression. Required.
	Question string `json:"question"`
	// Column is the column of a mean, a quantile or a histogram.
	Column string `json:"column,omitempty"`
	// Where is a condition that keeps some records. Defaults to all.
	Where string `json:"where,omitempty"`
	// Rank is the rank of a quantile, between 0 and 1. Defaults to 0.5.
	Rank *float64 `json:"rank,omitempty"`
	// Bins are the rising edges of a histogram of numbers, in the form of the column: bin i
	// is [edge i, edge i+1).
	Bins []string `json:"bins,omitempty"`
	// Values are the bins of a histogram of categories. Defaults to all of the public table.
	Values []string `json:"values,omitempty"`
	// Target is the column that a regression explains.
	Target string `json:"target,omitempty"`
	// Equals makes the target 1 where it is this category, and 0 where it is another.
	Equals string `json:"equals,omitempty"`
	// Features are the columns that explain the target of a regression.
	Features []string `json:"features,omitempty"`
}

// RatioAnswer is an answer from a weighted public table.
type RatioAnswer struct {
	// Schema is noren.ratio.answer/1.
	Schema string `json:"schema"`
	// Input is the path of the weighted table.
	Input string `json:"input"`
	// Question is the kind of the question.
	Question string `json:"question"`
	// Of is the question in words.
	Of noren.Text `json:"of"`
	// Where is the condition of the question.
	Where string `json:"where,omitempty"`
	// Answer is the answer of a mean, a count or a quantile.
	Answer *RatioEstimate `json:"answer,omitempty"`
	// Share is the share of a count among all private records.
	Share *RatioEstimate `json:"share,omitempty"`
	// Bins of a histogram.
	Bins []RatioBin `json:"bins,omitempty"`
	// Coefficients of a regression.
	Coefficients []RatioTerm `json:"coefficients,omitempty"`
	// R2 is the coefficient of determination of a regression.
	R2 *float64 `json:"r2,omitempty"`
	// Excludes is the error that no standard error contains.
	Excludes string `json:"excludes"`
	// Privacy is the guarantee of the weights.
	Privacy noren.Text `json:"privacy"`
	// FitCheck is the result of the check of the fit.
	FitCheck ratio.FitCheck `json:"fit_check"`
	// Warnings for the whole answer; those for single bins or coefficients are in these.
	Warnings []noren.Text `json:"warnings"`

	// ErrorUnit is the unit of the standard error where it is not that of Value: days or s.
	ErrorUnit string `json:"-"`
}

// RatioEstimate is an estimate with its errors; null is no finite number.
type RatioEstimate struct {
	// Value is the estimate.
	Value *float64 `json:"value"`
	// Text is the value as the column writes it, for dates and ordered levels.
	Text string `json:"text,omitempty"`
	// Share of all private records that are in the bin, for a histogram.
	Share *float64 `json:"share,omitempty"`
	// SE is the standard error.
	SE *float64 `json:"standard_error"`
	// Parts are the parts of the standard error.
	Parts RatioParts `json:"parts"`
	// Carried is the share of the question's variation that the columns of the weights
	// explain.
	Carried *float64 `json:"carried,omitempty"`
	// Warnings where the public data do not support the question.
	Warnings []noren.Text `json:"warnings"`
}

// RatioParts are the parts of a standard error, whose squares add up.
type RatioParts struct {
	// Public is the sampling error of the public records.
	Public *float64 `json:"public"`
	// Privacy is the error from the noise.
	Privacy *float64 `json:"privacy"`
	// Private is the sampling error of the private records.
	Private *float64 `json:"private"`
	// Model is the error of what the features do not explain.
	Model *float64 `json:"model"`
}

// RatioBin is a bin of a histogram.
type RatioBin struct {
	// Bin is the name of the bin.
	Bin string `json:"bin"`
	RatioEstimate
}

// RatioTerm is a coefficient of a regression.
type RatioTerm struct {
	// Term is the name of the term.
	Term string `json:"term"`
	RatioEstimate
}
