package api

import (
	"encoding/json"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/certificate"
	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

// Receipt states the guarantee of an answer and what was charged for it. Every result
// of an operation that charges a budget contains it.
type Receipt struct {
	// Epsilon of the guarantee.
	Epsilon json.Number `json:"epsilon"`
	// Delta of the guarantee.
	Delta json.Number `json:"delta"`
	// Neighbours is the relation of the guarantee: add-remove or replace-one.
	Neighbours string `json:"neighbours"`
	// Unit is the privacy unit: record, or a column.
	Unit string `json:"unit"`
	// Accounting is how the answer was accounted for: charged, or unaccounted.
	Accounting string `json:"accounting"`
	// Charge is the charge in the ledger; null when unaccounted.
	Charge *Charge `json:"charge"`
	// Remaining is what the analyst may still spend; null when unaccounted.
	Remaining *Remaining `json:"remaining"`
	// Repeated is true if this is a stored answer, returned again free of charge.
	Repeated bool `json:"repeated"`
	// Guarantee is the whole guarantee with its assumptions.
	Guarantee noren.Guarantee `json:"guarantee"`

	// Payload is the released answer, byte for byte as the certificate names it.
	Payload json.RawMessage `json:"-"`
	// Certificate is the signed certificate of the answer.
	Certificate *certificate.Signed `json:"-"`
}

// Charge is an entry of the ledger.
type Charge struct {
	// Dataset is the name of the data set.
	Dataset string `json:"dataset"`
	// Ledger is the identifier of the ledger.
	Ledger string `json:"ledger"`
	// ID is the identifier of the charge.
	ID string `json:"id"`
	// Link is the number of the charge's entry in the ledger's chain.
	Link int64 `json:"link"`
	// Head is the hash of the charge's entry in the ledger's chain.
	Head string `json:"head"`
	// Epsilon is the epsilon that was charged. In a budget in zCDP it is the sum of the
	// epsilons of the parts of the answer that are private without a delta.
	Epsilon json.Number `json:"epsilon"`
	// Delta is the delta that was charged.
	Delta json.Number `json:"delta"`
	// Rho is the rho that was charged to a budget in zCDP.
	Rho json.Number `json:"rho,omitempty"`
}

// Remaining is what the analyst may still spend: the smallest rest of any of the
// accounts, and the rest of each.
type Remaining struct {
	Cost
	// Accounts are the data set's account and, where there is one, the analyst's.
	Accounts []Held `json:"accounts"`
}

// Held is what one account holds.
type Held struct {
	// Kind of the account: dataset or analyst.
	Kind string `json:"kind"`
	// Name of the data set or of the analyst.
	Name string `json:"name"`
	Cost
}

// RemainingOf is the rest of accounts; nil without one.
func RemainingOf(list []ledger.Remaining) *Remaining {
	if len(list) == 0 {
		return nil
	}
	out := &Remaining{}
	least := list[0].Left
	for _, r := range list {
		least = least.Least(r.Left)
		out.Accounts = append(out.Accounts, Held{r.Kind, r.Name, AmountOf(r.Accounting, r.Left)})
	}
	out.Cost = AmountOf(list[0].Accounting, least)
	return out
}

// ReceiptOf states the guarantee and the charge of an answer.
func ReceiptOf(a *release.Answer) Receipt {
	c := &a.Certificate.Certificate
	out := Receipt{
		Epsilon: Decimal(c.Guarantee.Epsilon), Delta: Decimal(c.Guarantee.Delta),
		Neighbours: c.Guarantee.Neighbours, Unit: c.Guarantee.Unit, Accounting: string(c.Accounting),
		Remaining: RemainingOf(a.Remaining), Repeated: a.Repeated, Guarantee: c.Guarantee,
		Payload: a.Payload, Certificate: a.Certificate,
	}
	if c.Charge != nil {
		cost := CostOf(account.Cost{Epsilon: c.Charge.EpsilonNano, Delta: c.Charge.DeltaAtto})
		out.Charge = &Charge{
			Ledger: c.Charge.Ledger, ID: c.Charge.ID, Link: c.Charge.Link, Head: c.Charge.Head, Epsilon: cost.Epsilon, Delta: cost.Delta,
		}
		if c.Charge.Accounting == account.ZCDP {
			out.Charge.Rho = json.Number(c.Charge.RhoFemto.String())
		}
		if c.Source != nil {
			out.Charge.Dataset = c.Source.Dataset
		}
	}
	return out
}
