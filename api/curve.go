package api

import "github.com/noren-privacy/noren/kanon"

// CurveRequest asks for information loss and risk over k and methods. Unit linkage is
// that of the specification.
type CurveRequest struct {
	Table
	// K are the values of k. Required.
	K []int `json:"k"`
	// Methods are compared: auto, mondrian, mondrian-strict, mdav, vmdav or tomobiki.
	// Defaults to auto.
	Methods []string `json:"methods,omitempty"`
	// Refine is the local search after each method: off, fast or a duration. Defaults to
	// fast.
	Refine string `json:"refine,omitempty"`
	// Scale is minmax, zscore or none. Defaults to zscore.
	Scale string `json:"scale,omitempty"`
	// Workers is the number of parallel workers. Defaults to one for each processor.
	Workers int `json:"workers,omitempty"`
	// Report is the file of a page with pictures. It is private. Optional.
	Report string `json:"report,omitempty"`
	// Force replaces the page if it exists.
	Force bool `json:"force,omitempty"`
	// Point receives each point as soon as it is computed. Optional.
	Point func(kanon.CurvePoint) `json:"-"`
}

// CurveSchema names the JSON form of a [Curve].
const CurveSchema = "noren.curve/1"

// Curve is loss and risk over k and methods: noren.curve/1. It is private.
type Curve struct {
	// Schema is noren.curve/1.
	Schema string `json:"schema"`
	// Private is the text "do not release".
	Private string `json:"private"`
	// Input is the table as named in the request.
	Input string `json:"input"`
	// Rows is the number of records.
	Rows int `json:"rows"`
	// Quasi are the quasi-identifiers.
	Quasi []string `json:"quasi_identifiers"`
	// Unit is the column that tells persons apart; absent where records are counted.
	Unit string `json:"unit,omitempty"`
	// Refine is the local search after each method.
	Refine string `json:"refine"`
	// Scale is the scaling of the quasi-identifiers.
	Scale string `json:"scale"`
	// Points are the results, one per k and method.
	Points []kanon.CurvePoint `json:"points"`
}

// CurvePoint is one point of a [Curve].
type CurvePoint = kanon.CurvePoint
