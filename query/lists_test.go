package query

import (
	"fmt"
	"testing"

	"github.com/noren-privacy/noren/table"
)

// A list of texts takes one look-up for each distinct text, however long it is. Ten thousand
// values and as many texts compared pairwise would be 10^8 comparisons a call; the test counts
// the records that meet it, on both sides of the length at which the way changes.
func TestListsOfTexts(t *testing.T) {
	const n = 10_000
	c := &table.Column{Field: table.Field{Name: "x", Type: table.Category}}
	for i := range n {
		c.Dict = append(c.Dict, fmt.Sprintf("text %05d", i))
		c.Codes = append(c.Codes, uint32(i))
	}
	for _, size := range []int{1, few, few + 1, n / 2, n} {
		node := &node{kind: nodeIn}
		for i := range size {
			node.values = append(node.values, literal{text: fmt.Sprintf("text %05d", i)})
		}
		test := node.test(c)
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
			t.Errorf("%d values: %d records meet the condition", size, met)
		}
	}
}
