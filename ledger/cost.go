package ledger

import accounting "github.com/noren-privacy/noren/account"

// Cost is an amount of privacy loss: epsilon in units of 1e-9 and delta in units
// of 1e-18, or in a budget in zCDP rho in units of 1e-15. The cost of a request rounds
// all of them up (package account).
type Cost = accounting.Cost

// Loss is the loss of answers in a budget in zCDP (package account).
type Loss = accounting.Loss

// Accounting is how a budget adds up privacy losses (package account).
type Accounting = accounting.Accounting

const (
	// Basic: epsilons and deltas add up.
	Basic = accounting.Basic
	// ZCDP: rhos add up.
	ZCDP = accounting.ZCDP
)

// Neighbours is a relation of neighbouring data sets (package account).
type Neighbours = accounting.Neighbours

const (
	// AddRemove: one has all records of one unit more than the other.
	AddRemove = accounting.AddRemove
	// ReplaceOne: the records of one unit differ.
	ReplaceOne = accounting.ReplaceOne
)

// rho is n units of a loss in zCDP.
func rho(n int64) accounting.Rho { return accounting.Rho(n) }

// decimal writes n units of 10^-digits exactly.
func decimal(n int64, digits int) string { return accounting.Decimal(n, digits) }

// parseNeighbours reads what [Neighbours.String] wrote; the schema allows
// nothing else.
func parseNeighbours(s string) Neighbours {
	n, _ := accounting.ParseNeighbours(s)
	return n
}
