package api

import "github.com/noren-privacy/noren/spec"

// Ask says which data set is asked, by whom, and at what privacy cost. Every request
// of an operation that charges a budget contains it.
type Ask struct {
	// Dataset is the name of a data set of the ledger, or the path of its file.
	Dataset string `json:"dataset"`
	// Epsilon is the privacy cost, in decimal.
	Epsilon string `json:"epsilon"`
	// Delta is the second part of the privacy cost, in decimal. Defaults to 0.
	Delta string `json:"delta,omitempty"`
	// Analyst is the name of the analyst, as declared. Defaults to that of the service.
	Analyst string `json:"analyst,omitempty"`
	// RequestKey makes the request idempotent: asked again under the same key, it is
	// answered with the same bytes and free of charge.
	RequestKey string `json:"request_key,omitempty"`
	// Reuse asks for the stored answer to the same question, where the ledger has one,
	// free of charge.
	Reuse bool `json:"reuse,omitempty"`
	// Unit is the privacy unit: record, or a column. Defaults to that of the data set,
	// and may only repeat it.
	Unit string `json:"unit,omitempty"`
	// Unaccounted asks for an answer from a file that no ledger knows, without a charge.
	// The guarantee then covers this answer only.
	Unaccounted bool `json:"unaccounted,omitempty"`
	// Neighbours is add-remove or replace-one. Only with Unaccounted; defaults to
	// add-remove.
	Neighbours string `json:"neighbours,omitempty"`
	// SpecFile is the path of a specification of the file. Only with Unaccounted.
	SpecFile string `json:"spec_file,omitempty"`
	// Spec states types and form of the file. It is laid over SpecFile. Only with
	// Unaccounted.
	Spec *spec.Spec `json:"spec,omitempty"`
	// Outputs are files that the caller will write. One that is the private file or the
	// ledger is refused before anything is charged.
	Outputs []string `json:"-"`
}
