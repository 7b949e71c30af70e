package noren

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// LossText writes a privacy loss (an epsilon, delta, rho or leakage) for people: with the
// number of digits after the point, rounded up, so that what is read bounds the loss as the
// figure itself does. A loss that has no more digits stays as it is.
func LossText(loss float64, digits int) string {
	return roundUp(loss, 'f', digits)
}

// LossFigure is [LossText] with a number of significant digits, and no zeros that say
// nothing.
func LossFigure(loss float64, digits int) string {
	s := roundUp(loss, 'e', digits-1)
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// roundUp is x in a format of package strconv, 'e' or 'f', with so many digits after the
// point, and no less than the shortest decimal that is x.
func roundUp(x float64, format byte, digits int) string {
	s := strconv.FormatFloat(x, format, digits, 64)
	want, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'e', -1, 64))
	if !ok {
		return s // infinite, or not a number
	}
	got, _ := new(big.Rat).SetString(s)
	if got.Cmp(want) >= 0 {
		return s
	}
	mantissa, exponent, _ := strings.Cut(s, "e")
	step, _ := new(big.Rat).SetString("1e-" + strconv.Itoa(digits))
	m, _ := new(big.Rat).SetString(mantissa)
	m.Add(m, step)
	if format == 'f' {
		return m.FloatString(digits)
	}
	v, _ := new(big.Rat).SetString(m.FloatString(digits) + "e" + exponent)
	f, _ := v.Float64()
	return strconv.FormatFloat(f, format, digits, 64)
}

// ComposedLoss is the loss of n uses that each lose so much, rounded up.
func ComposedLoss(n int, each float64) float64 {
	if math.IsInf(each, 1) {
		return each
	}
	return upwards(new(big.Float).SetPrec(128).Mul(big.NewFloat(float64(n)), big.NewFloat(each)))
}

// AddedLoss is the sum of two losses, rounded up.
func AddedLoss(a, b float64) float64 {
	if math.IsInf(a, 1) || math.IsInf(b, 1) {
		return math.Inf(1)
	}
	return upwards(new(big.Float).SetPrec(2200).Add(big.NewFloat(a), big.NewFloat(b)))
}

// upwards is the least floating-point number that is not below x.
func upwards(x *big.Float) float64 {
	f, below := x.Float64()
	if below == big.Below {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}
