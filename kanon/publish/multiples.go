package publish

import (
	"math"
	"math/bits"

	"github.com/noren-privacy/noren/table"
)

// Multiples counts, for each unit of a fixed list, how many values of a number column are
// multiples of it, for the [Grid] of its means. Counts of
// the parts of a table add up, and do not depend on the order of the records.
//
// The units of a number are the powers of ten from 10^-15 to 10^18 times 1, 2, 2.5 and 5.
// 0 is a multiple of all of them and is not counted. The units of a date are months, and
// of an instant also the times of timeUnits.
type Multiples struct {
	Values int64   // that count: all but 0 of a number, all of a date
	Counts []int64 // by unit; see numberCounts and dateCounts
	First  int64   // some value, in units of the source's last place
	Apart  uint64  // the greatest common divisor of all differences from First
	Known  bool    // there is a First
	// Least and Most are the ends of the values where they are whole numbers, exactly; of no
	// meaning before there is a First.
	Least, Most int64
	Finer       bool // some number is not whole at the places of the source
}

const (
	exponentLeast = -16
	exponents     = 36
	families      = 4 // 1, 2, 2.5 and 5 times a power of ten
	numberCounts  = families * exponents
	daysMost      = 31
	// dateCounts are the counts of timeUnits, of days by month and day of month, and of
	// last days of months by month.
	dateCounts = len(timeUnits) + 12*daysMost + 12
)

// timeUnits are the units of instants below a day, and the day, in seconds.
var timeUnits = [...]int64{60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, secondsPerDay}

func newMultiples(t table.Type) *Multiples {
	n := numberCounts
	if t == table.Date {
		n = dateCounts
	}
	return &Multiples{Counts: make([]int64, n)}
}

// look counts a run of records. It reports whether all numbers are whole at these places,
// those of the source.
func (m *Multiples) look(col *table.Column, places int) (even bool) {
	gaps := col.Missing() > 0
	even = true
	f := &col.Field
	for i := range col.Len() {
		if gaps && col.IsMissing(i) {
			continue
		}
		switch f.Type {
		case table.Decimal:
			even = m.decimal(col.Floats[i], places) && even
		case table.Date:
			m.whole(col.Ints[i])
			m.date(col.Ints[i], f.Layout.HasTime())
		default:
			m.whole(col.Ints[i])
			m.number(col.Ints[i], 0)
		}
	}
	return even
}

// decimal counts a number, and reports whether it is whole at the places of the source.
func (m *Multiples) decimal(v float64, places int) bool {
	if n, ok := wholeAt(v, places); ok {
		m.differ(n)
		m.number(n, places)
		return true
	}
	m.Finer = true
	if v == math.Trunc(v) && math.Abs(v) < 1<<63 {
		m.number(int64(v), 0)
		return false
	}
	for q := 1; q < 16; q++ {
		if n, ok := wholeAt(v, q); ok {
			m.number(n, q)
			return false
		}
	}
	m.Values++ // a multiple of no unit of the list
	return false
}

// wholeAt is the whole number of units of 10^-places that v was written as.
func wholeAt(v float64, places int) (int64, bool) {
	if places > 15 {
		return 0, false
	}
	scale := float64(powers[places])
	x := math.RoundToEven(v * scale)
	if math.Abs(v)*scale >= 1<<50 || x/scale != v {
		return 0, false
	}
	return int64(x), true
}

// number counts n units of 10^-places. Let 2^a and 5^b be the powers that n has as
// factors: 10^e divides it where e <= a and e <= b, 2 10^e = 2^(e+1) 5^e where e <= a - 1
// and e <= b, 2.5 10^e = 2^(e-1) 5^(e+1) where e <= a + 1 and e <= b - 1, and 5 10^e where
// e <= a and e <= b - 1.
func (m *Multiples) number(n int64, places int) {
	if n == 0 {
		return
	}
	m.Values++
	u := magnitude(n)
	a, b := bits.TrailingZeros64(u), 0
	for u%5 == 0 {
		u /= 5
		b++
	}
	at := -places - exponentLeast
	m.Counts[0*exponents+min(a, b)+at]++
	m.Counts[1*exponents+min(a-1, b)+at]++
	m.Counts[2*exponents+min(a+1, b-1)+at]++
	m.Counts[3*exponents+min(a, b-1)+at]++
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// whole takes in a whole number.
func (m *Multiples) whole(v int64) {
	m.reach(v, v)
	m.differ(v)
}

// reach takes in the ends of whole numbers. It is called before [Multiples.differ].
func (m *Multiples) reach(least, most int64) {
	if !m.Known {
		m.Least, m.Most = least, most
		return
	}
	m.Least, m.Most = min(m.Least, least), max(m.Most, most)
}

// differ takes in the difference of a value from the first.
func (m *Multiples) differ(v int64) {
	switch {
	case m.Apart == 1:
	case !m.Known:
		m.First, m.Known = v, true
	default:
		m.Apart = divisor(m.Apart, apart(v, m.First))
	}
}

func apart(a, b int64) uint64 {
	if a < b {
		a, b = b, a
	}
	return uint64(a) - uint64(b)
}

// divisor is the greatest common divisor, that of 0 and b being b.
func divisor(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// date counts a day, or an instant.
func (m *Multiples) date(v int64, seconds bool) {
	m.Values++
	if seconds {
		rest := v - floorDiv(v, secondsPerDay)*secondsPerDay
		if rest%60 != 0 {
			return
		}
		for i, unit := range timeUnits {
			if rest%unit == 0 {
				m.Counts[i]++
			}
		}
		if rest != 0 {
			return
		}
		v = floorDiv(v, secondsPerDay)
	}
	month, day := dateOf(v)
	of := int(month - floorDiv(month, 12)*12)
	m.Counts[len(timeUnits)+of*daysMost+day-1]++
	if day >= 28 {
		if next, _ := dateOf(v + 1); next != month {
			m.Counts[len(timeUnits)+12*daysMost+of]++
		}
	}
}

// Take adds the counts of other records.
func (m *Multiples) Take(o *Multiples) {
	m.Values += o.Values
	for i := range min(len(m.Counts), len(o.Counts)) {
		m.Counts[i] += o.Counts[i]
	}
	m.Finer = m.Finer || o.Finer
	if o.Known {
		m.reach(o.Least, o.Most)
		m.differ(o.First)
		m.Apart = divisor(m.Apart, o.Apart)
	}
}

// dateOf is the month of a day, counted from January of year 0, and its day of that month.
// It counts in years that begin in March, so that the day that a leap year has more is the
// last.
func dateOf(v int64) (month int64, day int) {
	const daysOf400 = 146097
	v += 719468 // days since 1 March of year 0
	era := floorDiv(v, daysOf400)
	in := v - era*daysOf400
	year := (in - in/1460 + in/36524 - in/146096) / 365
	of := in - (365*year + year/4 - year/100)
	since := (5*of + 2) / 153 // months since March
	return (era*400+year)*12 + since + 2, int(of-(153*since+2)/5) + 1
}
