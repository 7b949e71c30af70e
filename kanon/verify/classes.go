package verify

import (
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/noren-privacy/noren/table"
)

// classes counts records by the numbers of their quasi-identifiers in the columns'
// dictionaries.
type classes struct {
	columns int
	mix     uint64 // random and odd
	slots   []slot // open addressing; a power of two, at most half full
	number  int    // of classes
	// rows holds, for each class, the number of its records and then the numbers of its
	// quasi-identifiers, in pieces of pieceRows classes.
	rows [][]uint32
	seen uint32 // keeps the loads that fetch memory early
}

const (
	pieceBits = 14
	pieceRows = 1 << pieceBits
)

func newClasses(seed maphash.Seed, columns int) *classes {
	return &classes{columns: columns, mix: maphash.String(seed, "classes") | 1, slots: make([]slot, 1<<10)}
}

// fewClasses are held in any case: parts of fewer would cost more time than they
// spare memory.
const fewClasses = 1 << 12

// bytes is the memory that the classes take, their next growth and the list of their
// sizes included.
func (c *classes) bytes() int64 {
	return int64(len(c.rows))*4*pieceRows*int64(c.columns+1) + 8*int64(c.number) + 3*8*int64(len(c.slots))
}

// hash is the hash of the numbers of a record.
func (c *classes) hash(numbers []uint32) uint64 {
	h := c.mix
	for _, n := range numbers {
		hi, lo := bits.Mul64(h^uint64(n), c.mix)
		h = hi ^ lo
	}
	return h
}

// row is the row of a class.
func (c *classes) row(class uint32) []uint32 {
	stride := c.columns + 1
	at := int(class&(pieceRows-1)) * stride
	return c.rows[class>>pieceBits][at : at+stride : at+stride]
}

// ahead is the number of records whose memory is fetched before they are counted: they
// wait for the memory together and not one after the other.
const ahead = 64

// addAll counts records, of which each has as many numbers as there are columns, and
// appends their classes to of where it is not nil.
func (c *classes) addAll(numbers []uint32, of *[]uint32) {
	var hashes [ahead]uint64
	var first [ahead]slot
	for len(numbers) > 0 {
		n := min(ahead, len(numbers)/c.columns)
		mask := uint64(len(c.slots) - 1)
		for i := range hashes[:n] {
			hashes[i] = c.hash(numbers[i*c.columns : (i+1)*c.columns])
			first[i] = c.slots[hashes[i]&mask]
		}
		for i, s := range first[:n] {
			if s.index != 0 && s.hash == uint32(hashes[i]>>32) {
				c.seen += c.row(s.index - 1)[0]
			}
		}
		for i, h := range hashes[:n] {
			class := c.add(numbers[i*c.columns:(i+1)*c.columns], h)
			if of != nil {
				*of = append(*of, class)
			}
		}
		numbers = numbers[n*c.columns:]
	}
}

// add counts a record and returns its class.
func (c *classes) add(numbers []uint32, h uint64) uint32 {
	mask := uint64(len(c.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		s := c.slots[at]
		if s.index == 0 {
			class := uint32(c.number)
			if c.number&(pieceRows-1) == 0 {
				c.rows = append(c.rows, make([]uint32, pieceRows*(c.columns+1)))
			}
			c.number++
			row := c.row(class)
			row[0] = 1
			copy(row[1:], numbers)
			c.slots[at] = slot{index: class + 1, hash: uint32(h >> 32)}
			if 2*c.number > len(c.slots) {
				c.grow()
			}
			return class
		}
		if s.hash == uint32(h>>32) {
			if row := c.row(s.index - 1); slices.Equal(row[1:], numbers) {
				row[0]++ // at most 2^32-1 records are read
				return s.index - 1
			}
		}
	}
}

// grow doubles the slots.
func (c *classes) grow() {
	c.slots = make([]slot, 2*len(c.slots))
	mask := uint64(len(c.slots) - 1)
	for class := range c.number {
		h := c.hash(c.row(uint32(class))[1:])
		at := h & mask
		for c.slots[at].index != 0 {
			at = (at + 1) & mask
		}
		c.slots[at] = slot{index: uint32(class) + 1, hash: uint32(h >> 32)}
	}
}

// sizes are the numbers of records of all classes.
func (c *classes) sizes() []int64 {
	out := make([]int64, c.number)
	for class := range out {
		out[class] = int64(c.row(uint32(class))[0])
	}
	return out
}

// texts shows the values of a stored column, and tells which are missing.
type texts struct {
	stored *table.StoredColumn
	tokens map[string]bool
	buf    []byte
}

// show is value i of v as text, good until the next call; a null shows none.
func (t *texts) show(v *table.Vector, i int) []byte {
	if v.Kind == table.Text && t.stored.AppendText == nil && !v.IsNull(i) {
		return v.Texts[i]
	}
	t.buf = table.AppendText(t.buf[:0], t.stored, v, i)
	return t.buf
}

// at is show, and tells whether the value is missing.
func (t *texts) at(v *table.Vector, i int) (text []byte, missing bool) {
	text = t.show(v, i)
	return text, len(text) == 0 || len(t.tokens) > 0 && t.tokens[string(text)]
}
