package query

import (
	"context"
	"math/bits"

	"github.com/noren-privacy/noren/table"
)

// blockRows is the number of records that are worked on at once: a multiple of 64, small
// enough that all buffers of a block stay in the first cache of a processor.
const blockRows = 4096

// blockWords is the number of words of a selection.
const blockWords = blockRows / 64

// selection has a bit for each record of a block; bits beyond its records are 0.
type selection [blockWords]uint64

// whole is the selection of the first n records.
func (s *selection) whole(n int) {
	for w := range s {
		s[w] = firstBits(n - 64*w)
	}
}

// firstBits has the lowest n bits, none for n <= 0 and all for n >= 64.
func firstBits(n int) uint64 {
	switch {
	case n <= 0:
		return 0
	case n >= 64:
		return ^uint64(0)
	}
	return 1<<n - 1
}

// block is a run of records of a table, those of them that count, and their groups.
type block struct {
	from, rows int
	// all says that every record is selected, by the query alone: it has no condition,
	// no bound of contributions and no keys.
	all      bool
	selected selection
	// groups are the groups of the records, -1 where a record has none or is not
	// selected. Nil where the query has one group.
	groups []int32
}

// count is the number of records that are selected.
func (b *block) count() int {
	if b.all {
		return b.rows
	}
	n := 0
	for _, w := range &b.selected {
		n += bits.OnesCount64(w)
	}
	return n
}

// and leaves out records that another selection lacks.
func (b *block) and(other *selection) {
	for w := range b.selected {
		b.selected[w] &= other[w]
	}
	b.all = false
	b.mask()
}

// mask takes the group from records that are not selected.
func (b *block) mask() {
	for i := range b.groups {
		selected := int32(b.selected[i/64] >> (i % 64) & 1)
		b.groups[i] |= selected - 1 // -1 where it is 0
	}
}

// scan reads the records of a table block by block.
type scan struct {
	rows  int
	keep  []bool                      // nil: all
	where condition                   // nil: all
	group func(from int, out []int32) // nil: one group
	b     block
}

// visit gets a block, whose memory is good until it returns.
type visit func(b *block)

// run passes all blocks to visit.
func (s *scan) run(ctx context.Context, visit visit) error {
	var yes, no selection
	var groups []int32
	if s.group != nil {
		groups = make([]int32, min(blockRows, s.rows))
	}
	b := &s.b
	for from := 0; from < s.rows; from += blockRows {
		if from%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		b.from, b.rows = from, min(blockRows, s.rows-from)
		b.all = s.keep == nil && s.where == nil && s.group == nil
		b.selected.whole(b.rows)
		if s.keep != nil {
			fromBools(s.keep[from:from+b.rows], &yes)
			for w := range b.selected {
				b.selected[w] &= yes[w]
			}
		}
		if s.where != nil {
			s.where(from, b.rows, &yes, &no)
			for w := range b.selected {
				b.selected[w] &= yes[w]
			}
		}
		if s.group != nil {
			b.groups = groups[:b.rows]
			s.group(from, b.groups)
			b.mask()
			fromGroups(b.groups, &yes)
			for w := range b.selected {
				b.selected[w] &= yes[w]
			}
		}
		visit(b)
	}
	return ctx.Err()
}

// bit is 1 for true. The compiler makes no branch of it.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func fromBools(values []bool, out *selection) {
	fill(values, out, func(v bool) uint64 { return bit(v) })
}

func fromGroups(values []int32, out *selection) {
	fill(values, out, func(v int32) uint64 { return uint64(^v>>31) & 1 })
}

// fill makes a selection of a test of each value.
func fill[T any](values []T, out *selection, test func(T) uint64) {
	clear(out[:])
	for i, v := range values {
		out[i/64] |= test(v) << (i % 64)
	}
}

// columnValue is a type of the values of a column.
type columnValue interface{ int64 | float64 | uint32 }

// atLeast, above and equals make a selection of a comparison of each value with x.
// They take eight values at a time: without branches, and with shifts that are
// constants.

func atLeast[T columnValue](values []T, x T, out *selection) {
	clear(out[:])
	n := 0
	for ; n+8 <= len(values); n += 8 {
		v := values[n : n+8 : n+8]
		out[n/64] |= (bit(v[0] >= x) | bit(v[1] >= x)<<1 | bit(v[2] >= x)<<2 | bit(v[3] >= x)<<3 |
			bit(v[4] >= x)<<4 | bit(v[5] >= x)<<5 | bit(v[6] >= x)<<6 | bit(v[7] >= x)<<7) << (n % 64)
	}
	for ; n < len(values); n++ {
		out[n/64] |= bit(values[n] >= x) << (n % 64)
	}
}

func above[T columnValue](values []T, x T, out *selection) {
	clear(out[:])
	n := 0
	for ; n+8 <= len(values); n += 8 {
		v := values[n : n+8 : n+8]
		out[n/64] |= (bit(v[0] > x) | bit(v[1] > x)<<1 | bit(v[2] > x)<<2 | bit(v[3] > x)<<3 |
			bit(v[4] > x)<<4 | bit(v[5] > x)<<5 | bit(v[6] > x)<<6 | bit(v[7] > x)<<7) << (n % 64)
	}
	for ; n < len(values); n++ {
		out[n/64] |= bit(values[n] > x) << (n % 64)
	}
}

func equals[T columnValue](values []T, x T, out *selection) {
	clear(out[:])
	n := 0
	for ; n+8 <= len(values); n += 8 {
		v := values[n : n+8 : n+8]
		out[n/64] |= (bit(v[0] == x) | bit(v[1] == x)<<1 | bit(v[2] == x)<<2 | bit(v[3] == x)<<3 |
			bit(v[4] == x)<<4 | bit(v[5] == x)<<5 | bit(v[6] == x)<<6 | bit(v[7] == x)<<7) << (n % 64)
	}
	for ; n < len(values); n++ {
		out[n/64] |= bit(values[n] == x) << (n % 64)
	}
}

// oneOf makes a selection of the codes for which hit is 1.
func oneOf(codes []uint32, hit []uint8, out *selection) {
	clear(out[:])
	n := 0
	for ; n+8 <= len(codes); n += 8 {
		c := codes[n : n+8 : n+8]
		out[n/64] |= (uint64(hit[c[0]]) | uint64(hit[c[1]])<<1 | uint64(hit[c[2]])<<2 | uint64(hit[c[3]])<<3 |
			uint64(hit[c[4]])<<4 | uint64(hit[c[5]])<<5 | uint64(hit[c[6]])<<6 | uint64(hit[c[7]])<<7) << (n % 64)
	}
	for ; n < len(codes); n++ {
		out[n/64] |= uint64(hit[codes[n]]) << (n % 64)
	}
}

// present is the selection of the records from one on that have a value; all says that
// every record of the column has one.
func present(c *table.Column, from, n int, out *selection) (all bool) {
	out.whole(n)
	missing := c.MissingWords()
	if missing == nil {
		return true
	}
	for w := range out {
		if at := from/64 + w; at < len(missing) {
			out[w] &^= missing[at]
		}
	}
	return false
}
