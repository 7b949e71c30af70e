package publish

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/table"
)

// shareWriter takes the values of a category with their shares in the group,
// {a 0.60, b 0.40}, or the value where all are equal. Shares have two decimal
// places, and from 101 records on so many that each value shows more than 0.
func shareWriter(col *table.Column) writer {
	count := make([]uint32, len(col.Dict))
	var codes []uint32
	return func(c *Column, all []uint32) {
		codes = codes[:0]
		for _, i := range all {
			code := col.Codes[i]
			if count[code] == 0 {
				codes = append(codes, code)
			}
			count[code]++
		}
		slices.Sort(codes)
		places := sharePlaces(len(all))
		for n, code := range codes {
			if len(codes) == 1 {
				c.text.bytes = append(c.text.bytes, col.Dict[code]...)
				break
			}
			c.text.bytes = append(c.text.bytes, separator(n)...)
			c.text.bytes = append(c.text.bytes, col.Dict[code]...)
			c.text.bytes = append(c.text.bytes, ' ')
			c.text.bytes = strconv.AppendFloat(c.text.bytes, float64(count[code])/float64(len(all)), 'f', places, 64)
		}
		if len(codes) > 1 {
			c.text.bytes = append(c.text.bytes, '}')
		}
		for _, code := range codes {
			count[code] = 0
		}
	}
}

// sharePlaces is to how many places the shares of n records are written.
func sharePlaces(n int) int {
	places := 2
	for most := 100; n > most; most *= 10 {
		places++
	}
	return places
}

// Share is a value and its share in a class.
type Share struct {
	Value string
	Share float64
}

// ParseShares reads {a 0.60, b 0.40}; known tells the values of the column.
// Values may hold commas, blanks and numbers themselves: the text is cut wherever
// a cut leaves nothing but known values with their shares, the first of which is
// the shortest that allows it. The shares are scaled to add up to 1.
func ParseShares(text string, known func(value string) bool) ([]Share, bool) {
	if len(text) < 2 || text[0] != '{' || text[len(text)-1] != '}' {
		return nil, false
	}
	parts := strings.Split(text[1:len(text)-1], ", ")
	// next[s] is where the item that begins with part s ends, 0 for none.
	next := make([]int, len(parts)+1)
	items := make([]Share, len(parts))
	for s := len(parts) - 1; s >= 0; s-- {
		item := ""
		for e := s; e < len(parts); e++ {
			if e > s {
				item += ", "
			}
			item += parts[e]
			if e+1 < len(parts) && next[e+1] == 0 {
				continue
			}
			at := strings.LastIndexByte(item, ' ')
			if at < 0 {
				continue
			}
			share, ok := parseShare(item[at+1:])
			if ok && known(item[:at]) {
				items[s], next[s] = Share{item[:at], share}, e+1
				break
			}
		}
	}
	if next[0] == 0 {
		return nil, false
	}
	var out []Share
	sum := 0.0
	for s := 0; s < len(parts); s = next[s] {
		out = append(out, items[s])
		sum += items[s].Share
	}
	if sum <= 0 {
		return nil, false
	}
	for i := range out {
		out[i].Share /= sum
	}
	return out, true
}

// parseShare reads a share as shareWriter writes it.
func parseShare(text string) (float64, bool) {
	if len(text) < 4 || text[0] != '0' && text[0] != '1' || text[1] != '.' {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v <= 1
}

// meanLeast is the least number of values beside whose range a mean is published.
const meanLeast = 5

// meanBeside appends the mean of a group to its range, where that leaves the value
// of each of its records as open as the range does.
//
// Let m values lie on a grid in [lo, hi], with both ends taken, width w = hi - lo
// and sum S. The mean is published if and only if m >= 5, S - m lo >= 2w and
// m hi - S >= 2w.
//
// Then for each record and each grid value z in [lo, hi] there are m values with
// these ends and this sum in which the record has z: one other record has lo, one
// has hi, and the m - 3 >= 2 that are left must add up to T = S - lo - hi - z,
// which they can if (m-3) lo <= T <= (m-3) hi. Now T - (m-3) lo =
// (S - m lo) - w - (z - lo) >= 2w - w - w = 0, and likewise at the other end. So
// the published cell, even with the exact sum, excludes no value of any one record
// that the range does not. Where the mean is left out with m >= 5, z is possible
// too: with one of the others at lo and one at hi, the m - 3 left can all be at the
// nearer end of z, which makes one of the two sums smaller than 2w unless z is an
// end, and then they are put at that same end. With m <= 3 the range and the mean
// give all values away, with m = 4 the two in the middle determine each other.
//
// The mean lies on the grid of the values, and on one with a tenth of its unit for each
// factor of ten by which m exceeds 5: five sums at least remain possible. It is left out
// where a unit of it exceeds a quarter of the range, as it would say less than the middle
// of the range does. A mean of dates on a grid of the calendar is that of their months.
func meanBeside(col *table.Column, of *planned) func(dst []byte, all []uint32) []byte {
	f := &col.Field
	scale := 0 // the places of the values
	unit := func(i uint32) int64 { return col.Ints[i] }
	even := true
	if f.Type == table.Decimal {
		scale, even = of.head.Places, !of.uneven
		if even {
			whole := scaleToWhole(scale)
			unit = func(i uint32) int64 { return whole(col.Floats[i]) }
		}
	}
	on := of.grid
	if on == nil || f.Round != nil {
		on = &Grid{Unit: 1, Places: scale}
	}
	calendar := on.Months > 0
	if calendar {
		unit = func(i uint32) int64 { return on.month(col.Ints[i], f) }
	}
	return func(dst []byte, all []uint32) []byte {
		m := len(all)
		if m < meanLeast {
			return dst
		}
		g := on.beside(m, f)
		if !even {
			return appendFloatMean(dst, col, all, g)
		}
		t := &total{}
		lo, hi := unit(all[0]), unit(all[0])
		for _, i := range all {
			v := unit(i)
			lo, hi = min(lo, v), max(hi, v)
			t.add(v)
		}
		width := new(big.Int).Sub(big.NewInt(hi), big.NewInt(lo))
		if !openMean(t.big(), big.NewInt(lo), big.NewInt(hi), int64(m)) || !g.finer(width, scale) {
			return dst
		}
		q, large := g.roundSum(t, m, scale)
		dst = append(dst, meanWord...)
		switch {
		case calendar:
			return f.Layout.AppendFormat(dst, on.date(q, f))
		case f.Type == table.Date:
			for range -g.Places {
				q *= 10
			}
			return f.Layout.AppendFormat(dst, q)
		}
		return appendUnits(dst, q, large, g.Places)
	}
}

// beside is the grid of the mean beside the range of m values: finer for more of them.
func (g *Grid) beside(m int, f *table.Field) *Grid {
	if f.Round != nil {
		places := *f.Round
		if f.Type == table.Date {
			places = min(places, 0)
		}
		return &Grid{Unit: 1, Places: places}
	}
	if g.Months > 0 {
		return g.months()
	}
	out := &Grid{Unit: g.Unit, Rest: g.Rest, Places: g.Places, Months: g.Months, Day: g.Day}
	if f.Type == table.Date {
		out.ends = g.ends // the unit stays
	}
	for most := 10 * meanLeast; m >= most && f.Type != table.Date; most *= 10 {
		switch {
		case out.Unit%10 == 0:
			out.Unit /= 10
		case out.Rest > math.MaxInt64/10 || out.Unit > math.MaxInt64/10:
			return out
		default:
			out.Rest, out.Places = out.Rest*10, out.Places+1
		}
	}
	return out
}

// openMean reports whether sum - m lo >= 2 (hi - lo) and m hi - sum >= 2 (hi - lo).
func openMean(sum, lo, hi *big.Int, m int64) bool {
	twice := new(big.Int).Sub(hi, lo)
	twice.Lsh(twice, 1)
	count := big.NewInt(m)
	below := new(big.Int).Mul(lo, count)
	above := new(big.Int).Mul(hi, count)
	return below.Sub(sum, below).Cmp(twice) >= 0 && above.Sub(above, sum).Cmp(twice) >= 0
}

// finer reports whether four units of g fit into width units of 10^-scale.
func (g *Grid) finer(width *big.Int, scale int) bool {
	four := new(big.Int).Mul(big.NewInt(4), big.NewInt(g.Unit))
	w := new(big.Int).Set(width)
	if g.Places >= scale {
		w.Mul(w, power(g.Places-scale))
	} else {
		four.Mul(four, power(scale-g.Places))
	}
	return w.Cmp(four) >= 0
}

// appendFloatMean is meanBeside for numbers that are not all whole at their places.
func appendFloatMean(dst []byte, col *table.Column, all []uint32, g *Grid) []byte {
	lo, hi := floatEnds(col, all)
	parts := make([]float64, len(all)) // sorted: the order of the records does not matter
	for n, i := range all {
		parts[n] = (col.Floats[i]/2 - lo/2) / (hi/2 - lo/2)
	}
	slices.Sort(parts)
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	const slack = 1e-9 // more than rounding adds
	if m := float64(len(all)); !(sum >= 2+slack && m-sum >= 2+slack) {
		return dst
	}
	if (hi/4 - lo/4) < float64(g.Unit)*math.Pow(10, float64(-g.Places)) {
		return dst
	}
	share := sum / float64(len(all))
	return g.appendFloat(append(dst, meanWord...), lo*(1-share)+hi*share)
}
