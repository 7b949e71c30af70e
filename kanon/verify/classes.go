package verify

import (
	"hash/maphash"
	"math/bits"

	"github.com/noren-privacy/noren/table"
)

// classes counts records by the numbers of their quasi-identifiers in the columns'
// dictionaries.
type classes struct {
	columns int
	mix     uint64 // random and odd
	// places are an open addressing: a power of two places, at most 3/4 full, of stride
	// numbers each. A place holds the number of records of a class, 0 where it is free, then
	// the number of the class where that is kept, then the numbers of its
	// quasi-identifiers. All of a class lies together, as a large table costs a wait for
	// memory for each place that is looked at.
	places []uint32
	stride int
	mask   uint64 // one less than the number of places
	number int    // of classes
	seen   uint32 // keeps the loads that fetch memory early
}

// newClasses counts nothing yet, for records of that many columns. Classes are numbered
// where that is asked for.
func newClasses(seed maphash.Seed, columns int, numbered bool) *classes {
	c := &classes{columns: columns, mix: maphash.String(seed, "classes") | 1, stride: columns + 1, mask: 1<<10 - 1}
	if numbered {
		c.stride++
	}
	c.places = make([]uint32, (c.mask+1)*uint64(c.stride))
	return c
}

// fewClasses are held in any case: parts of fewer would cost more time than they
// spare memory.
const fewClasses = 1 << 12

// bytes is the memory that the classes take, the list of their sizes and, where it may
// come with the batches under way, their next growth included.
func (c *classes) bytes() int64 {
	held := 4*int64(len(c.places)) + 8*int64(c.number)
	if c.full(c.number + (buffers+2)*batchRows) {
		held += 2 * 4 * int64(len(c.places))
	}
	return held
}

// full reports whether that many classes are more than the places are for.
func (c *classes) full(number int) bool { return 4*uint64(number) > 3*(c.mask+1) }

// hash is the hash of the numbers of a record.
func (c *classes) hash(numbers []uint32) uint64 {
	h := c.mix
	for _, n := range numbers {
		hi, lo := bits.Mul64(h^uint64(n), c.mix)
		h = hi ^ lo
	}
	return h
}

// place is the content of a place.
func (c *classes) place(at uint64) []uint32 {
	from := int(at) * c.stride
	return c.places[from : from+c.stride : from+c.stride]
}

// ahead is the number of records whose memory is fetched before they are counted: they
// wait for the memory together and not one after the other.
const ahead = 64

// addAll counts records, of which each has as many numbers as there are columns, and
// appends their classes to of where it is not nil.
func (c *classes) addAll(numbers []uint32, of *[]uint32) {
	var hashes [ahead]uint64
	for len(numbers) > 0 {
		n := min(ahead, len(numbers)/c.columns)
		for i := range hashes[:n] {
			hashes[i] = c.hash(numbers[i*c.columns : (i+1)*c.columns])
			c.seen += c.places[int(hashes[i]&c.mask)*c.stride]
		}
		for i, h := range hashes[:n] {
			place := c.add(numbers[i*c.columns:(i+1)*c.columns], h)
			if of != nil {
				*of = append(*of, place[1])
			}
		}
		numbers = numbers[n*c.columns:]
	}
}

// add counts a record and returns the place of its class.
func (c *classes) add(numbers []uint32, h uint64) []uint32 {
	key := c.stride - c.columns
next:
	for at := h & c.mask; ; at = (at + 1) & c.mask {
		place := c.place(at)
		if place[0] == 0 {
			if c.full(c.number + 1) {
				c.grow()
				return c.add(numbers, h)
			}
			place[0] = 1
			if key > 1 {
				place[1] = uint32(c.number)
			}
			copy(place[key:], numbers)
			c.number++
			return place
		}
		for i, n := range place[key:] {
			if n != numbers[i] {
				continue next
			}
		}
		place[0]++ // at most 2^32-1 records are read
		return place
	}
}

// grow doubles the places.
func (c *classes) grow() {
	old := c.places
	c.mask = 2*c.mask + 1
	c.places = make([]uint32, (c.mask+1)*uint64(c.stride))
	for ; len(old) > 0; old = old[c.stride:] {
		if old[0] == 0 {
			continue
		}
		at := c.hash(old[c.stride-c.columns:c.stride]) & c.mask
		for c.place(at)[0] != 0 {
			at = (at + 1) & c.mask
		}
		copy(c.place(at), old[:c.stride])
	}
}

// sizes are the numbers of records of all classes: by the numbers of the classes where
// those are kept, else in no order.
func (c *classes) sizes() []int64 {
	out := make([]int64, 0, c.number)
	numbered := c.stride-c.columns > 1
	if numbered {
		out = out[:c.number]
	}
	for at := range c.mask + 1 {
		place := c.place(at)
		switch {
		case place[0] == 0:
		case numbered:
			out[place[1]] = int64(place[0])
		default:
			out = append(out, int64(place[0]))
		}
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
