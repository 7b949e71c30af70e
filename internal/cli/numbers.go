package cli

import (
	"math"
	"strconv"
	"strings"
)

// orNull is v, null where it is no number.
func orNull(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// share writes a share, or its error, for people.
func share(v float64) string {
	text := strconv.FormatFloat(v, 'f', 5, 64)
	if strings.Trim(text, "-0.") == "" {
		return "0"
	}
	return text
}

func total(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum
}
