package api

import (
	"encoding/json"

	"github.com/noren-privacy/noren/ledger"
	"github.com/noren-privacy/noren/release"
)

// Price is what a request would cost and leave. Nothing is charged for it, and no
// private file is opened.
type Price struct {
	// Schema is the form of the answer that the request would get.
	Schema string `json:"schema"`
	// DryRun is always true; an answer has no such field.
	DryRun bool `json:"dry_run"`
	// Dataset is the name of the data set; empty when unaccounted.
	Dataset string `json:"dataset"`
	// Epsilon of the privacy cost.
	Epsilon json.Number `json:"epsilon"`
	// Delta of the privacy cost.
	Delta json.Number `json:"delta"`
	// Rho of the privacy cost in a budget in zCDP; epsilon and delta are then the guarantee of
	// the answer by itself.
	Rho json.Number `json:"rho,omitempty"`
	// Neighbours is the relation of the guarantee: add-remove or replace-one.
	Neighbours string `json:"neighbours"`
	// Unit is the privacy unit: record, or a column.
	Unit string `json:"unit"`
	// Fits is true if every account covers the cost.
	Fits bool `json:"fits"`
	// Before is the budget that the accounts have now; null when unaccounted.
	Before *Remaining `json:"before"`
	// Remaining is the budget that the accounts would have after the charge; equal to `before`
	// where the cost does not fit.
	Remaining *Remaining `json:"remaining"`
}

// Quote is a privacy cost with the accuracy that is expected, from public facts.
type Quote[A any] struct {
	Price
	// Accuracy is the expected error of the answer; absent where nothing can be said.
	Accuracy *A `json:"accuracy,omitempty"`
	// Cells is the number of values of the answer to a query; absent elsewhere.
	Cells int `json:"cells,omitempty"`
	// Columns are the columns that a query reads, with the bounds that it takes and what becomes
	// of values outside of them; absent elsewhere.
	Columns []ColumnUse `json:"columns,omitempty"`
	// Reach says for which groups the accuracy holds, where it depends on their number of
	// records.
	Reach *Message `json:"reach,omitempty"`
	// Warnings say, from public facts, what the answer will probably miss.
	Warnings []Message `json:"warnings,omitempty"`
}

// PriceOf is the price that package release computed, for an answer of that form.
func PriceOf(schema string, q *release.Quote) Price {
	c := CostOf(q.Alone)
	return Price{
		Schema: schema, DryRun: true, Dataset: q.Dataset, Epsilon: c.Epsilon, Delta: c.Delta, Rho: charged(q.Cost).Rho,
		Neighbours: q.Neighbours.String(), Unit: q.Unit, Fits: q.Fits,
		Before: RemainingOf(q.Remaining), Remaining: RemainingOf(after(q)),
	}
}

// Cost is the privacy cost, as the budget adds it up.
func (p *Price) Cost() Cost {
	if p.Rho != "" {
		return Cost{Rho: p.Rho}
	}
	return Cost{Epsilon: p.Epsilon, Delta: p.Delta}
}

// after is what each account would hold; what does not fit leaves it as it is.
func after(q *release.Quote) []ledger.Remaining {
	var list []ledger.Remaining
	for _, r := range q.Remaining {
		if q.Fits {
			r.Left = r.Left.Minus(q.Cost)
		}
		list = append(list, r)
	}
	return list
}
