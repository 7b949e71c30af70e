package api

import (
	"encoding/json"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/correlated"
)

// Dependence states a public model of dependent records, a query and the adversaries.
// Nothing in it is computed from private data, and no budget is charged for it.
type Dependence struct {
	// Model is the joint distribution of the records, as package correlated reads it
	// (correlated.ParseModel). Required here or in ModelFile.
	Model json.RawMessage `json:"model,omitempty"`
	// ModelFile is the path of a model in JSON.
	ModelFile string `json:"model_file,omitempty"`
	ModelQuery
}

// ModelQuery is a query to the records of a model, with the adversaries against whom
// its answer is protected, and how its leakage is computed.
type ModelQuery struct {
	// Query is the query, as in {"count":"on"} or {"g":[[0,1],[0,2]]}
	// (correlated.ParseQuery). Required here or in QueryFile.
	Query json.RawMessage `json:"query,omitempty"`
	// QueryFile is the path of a query in JSON.
	QueryFile string `json:"query_file,omitempty"`
	// Adversaries are "all", "empty" (who know no record), "full" (who know all other
	// records), or a list of adversaries (correlated.ReadAdversaries). Defaults to "all".
	Adversaries json.RawMessage `json:"adversaries,omitempty"`
	// AdversariesFile is the path of a list of adversaries in JSON.
	AdversariesFile string `json:"adversaries_file,omitempty"`
	// Method is how the leakage is computed: auto, exact, quilt, tanh or range. Defaults
	// to auto.
	Method correlated.Method `json:"method,omitempty"`
	// Budget is the largest number of configurations that an exact evaluation looks at.
	// Defaults to a number by the kind of model.
	Budget int `json:"budget,omitempty"`
	// Gap is how far the bounds of a quilted evaluation may lie apart, as a share.
	// Defaults to 0.01.
	Gap float64 `json:"gap,omitempty"`
}

// Files are the paths that the request names. An operation on a private data set
// refuses them where they are private files.
func (q *ModelQuery) Files() []string { return []string{q.QueryFile, q.AdversariesFile} }

// Asked is a query in words, for display.
type Asked struct {
	// Query is the query.
	Query noren.Text `json:"-"`
	// Adversaries are the adversaries.
	Adversaries noren.Text `json:"-"`
}

// Bounds are a lower and an upper bound of a leakage.
type Bounds struct {
	// Lower is a leakage that an adversary reaches.
	Lower float64 `json:"lower"`
	// Upper is a leakage that no adversary exceeds.
	Upper float64 `json:"upper"`
}
