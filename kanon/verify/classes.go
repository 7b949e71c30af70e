package verify

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"

	"noren/table"
)

// classes counts records by the texts of their quasi-identifiers.
type classes struct {
	seed   maphash.Seed
	slots  []slot // open addressing; a power of two, at most half full
	keys   []byte // one after the other
	starts []int  // of each class's key in keys
	counts []int64
}

// slot holds the class, plus 1, and the upper half of its key's hash, which
// spares most looks at the key.
type slot struct {
	class uint32
	hash  uint32
}

func newClasses() *classes {
	return &classes{seed: maphash.MakeSeed(), slots: make([]slot, 1<<10)}
}

// add counts a record with that key and returns its class.
func (c *classes) add(key []byte) uint32 {
	h := maphash.Bytes(c.seed, key)
	mask := uint64(len(c.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		s := c.slots[at]
		if s.class == 0 {
			id := uint32(len(c.starts))
			c.starts = append(c.starts, len(c.keys))
			c.keys = append(c.keys, key...)
			c.counts = append(c.counts, 1)
			c.slots[at] = slot{class: id + 1, hash: uint32(h >> 32)}
			if 2*len(c.starts) > len(c.slots) {
				c.grow()
			}
			return id
		}
		if id := s.class - 1; s.hash == uint32(h>>32) && bytes.Equal(c.key(id), key) {
			c.counts[id]++
			return id
		}
	}
}

func (c *classes) key(id uint32) []byte {
	end := len(c.keys)
	if int(id)+1 < len(c.starts) {
		end = c.starts[id+1]
	}
	return c.keys[c.starts[id]:end]
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
