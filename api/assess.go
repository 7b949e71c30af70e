package api

import "github.com/noren-privacy/noren/assess"

// AssessRequest asks for the risk of a table and, with Against, what a release of it
// lost.
type AssessRequest struct {
	Table
	// K is the k that the release was made for. Defaults to that of the specification.
	K int `json:"k,omitempty"`
	// Population is a file of the population that the table is a sample of, with the same
	// quasi-identifiers. Optional.
	Population string `json:"population,omitempty"`
	// SamplingFraction is the share of the population that the table is. Optional.
	SamplingFraction float64 `json:"sampling_fraction,omitempty"`
	// Threshold is the risk above which a record counts as at risk. Defaults to 0.2.
	Threshold float64 `json:"threshold,omitempty"`
	// Against is a release of the table. Optional.
	Against string `json:"against,omitempty"`
	// KeptOrder states that the release has its rows in the order of the table.
	KeptOrder bool `json:"kept_order,omitempty"`
	// Previous is an earlier release of the same people: the candidates that remain to a
	// person who holds both are counted. Optional; needs Against and KeptOrder.
	Previous string `json:"previous,omitempty"`
	// PreviousSource is the table that Previous was made from.
	PreviousSource string `json:"previous_source,omitempty"`
	// PreviousQuasi are the quasi-identifiers of Previous. Defaults to the columns that differ
	// from PreviousSource; it is refused where another column may be one.
	PreviousQuasi []string `json:"previous_quasi,omitempty"`
	// PreviousCertificate is the certificate of Previous, which states its
	// quasi-identifiers. Optional; not beside PreviousQuasi.
	PreviousCertificate string `json:"previous_certificate,omitempty"`
	// Report is the file of a page with pictures. It is private. Optional.
	Report string `json:"report,omitempty"`
	// Force replaces the page if it exists.
	Force bool `json:"force,omitempty"`
}

// Assessment is the risk of a table and of a release: noren.assess/1. It is private.
type Assessment struct {
	assess.Assessment
	// Private is the text "do not release".
	Private string `json:"private"`
}
