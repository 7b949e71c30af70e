package publish

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren/table"
)

// Excluded tells how many persons who are not in the table the release shows not
// to be in it, because no class spans their values.
type Excluded struct {
	// Tight is their share where ranges end at the values of the group.
	Tight float64 `json:"tight"`
	// Shown is their share where ranges end as they were published.
	Shown float64 `json:"shown"`
	// Sampled is the number of records that were left out, one at a time, to
	// take the part of such a person.
	Sampled int `json:"sampled"`
}

// excludedMost is how many records are left out, and excludedWork how many
// comparisons of a record with a group are made at most.
const (
	excludedMost = 1_000
	excludedWork = 20_000_000
)

// CountExcluded estimates what [Excluded] says, for a way to publish that shows
// boxes: each record of a sample is taken out of its group, and looked for in the
// boxes of all groups. A record of the table so takes the part of a person of the
// same population who is not in it. The figure belongs to the steward. Errors are
// the context's, or of kind Internal for arguments that do not fit each other.
func CountExcluded(ctx context.Context, cols []*table.Column, group []uint32, groups int, o Options) (*Excluded, error) {
	m, err := sortByGroup(group, groups)
	if err != nil {
		return nil, err
	}
	e := &Excluded{Sampled: min(len(group), excludedMost, max(100, excludedWork/max(1, groups)))}
	sample := sampleOf(len(group), e.Sampled, o.Seed)
	for _, way := range []struct {
		ranges Ranges
		to     *float64
	}{{Tight, &e.Tight}, {o.Ranges, &e.Shown}} {
		if way.to == &e.Shown && o.Ranges == Tight {
			e.Shown = e.Tight
			break
		}
		boxes := make([][]holder, groups)
		for g := range boxes {
			if g&1023 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			boxes[g] = boxOf(cols, m.of(g), o.Mode, way.ranges)
		}
		outside := 0
		for n, i := range sample {
			if n&63 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if !within(cols, boxes, m, group, uint32(i), o.Mode, way.ranges) {
				outside++
			}
		}
		*way.to = float64(outside) / float64(max(1, e.Sampled))
	}
	return e, nil
}

// sampleOf chooses some of n records, by the seed.
func sampleOf(n, some int, seed uint64) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := mix(seed^mix(uint64(a))), mix(seed^mix(uint64(b)))
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return a - b
	})
	return order[:some]
}

// within reports whether some group spans the values of record i when i is not
// one of its records.
func within(cols []*table.Column, boxes [][]holder, m *members, group []uint32, i uint32, mode Mode, ranges Ranges) bool {
	for g, box := range boxes {
		if uint32(g) == group[i] {
			var others []uint32
			for _, j := range m.of(g) {
				if j != i {
					others = append(others, j)
				}
			}
			if len(others) == 0 {
				continue
			}
			box = boxOf(cols, others, mode, ranges)
		}
		if holds(box, i) {
			return true
		}
	}
	return false
}

// holder reports whether a cell may stand for the value of a record.
type holder func(i uint32) bool

func holds(box []holder, i uint32) bool {
	for _, h := range box {
		if !h(i) {
			return false
		}
	}
	return true
}

// boxOf is what a group of these records shows, by column.
func boxOf(cols []*table.Column, all []uint32, mode Mode, ranges Ranges) []holder {
	box := make([]holder, len(cols))
	for j, col := range cols {
		present := all
		if col.Missing() > 0 {
			present = nil
			for _, i := range all {
				if !col.IsMissing(int(i)) {
					present = append(present, i)
				}
			}
		}
		if len(present) == 0 {
			box[j] = func(i uint32) bool { return col.IsMissing(int(i)) }
			continue
		}
		in := spanOf(col, present, mode, ranges)
		// A record without a value may be in a class that shows others' values.
		box[j] = func(i uint32) bool { return col.IsMissing(int(i)) || in(i) }
	}
	return box
}

func spanOf(col *table.Column, all []uint32, mode Mode, ranges Ranges) holder {
	f := &col.Field
	fixed := ranges == Fixed
	switch {
	case f.Type.IsNumber():
		lo, hi := col.Number(int(all[0])), col.Number(int(all[0]))
		for _, i := range all[1:] {
			lo, hi = min(lo, col.Number(int(i))), max(hi, col.Number(int(i)))
		}
		if fixed {
			lo, hi = fixedNumbers(f, col, all)
		}
		return func(i uint32) bool { return lo <= col.Number(int(i)) && col.Number(int(i)) <= hi }
	case mode == Generalize && f.Type == table.Ordered:
		lo, hi := levelsOf(col, all)
		if fixed {
			lo, hi = fixedLevels(lo, hi, uint32(len(col.Dict)))
		}
		return func(i uint32) bool { return lo <= col.Codes[i] && col.Codes[i] <= hi }
	case mode == Generalize && f.Hierarchy != nil:
		return nodeOf(col, all)
	}
	codes := distinct(col, all, nil)
	if fixed && len(codes) > 1 {
		return func(uint32) bool { return true }
	}
	in := make(map[uint32]bool, len(codes))
	for _, code := range codes {
		in[code] = true
	}
	return func(i uint32) bool { return in[col.Codes[i]] }
}

// nodeOf is the lowest common ancestor of a group.
func nodeOf(col *table.Column, all []uint32) holder {
	h := col.Field.Hierarchy
	var leaves []uint32
	for _, i := range all {
		leaf, ok := h.Leaf(col.Dict[col.Codes[i]])
		if !ok {
			return func(uint32) bool { return true }
		}
		leaves = append(leaves, leaf)
	}
	level, node := h.Common(leaves)
	return func(i uint32) bool {
		leaf, ok := h.Leaf(col.Dict[col.Codes[i]])
		return ok && h.Ancestor(leaf, level) == node
	}
}
