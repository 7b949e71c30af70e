package api

import (
	"encoding/json"

	"github.com/noren-privacy/noren/certificate"
)

// StoredRequest asks what became of a request.
type StoredRequest struct {
	// Analyst is the name of the analyst. Required.
	Analyst string `json:"analyst"`
	// RequestKey is the key of the request. Required.
	RequestKey string `json:"request_key"`
}

// Stored is what became of a request.
type Stored struct {
	// State is none, reserved (it is being answered, or was when the process ended),
	// released or forfeited.
	State string `json:"state"`
	// Dataset is the name of the data set that was charged.
	Dataset string `json:"dataset,omitempty"`
	// Request is the hash of the request, in hexadecimal.
	Request string `json:"request,omitempty"`
	// ID is the identifier of the charge.
	ID string `json:"id,omitempty"`
	// Link is the number of the charge's entry in the ledger's chain.
	Link int64 `json:"link,omitempty"`
	// Head is the hash of that entry.
	Head string `json:"head,omitempty"`
	// Cost is what was charged.
	Cost Amount `json:"cost,omitzero"`

	// Payload is the released answer, byte for byte.
	Payload json.RawMessage `json:"-"`
	// Certificate is the signed certificate of a released answer.
	Certificate *certificate.Signed `json:"-"`
}
