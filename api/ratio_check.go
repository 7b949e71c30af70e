package api

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ratio"
)

// RatioCheckSchema is the form of [RatioCheck].
const RatioCheckSchema = "noren.ratio.check/1"

// RatioWeights names a weighted public table that a fit has written.
type RatioWeights struct {
	// Weights is the path of the weighted table.
	Weights string `json:"weights"`
	// Meta is the path of its meta data. Defaults to the file beside it.
	Meta string `json:"meta,omitempty"`
}

// RatioCheckRequest asks for a comparison of the weighted public table with the private one.
type RatioCheckRequest struct {
	Ask
	RatioWeights
	// PublicDelimiter is the field delimiter of a weighted text file. Detected by default.
	PublicDelimiter string `json:"public_delimiter,omitempty"`
	// PublicEncoding is utf-8 or shift_jis. Detected by default.
	PublicEncoding string `json:"public_encoding,omitempty"`
	// Records is the public number of private records, where neighbours are replace-one.
	// Defaults to that of the schema, and may only repeat it.
	Records int `json:"records,omitempty"`
}

// RatioTest is the comparison of one mean.
type RatioTest struct {
	ratio.Compared
	// Z is the difference of the private and the weighted mean in standard errors; null
	// where it is no finite number.
	Z *float64 `json:"z"`
}

// RatioCheck is the result of a check of weights, which costs privacy budget.
type RatioCheck struct {
	// Schema is noren.ratio.check/1.
	Schema string `json:"schema"`
	// Input is the path of the weighted table.
	Input string `json:"input"`
	// Tests are the means that were compared.
	Tests []RatioTest `json:"tests"`
	// Off is the number of tests that differ by more than chance.
	Off int `json:"off"`
	// Nearer is true if the weighted means are nearer to the private ones than the unweighted
	// means.
	Nearer bool `json:"nearer"`
	// Verdict is the result of the check: off, no help, or nothing found.
	Verdict string `json:"verdict"`
	// Warnings, as sentences.
	Warnings []noren.Text `json:"warnings"`
	// FitCheck is the result of the check of the fit.
	FitCheck ratio.FitCheck `json:"fit_check"`
	Receipt
}
