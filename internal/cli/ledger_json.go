package cli

import (
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/ledger"
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

// analystJSON is an analyst's account; Available is what the analyst can really
// spend, the smaller of its own rest and the data set's.
type analystJSON struct {
	accountJSON
	Available costJSON `json:"available"`
	Closed    bool     `json:"closed"`
}

type datasetJSON struct {
	accountJSON
	File        string        `json:"file"`
	Fingerprint string        `json:"fingerprint"`
	Neighbours  string        `json:"neighbours"`
	Unit        string        `json:"unit"`
	Version     int           `json:"version"`
	Definition  any           `json:"definition"`
	Hash        string        `json:"definition_sha256"`
	OtherPeople []string      `json:"other_people"`
	Versions    []versionJSON `json:"versions"`
	Analysts    []analystJSON `json:"analysts"`
}

type versionJSON struct {
	Version  int    `json:"version"`
	Link     int64  `json:"link"`
	Time     string `json:"time"`
	Hash     string `json:"definition_sha256"`
	Print    string `json:"fingerprint"`
	File     string `json:"file"`
	Replaced bool   `json:"replaced"`
}

// grantedJSON is a grant with the report on the file for the steward alone.
type grantedJSON struct {
	Schema string `json:"schema"`
	datasetJSON
	Private *reviewJSON `json:"private,omitempty"`
}

type reviewJSON struct {
	Note        string       `json:"note"`
	Records     int64        `json:"records"`
	WithoutUnit int64        `json:"without_unit"`
	LargestUnit int64        `json:"largest_unit"`
	Proposed    []string     `json:"proposed"`
	Columns     []misfitJSON `json:"columns"`
}

type misfitJSON struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Misfits int64    `json:"misfits"`
	Missing int64    `json:"missing"`
	First   []string `json:"first"`
}

func grantJSON(b *ledger.Book, g *granted) grantedJSON {
	out := grantedJSON{Schema: ledgerSchema, datasetJSON: bookJSON(b)}
	if g == nil || g.review == nil {
		return out
	}
	r := g.review
	out.Private = &reviewJSON{Note: "for the steward: do not release", Records: r.Records, WithoutUnit: r.WithoutUnit, LargestUnit: r.LargestUnit, Proposed: append([]string{}, g.proposed...), Columns: []misfitJSON{}}
	for _, c := range r.Columns {
		out.Private.Columns = append(out.Private.Columns, misfitJSON{c.Name, c.Type, c.Misfits, c.Missing, append([]string{}, c.Lines...)})
	}
	return out
}

func toAccountJSON(a *ledger.Account) accountJSON {
	return accountJSON{a.ID, a.Name, toCostJSON(account.Cost(a.Cap)), toCostJSON(account.Cost(a.Spent)), toCostJSON(account.Cost(a.Remaining))}
}

func bookJSON(b *ledger.Book) datasetJSON {
	out := datasetJSON{
		accountJSON: toAccountJSON(&b.Account), File: b.Path, Fingerprint: b.Fingerprint,
		Neighbours: b.Neighbours.String(), Unit: b.Unit, Version: b.Version,
		OtherPeople: append([]string{}, b.OtherPeople...), Versions: []versionJSON{}, Analysts: []analystJSON{},
	}
	if b.Version > 0 {
		out.Definition, out.Hash = json.RawMessage(b.Definition), hex.EncodeToString(b.DefinitionHash[:])
	}
	for _, v := range b.Versions {
		out.Versions = append(out.Versions, versionJSON{v.Number, v.Link, when(v.Time), hex.EncodeToString(v.DefinitionHash[:]), v.Print, v.Path, v.Replaced})
	}
	for i := range b.Analysts {
		a := &b.Analysts[i]
		out.Analysts = append(out.Analysts, analystJSON{toAccountJSON(a), toCostJSON(account.Cost(a.Available)), a.Closed})
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

// what is the whole question: the mechanism's name and its parameters.
func (e *entryJSON) what() string {
	var q struct {
		Mechanism struct {
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"mechanism"`
		Name       string          `json:"name"` // of charges from before schemas
		Parameters json.RawMessage `json:"parameters"`
	}
	if json.Unmarshal(e.Mechanism, &q) != nil {
		return strings.TrimSpace(string(e.Mechanism))
	}
	if q.Mechanism.Name == "" {
		q.Mechanism.Name, q.Mechanism.Parameters = q.Name, q.Parameters
	}
	if q.Mechanism.Name == "" {
		return strings.TrimSpace(string(e.Mechanism))
	}
	return q.Mechanism.Name + " " + string(q.Mechanism.Parameters)
}
