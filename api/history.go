package api

import (
	"encoding/json"

	"github.com/noren-privacy/noren/ledger"
)

// LedgerHistoryRequest selects charges.
type LedgerHistoryRequest struct {
	// Dataset selects the charges to the data set of this name; all where empty.
	Dataset string `json:"dataset,omitempty"`
	// Analyst selects the charges of the analyst of this name, as declared; all where
	// empty.
	Analyst string `json:"analyst,omitempty"`
}

// History is the charges of a ledger, the oldest first.
type History struct {
	// Charges are the charges that were selected.
	Charges []Charged `json:"charges"`
	// Ledger is the ledger's id.
	Ledger string `json:"ledger"`
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
}

// Charged is one charge in the history.
type Charged struct {
	// Link is the number of the charge's entry in the chain.
	Link int64 `json:"link"`
	// Charge is the charge's id.
	Charge string `json:"charge"`
	// Time of the charge, RFC 3339 in UTC.
	Time string `json:"time"`
	// Dataset is the name of the data set.
	Dataset string `json:"dataset"`
	// Principal is the name of the analyst, as declared.
	Principal string `json:"principal"`
	// Key is the request key.
	Key string `json:"key"`
	// Mechanism is the whole query: data set, version, mechanism and parameters.
	Mechanism json.RawMessage `json:"mechanism"`
	// Cost is the amount that was charged to each account.
	Cost Cost `json:"cost"`
	// Accounts are the numbers of the accounts that were charged.
	Accounts []int64 `json:"accounts"`
	// State is the state of the charge: reserved, released or forfeited; not-charged for a use
	// of the table that the steward decided not to charge, which has no cost and no accounts.
	State string `json:"state"`
	// Reason is why the charge was forfeited, or not made.
	Reason string `json:"reason,omitempty"`
	// Ended is when the charge was released or forfeited, RFC 3339 in UTC.
	Ended string `json:"ended,omitempty"`
	// Recovered reports whether the charge was brought back, and Principal says from what.
	Recovered bool `json:"-"`
}

// ChargedOf is the document of a charge in the history.
func ChargedOf(e *ledger.Entry) Charged {
	return Charged{
		Link: e.Link, Charge: e.Charge, Time: timeText(e.Time), Dataset: e.Dataset, Principal: e.Principal, Key: e.Key,
		Mechanism: e.Mechanism, Cost: charged(e.Cost), Accounts: e.Accounts,
		State: e.State, Reason: e.Reason, Ended: timeText(e.Ended), Recovered: e.Recovered,
	}
}
