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
	// Private is the text "do not release", and of a file that meets all requirements "do not
	// release unless the file is released": it may be the private table.
	Private string `json:"private"`
	// Uncounted says that the file has no column of the unit, so that records were
	// counted and not persons.
	Uncounted bool `json:"-"`
}

// NewVerification is what a verifier found.
func NewVerification(r *verify.Result) *Verification {
	v := &Verification{Result: *r, Private: "do not release"}
	if r.Met {
		v.Private = "do not release unless the file is released"
	}
	return v
}
