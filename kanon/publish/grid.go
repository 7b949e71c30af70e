package publish

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren/table"
)

// Grid is the lattice on which the values of a number column lie: all but 1 % of those
// that [Multiples] counts (all but one of 20 to 99). Its values are Rest plus multiples of
// Unit, in units of 10^-Places for a number and of days or seconds for a date. Where Months
// is not 0 they are days of the calendar instead: Day of each month (or its last day) that
// is Rest plus a multiple of Months, counted from January of year 0.
//
// A mean that is rounded to the grid leaves as many sums of a class possible as
// [Grid.Sums] says; docs/k-anonymity.md, "The grid of a mean", has the proof.
type Grid struct {
	Unit, Rest int64
	Places     int
	Months     int64
	Day        int
	// Coarse is the coarsest unit of the list, and five units of the grid or more, that at
	// least half of the values are multiples of, where there is one; Share is their part.
	Coarse *Grid
	Share  float64

	ends *ends // nil where they are not known
}

const (
	sharedMost  = 100 // one of this number of values may lie beside the grid
	sharedLeast = 20  // from this number of values on, one may
	coarseLeast = 5   // how many units of the grid are worth a word
)

// need is how many of n values must be multiples of a unit.
func need(n int64) int64 {
	beside := n / sharedMost
	if beside == 0 && n >= sharedLeast {
		beside = 1
	}
	return n - beside
}

// grid is the grid of a column whose numbers have these places. ok is false where more
// than 1 % of the values lie on none.
func (m *Multiples) grid(f *table.Field, places int) (g Grid, ok bool) {
	if m.Values == 0 {
		return Grid{Unit: 1, Places: places}, places <= 15
	}
	g, ok = m.listed(f, need(m.Values))
	if !ok && places <= 15 && !m.Finer {
		g, ok = Grid{Unit: 1, Places: places}, true
	}
	if same, found := m.same(f, places); found && (!ok || same.size(f) > g.size(f)) {
		g, ok = same, true
	}
	if !ok {
		return Grid{}, false
	}
	if m.Values >= sharedLeast {
		if c, found := m.listed(f, (m.Values+1)/2); found && c.size(f) >= coarseLeast*g.size(f) {
			g.Coarse, g.Share = &c, float64(m.count(f, &c))/float64(m.Values)
		}
	}
	return g, true
}

// size is the unit in units of the column's values.
func (g *Grid) size(f *table.Field) float64 {
	if g.Months == 0 {
		return float64(g.Unit) / math.Pow10(g.Places)
	}
	const days = 30.436875 // of a month, on average
	if f.Layout.HasTime() {
		return float64(g.Months) * days * secondsPerDay
	}
	return float64(g.Months) * days
}

// same is the greatest unit by which all values differ. A few values differ by such units
// by chance.
func (m *Multiples) same(f *table.Field, places int) (Grid, bool) {
	if !m.Known || m.Finer || m.Values < sharedLeast || m.Apart > math.MaxInt64/2 {
		return Grid{}, false
	}
	if f.Type == table.Integer {
		places = 0
	}
	g := Grid{Unit: int64(m.Apart), Places: places}
	if f.Type == table.Date {
		g.Places = 0
	}
	if m.Apart == 0 {
		if m.First == 0 || m.First == math.MinInt64 {
			return Grid{}, false
		}
		g.Unit = max(m.First, -m.First)
	} else {
		g.Rest = m.First - floorDiv(m.First, g.Unit)*g.Unit
	}
	for g.Places > 0 && g.Unit%10 == 0 && g.Rest%10 == 0 {
		g.Unit, g.Rest, g.Places = g.Unit/10, g.Rest/10, g.Places-1
	}
	return g, true
}

// listed is the coarsest unit of the list that this number of values are multiples of.
func (m *Multiples) listed(f *table.Field, least int64) (Grid, bool) {
	if f.Type == table.Date {
		return m.calendar(f, least)
	}
	for e := exponents - 1; e >= 0; e-- {
		for family := families - 1; family >= 0; family-- {
			if m.above(family, e) >= least {
				return unitOf(family, e)
			}
		}
	}
	return Grid{}, false
}

// above is how many values are multiples of a unit.
func (m *Multiples) above(family, e int) int64 {
	sum := int64(0)
	for ; e < exponents; e++ {
		sum += m.Counts[family*exponents+e]
	}
	return sum
}

// unitOf is a unit of the list.
func unitOf(family, e int) (Grid, bool) {
	unit, power := [families]int64{1, 2, 25, 5}[family], e+exponentLeast
	if family == 2 {
		power--
	}
	g := Grid{Unit: unit, Places: max(0, -power)}
	for range max(0, power) {
		if g.Unit > math.MaxInt64/20 {
			return Grid{}, false
		}
		g.Unit *= 10
	}
	return g, g.Places <= 15
}

// spans are the numbers of months that may be a unit.
var spans = [...]int64{12, 6, 3, 1}

// calendar is the coarsest unit of months or of time.
func (m *Multiples) calendar(f *table.Field, least int64) (Grid, bool) {
	for _, months := range spans {
		for rest := range months {
			for day := 1; day <= daysMost; day++ {
				g := Grid{Unit: 1, Months: months, Rest: rest, Day: day}
				if m.count(f, &g) >= least && m.Values > 0 {
					return g, true
				}
			}
		}
	}
	if f.Layout.HasTime() {
		for i := len(timeUnits) - 1; i >= 0; i-- {
			if m.Counts[i] >= least {
				return Grid{Unit: timeUnits[i]}, true
			}
		}
	}
	return Grid{}, false
}

// count is how many values lie on a grid of the list.
func (m *Multiples) count(f *table.Field, g *Grid) int64 {
	sum := int64(0)
	switch {
	case g.Months > 0:
		days := m.Counts[len(timeUnits):]
		for of := g.Rest; of < 12; of += g.Months {
			if g.Day == daysMost {
				sum += days[12*daysMost+of]
			} else if g.Day <= 28 {
				sum += days[int(of)*daysMost+g.Day-1]
			}
		}
	case f.Type == table.Date:
		for i, unit := range timeUnits {
			if unit == g.Unit {
				return m.Counts[i]
			}
		}
	default:
		for family := range families {
			for e := range exponents {
				if u, ok := unitOf(family, e); ok && u.Unit == g.Unit && u.Places == g.Places {
					return m.above(family, e)
				}
			}
		}
	}
	return sum
}

// Size is the unit: of a number its value, of a date in days, seconds or months.
func (g *Grid) Size() *big.Rat {
	if g.Months > 0 {
		return big.NewRat(g.Months, 1)
	}
	r := big.NewRat(g.Unit, 1)
	return r.Quo(r, new(big.Rat).SetInt(power(g.Places)))
}

// Within is [Grid.Sums] for means that are rounded to g, where the values lie on the
// coarser grid c.
func (g *Grid) Within(c *Grid, f *table.Field, m int) int64 {
	length := float64(m) * g.size(f) / c.size(f)
	return max(1, int64(math.Ceil(length))-1)
}

// Sums is the least number of sums of m values on the grid that one published mean leaves
// possible. With nil for unit the mean is rounded to the grid, and there are m of them, or
// m - 1 where m is even. Otherwise it is rounded to multiples of unit. A mean at the end of
// the range of the column leaves about half of them, since the others would need values
// beyond it.
func (g *Grid) Sums(m int, unit *big.Rat) int64 {
	common := unit == nil || g.Rest == 0 // both lattices have a value in common
	if unit == nil {
		unit = g.Size()
	}
	length := new(big.Rat).Quo(unit, g.Size())
	length.Mul(length, big.NewRat(int64(m), 1))
	// An open interval of this length holds ceil(length) - 1 whole numbers or more. Where
	// the length is odd and the lattices meet, its ends lie between two whole numbers.
	n := new(big.Int).Quo(length.Num(), length.Denom())
	if length.IsInt() && (n.Bit(0) == 0 || !common) {
		n.Sub(n, big.NewInt(1))
	}
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return max(1, n.Int64())
}

// Dates is [Grid.Sums] for a grid of the calendar and means of days or seconds that are
// rounded to multiples of unit: the least number of dates of the grid that the mean leaves
// to one of m dates if all others are known. Those dates lie between two instants that are m
// units apart.
func (g *Grid) Dates(m int, unit *big.Rat, f *table.Field) int64 {
	gap := map[int64]int64{1: 31, 3: 92, 6: 184, 12: 366}[g.Months] // the most days between two
	if f.Layout.HasTime() {
		gap *= secondsPerDay
	}
	length := new(big.Rat).Mul(unit, big.NewRat(int64(m), gap))
	n := new(big.Int).Quo(length.Num(), length.Denom())
	if length.IsInt() {
		n.Sub(n, big.NewInt(1))
	}
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return max(1, n.Int64())
}
