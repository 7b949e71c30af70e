package partition_test

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/space"
)

// Every record finds one cell, equal records the same one, in whatever order
// they stand; and cells are no smaller than asked where the tree saw all.
func TestCellTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 120).Draw(t, "n")
		s := tiedSpace(t, n)
		least := rapid.IntRange(1, n+1).Draw(t, "least")
		tree, err := partition.NewCellTree(context.Background(), s, n, least, rapid.IntRange(0, 20).Draw(t, "common"))
		if err != nil {
			t.Fatal(err)
		}
		cells := make([]uint32, n)
		tree.Route(s, cells, 1)
		counts := make([]int64, tree.Cells())
		for i, c := range cells {
			counts[c]++
			for j := range i {
				if s.Distance2(i, j) == 0 && cells[j] != c {
					t.Fatalf("records %d and %d are equal, in cells %d and %d", i, j, c, cells[j])
				}
			}
		}
		if slices.Min(counts) == 0 {
			t.Fatalf("an empty cell: %v", counts)
		}
		order := make([]int32, n)
		for i := range order {
			order[i] = int32(n - 1 - i)
		}
		turned := s.Subset(order)
		again, err := partition.NewCellTree(context.Background(), turned, n, least, 3)
		if err != nil {
			t.Fatal(err)
		}
		first, err := partition.NewCellTree(context.Background(), s, n, least, 3)
		if err != nil {
			t.Fatal(err)
		}
		a, b := make([]uint32, n), make([]uint32, n)
		first.Route(s, a, 1)
		again.Route(turned, b, 3)
		for i := range a {
			if a[i] != b[n-1-i] {
				t.Fatalf("record %d: cell %d, turned round %d", i, a[i], b[n-1-i])
			}
		}
	})
}

// Pieces cover all places, none is smaller than asked, and none is so large
// that the work in it would not be bounded.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.Int64Range(0, 400), 1, 40).Draw(t, "counts")
		least := rapid.IntRange(1, 100).Draw(t, "least")
		bounds := partition.Bounds(counts, least)
		var n int64
		for _, c := range counts {
			n += c
		}
		if bounds[0] != 0 || bounds[len(bounds)-1] != n {
			t.Fatalf("%v do not cover %d places", bounds, n)
		}
		for p := range len(bounds) - 1 {
			size := bounds[p+1] - bounds[p]
			if size < int64(least) && n >= int64(least) || size >= 4*int64(least) && size > 2*int64(least)+1 {
				t.Fatalf("a piece of %d for at least %d, of %v", size, least, counts)
			}
		}
	})
}

// A sample is drawn from everywhere, each record once.
func TestSampleRecords(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 1 << 20, 1<<20 + 1, 3_000_001} {
		sample := partition.SampleRecords(n)
		if len(sample) != min(n, 1<<20) {
			t.Fatalf("%d records of %d", len(sample), n)
		}
		for i, r := range sample {
			if int(r) >= n || i > 0 && r <= sample[i-1] {
				t.Fatalf("of %d: record %d after %d", n, r, sample[max(0, i-1)])
			}
		}
	}
}

// Fifty thousand equal records, and a few others, still fall into small cells.
func TestCellsOfEqualRecords(t *testing.T) {
	const n = 50_000
	x := make([]float64, n)
	for i := range 30 {
		x[i*1000] = 1
	}
	s, err := space.New(n, [][]float64{x}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _, err := partition.Partition(context.Background(), s, partition.Options{K: 5, Method: partition.MDAV, Coarse: 200})
	if err != nil {
		t.Fatal(err)
	}
	if sse := s.SSE(p); sse != 0 {
		t.Errorf("the thirty others are not with each other: SSE %v", sse)
	}
}
