package api

import (
	"encoding/json"

	"github.com/noren-privacy/noren/query"
)

// LDPEdgesSchema names the form of [LDPEdges] in JSON.
const LDPEdgesSchema = "noren.ldp.edges/1"

// LDPEdgesRequest asks for the edges of bins that hold about equally many values of a
// column.
type LDPEdgesRequest struct {
	Ask
	// Column is the column of numbers. Required.
	Column string `json:"column"`
	// Bounds are the two public outer edges, as the column writes numbers. Default to
	// the bounds of the data set's definition.
	Bounds []string `json:"bounds,omitempty"`
	// Count is the number of bins. Defaults to 5.
	Count int `json:"count,omitempty"`
	// MaxRows is the largest number of records of one person that count, where the privacy
	// unit is a column.
	MaxRows int64 `json:"max_rows,omitempty"`
	// Level is the confidence of the bound on the ranks. Defaults to 0.95.
	Level float64 `json:"level,omitempty"`
	// Records is about the number of records, for the expected accuracy. Defaults to 1,000.
	Records int64 `json:"records,omitempty"`
}

// LDPEdgesQuote is the price and the expected accuracy of edges.
type LDPEdgesQuote = Quote[query.Accuracy]

// LDPEdges are the edges of bins, computed with differential privacy.
type LDPEdges struct {
	// Schema is the form, noren.ldp.edges/1.
	Schema string `json:"schema"`
	// Column is the column of numbers.
	Column string `json:"column"`
	// Edges of the bins, rising, with the public bounds at both ends.
	Edges []float64 `json:"edges"`
	// RankWithin is a bound on the error of the ranks of all edges at once, in records.
	RankWithin float64 `json:"rank_within"`
	// Level is the confidence of the bound on the ranks.
	Level float64 `json:"level"`
	// EdgesEpsilon is the privacy cost of the edges. Reports that use the edges state it.
	EdgesEpsilon json.Number `json:"edges_epsilon"`
	Receipt
}
