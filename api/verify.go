package api

import "github.com/noren-privacy/noren/kanon/verify"

// VerifyRequest asks whether a file has k-anonymity, l-diversity and t-closeness. The
// parameters are those of its specification.
type VerifyRequest struct {
	Table
	// UnitRequired refuses a file without the column of the unit. By default records
	// are counted then, and a warning says so.
	UnitRequired bool `json:"unit_required,omitempty"`
}

// Verification is what was found in a file: noren.verify/1.
type Verification struct {
	verify.Result
	// Uncounted says that the file has no column of the unit, so that records were
	// counted and not persons.
	Uncounted bool `json:"-"`
}
