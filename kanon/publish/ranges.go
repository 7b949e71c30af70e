package publish

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/table"
)

// rangeWriter takes the range of a number column, with the mean where withMean.
func rangeWriter(col *table.Column, of *planned, withMean, fixed bool) writer {
	ends := tightEnds(col)
	if fixed {
		ends = fixedEnds(col)
	}
	var average func(dst []byte, all []uint32) []byte
	if withMean {
		average = meanBeside(col, of)
	}
	return func(c *Column, all []uint32) {
		at := len(c.text.bytes)
		ends(c, all)
		if average != nil && c.text.bytes[len(c.text.bytes)-1] == ']' && c.text.bytes[at] == '[' {
			c.text.bytes = average(c.text.bytes, all)
		}
	}
}

// tightEnds writes the smallest and largest value of a group.
func tightEnds(col *table.Column) writer {
	f := &col.Field
	if f.Type == table.Decimal {
		show := func(dst []byte, v float64, up bool) []byte {
			if f.Round != nil {
				return appendRoundedDecimal(dst, v, *f.Round, up)
			}
			return strconv.AppendFloat(dst, v+0, 'f', -1, 64) // + 0: a zero has no sign
		}
		return func(c *Column, all []uint32) {
			lo, hi := floatEnds(col, all)
			c.appendRange(lo == hi && f.Round == nil, func(dst []byte) []byte { return show(dst, lo, false) },
				func(dst []byte) []byte { return show(dst, hi, true) })
		}
	}
	step := int64(1)
	if f.Round != nil && *f.Round < 0 {
		step = powers[min(-*f.Round, len(powers)-1)]
	}
	return func(c *Column, all []uint32) {
		lo, hi := wholeEnds(col, all)
		lo, hi = floor(lo, step), ceil(hi, step)
		c.appendRange(lo == hi, func(dst []byte) []byte { return appendWhole(dst, f, lo) },
			func(dst []byte) []byte { return appendWhole(dst, f, hi) })
	}
}

// appendWhole writes a value of an Integer or Date column.
func appendWhole(dst []byte, f *table.Field, v int64) []byte {
	if f.Type == table.Date {
		return f.Layout.AppendFormat(dst, v)
	}
	return strconv.AppendInt(dst, v, 10)
}

func wholeEnds(col *table.Column, all []uint32) (lo, hi int64) {
	lo, hi = col.Ints[all[0]], col.Ints[all[0]]
	for _, i := range all[1:] {
		lo, hi = min(lo, col.Ints[i]), max(hi, col.Ints[i])
	}
	return lo, hi
}

func floatEnds(col *table.Column, all []uint32) (lo, hi float64) {
	lo, hi = col.Floats[all[0]], col.Floats[all[0]]
	for _, i := range all[1:] {
		lo, hi = min(lo, col.Floats[i]), max(hi, col.Floats[i])
	}
	return lo, hi
}

// appendRange writes [lo-hi], or lo alone where both are the same text.
func (c *Column) appendRange(same bool, lo, hi func(dst []byte) []byte) {
	if same {
		c.text.bytes = lo(c.text.bytes)
		return
	}
	at := len(c.text.bytes)
	b := lo(append(c.text.bytes, '['))
	end := len(b)
	b = hi(append(b, '-'))
	if string(b[at+1:end]) == string(b[end+1:]) {
		copy(b[at:], b[at+1:end])
		c.text.bytes = b[:at+end-at-1]
		return
	}
	c.text.bytes = append(b, ']')
}

// floor is the largest multiple of step that is at most v; v itself where that
// is out of reach.
func floor(v, step int64) int64 {
	r := v % step
	if r < 0 {
		r += step
	}
	if v < math.MinInt64+r {
		return v
	}
	return v - r
}

func ceil(v, step int64) int64 {
	f := floor(v, step)
	if f == v || f > math.MaxInt64-step {
		return v
	}
	return f + step
}

// appendRoundedDecimal writes v rounded down, or up, to places. It goes by the
// shortest text that reads as v, so that 0.3 is 0.3 at one place and not a
// little less; reading never turns the order of two texts round, and the end
// that is written reads as a number on the right side of v.
func appendRoundedDecimal(dst []byte, v float64, places int, up bool) []byte {
	q, rest := floorUnits(v, places)
	if up && rest {
		q.Add(q, big.NewInt(1))
	}
	return appendUnits(dst, 0, q, places)
}

// floorUnits is how many units of 10^-places the shortest text of v has, rounded
// down; rest tells that it was rounded.
func floorUnits(v float64, places int) (q *big.Int, rest bool) {
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
	num, den := new(big.Int).Set(r.Num()), new(big.Int).Set(r.Denom())
	if places > 0 {
		num.Mul(num, power(places))
	} else {
		den.Mul(den, power(-places))
	}
	q, left := new(big.Int).DivMod(num, den, new(big.Int)) // down: den > 0
	return q, left.Sign() != 0
}

// meanWord stands between a range and its mean.
const meanWord = " mean "

// Span is what a cell of a number column says: a value, a range, or a range
// with the mean of the class.
type Span struct {
	Lo, Hi  float64
	Range   bool    // it is written in brackets
	Mean    float64 // where HasMean; between Lo and Hi
	HasMean bool
}

// ParseSpan reads what a number column described by f publishes, as [ParseRange]
// does, and beside a range its mean: [lo-hi] mean m.
func ParseSpan(text string, f *table.Field) (Span, bool) {
	s := Span{}
	if at := strings.LastIndex(text, "]"+meanWord); at > 0 {
		m, ok := parseNumber(text[at+1+len(meanWord):], f)
		if !ok {
			return s, false
		}
		s.Mean, s.HasMean, text = m, true, text[:at+1]
	}
	var ok bool
	s.Lo, s.Hi, s.Range, ok = parseRange(text, f)
	if s.HasMean {
		s.Mean = min(max(s.Mean, s.Lo), s.Hi)
	}
	return s, ok
}

// ParseRange reads what a number column described by f publishes: a value, or
// [lo-hi] with lo <= hi, also with a mean beside it, which is left out (see
// [ParseSpan]). Both ends may be negative and dates hold hyphens of
// their own: the hyphen between them is the first that leaves a value on both
// sides. Dates are in the unit of the layout. isRange tells that the text is in
// brackets.
func ParseRange(text string, f *table.Field) (lo, hi float64, isRange, ok bool) {
	s, ok := ParseSpan(text, f)
	return s.Lo, s.Hi, s.Range, ok
}

func parseRange(text string, f *table.Field) (lo, hi float64, isRange, ok bool) {
	if len(text) < 2 || text[0] != '[' || text[len(text)-1] != ']' {
		v, ok := parseNumber(text, f)
		return v, v, false, ok
	}
	body := text[1 : len(text)-1]
	for at := 1; at < len(body); at++ {
		if body[at] != '-' {
			continue
		}
		lo, okLo := parseNumber(strings.TrimSpace(body[:at]), f)
		if !okLo {
			continue
		}
		hi, okHi := parseNumber(strings.TrimSpace(body[at+1:]), f)
		if okHi && lo <= hi {
			return lo, hi, true, true
		}
	}
	return 0, 0, true, false
}

func parseNumber(text string, f *table.Field) (float64, bool) {
	if f.Type == table.Date {
		v, err := f.Layout.Parse(text)
		return float64(v), err == nil
	}
	v, _, err := table.ParseDecimal([]byte(text))
	return v, err == nil
}
