package account

import (
	"math/big"

	"github.com/noren-privacy/noren"
)

// Neighbours is a relation of neighbouring data sets.
type Neighbours uint8

const (
	// AddRemove: one has all records of one unit more than the other.
	AddRemove Neighbours = iota
	// ReplaceOne: the records of one unit differ.
	ReplaceOne
)

// Record is the privacy unit of one record. Any other unit is the name of the column
// whose equal values mark the records of one person.
const Record = "record"

// String names n as certificates do: "add-remove" or "replace-one".
func (n Neighbours) String() string {
	if n == ReplaceOne {
		return "replace-one"
	}
	return "add-remove"
}

// ParseNeighbours is the inverse of [Neighbours.String]. Error: [noren.Usage].
func ParseNeighbours(s string) (Neighbours, error) {
	switch s {
	case AddRemove.String():
		return AddRemove, nil
	case ReplaceOne.String():
		return ReplaceOne, nil
	}
	return 0, noren.Usagef("neighbours", "is neither add-remove nor replace-one").Hinted("add-remove is the usual one")
}

// Charge is what a guarantee of cost c in the relation of the mechanism costs a budget
// of another relation. Error: [noren.Usage].
//
// Equal relations: c. An add-remove guarantee in a replace-one budget: a
// replacement is a removal D -> E and an addition E -> D', so that for every
// set S of outputs
//
//	P(D in S) <= e^eps P(E in S) + delta
//	          <= e^eps (e^eps P(D' in S) + delta) + delta
//	           = e^(2 eps) P(D' in S) + (1 + e^eps) delta,
//
// and the cost is (2 eps, (1 + e^eps) delta), rounded up. A replace-one guarantee
// in an add-remove budget is refused: it compares tables of one size only (it may
// publish the number of records without noise), so that it does not hold for a table
// with one unit more.
func Charge(c Cost, mechanism, budget Neighbours) (Cost, error) {
	switch {
	case mechanism == budget:
		return c, nil
	case mechanism == AddRemove:
		return Group(c, 2)
	}
	return Cost{}, noren.Usagef("neighbours", "the mechanism is private for replace-one neighbours only, and the budget is for add-remove").
		Hinted("its guarantee does not hold for a table with one unit more or less: use a mechanism that is private for add-remove, or a " +
			"replace-one budget")
}

// Group is the guarantee for n units at once that follows from cost c for one unit: n steps from
// neighbour to neighbour give, as in [Charge],
//
//	(n eps, (1 + e^eps + ... + e^((n-1) eps)) delta),
//
// rounded up (Dwork and Roth 2014, theorem 2.2; the delta by summing the chain).
// Error: [noren.Usage].
func Group(c Cost, n int64) (Cost, error) {
	if n < 1 {
		return Cost{}, noren.Usagef(noren.Phrase("the group"), "has no member").Hinted("its size is at least 1")
	}
	if c.Epsilon < 0 || c.Delta < 0 {
		return Cost{}, c.Validate()
	}
	epsilon := new(big.Int).Mul(big.NewInt(c.Epsilon), big.NewInt(n))
	if !epsilon.IsInt64() {
		return Cost{}, tooLarge()
	}
	g := Cost{Epsilon: epsilon.Int64()}
	if c.Delta == 0 || n == 1 {
		g.Delta = c.Delta
		return g, nil
	}
	// The last summand alone is at least delta; a sum above 1 says nothing.
	if n > DeltaUnits/c.Delta || g.Epsilon-c.Epsilon > 50*EpsilonUnits {
		g.Delta = DeltaUnits
		return g, nil
	}
	if c.Epsilon == 0 {
		g.Delta = min(n*c.Delta, DeltaUnits)
		return g, nil
	}
	// (e^(n eps) - 1) / (e^eps - 1)
	a := arith{256}
	top := a.sub(a.exp(a.rat(g.EpsilonRat())), a.int(1))
	bottom := a.sub(a.exp(a.rat(c.EpsilonRat())), a.int(1))
	sum := a.mul(a.div(top, bottom), a.rat(c.DeltaRat()))
	g.Delta = DeltaUp(sum.hiRat())
	return g, nil
}
