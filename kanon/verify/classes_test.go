package verify

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Classes are distinguished through many doublings of the index, each with its own number
// and count, whether they are counted one by one or in batches.
func TestClassesGrow(t *testing.T) {
	c := newClasses(maphash.MakeSeed(), 2)
	const n = 200_000
	want := map[[2]uint32]uint32{}
	counts := map[[2]uint32]uint32{}
	var keys [][2]uint32
	var batch, of []uint32
	for i := range 3 * n {
		// Each key one to three times, in a mixed order.
		k := uint32((i * 7919) % n)
		if i >= n && i%3 == 0 {
			continue
		}
		keys = append(keys, [2]uint32{k % 300, k / 300})
		batch = append(batch, k%300, k/300)
		if len(batch) == 2*1234 {
			c.addAll(batch, &of)
			batch = batch[:0]
		}
	}
	c.addAll(batch, &of)
	if len(of) != len(keys) {
		t.Fatalf("%d classes of %d records", len(of), len(keys))
	}
	for i, key := range keys {
		if was, known := want[key]; known && was != of[i] {
			t.Fatalf("%v is class %d and was %d", key, of[i], was)
		}
		want[key] = of[i]
		counts[key]++
	}
	if c.number != n || len(want) != n || 2*n > len(c.slots) || len(c.sizes()) != n {
		t.Fatalf("%d classes in %d slots, want %d", c.number, len(c.slots), n)
	}
	for key, class := range want {
		if row := c.row(class); !slices.Equal(row, []uint32{counts[key], key[0], key[1]}) {
			t.Fatalf("class %d is %v, want %v %v", class, row, counts[key], key)
		}
	}
}

// Two records of one hash stay two classes: the slot that the second one asks first is
// made to hold the first, under the second's hash.
func TestCollisionsDoNotMerge(t *testing.T) {
	c := newClasses(maphash.MakeSeed(), 1)
	first, second := []uint32{1}, []uint32{2}
	c.add(first, c.hash(first))
	clear(c.slots)
	h := c.hash(second)
	c.slots[h&uint64(len(c.slots)-1)] = slot{index: 1, hash: uint32(h >> 32)}
	if id := c.add(second, h); id != 1 {
		t.Fatalf("the second record is in class %d", id)
	}
	if !slices.Equal(c.sizes(), []int64{1, 1}) {
		t.Errorf("got %v", c.sizes())
	}
}

// A dictionary numbers texts by their bytes: equal texts have one number, others another,
// nulls 0, and through all doublings.
func TestDictionary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDictionary(maphash.MakeSeed())
		numbers := map[string]uint32{}
		texts := rapid.SliceOfN(rapid.OneOf(
			rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, ',', 'a', 0xff}), 0, 3),
			rapid.SliceOfN(rapid.SampledFrom([]byte{0, 'b'}), 0, 18),
			rapid.SliceOfN(rapid.Byte(), 14, 300),
		), 0, 300).Draw(t, "texts")
		for range 2 {
			for _, text := range texts {
				n := d.number(text, false)
				if was, known := numbers[string(text)]; known && was != n || n == 0 {
					t.Fatalf("%q is %d and was %d", text, n, was)
				}
				numbers[string(text)] = n
			}
			if d.number(nil, true) != 0 {
				t.Fatal("a null has a number")
			}
		}
		seen := map[uint32]bool{}
		for _, n := range numbers {
			if seen[n] || n > uint32(len(numbers)) {
				t.Fatalf("number %d of %d texts is taken twice or too large", n, len(numbers))
			}
			seen[n] = true
		}
	})
}

// Short texts are distinguished by both words and never by their hash: here all have the
// place of the first.
func TestDictionaryCollisions(t *testing.T) {
	d := newDictionary(maphash.MakeSeed())
	for i := range 20 {
		for _, text := range []string{fmt.Sprint("t", i), fmt.Sprint("a text of some length ", i)} {
			n := uint32(0)
			if a, b := pack([]byte(text)[:min(15, len(text))]); len(text) <= 15 {
				n = d.numberShort(a, b, 5)
			} else {
				n = d.numberLong([]byte(text), 5)
			}
			if n != d.texts {
				t.Fatalf("%s is %d of %d", text, n, d.texts)
			}
		}
	}
	if d.texts != 40 {
		t.Errorf("%d texts", d.texts)
	}
}

// Packing loses nothing: equal words mean equal texts.
func TestPack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, 15).Draw(t, "text")
		a, b := pack(text)
		var back []byte
		for i := range int(b >> 56) {
			w := a
			if i >= 8 {
				w = b
			}
			back = append(back, byte(w>>(8*(i%8))))
		}
		if !bytes.Equal(back, text) || b == nullWord {
			t.Fatalf("%x reads back as %x", text, back)
		}
	})
}
