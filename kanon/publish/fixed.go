package publish

import (
	"math"
	"math/big"
	"time"

	"github.com/noren-privacy/noren/table"
)

// Fixed ranges come from grids that are the same for every table: cells of 5, 10,
// 20, 50, 100, 200 ... units of the source's last place (with a field's rounding,
// from its unit on), months, quarters, years, 5, 10, 50 and 100 years for dates,
// pairs, fours, eights ... of the levels of an ordered column. A group shows the
// one cell, or the two neighbours, of the finest grid of which these hold all its
// values. The data choose between cells; they do not move an end.

// steps gives the widths of grids from least on: 1, 2 and 5 times powers of ten.
func steps(least int64, fits func(width int64) bool) int64 {
	for scale := int64(1); ; scale *= 10 {
		for _, digit := range []int64{1, 2, 5} {
			if width := digit * scale; width >= least && fits(width) {
				return width
			}
		}
		if scale > math.MaxInt64/100 {
			return 0
		}
	}
}

// fixedCells are the ends, in units, of at most two neighbouring cells that hold
// lo and hi; the upper end is the first unit beyond. ok is false where they are
// beyond what 64 bits hold.
func fixedCells(lo, hi, least int64) (from, to int64, ok bool) {
	width := steps(least, func(w int64) bool { return uint64(floorDiv(hi, w)-floorDiv(lo, w)) <= 1 })
	const most = math.MaxInt64 / 2
	if width == 0 || lo < -most || hi > most || width > most/2 {
		return 0, 0, false
	}
	return floorDiv(lo, width) * width, (floorDiv(hi, width) + 1) * width, true
}

func floorDiv(v, by int64) int64 {
	q := v / by
	if v%by < 0 {
		q--
	}
	return q
}

// fixedLeast is the width of the finest grid in units of 10^-places.
func fixedLeast(f *table.Field, places int) int64 {
	if f.Round != nil && *f.Round <= places && places-*f.Round < len(powers) {
		return powers[places-*f.Round]
	}
	return 5
}

// fixedEnds writes a range of a fixed grid.
func fixedEnds(col *table.Column) writer {
	f := &col.Field
	switch {
	case f.Type == table.Date:
		return func(c *Column, all []uint32) {
			lo, hi := wholeEnds(col, all)
			from, to := fixedDates(f, lo, hi)
			c.appendEnds(func(dst []byte) []byte { return appendWhole(dst, f, from) }, func(dst []byte) []byte { return appendWhole(dst, f, to) })
		}
	case f.Type == table.Integer:
		least := fixedLeast(f, 0)
		return func(c *Column, all []uint32) {
			lo, hi := wholeEnds(col, all)
			from, to, ok := fixedCells(lo, hi, least)
			if !ok {
				c.text.bytes = append(c.text.bytes, anyValue...)
				return
			}
			c.appendEnds(func(dst []byte) []byte { return appendWhole(dst, f, from) }, func(dst []byte) []byte { return appendWhole(dst, f, to-1) })
		}
	}
	return func(c *Column, all []uint32) {
		lo, hi := floatEnds(col, all)
		from, to, places := fixedDecimals(f, col.Places, lo, hi)
		c.appendEnds(func(dst []byte) []byte { return appendUnits(dst, 0, from, places) },
			func(dst []byte) []byte { return appendUnits(dst, 0, to, places) })
	}
}

// appendEnds writes [lo-hi], or lo alone where both are the same text.
func (c *Column) appendEnds(lo, hi func(dst []byte) []byte) { c.appendRange(false, lo, hi) }

// fixedDecimals is the range of a grid that holds lo and hi, in units of
// 10^-places.
func fixedDecimals(f *table.Field, source int, lo, hi float64) (from, to *big.Int, places int) {
	places = min(source, 15)
	a, _ := floorUnits(lo, places)
	b, _ := floorUnits(hi, places)
	if a.IsInt64() && b.IsInt64() {
		if x, y, ok := fixedCells(a.Int64(), b.Int64(), fixedLeast(f, places)); ok {
			return big.NewInt(x), big.NewInt(y), places
		}
	}
	// Numbers too long for 64 bits: cells of powers of ten.
	for places = min(0, places); ; places-- {
		a, _ = floorUnits(lo, places)
		b, _ = floorUnits(hi, places)
		if apart := new(big.Int).Sub(b, a); apart.IsInt64() && apart.Int64() <= 1 {
			return a, b.Add(b, big.NewInt(1)), places
		}
	}
}

// fixedNumbers is the range of a fixed grid that a group shows.
func fixedNumbers(f *table.Field, col *table.Column, all []uint32) (lo, hi float64) {
	if f.Type == table.Decimal {
		lo, hi = floatEnds(col, all)
		from, to, places := fixedDecimals(f, col.Places, lo, hi)
		lo, _ = parseNumber(string(appendUnits(nil, 0, from, places)), f)
		hi, _ = parseNumber(string(appendUnits(nil, 0, to, places)), f)
		return lo, hi
	}
	from, to, ok := fixedWhole(f, col, all)
	if !ok {
		return math.Inf(-1), math.Inf(1)
	}
	return float64(from), float64(to)
}

// fixedWhole is the range of a fixed grid that a group of whole numbers or dates shows; ok is
// false where it shows every value.
func fixedWhole(f *table.Field, col *table.Column, all []uint32) (from, to int64, ok bool) {
	lo, hi := wholeEnds(col, all)
	if f.Type == table.Date {
		from, to = fixedDates(f, lo, hi)
		return from, to, true
	}
	from, to, ok = fixedCells(lo, hi, fixedLeast(f, 0))
	return from, to - 1, ok
}

// fixedDates is the first and the last day (or second) of at most two neighbouring
// spans of the calendar that hold lo and hi.
func fixedDates(f *table.Field, lo, hi int64) (from, to int64) {
	day := int64(1)
	if f.Layout.HasTime() {
		day = secondsPerDay
	}
	a, b := monthOf(floorDiv(lo, day)), monthOf(floorDiv(hi, day))
	for _, months := range []int64{1, 3, 12, 60, 120, 600, 1200, 12000} {
		if x, y := floorDiv(a, months), floorDiv(b, months); y-x <= 1 || months == 12000 {
			return dayOf(x*months) * day, dayOf((y+1)*months)*day - 1
		}
	}
	return lo, hi
}

// fixedLevels is the range of a grid over levels that holds lo and hi.
func fixedLevels(lo, hi, levels uint32) (from, to uint32) {
	for width := uint32(2); ; width *= 2 {
		if hi/width-lo/width <= 1 {
			return lo / width * width, min(levels, (hi/width+1)*width) - 1
		}
	}
}

const secondsPerDay = 24 * 60 * 60

// monthOf counts the months from year 0 to the month of a day since 1970.
func monthOf(day int64) int64 {
	t := time.Unix(day*secondsPerDay, 0).UTC()
	return int64(t.Year())*12 + int64(t.Month()) - 1
}

// dayOf is the first day of such a month.
func dayOf(month int64) int64 {
	year := floorDiv(month, 12)
	return time.Date(int(year), time.Month(month-year*12+1), 1, 0, 0, 0, 0, time.UTC).Unix() / secondsPerDay
}
