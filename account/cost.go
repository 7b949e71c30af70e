package account

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren"
)

const (
	// EpsilonUnits is how many units of [Cost.Epsilon] make an epsilon of 1.
	EpsilonUnits = 1_000_000_000
	// DeltaUnits is how many units of [Cost.Delta] make a delta of 1.
	DeltaUnits = 1_000_000_000_000_000_000
)

// Cost is an amount of privacy loss: epsilon in units of 1e-9 and delta in units
// of 1e-18, or in a budget in zCDP rho alone, in units of 1e-15. All are rounded up
// where they are computed. The zero Cost is no loss.
type Cost struct {
	Epsilon int64
	Delta   int64
	// Rho is the loss in a budget in zCDP ([Loss]). There Epsilon and Delta are 0, and
	// in any other budget Rho is 0.
	Rho Rho
}

// EpsilonRat is epsilon, exactly.
func (c Cost) EpsilonRat() *big.Rat { return big.NewRat(c.Epsilon, EpsilonUnits) }

// DeltaRat is delta, exactly.
func (c Cost) DeltaRat() *big.Rat { return big.NewRat(c.Delta, DeltaUnits) }

// Float returns epsilon and delta as the nearest floating-point numbers, for
// display and for a [noren.Guarantee]: 100000000 units are 0.1.
func (c Cost) Float() (epsilon, delta float64) {
	epsilon, _ = c.EpsilonRat().Float64()
	delta, _ = c.DeltaRat().Float64()
	return epsilon, delta
}

// String writes c exactly, as "epsilon 0.1", "epsilon 0.1, delta 0.000001" or "rho
// 0.005".
func (c Cost) String() string {
	if c.Rho != 0 && c.Epsilon == 0 && c.Delta == 0 {
		return "rho " + c.Rho.String()
	}
	s := "epsilon " + Decimal(c.Epsilon, 9)
	if c.Delta != 0 {
		s += ", delta " + Decimal(c.Delta, 18)
	}
	return s
}

// Validate refuses a cost that is no cost: a negative part, a delta above 1, or
// no loss at all. Error: [noren.Usage].
func (c Cost) Validate() error {
	switch {
	case c.Epsilon < 0 || c.Delta < 0 || c.Rho < 0:
		return noren.Usagef(noren.Phrase("the privacy loss"), "has a negative part").Hinted("epsilon and delta are at least 0")
	case c.Delta > DeltaUnits:
		return noren.Usagef("delta", "is above 1").Hinted("choose a delta far below 1 divided by the number of records")
	case c == Cost{}:
		return noren.Usagef(noren.Phrase("the privacy loss"), "is 0").Hinted("give an epsilon above 0")
	}
	return nil
}

// Within reports whether c fits under limit, part by part.
func (c Cost) Within(limit Cost) bool {
	return c.Epsilon <= limit.Epsilon && c.Delta <= limit.Delta && c.Rho <= limit.Rho
}

// Add is the cost of both, by basic composition: epsilons, deltas and rhos add up,
// also when the second question depends on the first answer (Dwork et al. 2006;
// Dwork and Roth 2014, theorem 3.16). A sum that does not fit 64 bits is an
// error of kind Usage. A delta above 1 is cut to 1, which guarantees as little.
func (c Cost) Add(d Cost) (Cost, error) {
	if min(c.Epsilon, c.Delta, d.Epsilon, d.Delta, int64(c.Rho), int64(d.Rho)) < 0 {
		return Cost{}, noren.Usagef(noren.Phrase("the privacy loss"), "has a negative part").Hinted("epsilon and delta are at least 0")
	}
	if c.Epsilon > math.MaxInt64-d.Epsilon || c.Rho > math.MaxInt64-d.Rho {
		return Cost{}, tooLarge()
	}
	delta := int64(DeltaUnits)
	if c.Delta < DeltaUnits-min(d.Delta, DeltaUnits) {
		delta = c.Delta + d.Delta
	}
	return Cost{Epsilon: c.Epsilon + d.Epsilon, Delta: delta, Rho: c.Rho + d.Rho}, nil
}

// Minus is what c has more than d, part by part: 0 where d has more.
func (c Cost) Minus(d Cost) Cost {
	return Cost{Epsilon: max(0, c.Epsilon-d.Epsilon), Delta: max(0, c.Delta-d.Delta), Rho: max(0, c.Rho-d.Rho)}
}

// Least is the smaller of c and d, part by part.
func (c Cost) Least(d Cost) Cost {
	return Cost{Epsilon: min(c.Epsilon, d.Epsilon), Delta: min(c.Delta, d.Delta), Rho: min(c.Rho, d.Rho)}
}

// Split divides an epsilon and a delta into n parts that add up to at most c, and to c exactly up to
// n-1 units: the parts are equal, rounded down. A part without an epsilon is an
// error of kind Usage.
func (c Cost) Split(n int) (Cost, error) {
	if n < 1 {
		return Cost{}, noren.Usagef(noren.Phrase("the privacy loss"), "cannot be split into no parts")
	}
	part := Cost{Epsilon: c.Epsilon / int64(n), Delta: c.Delta / int64(n)}
	if part.Epsilon <= 0 {
		return Cost{}, noren.Usagef("epsilon", "is too small to be split into %d {part|parts}", n).Hinted("give a larger epsilon")
	}
	return part, nil
}

// Decimal writes n units of 10^-digits exactly: Decimal(100000000, 9) is "0.1".
func Decimal(n int64, digits int) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	if len(text) <= digits {
		text = strings.Repeat("0", digits+1-len(text)) + text
	}
	whole, part := text[:len(text)-digits], strings.TrimRight(text[len(text)-digits:], "0")
	if part != "" {
		whole += "." + part
	}
	return sign + whole
}

// unitsUp is ceil(r * units), an error of kind Usage where it does not fit.
func unitsUp(r *big.Rat, units int64) (int64, error) {
	n := new(big.Int).Mul(r.Num(), big.NewInt(units))
	// Ceiling of n/d, d > 0, is -floor(-n/d); Div rounds down for d > 0.
	n.Neg(n.Div(n.Neg(n), r.Denom()))
	if !n.IsInt64() {
		return 0, tooLarge()
	}
	return n.Int64(), nil
}

// EpsilonUp is epsilon in units, rounded up. Error: [noren.Usage] where it does
// not fit 64 bits (above 9.2e9).
func EpsilonUp(epsilon *big.Rat) (int64, error) { return unitsUp(epsilon, EpsilonUnits) }

// DeltaUp is delta in units, rounded up; above 1 it is 1.
func DeltaUp(delta *big.Rat) int64 {
	if delta.Cmp(one) >= 0 {
		return DeltaUnits
	}
	n, _ := unitsUp(delta, DeltaUnits)
	return n
}

var one = big.NewRat(1, 1)

func tooLarge() error {
	return noren.Usagef(noren.Phrase("the privacy loss"), "is too large to be counted").
		Hinted("such an epsilon gives no protection: lower it, or lower the number of records a person may have")
}
