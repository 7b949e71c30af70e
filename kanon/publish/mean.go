package publish

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"github.com/noren-privacy/noren/table"
)

// total is an exact sum of 64-bit integers, in 128 bits of two's complement:
// enough for 2^63 of them.
type total struct {
	hi int64
	lo uint64
}

func (t *total) add(v int64) {
	var carry uint64
	t.lo, carry = bits.Add64(t.lo, uint64(v), 0)
	t.hi += v>>63 + int64(carry)
}

// small is the sum where it fits 64 bits.
func (t *total) small() (int64, bool) {
	return int64(t.lo), t.hi == int64(t.lo)>>63
}

func (t *total) big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(t.hi), 64)
	return n.Add(n, new(big.Int).SetUint64(t.lo))
}

// powers are the powers of ten that fit 64 bits.
var powers = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// mean is sum / count in units of 10^-scale, rounded to units of 10^-places,
// half to even: the number of those units. It is small where ok; otherwise
// large has it.
func mean(sum *total, count, scale, places int) (small int64, large *big.Int) {
	if s, fits := sum.small(); fits && scale-places < len(powers) && places-scale < len(powers) {
		num, den := s, int64(count)
		ok := true
		if up := places - scale; up > 0 {
			num, ok = multiply(num, powers[up])
		} else if up < 0 {
			den, ok = multiply(den, powers[-up])
		}
		if ok {
			return divide(num, den), nil
		}
	}
	num, den := sum.big(), big.NewInt(int64(count))
	if up := places - scale; up > 0 {
		num.Mul(num, power(up))
	} else {
		den.Mul(den, power(-up))
	}
	q := divideLarge(num, den)
	if q.IsInt64() {
		return q.Int64(), nil
	}
	return 0, q
}

func power(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func multiply(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(max(a, -a)), uint64(b))
	if hi != 0 || lo > math.MaxInt64 || a == math.MinInt64 {
		return 0, false
	}
	if a < 0 {
		return -int64(lo), true
	}
	return int64(lo), true
}

// divide rounds num / den, den > 0, half to even.
func divide(num, den int64) int64 {
	q, r := num/den, num%den
	step := int64(1)
	if r < 0 {
		r, step = -r, -1
	}
	// r > den - r is 2r > den without its overflow.
	if r > den-r || r == den-r && q&1 != 0 {
		q += step
	}
	return q
}

func divideLarge(num, den *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	r.Abs(r).Lsh(r, 1)
	if c := r.Cmp(den); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(num.Sign())))
	}
	return q
}

// appendUnits writes n units of 10^-places: all places are shown, and a zero
// has no sign.
func appendUnits(dst []byte, n int64, large *big.Int, places int) []byte {
	var room [24]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	if large != nil {
		digits = large.Append(nil, 10)
	}
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	switch {
	case places < 0:
		dst = append(dst, digits...)
		for i := 0; i < -places && digits[0] != '0'; i++ {
			dst = append(dst, '0')
		}
		return dst
	case places == 0:
		return append(dst, digits...)
	}
	if len(digits) <= places {
		dst = append(dst, '0', '.')
		for range places - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, digits[:len(digits)-places]...)
	dst = append(dst, '.')
	return append(dst, digits[len(digits)-places:]...)
}

// numbered reports whether the file stores the column as a number, so that its
// release is to be one too.
func numbered(stored *table.StoredColumn) bool {
	return stored.Kind != table.Text || stored.Proposed != nil && stored.Proposed.IsNumber()
}

// wholePlaces is to how many places an Integer or Date column is published.
func wholePlaces(f *table.Field) int {
	places := 0
	if f.Round != nil {
		places = *f.Round
	}
	if f.Type == table.Date {
		return min(places, 0)
	}
	return places
}

// wholeMeanWriter publishes the means of an Integer or Date column.
func wholeMeanWriter(c *Column, col *table.Column, of *planned) writer {
	f := &col.Field
	places := wholePlaces(f)
	put := wholePutter(c, f, &of.stored)
	if g := of.grid; f.Round == nil && g != nil && g.Months > 0 {
		return func(c *Column, all []uint32) { put(c, g.roundDates(col, all), nil) }
	}
	return func(c *Column, all []uint32) {
		t := &total{}
		for _, i := range all {
			t.add(col.Ints[i])
		}
		if g := of.grid; f.Round == nil && g != nil {
			put(c, g.whole(g.roundSum(t, len(all), 0)), nil)
			return
		}
		q, large := mean(t, len(all), 0, places)
		put(c, q, large)
	}
}

// wholePutter describes the published column and appends values to it, given in
// units of 10^-[wholePlaces]: q, or large where that is not nil.
func wholePutter(c *Column, f *table.Field, stored *table.StoredColumn) func(c *Column, q int64, large *big.Int) {
	places := wholePlaces(f)
	if f.Type == table.Date {
		return datePutter(c, f, stored, places)
	}
	// A mean lies between the least and the largest value: unrounded, it fits
	// whatever type they have.
	switch {
	case places == 0 && stored.Kind == table.Int && stored.Proposed != nil && *stored.Proposed == table.Integer:
		c.Stored.Kind, c.Stored.Proposed, c.Stored.Logical, c.Stored.Origin, c.Stored.AppendText = table.Int, stored.Proposed, stored.Logical,
			stored.Origin, stored.AppendText
		return func(c *Column, q int64, _ *big.Int) { c.ints = append(c.ints, q) }
	case numbered(stored):
		put := floatPutter(c, stored)
		var buf []byte
		return func(c *Column, q int64, large *big.Int) {
			buf = appendUnits(buf[:0], q, large, places)
			put(c, buf)
		}
	}
	c.Stored.Proposed = &f.Type // for formats that have numbers
	return func(c *Column, q int64, large *big.Int) { c.text.bytes = appendUnits(c.text.bytes, q, large, places) }
}

func datePutter(c *Column, f *table.Field, stored *table.StoredColumn, places int) func(c *Column, q int64, _ *big.Int) {
	value := func(q int64) int64 {
		for range -places {
			q *= 10
		}
		return q
	}
	if stored.Kind == table.Int && stored.Proposed != nil && *stored.Proposed == table.Date {
		c.Stored.Kind, c.Stored.Proposed, c.Stored.Logical, c.Stored.Origin, c.Stored.AppendText = table.Int, stored.Proposed, stored.Logical,
			stored.Origin, stored.AppendText
		return func(c *Column, q int64, _ *big.Int) {
			v := value(q)
			if f.Layout.HasTime() {
				const day = 24 * 60 * 60
				v = (v - ((v%day)+day)%day) / day
			}
			c.ints = append(c.ints, v)
		}
	}
	return func(c *Column, q int64, _ *big.Int) { c.text.bytes = f.Layout.AppendFormat(c.text.bytes, value(q)) }
}

// floatPutter describes the published column, and appends to it the 64-bit
// floating-point number nearest to a text.
func floatPutter(c *Column, stored *table.StoredColumn) func(c *Column, text []byte) {
	c.Stored.Kind = table.Float
	if stored.Kind == table.Float {
		c.Stored.Proposed, c.Stored.Logical, c.Stored.Origin, c.Stored.AppendText = stored.Proposed, stored.Logical, stored.Origin,
			stored.AppendText
	}
	return func(c *Column, text []byte) {
		// What appendUnits writes is a number. It is too large for the type only
		// where rounding to hundreds of places before the point made it so: the
		// largest that the type has is then the nearest.
		v, _ := strconv.ParseFloat(string(text), 64)
		c.floats = append(c.floats, max(-math.MaxFloat64, min(v, math.MaxFloat64)))
	}
}

// decimalPlaces is to how many places a Decimal column is published.
func decimalPlaces(col *table.Column) int {
	if col.Field.Round != nil {
		return *col.Field.Round
	}
	return col.Places
}

// decimalPutter describes the published column, and appends to it the numbers
// that texts write.
func decimalPutter(c *Column, f *table.Field, stored *table.StoredColumn) func(c *Column, text []byte) {
	if numbered(stored) {
		return floatPutter(c, stored)
	}
	c.Stored.Proposed = &f.Type // for formats that have numbers
	return func(c *Column, text []byte) { c.text.bytes = append(c.text.bytes, text...) }
}

// decimalMeanWriter publishes the means of a Decimal column, rounded to the grid of its
// values unless the field says to how many places.
//
// More would give the sum of a class away. Values are whole numbers of units of the grid,
// and so is the sum S of a class of m. A mean that is published as v says that S/m lies
// within half of a published unit of v: of as many whole numbers as m times that unit has
// units of the grid, S is one. With the unit of the grid these are m for odd m, and m-1 or
// m+1 for even m (both ends of the interval are ties, which go to the even of two means).
// With a hundredth of it and m below 100 it is one: the sum would be known.
func decimalMeanWriter(c *Column, col *table.Column, of *planned) writer {
	g := of.grid
	if col.Field.Round != nil || g == nil {
		g = &Grid{Unit: 1, Places: decimalPlaces(col)}
	}
	text := exactMean(col, g)
	if scale := of.head.Places; !of.uneven && g.Places <= scale || !of.uneven && g.Unit == 1 {
		scaled := scaleToWhole(scale)
		text = func(dst []byte, all []uint32) []byte {
			t := &total{}
			for _, i := range all {
				t.add(scaled(col.Floats[i]))
			}
			q, large := g.roundSum(t, len(all), scale)
			return appendUnits(dst, q, large, g.Places)
		}
	}
	put := decimalPutter(c, &col.Field, &of.stored)
	var buf []byte
	return func(c *Column, all []uint32) {
		buf = text(buf[:0], all)
		put(c, buf)
	}
}

// scaleToWhole gives back the whole number of units of 10^-places that a value
// was written as, where the values are evenly written. v is within 2^-53 of it
// relatively, 10^places is exact up to 10^15, and the product rounds once more:
// below 2^50 units the error is below 1/4, and rounding finds the number.
func scaleToWhole(places int) func(float64) int64 {
	scale := float64(powers[places])
	return func(v float64) int64 { return int64(math.RoundToEven(v * scale)) }
}

// exactMean sums 64-bit floating-point numbers without rounding: their bits lie
// between 2^-1074 and 2^1024, and 2^32 of them carry into 32 more.
func exactMean(col *table.Column, g *Grid) func(dst []byte, all []uint32) []byte {
	sum, term := new(big.Float).SetPrec(2200), new(big.Float)
	return func(dst []byte, all []uint32) []byte {
		sum.SetInt64(0)
		for _, i := range all {
			sum.Add(sum, term.SetFloat64(col.Floats[i]))
		}
		r, _ := sum.Rat(nil)
		q, large := g.clamp(g.roundRat(new(big.Rat).Quo(r, big.NewRat(int64(len(all)), 1))))
		return appendUnits(dst, q, large, g.Places)
	}
}
