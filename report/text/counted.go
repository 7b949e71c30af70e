package text

import "github.com/noren-privacy/noren"

// Counted is a number with what it counts, as in "%s {record|records}": %s stands for the number.
func Counted[C ~int | ~int64](n C, format noren.Format) noren.Text {
	return noren.Textf(format, Integer(n))
}
