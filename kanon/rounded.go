package kanon

import (
	"fmt"
	"math"
	"math/big"

	"github.com/noren-privacy/noren/kanon/publish"
	"github.com/noren-privacy/noren/table"
)

// to says to what a mean or a matched value is rounded.
func (r Rounded) to(f *table.Field) string {
	switch g := r.Grid; {
	case f.Round != nil && f.Type == table.Date:
		return "to " + spans(f, int64(math.Pow10(max(0, -*f.Round))))
	case f.Round != nil:
		return "to " + decimals(*f.Round)
	case g == nil:
		return "to the grid of its values"
	case g.Months > 0:
		return "to " + months(g.Months) + ", the grid of its values"
	case f.Type == table.Date && g.Unit == 1:
		return "to " + spans(f, 1)
	case f.Type == table.Date:
		return "to " + spans(f, g.Unit) + ", the grid of its values"
	case g.Unit == 1 && g.Rest == 0 && g.Places == r.places(f):
		return "to " + decimals(g.Places) + " as in the source"
	case g.Rest != 0:
		return fmt.Sprintf("to %s and multiples of %s from there, the grid of its values", number(g.Rest, g.Places), unit(g))
	}
	return fmt.Sprintf("to multiples of %s, the grid of its values", unit(r.Grid))
}

// places are those of the source.
func (r Rounded) places(f *table.Field) int {
	if f.Type == table.Decimal {
		return r.Places
	}
	return 0
}

// leaving says to what a mean is rounded, and how many sums that leaves to a class of k.
func (r Rounded) leaving(f *table.Field, k int) string {
	g, asked := r.Grid, f.Round
	if asked != nil && f.Type != table.Date && *asked > r.places(f) {
		return fmt.Sprintf("to %s where the source has %s: the sum of a small class can be computed from it", decimals(*asked), decimals(r.places(f)))
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
	text := ""
	if n == 1 {
		text = fmt.Sprintf("%s: the sum of a class of %d values can be computed from it", r.to(f), k)
	} else {
		text = fmt.Sprintf("%s: at least %d sums of a class of %d values are possible", r.to(f), n, k)
	}
	return r.coarser(f, k, text)
}

// beside is leaving for a mean beside a range: of at least 5 values, and finer for many.
func (r Rounded) beside(f *table.Field, k int) string {
	const least = 5 // publish/shares.go has the proof
	if r.Grid == nil || f.Round != nil || f.Type == table.Date {
		return r.leaving(f, max(k, least))
	}
	return r.coarser(f, least, r.to(f)+", and more finely from 50 values on: at least 5 sums are possible")
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
func (r Rounded) coarser(f *table.Field, k int, text string) string {
	c := r.Grid.Coarse
	if c == nil || f.Round != nil {
		return text
	}
	share := fmt.Sprintf("%.0f%%", 100*r.Grid.Share)
	if r.Grid.Share > .995 {
		share = fmt.Sprintf("%.1f%%", math.Floor(1000*r.Grid.Share)/10)
	}
	return fmt.Sprintf("%s; %s of its values lie on a coarser grid (%s), and where all of a class do, %s", text, share, coarse(f, c), sums(r.Grid.Within(c, f, k), k))
}

// sums says how many sums a mean leaves.
func sums(n int64, k int) string {
	if n == 1 {
		return fmt.Sprintf("the sum of a class of %d values can be computed from it", k)
	}
	return fmt.Sprintf("at least %d sums of a class of %d values are possible", n, k)
}

func coarse(f *table.Field, g *publish.Grid) string {
	switch {
	case g.Months > 0:
		return months(g.Months)
	case f.Type == table.Date:
		return spans(f, g.Unit)
	}
	return "multiples of " + unit(g)
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

func months(n int64) string {
	switch n {
	case 1:
		return "months"
	case 12:
		return "years"
	}
	return fmt.Sprintf("%d %s", n, "months")
}

// spans says a number of days, or of seconds where a date has a time.
func spans(f *table.Field, n int64) string {
	const day = 24 * 60 * 60
	if !f.Layout.HasTime() {
		n *= day
	}
	for _, of := range []struct {
		seconds int64
		name    string
	}{{day, "days"}, {3600, "hours"}, {60, "minutes"}, {1, "seconds"}} {
		switch {
		case n == of.seconds:
			return of.name
		case n%of.seconds == 0:
			return fmt.Sprintf("%d %s", n/of.seconds, of.name)
		}
	}
	return "seconds"
}

func decimals(n int) string {
	switch {
	case n == 1:
		return fmt.Sprintf("%d decimal place", n)
	case n < 0:
		return "multiples of " + number(1, n)
	case n == 0:
		return "whole numbers"
	}
	return fmt.Sprintf("%d decimal places", n)
}
