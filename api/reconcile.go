package api

import "github.com/noren-privacy/noren"

// LedgerReconcileRequest asks to roll a restored ledger forward.
type LedgerReconcileRequest struct {
	// Certificates are the files of the certificates of all releases that are known.
	Certificates []string `json:"certificates,omitempty"`
	// Trust are files of public keys whose certificates count. Defaults to the key of
	// the signer.
	Trust []string `json:"trust,omitempty"`
	// WithoutHead says that the head file is lost or unusable. It is refused while the
	// head file is usable.
	WithoutHead bool `json:"without_head,omitempty"`
	// WithoutAnchor makes the anchor anew where the ledger cannot be brought up to it, or
	// it is lost. It is refused while the anchor serves.
	WithoutAnchor bool `json:"without_anchor,omitempty"`
}

// Reconciliation is what a reconciliation did.
type Reconciliation struct {
	// Ledger is the ledger's id.
	Ledger string `json:"ledger"`
	// Lost is the number of entries that an anchor or the store of a server recorded and
	// that were not restored. What they spent is charged where their amounts are known.
	Lost int64 `json:"lost"`
	// Missing names these entries. Absent where there are none.
	Missing noren.Text `json:"missing,omitzero"`
	// Restored are the data sets whose grant was lost: they have their account again, with
	// nothing left.
	Restored []string `json:"restored"`
	// Raised are the accounts whose expenditure rose.
	Raised []Raised `json:"raised"`
	// Recovered are the ids of charges that the ledger lacked and that were charged
	// again.
	Recovered []string `json:"recovered"`
	// Rolled is the number of entries that were restored from the head file.
	Rolled int64 `json:"rolled"`
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
	// Skipped are the charges that could not be charged, each with the reason.
	Skipped []noren.Text `json:"skipped"`
}

// Raised is an account whose expenditure rose.
type Raised struct {
	// After is the privacy expenditure now.
	After Cost `json:"after"`
	// Before is the privacy expenditure before the reconciliation.
	Before Cost `json:"before"`
	// Kind of the account: dataset or analyst.
	Kind string `json:"kind"`
	// Name of the account.
	Name string `json:"name"`
}
