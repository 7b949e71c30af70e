package kanon

import (
	"fmt"
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// to says to what a mean or a matched value is rounded.
func (r Rounded) to(f *table.Field) noren.Text {
	switch g := r.Grid; {
	case f.Round != nil && f.Type == table.Date:
		return spans(f, int64(math.Pow10(max(0, -*f.Round)))).to
	case f.Round != nil:
		return decimals(*f.Round).to
	case g == nil:
		return noren.Textf("to the grid of its values")
	case g.Months > 0:
		return months(g.Months).grid
	case f.Type == table.Date && g.Unit == 1:
		return spans(f, 1).to
	case f.Type == table.Date:
		return spans(f, g.Unit).grid
	case g.Unit == 1 && g.Rest == 0 && g.Places == r.places(f):
		return noren.Textf("to %s as in the source", decimals(g.Places).of)
	case g.Rest != 0:
		return noren.Textf("to %s and multiples of %s from there, the grid of its values", number(g.Rest, g.Places), unit(g))
	}
	return noren.Textf("to multiples of %s, the grid of its values", unit(r.Grid))
}

// places are those of the source.
func (r Rounded) places(f *table.Field) int {
	if f.Type == table.Decimal {
		return r.Places
	}
	return 0
}

// leaving says to what a mean is rounded, and how many sums that leaves to a class of k.
func (r Rounded) leaving(f *table.Field, k int) noren.Text {
	g, asked := r.Grid, f.Round
	if asked != nil && f.Type != table.Date && *asked > r.places(f) {
		return noren.Textf("to %s where the source has %s: the sum of a small class can be computed from it", decimals(*asked).of,
			decimals(r.places(f)).of)
	}
	if g == nil {
		return r.to(f)
	}
	n := int64(0)
	switch step := step(f); {
	case step == nil:
		n = g.Sums(k, nil)
	case g.Months > 0:
		n = g.Dates(k, step, f)
	default:
		n = g.Sums(k, step)
	}
	if n == 1 {
		return r.coarser(f, k, noren.Textf("%s: the sum of a class of %d {value|values} can be computed from it", r.to(f), k))
	}
	return r.coarser(f, k, noren.Textf("%s: at least %d {sum|sums} of a class of %d {value|values} {2|is|are} possible", r.to(f), n, k))
}

// beside is leaving for a mean beside a range: of at least 5 values, and finer for many.
func (r Rounded) beside(f *table.Field, k int) noren.Text {
	const least = 5 // publish/shares.go has the proof
	if r.Grid == nil || f.Round != nil || f.Type == table.Date {
		return r.leaving(f, max(k, least))
	}
	return r.coarser(f, least, noren.Textf("%s, and more finely from 50 values on: at least 5 sums are possible", r.to(f)))
}

// step is the unit of --round, nil where there is none.
func step(f *table.Field) *big.Rat {
	if f.Round == nil {
		return nil
	}
	places := *f.Round
	if f.Type == table.Date {
		places = min(places, 0)
	}
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(places, -places))), nil))
	if places > 0 {
		unit.Inv(unit)
	}
	return unit
}

// coarser adds what is left to a class whose values all lie on the coarser grid, where there
// is one and the mean is rounded to the grid.
func (r Rounded) coarser(f *table.Field, k int, text noren.Text) noren.Text {
	c := r.Grid.Coarse
	if c == nil || f.Round != nil {
		return text
	}
	share := fmt.Sprintf("%.0f%%", 100*r.Grid.Share)
	if r.Grid.Share > .995 {
		share = fmt.Sprintf("%.1f%%", math.Floor(1000*r.Grid.Share)/10)
	}
	return noren.Textf("%s; %s of its values lie on a coarser grid (%s), and where all of a class do, %s", text, share, coarse(f, c),
		sums(r.Grid.Within(c, f, k), k))
}

// sums says how many sums a mean leaves.
func sums(n int64, k int) noren.Text {
	if n == 1 {
		return noren.Textf("the sum of a class of %d {value|values} can be computed from it", k)
	}
	return noren.Textf("at least %d {sum|sums} of a class of %d {value|values} {1|is|are} possible", n, k)
}

func coarse(f *table.Field, g *publish.Grid) noren.Text {
	switch {
	case g.Months > 0:
		return months(g.Months).of
	case f.Type == table.Date:
		return spans(f, g.Unit).of
	}
	return noren.Textf("multiples of %s", unit(g))
}

func unit(g *publish.Grid) string { return number(g.Unit, g.Places) }

// number is n units of 10^-places.
func number(n int64, places int) string {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(places, -places))), nil)
	if places < 0 {
		return power.Mul(power, big.NewInt(n)).String()
	}
	return new(big.Rat).SetFrac(big.NewInt(n), power).FloatString(places)
}

// measure says a step: alone, what is rounded to it, and what is rounded to it as the grid of
// its values.
type measure struct{ of, to, grid noren.Text }

func months(n int64) measure {
	switch n {
	case 1:
		return measure{of: noren.Textf("months"), grid: noren.Textf("to months, the grid of its values")}
	case 12:
		return measure{of: noren.Textf("years"), grid: noren.Textf("to years, the grid of its values")}
	}
	return measure{of: noren.Textf("%d {month|months}", n), grid: noren.Textf("to %d {month|months}, the grid of its values", n)}
}

// spans says a number of days, or of seconds where a date has a time.
func spans(f *table.Field, n int64) measure {
	const minute, hour, day = 60, 60 * 60, 24 * 60 * 60
	if !f.Layout.HasTime() {
		n *= day
	}
	switch {
	case n == day:
		return measure{noren.Textf("days"), noren.Textf("to days"), noren.Textf("to days, the grid of its values")}
	case n%day == 0:
		return measure{
			noren.Textf("%d {day|days}", n/day), noren.Textf("to %d {day|days}", n/day),
			noren.Textf("to %d {day|days}, the grid of its values", n/day),
		}
	case n == hour:
		return measure{noren.Textf("hours"), noren.Textf("to hours"), noren.Textf("to hours, the grid of its values")}
	case n%hour == 0:
		return measure{
			noren.Textf("%d {hour|hours}", n/hour), noren.Textf("to %d {hour|hours}", n/hour),
			noren.Textf("to %d {hour|hours}, the grid of its values", n/hour),
		}
	case n == minute:
		return measure{noren.Textf("minutes"), noren.Textf("to minutes"), noren.Textf("to minutes, the grid of its values")}
	case n%minute == 0:
		return measure{
			noren.Textf("%d {minute|minutes}", n/minute), noren.Textf("to %d {minute|minutes}", n/minute),
			noren.Textf("to %d {minute|minutes}, the grid of its values", n/minute),
		}
	case n == 1:
		return measure{noren.Textf("seconds"), noren.Textf("to seconds"), noren.Textf("to seconds, the grid of its values")}
	}
	return measure{
		noren.Textf("%d {second|seconds}", n), noren.Textf("to %d {second|seconds}", n),
		noren.Textf("to %d {second|seconds}, the grid of its values", n),
	}
}

func decimals(n int) measure {
	switch {
	case n < 0:
		return measure{of: noren.Textf("multiples of %s", number(1, n)), to: noren.Textf("to multiples of %s", number(1, n))}
	case n == 0:
		return measure{of: noren.Textf("whole numbers"), to: noren.Textf("to whole numbers")}
	}
	return measure{of: noren.Textf("%d decimal {place|places}", n), to: noren.Textf("to %d decimal {place|places}", n)}
}
