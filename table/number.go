package table

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// ParseInteger reads a whole number of at most 64 bits, with a sign or without,
// as a [Builder] reads an Integer. The error does not repeat the text.
func ParseInteger(text []byte) (int64, error) {
	digits, negative := text, false
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		negative, digits = digits[0] == '-', digits[1:]
	}
	if len(digits) == 0 || len(digits) > 18 { // 18 digits cannot overflow
		return parseLongInteger(text)
	}
	v := int64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, errors.New("expected an integer")
		}
		v = 10*v + int64(c-'0')
	}
	if negative {
		v = -v
	}
	return v, nil
}

func parseLongInteger(text []byte) (int64, error) {
	v, err := strconv.ParseInt(string(text), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errors.New("expected an integer of at most 64 bits with its sign")
	case err != nil:
		return 0, errors.New("expected an integer")
	}
	return v, nil
}

// powers are the powers of ten that 64-bit floating point holds exactly and
// that a short number can ask for.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// ParseDecimal reads a finite number and the number of decimal places that it
// was written with, as a [Builder] reads a Decimal. The error does not repeat
// the text.
func ParseDecimal(text []byte) (v float64, places int, err error) {
	digits, negative := text, false
	if len(digits) > 0 && (digits[0] == '-' || digits[0] == '+') {
		negative, digits = digits[0] == '-', digits[1:]
	}
	// Up to 15 digits make a whole number below 2^53, which is exact, and so
	// is the power of ten: the one rounding of their quotient is the right one.
	if len(digits) > 16 {
		return parseLongDecimal(text)
	}
	whole, point, count := int64(0), -1, 0
	for i, c := range digits {
		switch {
		case '0' <= c && c <= '9':
			whole = 10*whole + int64(c-'0')
			count++
		case c == '.' && point < 0:
			point = i
		default:
			return parseLongDecimal(text)
		}
	}
	if count == 0 || count > 15 {
		return parseLongDecimal(text)
	}
	v = float64(whole)
	if point >= 0 {
		places = len(digits) - point - 1
		v /= powers[places]
	}
	if negative {
		v = -v
	}
	return v, places, nil
}

var errNotFinite = errors.New("expected a finite number")

func parseLongDecimal(text []byte) (v float64, places int, err error) {
	v, err = strconv.ParseFloat(string(text), 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, 0, errors.New("expected a number that 64-bit floating point can hold")
	case err != nil || bytes.ContainsAny(text, "xXpP_"):
		return 0, 0, errors.New("expected a number")
	case math.IsNaN(v) || math.IsInf(v, 0):
		return 0, 0, errNotFinite
	}
	mantissa, exponent := text, 0
	if e := bytes.IndexAny(text, "eE"); e >= 0 {
		mantissa = text[:e]
		if exponent, err = strconv.Atoi(string(text[e+1:])); err != nil {
			exponent = 0 // of a zero, as the number was in range
		}
	}
	if point := bytes.IndexByte(mantissa, '.'); point >= 0 {
		places = len(mantissa) - point - 1
	}
	return v, min(max(0, places-exponent), 400), nil
}
