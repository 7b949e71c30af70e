package verify

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// dictionary numbers the texts of a column in the order in which they are first seen,
// from 1; 0 is a null. Texts are distinguished by their bytes and not by a hash.
type dictionary struct {
	seed  maphash.Seed
	mix   [2]uint64
	texts uint32
	// short holds texts of at most 15 bytes, at places by their hash: a power of two of
	// them, at most half full.
	short []word
	used  int
	seen  uint32 // keeps the loads that fetch memory early
	long  longTexts
}

// word is a text of at most 15 bytes and its number; the last byte of b is the length.
type word struct {
	a, b   uint64
	number uint32
}

// shortest is the number of places that a dictionary begins with.
const shortest = 1 << 6

func newDictionary(seed maphash.Seed) *dictionary {
	d := &dictionary{seed: seed, short: make([]word, shortest)}
	for i := range d.mix {
		d.mix[i] = maphash.Bytes(seed, []byte{byte(i)}) | 1
	}
	d.long.slots = make([]slot, shortest)
	return d
}

// bytes is the memory that the dictionary takes, its next growth included.
func (d *dictionary) bytes() int64 {
	return 3*24*int64(len(d.short)) + d.long.held + 16*int64(len(d.long.starts)) + 3*8*int64(len(d.long.slots))
}

// nullWord is the first half of a null, whose length no short text has.
const nullWord = 0xff << 56

// pack writes a text of at most 15 bytes as two words.
func pack(text []byte) (a, b uint64) {
	n := len(text)
	switch {
	case n >= 8:
		a = binary.LittleEndian.Uint64(text)
		if n > 8 {
			b = binary.LittleEndian.Uint64(text[n-8:]) >> (8 * (16 - n))
		}
	case n >= 4:
		a = uint64(binary.LittleEndian.Uint32(text)) | uint64(binary.LittleEndian.Uint32(text[n-4:]))>>(8*(8-n))<<32
	case n > 0: // the middle one is the first or the last again where there is none
		a = uint64(text[0]) | uint64(text[n/2])<<(8*(n/2)) | uint64(text[n-1])<<(8*(n-1))
	}
	return a, b | uint64(n)<<56
}

// hash of a value; a null has one of its own. It depends on the seed.
func (d *dictionary) hash(text []byte, null bool) uint64 {
	switch {
	case null:
		return d.hashWord(0, nullWord)
	case len(text) > 15:
		return maphash.Bytes(d.seed, text)
	}
	return d.hashWord(pack(text))
}

func (d *dictionary) hashWord(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^d.mix[0], b^d.mix[1])
	hi, lo = bits.Mul64(hi^lo^d.mix[1], d.mix[0])
	return hi ^ lo
}

// number returns the number of a value.
func (d *dictionary) number(text []byte, null bool) uint32 {
	if null {
		return 0
	}
	if len(text) > 15 {
		return d.numberLong(text, maphash.Bytes(d.seed, text))
	}
	a, b := pack(text)
	return d.numberShort(a, b, d.hashWord(a, b)&^longHash)
}

func (d *dictionary) numberLong(text []byte, h uint64) uint32 {
	id, added := d.long.add(text, h)
	if added {
		d.texts++
		d.long.numbers = append(d.long.numbers, d.texts)
	}
	return d.long.numbers[id]
}

func (d *dictionary) numberShort(a, b, h uint64) uint32 {
	mask := uint64(len(d.short) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		switch w := &d.short[at]; {
		case w.a == a && w.b == b && w.number != 0:
			return w.number
		case w.number == 0:
			d.texts++
			*w = word{a, b, d.texts}
			number := d.texts
			if d.used++; 2*d.used > len(d.short) {
				d.grow()
			}
			return number
		}
	}
}

func (d *dictionary) grow() {
	old := d.short
	d.short = make([]word, 2*len(old))
	mask := uint64(len(d.short) - 1)
	for _, w := range old {
		if w.number == 0 {
			continue
		}
		at := d.hashWord(w.a, w.b) &^ longHash & mask
		for d.short[at].number != 0 {
			at = (at + 1) & mask
		}
		d.short[at] = w
	}
}

// longTexts holds texts of any length.
type longTexts struct {
	slots   []slot   // open addressing; a power of two, at most half full
	hashes  []uint64 // of each text
	blocks  [][]byte // the texts one after the other, each with its length before it
	held    int64    // bytes of blocks
	starts  []uint64 // of each text: the block and, in the low bits, the offset in it
	numbers []uint32 // of each text in the dictionary
}

// slot holds an index, plus 1, and the upper half of a hash, which spares most
// comparisons.
type slot struct {
	index uint32
	hash  uint32
}

const (
	blockBits = 20
	blockSize = 1 << blockBits
)

// add returns the index of a text, and whether it is new.
func (l *longTexts) add(text []byte, h uint64) (index uint32, added bool) {
	mask := uint64(len(l.slots) - 1)
	for at := h & mask; ; at = (at + 1) & mask {
		s := l.slots[at]
		if s.index == 0 {
			index = uint32(len(l.starts))
			l.keep(text)
			l.hashes = append(l.hashes, h)
			l.slots[at] = slot{index: index + 1, hash: uint32(h >> 32)}
			if 2*len(l.starts) > len(l.slots) {
				l.grow()
			}
			return index, true
		}
		if s.hash == uint32(h>>32) && bytes.Equal(l.text(s.index-1), text) {
			return s.index - 1, false
		}
	}
}

// keep stores a new text.
func (l *longTexts) keep(text []byte) {
	need := binary.MaxVarintLen64 + len(text)
	last := len(l.blocks) - 1
	if last < 0 || len(l.blocks[last])+need > cap(l.blocks[last]) {
		// The first blocks are small, so that small tables take little memory.
		size := max(need, min(blockSize, 4096<<min(len(l.blocks), 8)))
		l.blocks = append(l.blocks, make([]byte, 0, size))
		l.held += int64(size)
		last++
	}
	block := &l.blocks[last]
	l.starts = append(l.starts, uint64(last)<<blockBits|uint64(len(*block)))
	*block = binary.AppendUvarint(*block, uint64(len(text)))
	*block = append(*block, text...)
}

func (l *longTexts) text(index uint32) []byte {
	at := l.starts[index]
	rest := l.blocks[at>>blockBits][at&(blockSize-1):]
	n, size := binary.Uvarint(rest)
	return rest[size : size+int(n)]
}

func (l *longTexts) grow() {
	l.slots = make([]slot, 2*len(l.slots))
	mask := uint64(len(l.slots) - 1)
	for i, h := range l.hashes {
		at := h & mask
		for l.slots[at].index != 0 {
			at = (at + 1) & mask
		}
		l.slots[at] = slot{index: uint32(i) + 1, hash: uint32(h >> 32)}
	}
}
