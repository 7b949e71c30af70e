package dataset

import (
	"bytes"
	"strconv"
)

// mostDigits is the number of digits to which a number that is not whole is kept as it was
// written: 64-bit floating point, in which workbooks and databases keep it, holds them.
const mostDigits = 15

// longestNumber is the longest text that is read as a number, in bytes.
const longestNumber = 60

// decimal is a number: its digits without zeros at either end, and the power of ten of the
// last one. It has no digits where it is 0.
type decimal struct {
	digits   [longestNumber]byte
	n, power int
	negative bool
}

// appendNumber appends the one form of a number. Numbers that are not whole and have more
// than 15 digits are those of 64-bit floating point. It appends nothing for another text.
func appendNumber(dst, text []byte) ([]byte, bool) {
	var d decimal
	if len(text) == 0 || len(text) > longestNumber || !d.parse(text) {
		return dst, false
	}
	if d.n > mostDigits && d.power < 0 {
		f, err := strconv.ParseFloat(d.String(), 64)
		var short [32]byte
		if err != nil || !d.parse(strconv.AppendFloat(short[:0], f, 'e', -1, 64)) {
			return dst, false
		}
	}
	if d.n == 0 {
		return append(dst, '0'), true
	}
	if d.negative {
		dst = append(dst, '-')
	}
	dst = append(append(dst, d.digits[:d.n]...), 'e')
	return strconv.AppendInt(dst, int64(d.power), 10), true
}

func (d *decimal) String() string {
	sign := ""
	if d.negative {
		sign = "-"
	}
	return sign + string(d.digits[:d.n]) + "e" + strconv.Itoa(d.power)
}

// signs are what stands before a number, once each: a sign, and a sign of yen.
var signs = []struct {
	text          string
	sign, negates bool
}{{"-", true, true}, {"+", true, false}, {"△", true, true}, {"▲", true, true}, {"¥", false, false}}

// cutSigns takes what stands before and behind a number.
func (d *decimal) cutSigns(text []byte) []byte {
	sign, yen := false, false
	for i := 0; i < len(signs); i++ {
		s := &signs[i]
		rest, ok := bytes.CutPrefix(text, []byte(s.text))
		if !ok || s.sign && sign || !s.sign && yen {
			continue
		}
		sign, yen, d.negative = sign || s.sign, yen || !s.sign, d.negative || s.negates
		text, i = bytes.TrimLeft(rest, " "), -1
	}
	for _, unit := range []string{"%", "円"} {
		if rest, ok := bytes.CutSuffix(text, []byte(unit)); ok {
			return bytes.TrimRight(rest, " ")
		}
	}
	return text
}

// separators may stand between thousands: all of a number are the same.
var separators = []string{",", " ", "'", "’"}

// parse reads digits with a sign, a point, separators between thousands and a power of ten, or
// without any of these, and with a sign of yen or of per cent.
func (d *decimal) parse(text []byte) bool {
	*d = decimal{}
	if c := text[0]; c > '9' || c < '0' || text[len(text)-1] > '9' || text[len(text)-1] < '0' {
		text = d.cutSigns(text)
	}
	if at := bytes.IndexAny(text, "eE"); at >= 0 {
		e, ok := exponent(text[at+1:])
		if !ok {
			return false
		}
		d.power, text = e, text[:at]
	}
	whole, fraction, _ := bytes.Cut(text, []byte("."))
	if len(whole)+len(fraction) == 0 {
		return false
	}
	group, first, between := 0, true, "" // digits since the last separator
	for i := 0; i < len(whole); i++ {
		if c := whole[i]; '0' <= c && c <= '9' {
			group++
			d.add(c)
			continue
		}
		if first && (group < 1 || group > 3) || !first && group != 3 {
			return false
		}
		if first {
			for _, s := range separators {
				if bytes.HasPrefix(whole[i:], []byte(s)) {
					between = s
				}
			}
		}
		if between == "" || !bytes.HasPrefix(whole[i:], []byte(between)) {
			return false
		}
		group, first, i = 0, false, i+len(between)-1
	}
	if !first && group != 3 {
		return false
	}
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return false
		}
		d.add(c)
		d.power--
	}
	for d.n > 0 && d.digits[d.n-1] == '0' {
		d.n--
		d.power++
	}
	return true
}

func (d *decimal) add(digit byte) {
	if d.n > 0 || digit != '0' {
		d.digits[d.n] = digit
		d.n++
	}
}

// exponent reads the power of ten behind an e.
func exponent(text []byte) (e int, ok bool) {
	digits := bytes.TrimLeft(text, "+-")
	if len(digits) == 0 || len(digits) > 4 || len(text)-len(digits) > 1 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		e = 10*e + int(c-'0')
	}
	if text[0] == '-' {
		e = -e
	}
	return e, true
}
