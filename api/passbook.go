package api

import "encoding/json"

// LedgerEntriesRequest asks for a page of the entries of a ledger, the newest first.
type LedgerEntriesRequest struct {
	// Dataset selects the entries of the data set of this name; all where empty.
	Dataset string `json:"dataset,omitempty"`
	// Analyst selects the charges and grants of the analyst of this name.
	Analyst string `json:"analyst,omitempty"`
	// State selects charges in this state: reserved, released or forfeited.
	State string `json:"state,omitempty"`
	// Before selects the entries before this one in the chain. Defaults to the end.
	Before int64 `json:"before,omitempty"`
	// Limit is the largest number of entries, at most 1,000. Defaults to 50.
	Limit int `json:"limit,omitempty"`
}

// LedgerEntries is a page of the entries of a ledger, the newest first.
type LedgerEntries struct {
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
	// Ledger is the ledger's id.
	Ledger string `json:"ledger"`
	// Entries are the entries, the newest first.
	Entries []LedgerEntry `json:"entries"`
	// Next is the value of before for the next page; 0 after the last.
	Next int64 `json:"next"`
}

// LedgerEntry is a grant or a charge, with what was left after it.
type LedgerEntry struct {
	// Link is the number of the entry in the chain.
	Link int64 `json:"link"`
	// Hash is the hash of the entry: 64 hexadecimal digits.
	Hash string `json:"hash"`
	// Time of the entry, RFC 3339 in UTC.
	Time string `json:"time"`
	// Kind is opened, replaced, version, cap, path, account, closed, charge or recovered.
	Kind string `json:"kind"`
	// Dataset is the name of the data set.
	Dataset string `json:"dataset"`
	// Accounting is how the budget adds up losses: epsilon or zcdp.
	Accounting string `json:"accounting"`
	// Analyst is the name of the analyst of a charge, or whose account it is.
	Analyst string `json:"analyst,omitempty"`
	// Charge is the id of a charge.
	Charge string `json:"charge,omitempty"`
	// Key is the request key of a charge.
	Key string `json:"key,omitempty"`
	// RequestSHA256 identifies the query of a charge: 64 hexadecimal digits.
	RequestSHA256 string `json:"request_sha256,omitempty"`
	// Mechanism is the query of a charge: mechanism and parameters.
	Mechanism json.RawMessage `json:"mechanism,omitempty"`
	// State of a charge: reserved, released or forfeited.
	State string `json:"state,omitempty"`
	// Reason is why a charge was forfeited.
	Reason string `json:"reason,omitempty"`
	// Ended is when a charge was released or forfeited, RFC 3339 in UTC.
	Ended string `json:"ended,omitempty"`
	// Version is the number of the version that a grant made.
	Version int `json:"version,omitempty"`
	// Cost is what a charge spent.
	Cost *Cost `json:"cost,omitempty"`
	// Cap is the cap that a grant set, of the data set or of the analyst.
	Cap *Cost `json:"cap,omitempty"`
	// Left is what was left of the data set's budget after the entry.
	Left Cost `json:"left"`
	// Own is what was left of the analyst's account after the entry.
	Own *Cost `json:"own,omitempty"`
}

// LedgerCountsRequest asks how many charges there are.
type LedgerCountsRequest struct {
	// Dataset is the name of the data set. Required.
	Dataset string `json:"dataset"`
	// Analyst is the name of an analyst with an account; the whole data set where empty.
	Analyst string `json:"analyst,omitempty"`
}

// LedgerCounts is the number of charges by state.
type LedgerCounts struct {
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
	// Charges is the number of charges in all states.
	Charges int64 `json:"charges"`
	// Reserved is the number of charges without an answer yet.
	Reserved int64 `json:"reserved"`
	// Released is the number of charges that were answered.
	Released int64 `json:"released"`
	// Forfeited is the number of charges that were never answered.
	Forfeited int64 `json:"forfeited"`
}

// LedgerSpendRequest asks for the course of the expenditure of a data set.
type LedgerSpendRequest struct {
	// Dataset is the name of the data set. Required.
	Dataset string `json:"dataset"`
	// Analyst selects the account of one analyst.
	Analyst string `json:"analyst,omitempty"`
	// Points is the largest number of points, at most 10,000. Defaults to 500.
	Points int `json:"points,omitempty"`
}

// LedgerSpend is the course of the expenditure of a data set, by account.
type LedgerSpend struct {
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
	// Dataset is the name of the data set.
	Dataset string `json:"dataset"`
	// Accounting is how the budget adds up losses: epsilon or zcdp.
	Accounting string `json:"accounting"`
	// Cap is the cap of the data set now.
	Cap Cost `json:"cap"`
	// Points are in the order of the chain. The last of each account is what it has
	// spent now.
	Points []SpendPoint `json:"points"`
}

// SpendPoint is what one account had spent after a charge.
type SpendPoint struct {
	// Link is the number of the charge's entry in the chain.
	Link int64 `json:"link"`
	// Time of the charge, RFC 3339 in UTC.
	Time string `json:"time"`
	// Analyst is the name of the analyst's account; empty for the data set's.
	Analyst string `json:"analyst,omitempty"`
	// Spent is all that the account had spent.
	Spent Cost `json:"spent"`
}

// LedgerMoveRequest asks to read the file of a data set at another path.
type LedgerMoveRequest struct {
	// Dataset is the name of the data set. Required.
	Dataset string `json:"dataset"`
	// Path is where the file was moved or copied. Required.
	Path string `json:"path"`
}

// LedgerRaiseRequest asks to raise the cap of a data set or of an analyst. A part that
// is not stated stays as it is.
type LedgerRaiseRequest struct {
	// Dataset is the name of the data set. Required.
	Dataset string `json:"dataset"`
	// Analyst is the name of an analyst with an account; the data set's cap rises where
	// it is empty.
	Analyst string `json:"analyst,omitempty"`
	// Epsilon is the new cap of epsilon, in decimal.
	Epsilon string `json:"epsilon,omitempty"`
	// Delta is the new cap of delta, in decimal.
	Delta string `json:"delta,omitempty"`
	// Rho is the new cap of a budget in zCDP, in decimal.
	Rho string `json:"rho,omitempty"`
}
