package publish

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/noren-privacy/noren/table"
)

// rangeWriter takes the range of a number column.
func rangeWriter(col *table.Column) writer {
	f := &col.Field
	if f.Type == table.Decimal {
		show := func(dst []byte, v float64, up bool) []byte {
			if f.Round != nil {
				return appendRoundedDecimal(dst, v, *f.Round, up)
			}
			return strconv.AppendFloat(dst, v+0, 'f', -1, 64) // + 0: a zero has no sign
		}
		return func(c *Column, all []uint32) {
			lo, hi := col.Floats[all[0]], col.Floats[all[0]]
			for _, i := range all[1:] {
				lo, hi = min(lo, col.Floats[i]), max(hi, col.Floats[i])
			}
			c.appendRange(lo == hi && f.Round == nil, func(dst []byte) []byte { return show(dst, lo, false) }, func(dst []byte) []byte { return show(dst, hi, true) })
		}
	}
	step := int64(1)
	if f.Round != nil && *f.Round < 0 {
		step = powers[min(-*f.Round, len(powers)-1)]
	}
	show := func(dst []byte, v int64) []byte {
		if f.Type == table.Date {
			return f.Layout.AppendFormat(dst, v)
		}
		return strconv.AppendInt(dst, v, 10)
	}
	return func(c *Column, all []uint32) {
		lo, hi := col.Ints[all[0]], col.Ints[all[0]]
		for _, i := range all[1:] {
			lo, hi = min(lo, col.Ints[i]), max(hi, col.Ints[i])
		}
		lo, hi = floor(lo, step), ceil(hi, step)
		c.appendRange(lo == hi, func(dst []byte) []byte { return show(dst, lo) }, func(dst []byte) []byte { return show(dst, hi) })
	}
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
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v, 'f', -1, 64))
	num, den := new(big.Int).Set(r.Num()), new(big.Int).Set(r.Denom())
	if places > 0 {
		num.Mul(num, power(places))
	} else {
		den.Mul(den, power(-places))
	}
	q, rest := new(big.Int).DivMod(num, den, new(big.Int)) // down: den > 0
	if up && rest.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	return appendUnits(dst, 0, q, places)
}

// ParseRange reads what a number column described by f publishes: a value, or
// [lo-hi] with lo <= hi. Both ends may be negative and dates hold hyphens of
// their own: the hyphen between them is the first that leaves a value on both
// sides. Dates are in the unit of the layout. isRange tells that the text is in
// brackets.
func ParseRange(text string, f *table.Field) (lo, hi float64, isRange, ok bool) {
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
