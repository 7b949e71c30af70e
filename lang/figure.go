package lang

import (
	"math"
	"strconv"
	"strings"
)

// Figure writes a number with six digits and thousands apart.
func Figure[F ~float64](x F) string {
	v := float64(x)
	if math.Abs(v) >= 1e15 || v != 0 && math.Abs(v) < 1e-4 {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	places := 0
	for scaled := math.Abs(v); places < 6 && scaled < 1e5 && v != math.Trunc(v); places++ {
		scaled = math.Max(scaled, 1e-3) * 10
	}
	text := strconv.FormatFloat(v, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return sign + whole
}
