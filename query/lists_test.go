package query

import (
	"fmt"
	"testing"
	"time"

	"github.com/noren-privacy/noren/table"
)

// A list of texts takes one look-up for each distinct text, however long it is: its time must
// follow from the public numbers of records and values. Eight thousand values and as many
// texts compared pairwise take hundreds of times as long as a list of the length up to which
// values are compared one by one; the look-ups take a few times as long, and a hundred times is
// what fails. The shortest of several runs is compared, so that a busy machine cannot fail it.
// The test also counts the records that meet each list, on both sides of that length.
func TestListsOfTexts(t *testing.T) {
	const n = 8_000
	c := &table.Column{Field: table.Field{Name: "x", Type: table.Category}}
	for i := range n {
		c.Dict = append(c.Dict, fmt.Sprintf("text %05d", i))
		c.Codes = append(c.Codes, uint32(i))
	}
	shortest := func(size int) time.Duration {
		node := &node{kind: nodeIn}
		for i := range size {
			node.values = append(node.values, literal{text: fmt.Sprintf("text %05d", i)})
		}
		best := time.Hour
		for range 5 {
			begun := time.Now()
			test := node.test(c)
			best = min(best, time.Since(begun))
			met := 0
			var out selection
			for from := 0; from < n; from += 64 * len(out) {
				rows := min(64*len(out), n-from)
				test(from, rows, &out)
				for i := range rows {
					met += int(out[i/64] >> (i % 64) & 1)
				}
			}
			if met != size {
				t.Fatalf("%d values: %d records meet the condition", size, met)
			}
		}
		return best
	}
	base := shortest(few)
	for _, size := range []int{1, few + 1, n / 2, n} {
		if took := shortest(size); took > 100*base {
			t.Errorf("%d values take %v, %d values %v", size, took, few, base)
		}
	}
}
