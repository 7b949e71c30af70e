package text

import (
	"fmt"
	"strings"

	"github.com/noren-privacy/noren/kanon/gate"
)

// FreeTextWarning says what free text in a release may hold.
const FreeTextWarning = "no check reads sentences; they may name persons, places and what happened. Read them before the release, or drop the column"

// Unique says how many records are unique on the kept columns, and what
// that means. They hold figures of the original table.
func Unique(_ Lang, u *gate.Unique) []string {
	about := ""
	if u.Estimated {
		about = "about "
	}
	share := func(n int64) string {
		return fmt.Sprintf("%s%s of %s records (%s)", about, Integer(n), Integer(u.Records), Percent(float64(n)/float64(u.Records)))
	}
	sentences := []string{share(u.Alone) + " are the only ones with their value in some kept column"}
	if len(u.Columns) > 1 {
		sentences = append(sentences, share(u.InPairs)+" are the only ones with their values in some two")
	}
	var most []string
	for _, c := range u.Columns {
		if c.Unique > 0 && len(most) < 3 {
			most = append(most, fmt.Sprintf("%s %s", c.Column, Integer(c.Unique)))
		}
	}
	if len(most) > 0 {
		sentences = append(sentences, "most in: "+strings.Join(most, ", "))
	}
	if u.InPairs > 0 {
		sentences = append(sentences, "a person who knows these values of another finds that record, whatever k is")
	}
	return sentences
}
