package verify

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Classes are told apart through many doublings of the index, each with its
// own number and count.
func TestClassesGrow(t *testing.T) {
	c := newClasses(maphash.MakeSeed(), 0, 1)
	const n = 200_000
	want := map[string]uint32{}
	counts := map[string]int64{}
	for i := range 3 * n {
		// Each key one to three times, in a mixed order.
		key := fmt.Sprint("key ", (i*7919)%n)
		if i >= n && i%3 == 0 {
			continue
		}
		id, _ := c.add([]byte(key))
		if was, known := want[key]; known && was != id {
			t.Fatalf("%s is class %d and was %d", key, id, was)
		}
		want[key] = id
		counts[key]++
	}
	if len(c.counts) != n || len(want) != n || 2*n > len(c.slots) {
		t.Fatalf("%d classes in %d slots, want %d", len(c.counts), len(c.slots), n)
	}
	for key, id := range want {
		if string(c.key(id)) != key || c.counts[id] != counts[key] {
			t.Fatalf("class %d has the key %q and %d records, want %q and %d", id, c.key(id), c.counts[id], key, counts[key])
		}
	}
}

// The parts of a seed have every key once, whatever its length.
func TestPartsOfClasses(t *testing.T) {
	seed := maphash.MakeSeed()
	found := map[string]int64{}
	const n, parts = 3000, 8
	for part := range parts {
		c := newClasses(seed, part, parts)
		for i := range 2 * n {
			key := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, i%n)
			if i%1000 == 0 {
				key = bytes.Repeat(key, 400) // longer than a block
			}
			key = append(key, fmt.Sprint(i%n)...)
			id, ok := c.add(key)
			if ok && !bytes.Equal(c.key(id), key) {
				t.Fatalf("key %d is kept as another", i)
			}
		}
		for id, count := range c.counts {
			found[string(c.key(uint32(id)))] += count
		}
		if len(c.counts) < n/parts/2 {
			t.Errorf("part %d has %d classes", part, len(c.counts))
		}
	}
	var records int64
	for _, count := range found {
		records += count
	}
	if records != 2*n {
		t.Errorf("%d records, want %d", records, 2*n)
	}
}

// Two keys of one hash stay two classes: the slot that the second one asks
// first is made to hold the first, under the second's hash.
func TestCollisionsDoNotMerge(t *testing.T) {
	c := newClasses(maphash.MakeSeed(), 0, 1)
	first, second := []byte("first"), []byte("second")
	c.add(first)
	clear(c.slots)
	h := maphash.Bytes(c.seed, second)
	c.slots[h&uint64(len(c.slots)-1)] = slot{class: 1, hash: uint32(h >> 32)}
	if id, _ := c.add(second); id != 1 {
		t.Fatalf("the second key is in class %d", id)
	}
	if !slices.Equal(c.counts, []int64{1, 1}) || !bytes.Equal(c.key(0), first) || !bytes.Equal(c.key(1), second) {
		t.Errorf("got %v", c.counts)
	}
}

// The key of a record tells its texts and which are missing: it reads back.
func TestKeysReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.OneOf(
			rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, ',', '"', 'a', 0x80, 0xff}), 0, 4),
			rapid.SliceOfN(rapid.Byte(), 120, 300),
		), 1, 5).Draw(t, "texts")
		missing := rapid.SliceOfN(rapid.Bool(), len(texts), len(texts)).Draw(t, "missing")
		var key []byte
		for i, text := range texts {
			key = appendKey(key, text, missing[i])
		}
		for i, text := range texts {
			n, size := uvarint(key)
			key = key[size:]
			if missing[i] != (n == 0) {
				t.Fatalf("text %d: missing is %v", i, n == 0)
			}
			if n == 0 {
				continue
			}
			if int(n-1) != len(text) || !bytes.Equal(key[:n-1], text) {
				t.Fatalf("text %d of %d bytes reads as %d", i, len(text), n-1)
			}
			key = key[n-1:]
		}
		if len(key) > 0 {
			t.Fatalf("%d bytes are left", len(key))
		}
	})
}

// uvarint reads seven bits a byte, the lowest first.
func uvarint(b []byte) (n uint64, size int) {
	for shift := 0; ; shift += 7 {
		n |= uint64(b[size]&0x7f) << shift
		size++
		if b[size-1] < 0x80 {
			return n, size
		}
	}
}
