package publish

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren/table"
)

// roundSum rounds sum / count, in units of 10^-scale, to the nearest value of the grid; in
// the middle to the one whose multiple of the unit is even. What it returns is in units of
// 10^-Places, and in large where it exceeds 64 bits. Beyond the ends of the grid it is the
// nearer of them.
func (g *Grid) roundSum(sum *total, count, scale int) (small int64, large *big.Int) {
	return g.clamp(g.unbounded(sum, count, scale))
}

// unbounded is roundSum without ends.
func (g *Grid) unbounded(sum *total, count, scale int) (small int64, large *big.Int) {
	if g.Unit == 1 && g.Rest == 0 {
		return mean(sum, count, scale, g.Places)
	}
	if s, fits := sum.small(); fits {
		if q, ok := g.roundSmall(s, int64(count), scale); ok {
			return q, nil
		}
	}
	r := new(big.Rat).SetFrac(sum.big(), new(big.Int).Mul(big.NewInt(int64(count)), power(scale)))
	return g.roundRat(r)
}

// roundSmall is unbounded where 64 bits are enough.
func (g *Grid) roundSmall(s, count int64, scale int) (q int64, ok bool) {
	finer, up := max(0, scale-g.Places), max(0, g.Places-scale)
	if finer >= len(powers) || up >= len(powers) {
		return 0, false
	}
	var oks [3]bool
	rest, den := g.Rest, g.Unit
	rest, oks[0] = multiply(rest, powers[finer])
	den, oks[1] = multiply(den, powers[finer])
	if !oks[0] || !oks[1] {
		return 0, false
	}
	rest, oks[0] = multiply(rest, count)
	den, oks[1] = multiply(den, count)
	s, oks[2] = multiply(s, powers[up])
	const most = math.MaxInt64 / 2
	if !oks[0] || !oks[1] || !oks[2] || s > most || s < -most || rest > most {
		return 0, false
	}
	q, ok = multiply(divide(s-rest, den), g.Unit)
	return q + g.Rest, ok && q < math.MaxInt64-g.Rest
}

// roundRat is roundSum for a rational number.
func (g *Grid) roundRat(r *big.Rat) (small int64, large *big.Int) {
	num, den := new(big.Int).Set(r.Num()), new(big.Int).Set(r.Denom())
	if g.Places > 0 {
		num.Mul(num, power(g.Places))
	} else {
		den.Mul(den, power(-g.Places))
	}
	num.Sub(num, new(big.Int).Mul(den, big.NewInt(g.Rest)))
	q := divideLarge(num, den.Mul(den, big.NewInt(g.Unit)))
	q.Mul(q, big.NewInt(g.Unit)).Add(q, big.NewInt(g.Rest))
	if q.IsInt64() {
		return q.Int64(), nil
	}
	return 0, q
}

// appendFloat writes the value of the grid that is nearest to v.
func (g *Grid) appendFloat(dst []byte, v float64) []byte {
	if g.Unit == 1 && g.Rest == 0 && g.holds(v) {
		return appendRounded(dst, v, g.Places)
	}
	q, large := g.clamp(g.roundFloat(v))
	return appendUnits(dst, q, large, g.Places)
}

func (g *Grid) roundFloat(v float64) (small int64, large *big.Int) {
	if x := v * math.Pow10(g.Places); g.Places >= 0 && math.Abs(x) < 1<<50 && g.Unit < 1<<50 {
		return int64(math.RoundToEven((x-float64(g.Rest))/float64(g.Unit)))*g.Unit + g.Rest, nil
	}
	return g.roundRat(new(big.Rat).SetFloat64(v))
}

// whole is q, or where that is not nil large, as a whole number of 64 bits: the nearest
// value of the grid that they hold.
func (g *Grid) whole(q int64, large *big.Int) int64 {
	switch {
	case large == nil:
		return q
	case large.Sign() < 0:
		large.Add(large, big.NewInt(g.Unit))
	default:
		large.Sub(large, big.NewInt(g.Unit))
	}
	return large.Int64()
}

// month is the number of a day's or instant's month.
func (g *Grid) month(v int64, f *table.Field) int64 {
	if f.Layout.HasTime() {
		v = floorDiv(v, secondsPerDay)
	}
	month, _ := dateOf(v)
	return month
}

// date is the day, or instant, of the grid in a month.
func (g *Grid) date(month int64, f *table.Field) int64 {
	next := dayOf(month + 1)
	day := min(dayOf(month)+int64(g.Day)-1, next-1)
	if f.Layout.HasTime() {
		return day * secondsPerDay
	}
	return day
}

// months is the grid of the months of a grid of the calendar.
func (g *Grid) months() *Grid { return &Grid{Unit: g.Months, Rest: g.Rest, ends: g.ends} }

// roundDates is the date of the grid whose month is the mean of the months of some dates.
func (g *Grid) roundDates(col *table.Column, all []uint32) int64 {
	f := &col.Field
	t := &total{}
	for _, i := range all {
		t.add(g.month(col.Ints[i], f))
	}
	month, _ := g.months().roundSum(t, len(all), 0)
	return g.date(month, f)
}

// nearest is the value of the grid that is nearest to a whole number.
func (g *Grid) nearest(v int64, f *table.Field) int64 {
	if g.Months == 0 {
		t := &total{}
		t.add(v)
		return g.whole(g.roundSum(t, 1, 0))
	}
	at := floorDiv(g.month(v, f)-g.Rest, g.Months)*g.Months + g.Rest
	best := g.date(at, f)
	for _, other := range [...]int64{at - g.Months, at + g.Months} {
		if d := g.date(other, f); apart(d, v) < apart(best, v) {
			at, best = other, d
		}
	}
	if month, _ := g.clamp(at, nil); month != at {
		return g.date(month, f)
	}
	return best
}
