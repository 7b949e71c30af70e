package verify

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/randtest"
)

// Classes are distinguished through many doublings of the places, each with its own number
// and count, whether they are numbered or not.
func TestClassesGrow(t *testing.T) {
	randtest.SkipShort(t)
	for _, numbered := range []bool{true, false} {
		c := newClasses(maphash.MakeSeed(), 2, numbered)
		const n = 200_000
		want := map[[2]uint32]uint32{}
		counts := map[[2]uint32]uint32{}
		var keys [][2]uint32
		var batch, of []uint32
		list := &of
		if !numbered {
			list = nil
		}
		for i := range 3 * n {
			// Each key one to three times, in a mixed order.
			k := uint32((i * 7919) % n)
			if i >= n && i%3 == 0 {
				continue
			}
			key := [2]uint32{k % 300, k / 300}
			keys = append(keys, key)
			counts[key]++
			batch = append(batch, key[0], key[1])
			if len(batch) == 2*1234 {
				c.addAll(batch, list)
				batch = batch[:0]
			}
		}
		c.addAll(batch, list)
		sizes := c.sizes()
		if c.number != n || 4*n > 3*(c.mask+1) || len(sizes) != n {
			t.Fatalf("%d classes in %d places, want %d", c.number, c.mask+1, n)
		}
		var got, all []int64
		for _, size := range counts {
			all = append(all, int64(size))
		}
		got = append(got, sizes...)
		slices.Sort(got)
		slices.Sort(all)
		if !slices.Equal(got, all) {
			t.Fatal("other sizes than counted one by one")
		}
		for at := range c.mask + 1 {
			place := c.place(at)
			if key := [2]uint32(place[len(place)-2:]); place[0] != 0 && place[0] != counts[key] {
				t.Fatalf("%v is counted %d times, want %d", key, place[0], counts[key])
			}
		}
		if !numbered {
			continue
		}
		if len(of) != len(keys) {
			t.Fatalf("%d classes of %d records", len(of), len(keys))
		}
		for i, key := range keys {
			if was, known := want[key]; known && was != of[i] {
				t.Fatalf("%v is class %d and was %d", key, of[i], was)
			}
			want[key] = of[i]
		}
		for key, class := range want {
			if sizes[class] != int64(counts[key]) {
				t.Fatalf("class %d has %d records, want %d", class, sizes[class], counts[key])
			}
		}
	}
}

// Two records of one hash stay two classes: the place that the second one asks first is
// made to hold the first.
func TestCollisionsDoNotMerge(t *testing.T) {
	c := newClasses(maphash.MakeSeed(), 2, true)
	first, second := []uint32{1, 7}, []uint32{1, 8}
	was := c.add(first, c.hash(first))
	moved := append([]uint32{}, was...)
	clear(c.places)
	h := c.hash(second)
	copy(c.place(h&c.mask), moved)
	for range 2 {
		if place := c.add(second, h); place[1] != 1 {
			t.Fatalf("the second record is in class %d", place[1])
		}
	}
	if !slices.Equal(c.sizes(), []int64{1, 2}) {
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
