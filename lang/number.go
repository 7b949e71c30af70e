package lang

import (
	"math"
	"strconv"
	"strings"
)

// Number writes v for people: at most four significant digits, more only in
// front of the decimal point, thousands separated by commas.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "n/a"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "−∞"
	case v == 0:
		return "0"
	case a >= 1e15 || a < 1e-4:
		mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 2, 64), "e")
		e, _ := strconv.Atoi(exponent)
		return strings.Replace(trimZeros(mantissa), "-", "−", 1) + "×10" + superscript(e)
	default:
		digits := max(0, 3-int(math.Floor(math.Log10(a))))
		return group(trimZeros(strconv.FormatFloat(v, 'f', digits, 64)))
	}
}

// Integer writes n with thousands separated by commas.
func Integer[C ~int | ~int64](n C) string { return group(strconv.FormatInt(int64(n), 10)) }

// Percent writes a share in [0,1] as a percentage. What is not nothing is not
// shown as 0%, and what is not all is not shown as 100%.
func Percent(share float64) string {
	p := 100 * share
	switch {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return "n/a"
	case p == 0:
		return "0%"
	case p > 0 && p < 0.01:
		return "<0.01%"
	case p < 100 && p > 99.99:
		return ">99.99%"
	case p >= 0.95 && p <= 99.9 || p < 0 || p >= 100:
		return group(trimZeros(strconv.FormatFloat(p, 'f', 1, 64))) + "%"
	default:
		return trimZeros(strconv.FormatFloat(p, 'f', 2, 64)) + "%"
	}
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// group puts commas into the whole part of a decimal number, and a true minus
// sign before it.
func group(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	whole, rest, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}

func superscript(n int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").
		Replace(strconv.Itoa(n))
}
