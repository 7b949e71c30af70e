package ledger

import accounting "github.com/noren-privacy/noren/account"

// Cost is an amount of privacy loss: epsilon in units of 1e-9, delta in units
// of 1e-18. The cost of a request rounds both up (package account).
type Cost = accounting.Cost

// Neighbours is a relation of neighbouring data sets (package account).
type Neighbours = accounting.Neighbours

const (
	// AddRemove: one has all records of one unit more than the other.
	AddRemove = accounting.AddRemove
	// ReplaceOne: the records of one unit differ.
	ReplaceOne = accounting.ReplaceOne
)

// decimal writes n units of 10^-digits exactly.
func decimal(n int64, digits int) string { return accounting.Decimal(n, digits) }

// parseNeighbours reads what [Neighbours.String] wrote; the schema allows
// nothing else.
func parseNeighbours(s string) Neighbours {
	n, _ := accounting.ParseNeighbours(s)
	return n
}
