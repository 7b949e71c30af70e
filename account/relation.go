package account

import (
	"fmt"
	"math/big"
)

// Neighbours is a relation of neighbouring data sets.
type Neighbours uint8

const (
	// AddRemove: one has all records of one unit more than the other.
	AddRemove Neighbours = iota
	// ReplaceOne: the records of one unit differ.
	ReplaceOne
)

// Record is the unit of a book in which every record stands for itself. Any
// other unit is the name of the column whose equal values mark the records of
// one person.
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
	return 0, usage("neighbours", "is neither add-remove nor replace-one", "add-remove is the usual one")
}

// Charge is what a guarantee of cost c in the relation of the mechanism costs in
// a book of the relation of the book. Error: [noren.Usage].
//
// Equal relations: c. An add-remove guarantee in a replace-one book: a
// replacement is a removal D -> E and an addition E -> D', so that for every
// set S of outputs
//
//	P(D in S) <= e^eps P(E in S) + delta
//	          <= e^eps (e^eps P(D' in S) + delta) + delta
//	           = e^(2 eps) P(D' in S) + (1 + e^eps) delta,
//
// and the cost is (2 eps, (1 + e^eps) delta), rounded up. A replace-one guarantee
// in an add-remove book is refused: it compares tables of one size only (the
// number of records itself may be told for nothing), so that it says nothing
// about a table with one unit more.
func Charge(c Cost, mechanism, book Neighbours) (Cost, error) {
	switch {
	case mechanism == book:
		return c, nil
	case mechanism == AddRemove:
		return Group(c, 2)
	}
	return Cost{}, usage("neighbours",
		"the mechanism is private for replace-one neighbours only, and the book is for add-remove",
		"it promises nothing about a table with one unit more or less: use a mechanism that is private for add-remove, or a replace-one book")
}

// Group is what a guarantee of cost c for one unit is worth for n of them at
// once: n steps from neighbour to neighbour give, as in [Charge],
//
//	(n eps, (1 + e^eps + ... + e^((n-1) eps)) delta),
//
// rounded up (Dwork and Roth 2014, theorem 2.2; the delta by summing the chain).
// Error: [noren.Usage].
func Group(c Cost, n int64) (Cost, error) {
	if n < 1 {
		return Cost{}, usage("the group", "has no member", "its size is at least 1")
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

// Branch is what a mechanism over one of several disjoint public groups costs
// for what one unit can do to its group.
type Branch struct {
	// Enter is the cost for a unit that enters the group or leaves it: the
	// add-remove cost. Required.
	Enter Cost
	// Stay is the cost for a unit of the group whose records are replaced by
	// others that stay in it. Optional: the zero value is what [Charge] makes of
	// Enter. It is not used in add-remove.
	Stay Cost
}

// Parallel is the cost of answering for disjoint groups that are fixed in public
// and of which every unit is in at most one (McSherry 2009, theorem 4). Part by
// part,
//
//   - in add-remove, one group changes, by one unit: the largest Enter;
//   - in replace-one, a unit moves from one group to another, two groups change
//     and compose: the sum of the two largest Enter; or it stays in its group:
//     the largest Stay. The larger of both.
//
// With one cost c for all and Stay at most 2c, this is c in add-remove and 2c in
// replace-one. A unit that may have records in several groups is not covered:
// bound its records and use the sensitivity of the whole answer. Error:
// [noren.Usage].
func Parallel(n Neighbours, groups ...Branch) (Cost, error) {
	if len(groups) == 0 {
		return Cost{}, usage("the groups", "there are none", "name at least one")
	}
	var first, second, stay Cost
	for i, g := range groups {
		if err := g.Enter.Validate(); err != nil {
			return Cost{}, fmt.Errorf("group %d: %w", i+1, err)
		}
		first.Epsilon, second.Epsilon = topTwo(first.Epsilon, second.Epsilon, g.Enter.Epsilon)
		first.Delta, second.Delta = topTwo(first.Delta, second.Delta, g.Enter.Delta)
		if n == AddRemove {
			continue
		}
		s := g.Stay
		if s == (Cost{}) {
			var err error
			if s, err = Charge(g.Enter, AddRemove, ReplaceOne); err != nil {
				return Cost{}, err
			}
		}
		stay = Cost{max(stay.Epsilon, s.Epsilon), max(stay.Delta, s.Delta)}
	}
	if n == AddRemove {
		return first, nil
	}
	moved, err := first.Add(second)
	if err != nil {
		return Cost{}, err
	}
	return Cost{max(moved.Epsilon, stay.Epsilon), max(moved.Delta, stay.Delta)}, nil
}

// topTwo is the two largest of a >= b and x.
func topTwo(a, b, x int64) (first, second int64) {
	if x > a {
		return x, a
	}
	return a, max(b, x)
}

// Amplify is the cost of a mechanism of cost c that is run on a Poisson sample:
// every unit is in it with probability rate, in (0, 1], independently, and who is
// in it stays secret. It is
//
//	(ln(1 + rate (e^eps - 1)), rate delta),
//
// rounded up (Li, Qardaji and Su 2012; Balle, Barthe and Gaboardi 2018, theorem
// 8). The theorem is for add-remove; any other relation is refused. Error:
// [noren.Usage].
func Amplify(c Cost, n Neighbours, rate *big.Rat) (Cost, error) {
	if n != AddRemove {
		return Cost{}, usage("neighbours", "amplification by Poisson sampling is proved for add-remove neighbours", "count the sample at full price, or use an add-remove book")
	}
	if rate == nil || rate.Sign() <= 0 || rate.Cmp(one) > 0 {
		return Cost{}, usage("the sampling rate", "is not above 0 and at most 1", "")
	}
	if err := c.Validate(); err != nil {
		return Cost{}, err
	}
	amplified := Cost{Epsilon: c.Epsilon, Delta: DeltaUp(new(big.Rat).Mul(c.DeltaRat(), rate))}
	if c.Epsilon <= 100*EpsilonUnits && rate.Cmp(one) < 0 {
		a := arith{320}
		grown := a.mul(a.rat(rate), a.sub(a.exp(a.rat(c.EpsilonRat())), a.int(1)))
		epsilon, err := EpsilonUp(a.log(a.add(a.int(1), grown)).hiRat())
		if err != nil {
			return Cost{}, err
		}
		amplified.Epsilon = min(c.Epsilon, epsilon)
	}
	return amplified, nil
}
