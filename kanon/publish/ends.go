package publish

import (
	"math"
	"math/big"
	"strconv"

	"github.com/noren-privacy/noren/table"
)

// ends are the first and the last value of a grid that lie between the least and the
// largest value of its column, in units of 10^-Places, or the numbers of months of a grid
// of the calendar. A value that is rounded beyond them becomes the nearer of both: as the
// column has values beside its grid, it could otherwise become one that the column's type
// or the layout of its dates cannot hold, such as 150 for 127 in 8 bits, or the year 10000.
// More means than others become an end, so that it leaves no fewer sums.
type ends struct{ first, last int64 }

// reach are the least and the largest value that was looked at, exactly; ok is false where
// there is none. A floating-point number has 53 bits, and whole numbers have 64.
func (c *planned) reach() (lo, hi *big.Rat, ok bool) {
	switch {
	case c.head.Field.Type != table.Decimal:
		return new(big.Rat).SetInt64(c.units.Least), new(big.Rat).SetInt64(c.units.Most), c.units.Known
	case !(c.lo <= c.hi) || math.IsInf(c.lo, 0) || math.IsInf(c.hi, 0):
		return nil, nil, false
	}
	return written(c.lo), written(c.hi), true
}

// within are the ends of the grid in a column whose least and largest values are lo and hi,
// for dates whole numbers of 64 bits; nil where none lies between them, or where they exceed
// 64 bits.
func (g *Grid) within(lo, hi *big.Rat, f *table.Field) *ends {
	var first, last int64
	if g.Months > 0 {
		from, to := lo.Num().Int64(), hi.Num().Int64()
		first, last = g.month(from, f), g.month(to, f)
		first += floorMod(g.Rest-first, g.Months)
		last -= floorMod(last-g.Rest, g.Months)
		if g.date(first, f) < from {
			first += g.Months
		}
		if g.date(last, f) > to {
			last -= g.Months
		}
	} else {
		// The first value that is not below lo is the last of the mirrored grid that is not
		// above -lo, mirrored.
		least, most := g.below(new(big.Rat).Neg(lo), -g.Rest), g.below(hi, g.Rest)
		if least.Neg(least); !least.IsInt64() || !most.IsInt64() {
			return nil
		}
		first, last = least.Int64(), most.Int64()
	}
	if first > last {
		return nil
	}
	return &ends{first, last}
}

// below is the largest value rest + q Unit, in units of 10^-Places, that is not above v.
func (g *Grid) below(v *big.Rat, rest int64) *big.Int {
	unit, from := big.NewInt(g.Unit), big.NewInt(rest)
	num := new(big.Int).Mul(v.Num(), power(max(0, g.Places)))
	den := new(big.Int).Mul(v.Denom(), power(max(0, -g.Places)))
	num.Sub(num, new(big.Int).Mul(from, den))
	q := new(big.Int).Div(num, den.Mul(den, unit)) // down, as the divisor is positive
	return q.Mul(q, unit).Add(q, from)
}

// written is the number that a text of the fewest digits writes, not the nearest in base 2.
func written(v float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(v, 'g', -1, 64))
	if !ok {
		return new(big.Rat)
	}
	return r
}

func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// clamp is q, or large where that is not nil, or the end that it lies beyond.
func (g *Grid) clamp(q int64, large *big.Int) (int64, *big.Int) {
	switch {
	case g.ends == nil:
		return q, large
	case large != nil && large.Sign() < 0:
		return g.ends.first, nil
	case large != nil:
		return g.ends.last, nil
	}
	return min(max(q, g.ends.first), g.ends.last), nil
}

// holds reports whether v is known to lie between the ends: beyond 2^50 units the ends are no
// floating-point numbers.
func (g *Grid) holds(v float64) bool {
	x := v * math.Pow10(g.Places)
	return g.ends == nil || math.Abs(x) < 1<<50 && x >= float64(g.ends.first) && x <= float64(g.ends.last)
}
