package cost

import (
	"cmp"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
	"github.com/noren-privacy/noren/table"
)

// Boxes measures groups by their boxes: a group of m records loses m times the
// sum over the columns of how much its range or set leaves open there, from 0, one
// value, to 1, all values of the table, or 2 for a number.
//
//   - A number, a date or an ordered category: the span of its values over that of
//     the whole table, twice.
//   - A category: for a set of s of d values (1 - 1/s)/(1 - 1/d). Read as one of s
//     values with the same chance, a cell names another value than the record's own
//     with chance 1 - 1/s: a rare value in a set with a common one is taken for
//     half of the group, which the count of values does not say. A missing value is
//     one more value.
//   - A category with a hierarchy: the same for the leaves under the lowest common
//     ancestor.
//   - A number or a category with a hierarchy that some records of the group lack
//     and others have: as all values, since what is published then says nothing of
//     those that lack it.
//
// The factor of numbers is found by trial: with it counts over released columns are
// about as far off by numbers as by categories (docs/benchmarks.md). frame has
// looked at the whole table; columns are the records at hand.
func Boxes(frame *space.Frame, columns []*table.Column) Measure {
	const full = 2 // the width of all numbers of a column
	widths := func(domain int) []float64 {
		out := make([]float64, domain+2)
		for s := 2; s <= domain; s++ {
			out[s] = (1 - 1/float64(s)) / (1 - 1/float64(domain))
		}
		return out
	}
	m := &boxes{n: columns[0].Len()}
	for a, c := range columns {
		h := c.Field.Hierarchy
		switch {
		case frame.IsNumber(a):
			m.numbers = append(m.numbers, newNumber(c, frame.Span(a), full))
		case h != nil:
			m.trees = append(m.trees, newTree(c, h, widths(h.Leaves())))
		default:
			domain := len(c.Dict)
			if frame.HasGaps(a) {
				domain++
			}
			m.words = append(m.words, newWords(c, widths(domain)))
		}
	}
	return m
}

// newNumber takes the numbers of a column, the span of the whole table being full.
func newNumber(c *table.Column, span, full float64) number {
	n := number{x: make([]float64, c.Len()), full: full}
	if c.Missing() > 0 {
		n.gap = make([]bool, c.Len())
	}
	for i := range n.x {
		switch {
		case n.gap != nil && c.IsMissing(i):
			n.gap[i] = true
		case span > 0:
			n.x[i] = full * (c.Number(i) / span)
		}
	}
	return n
}

func newWords(c *table.Column, width []float64) words {
	w := words{codes: make([]uint32, c.Len()), cardinality: len(c.Dict) + 1, width: width}
	for i := range w.codes {
		w.codes[i] = c.Codes[i]
		if c.IsMissing(i) {
			w.codes[i] = uint32(len(c.Dict))
		}
	}
	return w
}

func newTree(c *table.Column, h *table.Hierarchy, widths []float64) tree {
	t := tree{codes: make([]uint32, c.Len()), missing: uint32(h.Leaves()), h: h}
	for i := range t.codes {
		t.codes[i] = t.missing
		if !c.IsMissing(i) {
			// Every value is a leaf: it was asked before.
			t.codes[i], _ = h.Leaf(c.Dict[c.Codes[i]])
		}
	}
	leaves := make([]uint32, h.Leaves())
	for l := range leaves {
		leaves[l] = uint32(l)
	}
	slices.SortFunc(leaves, func(a, b uint32) int {
		for l := h.Levels() - 1; l > 0; l-- {
			if c := cmp.Compare(h.Ancestor(a, l), h.Ancestor(b, l)); c != 0 {
				return c
			}
		}
		return cmp.Compare(a, b)
	})
	t.place = make([]float64, len(leaves)+1)
	for at, leaf := range leaves {
		t.place[leaf] = float64(at)
	}
	t.place[t.missing] = float64(len(leaves))
	t.width = make([][]float64, h.Levels())
	for l := range t.width {
		t.width[l] = make([]float64, h.Size(l))
		for leaf := range uint32(h.Leaves()) {
			t.width[l][h.Ancestor(leaf, l)]++
		}
		for node, leaves := range t.width[l] {
			t.width[l][node] = widths[int(leaves)]
		}
	}
	return t
}

type boxes struct {
	n       int
	numbers []number
	words   []words
	trees   []tree
}

// number is a column of numbers; gap tells which are missing, nil for none.
type number struct {
	x    []float64
	gap  []bool
	full float64 // the width of all
}

func (c *number) missing(i int32) bool { return c.gap != nil && c.gap[i] }

// words is a category; width is that of a set, by its number of values.
type words struct {
	codes       []uint32
	cardinality int
	width       []float64
}

// tree is a category with a hierarchy; codes are leaves, or missing.
type tree struct {
	codes   []uint32
	missing uint32
	h       *table.Hierarchy
	width   [][]float64 // of the node of a level
	place   []float64   // of each leaf in the order of the branches, missing last
}

// join is the level of the lowest common ancestor of a leaf and of the one that
// rep has at that level.
func (t *tree) join(level int, rep, leaf uint32) int {
	for t.h.Ancestor(rep, level) != t.h.Ancestor(leaf, level) {
		level++
	}
	return level
}

func (m *boxes) Len() int       { return m.n }
func (m *boxes) Guard() float64 { return 1e-9 }
func (m *boxes) Axes() int      { return len(m.numbers) + len(m.words) + len(m.trees) }

func (m *boxes) Key(axis int, record int32) float64 {
	if axis < len(m.numbers) {
		c := &m.numbers[axis]
		if c.missing(record) {
			return 1e300
		}
		return c.x[record]
	}
	axis -= len(m.numbers)
	if axis < len(m.words) {
		return float64(m.words[axis].codes[record])
	}
	t := &m.trees[axis-len(m.words)]
	return t.place[t.codes[record]]
}

// Ordered: leaves of a hierarchy come in the order of its branches.
func (m *boxes) Ordered(axis int) bool {
	return axis < len(m.numbers) || axis >= len(m.numbers)+len(m.words)
}

func (m *boxes) Subset(records []int32) Measure {
	sub := &boxes{n: len(records)}
	codes := func(of []uint32) []uint32 {
		out := make([]uint32, len(records))
		for j, i := range records {
			out[j] = of[i]
		}
		return out
	}
	for _, c := range m.numbers {
		d := number{x: make([]float64, len(records)), full: c.full}
		for j, i := range records {
			d.x[j] = c.x[i]
		}
		if c.gap != nil {
			d.gap = make([]bool, len(records))
			for j, i := range records {
				d.gap[j] = c.gap[i]
			}
		}
		sub.numbers = append(sub.numbers, d)
	}
	for _, c := range m.words {
		c.codes = codes(c.codes)
		sub.words = append(sub.words, c)
	}
	for _, c := range m.trees {
		c.codes = codes(c.codes)
		sub.trees = append(sub.trees, c)
	}
	return sub
}

func (m *boxes) Beginnings(order []int32, out []float64) {
	clear(out)
	for a := range m.numbers {
		c := &m.numbers[a]
		var s span
		for j, i := range order {
			s.add(c, i)
			out[j] += s.width(c)
		}
	}
	for a := range m.words {
		c := &m.words[a]
		codes, n := few(c.codes, order, c.cardinality)
		seen := make([]bool, n)
		values := 0
		for j, code := range codes {
			if !seen[code] {
				seen[code] = true
				values++
			}
			out[j] += c.width[values]
		}
	}
	for a := range m.trees {
		c := &m.trees[a]
		var b branch
		for j, i := range order {
			b.add(c, c.codes[i])
			out[j] += b.width(c)
		}
	}
	for j := range out {
		out[j] *= float64(j + 1)
	}
}
