package refine

import (
	"cmp"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// cutCells divides the groups of p into cells of about size records,
// each a set of whole groups that lie together; it returns the records of each
// cell in ascending order. Where the cells are cut depends on the round.
func cutCells(s *space.Space, p space.Partition, size, round int) [][]int32 {
	if s.Len() <= 2*size {
		all := make([]int32, s.Len())
		for i := range all {
			all[i] = int32(i)
		}
		return [][]int32{all}
	}
	list, start := p.Members()
	c := &cellCutter{s: s, list: list, start: start, size: size}
	groups := make([]int32, p.Groups)
	first := make([]int32, p.Groups)
	for g := range groups {
		groups[g] = int32(g)
		first[g] = list[start[g]]
	}
	c.first = first
	// Another share on the left at each round moves all borders.
	shares := [...]float64{0.5, 0.38, 0.62, 0.44, 0.56}
	c.share = shares[round%len(shares)]
	c.divide(groups, s.Len())
	return c.cells
}

// cellCutter cuts by a group's first record: near enough to its centre for the
// purpose, and free.
type cellCutter struct {
	s     *space.Space
	list  []int32
	start []int32
	first []int32
	share float64
	size  int
	cells [][]int32
}

func (c *cellCutter) divide(groups []int32, records int) {
	if records > 2*c.size {
		if value := c.widest(groups); value != nil {
			slices.SortFunc(groups, func(a, b int32) int {
				return cmp.Or(cmp.Compare(value(c.first[a]), value(c.first[b])), cmp.Compare(a, b))
			})
			left, at := 0, 0
			for float64(left) < c.share*float64(records) && at < len(groups)-1 {
				left += int(c.start[groups[at]+1] - c.start[groups[at]])
				at++
			}
			c.divide(groups[:at], left)
			c.divide(groups[at:], records-left)
			return
		}
	}
	cell := make([]int32, 0, records)
	for _, g := range groups {
		cell = append(cell, c.list[c.start[g]:c.start[g+1]]...)
	}
	slices.Sort(cell)
	c.cells = append(c.cells, cell)
}

// widest is the axis with the largest sum of squares over the groups' first
// records, nil when all of them are equal.
func (c *cellCutter) widest(groups []int32) func(int32) float64 {
	best := 0.0
	var value func(int32) float64
	n := float64(len(groups))
	for _, x := range c.s.Numbers() {
		shift := x[c.first[groups[0]]]
		var sum, squares float64
		for _, g := range groups {
			v := x[c.first[g]] - shift
			sum += v
			squares += v * v
		}
		if spread := squares - sum*sum/n; spread > best {
			best, value = spread, func(i int32) float64 { return x[i] }
		}
	}
	for _, w := range c.s.Words() {
		if w.Weight == 0 {
			continue
		}
		count := make([]float64, w.Cardinality)
		for _, g := range groups {
			count[w.Codes[c.first[g]]]++
		}
		rest := n
		for _, m := range count {
			rest -= m * m / n
		}
		if spread := w.Weight / 2 * rest; spread > best {
			best, value = spread, func(i int32) float64 { return float64(w.Codes[i]) }
		}
	}
	return value
}
