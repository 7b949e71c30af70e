package cli

import (
	"strconv"
	"strings"
)

// share writes a share, or its error, for people.
func share(v float64) string {
	text := strconv.FormatFloat(v, 'f', 5, 64)
	if strings.Trim(text, "-0.") == "" {
		return "0"
	}
	return text
}
