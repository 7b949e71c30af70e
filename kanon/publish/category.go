package publish

import (
	"slices"

	"github.com/noren-privacy/noren/table"
)

// medianWriter takes the lower median of the levels.
func medianWriter(col *table.Column) writer {
	var codes []uint32
	return func(c *Column, all []uint32) {
		codes = codes[:0]
		for _, i := range all {
			codes = append(codes, col.Codes[i])
		}
		slices.Sort(codes)
		c.codes = append(c.codes, codes[(len(codes)-1)/2])
	}
}

// modeWriter takes the most frequent value; of several the one that the whole
// table has more often, then the lower code.
func modeWriter(col *table.Column, whole []uint64) writer {
	count := make([]uint32, len(col.Dict))
	return func(c *Column, all []uint32) {
		best := col.Codes[all[0]]
		for _, i := range all {
			code := col.Codes[i]
			count[code]++
			if better(code, best, count, whole) {
				best = code
			}
		}
		for _, i := range all {
			count[col.Codes[i]] = 0
		}
		c.codes = append(c.codes, best)
	}
}

// better reports whether a comes before b as a group's value. Counts only grow
// while the best is sought, and each code is compared when it last grew: the
// best of all is met at its full count, after which nothing is better.
func better(a, b uint32, count []uint32, whole []uint64) bool {
	if count[a] != count[b] {
		return count[a] > count[b]
	}
	if whole[a] != whole[b] {
		return whole[a] > whole[b]
	}
	return a < b
}

// levelWriter takes the range of the levels.
func levelWriter(col *table.Column, fixed bool) writer {
	return func(c *Column, all []uint32) {
		lo, hi := levelsOf(col, all)
		if fixed {
			lo, hi = fixedLevels(lo, hi, uint32(len(col.Dict)))
		}
		if lo == hi {
			c.text.bytes = append(c.text.bytes, col.Dict[lo]...)
			return
		}
		c.text.bytes = append(c.text.bytes, '[')
		c.text.bytes = append(c.text.bytes, col.Dict[lo]...)
		c.text.bytes = append(c.text.bytes, '-')
		c.text.bytes = append(c.text.bytes, col.Dict[hi]...)
		c.text.bytes = append(c.text.bytes, ']')
	}
}

func levelsOf(col *table.Column, all []uint32) (lo, hi uint32) {
	lo, hi = col.Codes[all[0]], col.Codes[all[0]]
	for _, i := range all[1:] {
		lo, hi = min(lo, col.Codes[i]), max(hi, col.Codes[i])
	}
	return lo, hi
}

// ancestorWriter takes the lowest common ancestor. Every value of the column
// must be a leaf of the hierarchy, which is checked before a space is made of
// it; one that is not would be shown as the root.
func ancestorWriter(col *table.Column, of *planned) writer {
	h := col.Field.Hierarchy
	root := h.NameAt(h.Levels()-1, 0)
	var leaves []uint32
	return func(c *Column, all []uint32) {
		leaves = leaves[:0]
		for _, i := range all {
			if !of.known[col.Codes[i]] {
				c.text.bytes = append(c.text.bytes, root...)
				return
			}
			leaves = append(leaves, of.leaf[col.Codes[i]])
		}
		level, node := h.Common(leaves)
		c.text.bytes = append(c.text.bytes, h.NameAt(level, node)...)
	}
}

// setWriter takes the set of the values present; with fixed, all values where
// there are several.
func setWriter(col *table.Column, fixed bool) writer {
	var codes []uint32
	return func(c *Column, all []uint32) {
		codes = distinct(col, all, codes)
		if len(codes) == 1 {
			c.text.bytes = append(c.text.bytes, col.Dict[codes[0]]...)
			return
		}
		if fixed {
			c.text.bytes = append(c.text.bytes, anyValue...)
			return
		}
		for n, code := range codes {
			c.text.bytes = append(c.text.bytes, separator(n)...)
			c.text.bytes = append(c.text.bytes, col.Dict[code]...)
		}
		c.text.bytes = append(c.text.bytes, '}')
	}
}

// anyValue stands for all values of a column.
const anyValue = "*"

// distinct lists the different values of a group, in order.
func distinct(col *table.Column, all []uint32, codes []uint32) []uint32 {
	codes = codes[:0]
	for _, i := range all {
		codes = append(codes, col.Codes[i])
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// separator stands before item n of a set.
func separator(n int) string {
	if n == 0 {
		return "{"
	}
	return ", "
}
