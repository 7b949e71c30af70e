package publish

import (
	"strconv"

	"github.com/noren-privacy/noren/table"
)

// Showing counts the groups that show one of these texts; with numeric also
// those that show the number that one of them writes (-9.00 for -9). A group
// that shows a missing value shows none. It tells where a value that was made,
// a mean or an ancestor, looks like what the source has for a missing one: no
// value that was read can.
func (c *Column) Showing(texts []string, numeric bool) int {
	words := map[string]bool{}
	numbers := map[float64]bool{}
	for _, t := range texts {
		words[t] = true
		if v, err := strconv.ParseFloat(t, 64); err == nil && numeric {
			numbers[v] = true
		}
	}
	delete(words, "")
	if len(words) == 0 {
		return 0
	}
	var v table.Vector
	var shown []byte
	count := 0
	for g := range c.groups() {
		c.Fill(&v, []uint32{uint32(g)})
		shown = table.AppendText(shown[:0], &c.Stored, &v, 0)
		if len(shown) == 0 {
			continue
		}
		found := words[string(shown)]
		if !found && len(numbers) > 0 {
			n, err := strconv.ParseFloat(string(shown), 64)
			found = err == nil && numbers[n]
		}
		if found {
			count++
		}
	}
	return count
}
