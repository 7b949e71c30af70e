package publish

import (
	"slices"

	"github.com/noren-privacy/noren/table"
)

// NCP is the normalised certainty penalty of columns that hold all groups of a
// table of n records (Xu et al. 2006): the mean, over records and columns, of the
// width of what the group spans over the width of the column. The width of
// numbers is the largest less the smallest; that of categories is the number of
// values, of a hierarchy the leaves below the node, and 0 for a single value. Where
// ranges, sets and nodes are published it is their width, otherwise that of the
// group's own values, which the one value that it shows stands for.
func NCP(columns []Column, n int) float64 {
	sum := 0.0
	for j := range columns {
		sum += columns[j].penalty
	}
	return sum / float64(max(1, n)) / float64(max(1, len(columns)))
}

// penaltyOf gives the width of a group in a column, from 0 to 1.
func penaltyOf(col *table.Column, of *planned, o Options) func(all []uint32) float64 {
	f := &col.Field
	fixed := o.Mode == Generalize && o.Ranges == Fixed
	if of.counts == nil {
		return numberPenalty(col, of, fixed)
	}
	domain := max(1, len(of.counts))
	switch {
	case o.Mode == Generalize && f.Type == table.Ordered:
		return func(all []uint32) float64 {
			lo, hi := levelsOf(col, all)
			if fixed {
				lo, hi = fixedLevels(lo, hi, uint32(domain))
			}
			return share(int(hi-lo)+1, domain)
		}
	case o.Mode == Generalize && f.Hierarchy != nil:
		var leaves []uint32
		return func(all []uint32) float64 {
			leaves = leaves[:0]
			for _, i := range all {
				if !of.known[col.Codes[i]] {
					return 1
				}
				leaves = append(leaves, of.leaf[col.Codes[i]])
			}
			level, node := f.Hierarchy.Common(leaves)
			return share(of.below[level][node], f.Hierarchy.Leaves())
		}
	}
	if f.Hierarchy != nil {
		domain = f.Hierarchy.Leaves()
	}
	seen := make([]bool, len(of.counts))
	return func(all []uint32) float64 {
		n := 0
		for _, i := range all {
			if !seen[col.Codes[i]] {
				seen[col.Codes[i]] = true
				n++
			}
		}
		for _, i := range all {
			seen[col.Codes[i]] = false
		}
		if fixed && n > 1 {
			return 1
		}
		return share(n, domain)
	}
}

func share(values, domain int) float64 {
	if values <= 1 {
		return 0
	}
	return min(1, float64(values)/float64(domain))
}

func numberPenalty(col *table.Column, of *planned, fixed bool) func(all []uint32) float64 {
	f := &col.Field
	return func(all []uint32) float64 {
		width := of.hi/2 - of.lo/2
		if !(width > 0) {
			return 0
		}
		lo, hi := col.Number(int(all[0])), col.Number(int(all[0]))
		for _, i := range all[1:] {
			lo, hi = min(lo, col.Number(int(i))), max(hi, col.Number(int(i)))
		}
		if fixed {
			lo, hi = fixedNumbers(f, col, all)
		}
		return min(1, (hi/2-lo/2)/width)
	}
}

// leavesBelow counts the leaves of each node of a hierarchy, by level.
func leavesBelow(h *table.Hierarchy) [][]int {
	below := make([][]int, h.Levels())
	for level := range below {
		below[level] = slices.Repeat([]int{0}, h.Size(level))
		for leaf := range uint32(h.Leaves()) {
			below[level][h.Ancestor(leaf, level)]++
		}
	}
	return below
}
