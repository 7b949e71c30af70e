package partition_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/meter/metertest"
	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/space"
)

// encoded is a tree of n records of two numbers and a category, and their space.
func encoded(t interface{ Fatal(...any) }, n, least int, seed uint64) ([]byte, *partition.CellTree, *space.Space) {
	rng := rand.New(rand.NewPCG(seed, 5))
	x, y, codes := make([]float64, n), make([]float64, n), make([]uint32, n)
	for i := range n {
		x[i], y[i], codes[i] = rng.Float64(), float64(rng.IntN(4)), uint32(rng.IntN(5))
	}
	s, err := space.New(n, [][]float64{x, y}, []space.Categorical{{Codes: codes, Cardinality: 5, Weight: 1}})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := partition.NewCellTree(context.Background(), s, n, least, 10)
	if err != nil {
		t.Fatal(err)
	}
	text, err := tree.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	return text, tree, s
}

// A tree that is written and read gives every record the same cell, and what is cut short or
// longer is none.
func TestCellTreeEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "n")
		text, tree, s := encoded(t, n, rapid.IntRange(1, 60).Draw(t, "least"), rapid.Uint64().Draw(t, "seed"))
		again, err := partition.DecodeCellTree(text, 3)
		if err != nil {
			t.Fatal(err)
		}
		want, got := make([]uint32, n), make([]uint32, n)
		tree.Route(s, want, 1)
		again.Route(s, got, 1)
		if again.Cells() != tree.Cells() || !slices.Equal(want, got) {
			t.Fatal("another tree")
		}
		if _, err := partition.DecodeCellTree(text[:rapid.IntRange(0, len(text)-1).Draw(t, "cut")], 3); err == nil {
			t.Fatal("a tree that is cut short")
		}
		if _, err := partition.DecodeCellTree(append(slices.Clone(text), 0), 3); err == nil {
			t.Fatal("a tree with a byte more")
		}
	})
	if _, err := partition.DecodeCellTree(nil, 1); err == nil {
		t.Error("a tree of no bytes")
	}
}

// What is read as a tree is one: each record finds a cell of it.
func FuzzCellTree(f *testing.F) {
	for _, least := range []int{1, 5, 100} {
		text, _, _ := encoded(f, 200, least, 1)
		f.Add(text)
	}
	_, _, s := encoded(f, 50, 10, 2)
	f.Fuzz(func(t *testing.T, text []byte) {
		metertest.Hold(t, len(text))
		tree, err := partition.DecodeCellTree(text, 3)
		if err != nil {
			return
		}
		cells := make([]uint32, s.Len())
		tree.Route(s, cells, 1)
		if slices.Max(cells) >= uint32(tree.Cells()) {
			t.Fatal("a cell beyond the last")
		}
		if again, _ := tree.AppendBinary(nil); !bytes.Equal(again, text) {
			t.Fatal("another tree")
		}
	})
}

// The sample of a range is that part of the sample of all.
func TestSampleRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1_000_000, 3_000_000)).Draw(t, "n")
		from := rapid.IntRange(0, n).Draw(t, "from")
		to := rapid.IntRange(from, n).Draw(t, "to")
		var want []int64
		for _, i := range partition.SampleRecords(n) {
			if int(i) >= from && int(i) < to {
				want = append(want, int64(i))
			}
		}
		if got := partition.SampleRange(int64(n), int64(from), int64(to)); !slices.Equal(got, want) {
			t.Fatalf("%d records, want %d", len(got), len(want))
		}
	})
}
