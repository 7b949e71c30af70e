package text

import (
	"strings"

	"github.com/noren-privacy/noren/kanon/gate"
)

// FreeTextWarning says what free text in a release may hold.
const FreeTextWarning = "no check reads sentences; they may name persons, places and what happened. Read them before the release, or " +
	"drop the column"

// Unique says how many records are unique on the kept columns, and what
// that means. They hold figures of the original table.
func Unique(l Lang, u *gate.Unique) []string {
	about := func(n int64) string {
		if u.Estimated {
			return l.Text("about %s", Integer(n))
		}
		return Integer(n)
	}
	share := func(n int64) string { return Percent(float64(n) / float64(u.Records)) }
	sentences := []string{l.Text("%s of %s {record|records} (%s) {1|is|are} unique in some kept column", about(u.Alone), Integer(u.Records),
		share(u.Alone))}
	if len(u.Columns) > 1 {
		sentences = append(sentences, l.Text("%s of %s {record|records} (%s) {1|is|are} unique in some pair of kept columns", about(u.InPairs),
			Integer(u.Records), share(u.InPairs)))
	}
	var most []string
	for _, c := range u.Columns {
		if c.Unique > 0 && len(most) < 3 {
			most = append(most, l.Text("%s %s", c.Column, Integer(c.Unique)))
		}
	}
	if len(most) > 0 {
		sentences = append(sentences, l.Text("most in: %s", strings.Join(most, ", ")))
	}
	if u.InPairs > 0 {
		sentences = append(sentences, l.Text("a person who knows these values of another finds that record, whatever k is"))
	}
	return sentences
}
