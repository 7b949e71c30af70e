package verify

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"github.com/noren-privacy/noren/table"
)

// classes counts records by the texts of their quasi-identifiers: all of them,
// or those of one part of several, so that not all classes need be held at a
// time.
type classes struct {
	seed   maphash.Seed
	part   uint64
	parts  uint64
	slots  []slot   // open addressing; a power of two, at most half full
	blocks [][]byte // the keys one after the other, each with its length before it
	held   int64    // bytes of blocks
	starts []uint64 // of each class's key: the block and, in the low bits, the offset in it
	counts []int64
}

// slot holds the class, plus 1, and the upper half of its key's hash, which
// spares most looks at the key.
type slot struct {
	class uint32
	hash  uint32
}

const (
	blockBits = 20
	blockSize = 1 << blockBits
)

// newClasses counts the keys of a part of the parts that seed makes.
func newClasses(seed maphash.Seed, part, parts int) *classes {
	return &classes{seed: seed, part: uint64(part), parts: uint64(parts), slots: make([]slot, 1<<10)}
}

// fewClasses are held in any case: parts of fewer would cost more time than they
// spare memory.
const fewClasses = 1 << 12

// tooMany reports whether the classes take more memory than that, their
// next growth included.
func (c *classes) tooMany(memory int64) bool {
	return len(c.starts) > fewClasses && c.held+16*int64(len(c.starts))+3*8*int64(len(c.slots)) > memory
}

// add counts a record with that key and returns its class; none where the key
// belongs to another part.
func (c *classes) add(key []byte) (class uint32, ok bool) {
	h := maphash.Bytes(c.seed, key)
	// The slot goes by the lower bits, the part by the upper ones.
	if c.parts > 1 && (h>>32)%c.parts != c.part {
		return 0, false
	}
	mask := uint64(len(c.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		s := c.slots[at]
		if s.class == 0 {
			id := uint32(len(c.starts))
			c.keep(key)
			c.counts = append(c.counts, 1)
			c.slots[at] = slot{class: id + 1, hash: uint32(h >> 32)}
			if 2*len(c.starts) > len(c.slots) {
				c.grow()
			}
			return id, true
		}
		if id := s.class - 1; s.hash == uint32(h>>32) && bytes.Equal(c.key(id), key) {
			c.counts[id]++
			return id, true
		}
	}
}

// keep stores the key of a new class.
func (c *classes) keep(key []byte) {
	need := binary.MaxVarintLen64 + len(key)
	last := len(c.blocks) - 1
	if last < 0 || len(c.blocks[last])+need > cap(c.blocks[last]) {
		// The first blocks are small, that small tables take little.
		size := max(need, min(blockSize, 4096<<min(len(c.blocks), 8)))
		c.blocks = append(c.blocks, make([]byte, 0, size))
		c.held += int64(size)
		last++
	}
	block := &c.blocks[last]
	c.starts = append(c.starts, uint64(last)<<blockBits|uint64(len(*block)))
	*block = binary.AppendUvarint(*block, uint64(len(key)))
	*block = append(*block, key...)
}

func (c *classes) key(id uint32) []byte {
	at := c.starts[id]
	rest := c.blocks[at>>blockBits][at&(blockSize-1):]
	n, size := binary.Uvarint(rest)
	return rest[size : size+int(n)]
}

func (c *classes) grow() {
	c.slots = make([]slot, 2*len(c.slots))
	mask := uint64(len(c.slots) - 1)
	for id := range c.starts {
		h := maphash.Bytes(c.seed, c.key(uint32(id)))
		at := h & mask
		for c.slots[at].class != 0 {
			at = (at + 1) & mask
		}
		c.slots[at] = slot{class: uint32(id) + 1, hash: uint32(h >> 32)}
	}
}

// appendKey appends one text so that no two sequences of texts make the same
// key: its length plus 1 before it, and 0 alone for a null.
func appendKey(key, text []byte, null bool) []byte {
	if null {
		return append(key, 0)
	}
	key = binary.AppendUvarint(key, uint64(len(text))+1)
	return append(key, text...)
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
