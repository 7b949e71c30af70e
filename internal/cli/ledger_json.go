package cli

import (
	"encoding/json"
	"strings"

	"noren/account"
	"noren/ledger"
)

// ledgerSchema names the JSON form of what the ledger commands print.
const ledgerSchema = "noren.ledger/1"

type booksJSON struct {
	Schema   string        `json:"schema"`
	Ledger   string        `json:"ledger"`
	Sealed   bool          `json:"sealed"`
	Datasets []datasetJSON `json:"datasets"`
}

// costJSON is an amount in decimal, exactly.
type costJSON struct {
	Epsilon json.Number `json:"epsilon"`
	Delta   json.Number `json:"delta"`
}

func toCostJSON(c account.Cost) costJSON {
	return costJSON{json.Number(account.Decimal(c.Epsilon, 9)), json.Number(account.Decimal(c.Delta, 18))}
}

type accountJSON struct {
	ID        int64    `json:"id"`
	Name      string   `json:"name"`
	Cap       costJSON `json:"cap"`
	Spent     costJSON `json:"spent"`
	Remaining costJSON `json:"remaining"`
}

type datasetJSON struct {
	accountJSON
	File        string        `json:"file"`
	Fingerprint string        `json:"fingerprint"`
	Neighbours  string        `json:"neighbours"`
	Unit        string        `json:"unit"`
	Analysts    []accountJSON `json:"analysts"`
	Blocks      []accountJSON `json:"blocks"`
}

func toAccountJSON(a *ledger.Account) accountJSON {
	return accountJSON{a.ID, a.Name, toCostJSON(account.Cost(a.Cap)), toCostJSON(account.Cost(a.Spent)), toCostJSON(account.Cost(a.Remaining))}
}

func bookJSON(b *ledger.Book) datasetJSON {
	out := datasetJSON{
		accountJSON: toAccountJSON(&b.Account), File: b.Path, Fingerprint: b.Fingerprint,
		Neighbours: b.Neighbours.String(), Unit: b.Unit, Analysts: []accountJSON{}, Blocks: []accountJSON{},
	}
	for i := range b.Analysts {
		out.Analysts = append(out.Analysts, toAccountJSON(&b.Analysts[i]))
	}
	for i := range b.Blocks {
		out.Blocks = append(out.Blocks, toAccountJSON(&b.Blocks[i]))
	}
	return out
}

// entryJSON is a charge in the history.
type entryJSON struct {
	Link      int64           `json:"link"`
	Charge    string          `json:"charge"`
	Time      string          `json:"time"`
	Dataset   string          `json:"dataset"`
	Principal string          `json:"principal"`
	Key       string          `json:"key"`
	Mechanism json.RawMessage `json:"mechanism"`
	Cost      costJSON        `json:"cost"`
	Accounts  []int64         `json:"accounts"`
	State     string          `json:"state"`
	Reason    string          `json:"reason,omitempty"`
	Ended     string          `json:"ended,omitempty"`

	cost account.Cost
}

func toEntryJSON(e *ledger.Entry) entryJSON {
	return entryJSON{
		Link: e.Link, Charge: e.Charge, Time: when(e.Time), Dataset: e.Dataset, Principal: e.Principal, Key: e.Key,
		Mechanism: e.Mechanism, Cost: toCostJSON(account.Cost(e.Cost)), Accounts: e.Accounts,
		State: e.State, Reason: e.Reason, Ended: when(e.Ended), cost: account.Cost(e.Cost),
	}
}

// what says in a word what was asked: the mechanism's name.
func (e *entryJSON) what() string {
	var m struct {
		Name string `json:"name"`
	}
	if json.Unmarshal(e.Mechanism, &m) != nil || m.Name == "" {
		return strings.TrimSpace(string(e.Mechanism))
	}
	return m.Name
}
