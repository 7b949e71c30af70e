package text

import (
	"strconv"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/lang"
)

// Number is [lang.Number].
func Number(v float64) string { return lang.Number(v) }

// Integer is [lang.Integer].
func Integer[C ~int | ~int64](n C) string { return lang.Integer(n) }

// Percent is [lang.Percent].
func Percent(share float64) string { return lang.Percent(share) }

// LossFigure writes a privacy loss as [Number] does, rounded up.
func LossFigure(loss float64) string {
	digits := 4
	if loss >= 1e15 || loss < 1e-4 {
		digits = 3
	}
	v, err := strconv.ParseFloat(noren.LossFigure(loss, digits), 64)
	if err != nil {
		v = loss
	}
	return Number(v)
}
