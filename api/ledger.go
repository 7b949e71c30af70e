package api

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/ledger"
)

// LedgerSchema names the form of the documents about a ledger.
const LedgerSchema = "noren.ledger/1"

// Ledger is the budgets of all data sets of a ledger, or of one.
type Ledger struct {
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
	// Ledger is the ledger's id.
	Ledger string `json:"ledger"`
	// Sealed is true if the ledger answers nothing until it is reconciled.
	Sealed bool `json:"sealed"`
	// Datasets are the data sets in the order of their grants.
	Datasets []Dataset `json:"datasets"`
}

// Account is a cap and the privacy expenditure under it.
type Account struct {
	// ID is the number of the account in the ledger.
	ID int64 `json:"id"`
	// Name of the data set or of the analyst.
	Name string `json:"name"`
	// Cap is the largest total privacy expenditure.
	Cap Cost `json:"cap"`
	// Spent is the privacy expenditure so far.
	Spent Cost `json:"spent"`
	// Remaining is the cap minus what was spent.
	Remaining Cost `json:"remaining"`
}

// Analyst is an analyst's budget in a data set.
type Analyst struct {
	Account
	// Available is the budget that the analyst can still spend: the smaller of the analyst's
	// own remainder and the data set's; nothing if closed.
	Available Cost `json:"available"`
	// Closed is true if the analyst may make no more requests.
	Closed bool `json:"closed"`
}

// Dataset is a data set: its budget, its schema and its analysts.
type Dataset struct {
	Account
	// File is the path of the current version's file.
	File string `json:"file"`
	// Fingerprint is the keyed print of the current version's table.
	Fingerprint string `json:"fingerprint"`
	// Neighbours is the relation of neighbouring tables: add-remove or replace-one.
	Neighbours string `json:"neighbours"`
	// Unit is the privacy unit: record, or the column that marks one person.
	Unit string `json:"unit"`
	// Accounting is how losses add up: epsilon or zcdp.
	Accounting string `json:"accounting"`
	// StatementDelta is the delta of the statements of a budget in zCDP.
	StatementDelta json.Number `json:"statement_delta,omitempty"`
	// Statement is the guarantee of all answers so far, in a budget in zCDP.
	Statement *Statement `json:"statement,omitempty"`
	// StatementAtCap is the guarantee of all answers that the cap allows, in a budget in
	// zCDP.
	StatementAtCap *Statement `json:"statement_at_cap,omitempty"`
	// Version is the number of the current version; 0 before the first schema, when
	// nothing is answered.
	Version int `json:"version"`
	// Definition is the current schema; null before the first. It is public.
	Definition json.RawMessage `json:"definition"`
	// DefinitionSHA256 is the SHA-256 of the schema.
	DefinitionSHA256 string `json:"definition_sha256"`
	// OtherPeople are the data sets with similar columns of which the steward declared that
	// they hold none of the persons of this one.
	OtherPeople []string `json:"other_people"`
	// Versions are all versions, the oldest first.
	Versions []Version `json:"versions"`
	// Analysts are the analysts with a budget of their own.
	Analysts []Analyst `json:"analysts"`
	// BeforeSchema is the number of charges before the first schema. Their guarantee
	// holds for the column types that their queries declared.
	BeforeSchema int `json:"-"`
	// SharedWith are the data sets that were granted for the same file before a file
	// belonged to one data set.
	SharedWith []string `json:"-"`
}

// Statement is the (epsilon, delta) guarantee of the answers of a budget in zCDP.
type Statement struct {
	// Epsilon is the bound epsilon.
	Epsilon json.Number `json:"epsilon"`
	// Delta is the delta of the budget, or 0 where the sum of the epsilons is the smaller
	// figure.
	Delta json.Number `json:"delta"`
	// PureEpsilon is the sum of the epsilons of the answers that are private without a
	// delta.
	PureEpsilon json.Number `json:"pure_epsilon"`
	// GaussianRho is the loss in zCDP of the other answers.
	GaussianRho json.Number `json:"gaussian_rho"`
}

// Version is one state of a data set: a schema and a table.
type Version struct {
	// Version is the number of the version, from 1.
	Version int `json:"version"`
	// Link is the number of the grant's entry in the chain.
	Link int64 `json:"link"`
	// Time of the grant, RFC 3339 in UTC.
	Time string `json:"time"`
	// DefinitionSHA256 is the SHA-256 of the version's schema.
	DefinitionSHA256 string `json:"definition_sha256"`
	// Fingerprint is the keyed print of the version's table.
	Fingerprint string `json:"fingerprint"`
	// File is the path of the version's file.
	File string `json:"file"`
	// Replaced is true if the next version replaced this one before any budget was spent.
	Replaced bool `json:"replaced"`
}

// LedgerShowRequest asks for the budget of a data set, or of all.
type LedgerShowRequest struct {
	// Dataset is the name of one data set; all where empty.
	Dataset string `json:"dataset,omitempty"`
}

// LedgerCloseAnalystRequest asks to close the budget of an analyst in a data set.
type LedgerCloseAnalystRequest struct {
	// Dataset is the name of the data set. Required.
	Dataset string `json:"dataset"`
	// Analyst is the name of the analyst. Required.
	Analyst string `json:"analyst"`
}

// LedgerVerification is the result of checking a ledger as a whole.
type LedgerVerification struct {
	// Charges is the number of charges in all states.
	Charges int `json:"charges"`
	// Faults are the differences that were found, as sentences.
	Faults noren.Texts `json:"faults"`
	// Head is the head of the chain: 64 hexadecimal digits.
	Head string `json:"head"`
	// Ledger is the ledger's id.
	Ledger string `json:"ledger"`
	// Links is the number of entries in the chain.
	Links int64 `json:"links"`
	// Schema is always noren.ledger/1.
	Schema string `json:"schema"`
	// Sealed is true if the ledger answers nothing until it is reconciled.
	Sealed bool `json:"sealed"`
	// Sound is true if there are no faults.
	Sound bool `json:"sound"`
}

// DatasetOf is the document of a data set's budget.
func DatasetOf(b *ledger.Book) Dataset {
	out := Dataset{
		Account: accountOf(b.Accounting, &b.Account), Accounting: string(b.Accounting), File: b.Path, Fingerprint: b.Fingerprint,
		Neighbours: b.Neighbours.String(), Unit: b.Unit, Version: b.Version,
		OtherPeople: append([]string{}, b.OtherPeople...), Versions: []Version{}, Analysts: []Analyst{},
		BeforeSchema: b.BeforeSchema, SharedWith: b.SharedWith,
	}
	if b.Version > 0 {
		out.Definition, out.DefinitionSHA256 = b.Definition, hex.EncodeToString(b.DefinitionHash[:])
	}
	for _, v := range b.Versions {
		out.Versions = append(out.Versions, Version{
			v.Number, v.Link, timeText(v.Time), hex.EncodeToString(v.DefinitionHash[:]), v.Print, v.Path,
			v.Replaced,
		})
	}
	for i := range b.Analysts {
		a := &b.Analysts[i]
		out.Analysts = append(out.Analysts, Analyst{accountOf(b.Accounting, a), AmountOf(b.Accounting, a.Available), a.Closed})
	}
	if b.Accounting == account.ZCDP {
		out.StatementDelta = json.Number(account.Decimal(b.StatementDelta, 18))
		out.Statement = StatementOf(b.Loss, b.StatementDelta)
		out.StatementAtCap = StatementOf(account.GaussianLoss(b.Cap.Rho), b.StatementDelta)
	}
	return out
}

// StatementOf is the guarantee of answers of that loss at a delta in units of 1e-18; nil
// where the epsilon is beyond what is counted.
func StatementOf(l account.Loss, delta int64) *Statement {
	c, err := l.Statement(delta)
	if err != nil {
		return nil
	}
	of := CostOf(c)
	return &Statement{
		Epsilon: of.Epsilon, Delta: of.Delta,
		PureEpsilon: json.Number(account.Decimal(l.Pure, 9)), GaussianRho: json.Number(l.Gaussian.String()),
	}
}

func accountOf(in account.Accounting, a *ledger.Account) Account {
	return Account{a.ID, a.Name, AmountOf(in, a.Cap), AmountOf(in, a.Spent), AmountOf(in, a.Remaining)}
}

// timeText writes a time as certificates do; "" for none.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
