package text

import "github.com/noren-privacy/noren"

// Counted is a number with what it counts: one for 1, and many, in which %s stands for the
// number, for every other.
func Counted[C ~int | ~int64](n C, one, many noren.Format) noren.Text {
	if n == 1 {
		return noren.Textf(one)
	}
	return noren.Textf(many, Integer(n))
}
