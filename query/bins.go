package query

import (
	"math"
	"sort"

	"github.com/noren-privacy/noren/table"
)

// largestLookup is the number of whole numbers up to which bins are looked up in a table.
const largestLookup = 1 << 16

// binsOf returns a function that fills out with the bins of the records from one on, -1
// where a record is in none.
func (s *sums) binsOf(t *table.Table) (func(from int, out []int32), error) {
	if s.q.o.Values != nil {
		k, err := s.valueKeys()
		if err != nil {
			return nil, err
		}
		return k.compile(t)
	}
	c, err := bind(t, s.q.field)
	if err != nil {
		return nil, err
	}
	of := binOf(c, s.q.o.Bins)
	var has selection
	return func(from int, out []int32) {
		of(from, out)
		if present(c, from, len(out), &has) {
			return
		}
		for i := range out {
			out[i] |= int32(has[i/64]>>(i%64)&1) - 1
		}
	}, nil
}

// binOf finds bins by edges, whatever is missing. Bin i is [edge i, edge i+1).
func binOf(c *table.Column, edges []float64) func(from int, out []int32) {
	first, last := edges[0], edges[len(edges)-1]
	if c.Ints != nil && first >= -math.MaxInt32 && last <= math.MaxInt32 && last-first < largestLookup {
		// Of whole numbers, each is looked up; one before the first and one behind
		// the last are in no bin.
		lo := int64(math.Ceil(first)) - 1
		table := make([]int32, int64(math.Ceil(last))-lo+1)
		for i := range table {
			table[i] = search(edges, float64(lo+int64(i)))
		}
		hi := lo + int64(len(table)) - 1
		return func(from int, out []int32) {
			values := c.Ints[from : from+len(out)]
			for len(values) >= 4 && len(out) >= 4 {
				v, o := (*[4]int64)(values), (*[4]int32)(out)
				o[0] = table[min(max(v[0], lo), hi)-lo]
				o[1] = table[min(max(v[1], lo), hi)-lo]
				o[2] = table[min(max(v[2], lo), hi)-lo]
				o[3] = table[min(max(v[3], lo), hi)-lo]
				values, out = values[4:], out[4:]
			}
			for i, v := range values {
				out[i] = table[min(max(v, lo), hi)-lo]
			}
		}
	}
	return func(from int, out []int32) {
		for i := range out {
			out[i] = search(edges, c.Number(from+i))
		}
	}
}

// search is the bin of v.
func search(edges []float64, v float64) int32 {
	if !(v >= edges[0] && v < edges[len(edges)-1]) {
		return -1
	}
	return int32(sort.Search(len(edges), func(i int) bool { return edges[i] > v })) - 1
}
