package api

import "github.com/noren-privacy/noren/correlated"

// CorrelatedAnswerSchema is the form of [CorrelatedAnswer], and of the price of one.
const CorrelatedAnswerSchema = "noren.correlated.answer/1"

// CorrelatedAnswerRequest asks a query of a data set that was granted under a model of
// dependent records.
type CorrelatedAnswerRequest struct {
	Ask
	ModelQuery
}

// CorrelatedAnswer is the answer to a query of dependent records.
type CorrelatedAnswer struct {
	// Schema is noren.correlated.answer/1.
	Schema string `json:"schema"`
	*correlated.Answer
	// CBP is the bound on what the answer alone leaks about one record.
	CBP float64 `json:"cbp"`
	Receipt

	Asked
}
