package geom

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naive is the definition: neighbours of i among the points of d coordinates.
func naive(d int, c []int32, i int, r2 int64) []int32 {
	var out []int32
	for j := range len(c) / d {
		var sum int64
		for k := range d {
			e := int64(c[i*d+k]) - int64(c[j*d+k])
			sum += e * e
		}
		if j != i && sum <= r2 {
			out = append(out, int32(j))
		}
	}
	return out
}

// naiveCore is the definition of the core functional by deleting, again and
// again, every point that has too few left.
func naiveCore(d int, c []int32, first, end int, r2 int64) int {
	best := 0
	for m := 1; m <= end-first; m++ {
		var left []int32
		for i := first; i < end; i++ {
			left = append(left, int32(i))
		}
		for changed := true; changed; {
			changed = false
			for k, i := range left {
				n := 1
				for _, j := range naive(d, c, int(i), r2) {
					if slices.Contains(left, j) {
						n++
					}
				}
				if n < m {
					left = slices.Delete(left, k, k+1)
					changed = true
					break
				}
			}
		}
		if len(left) > 0 {
			best = m
		}
	}
	return best
}

func cloud(t *rapid.T, most int) (int, []int32) {
	d := rapid.IntRange(1, 11).Draw(t, "d")
	n := rapid.IntRange(0, most).Draw(t, "n")
	width := rapid.Int32Range(0, 30).Draw(t, "width")
	return d, rapid.SliceOfN(rapid.Int32Range(-width, width), n*d, n*d).Draw(t, "coords")
}

func TestCountsAndListsAreTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, c := cloud(t, 120)
		r2 := rapid.Int64Range(0, 900).Draw(t, "r2")
		limit := rapid.IntRange(0, 130).Draw(t, "limit")
		memory := rapid.SampledFrom([]int64{0, 100, 1 << 20}).Draw(t, "memory")
		tree, err := NewTree(d, c)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := tree.Count(context.Background(), r2, limit)
		if err != nil {
			t.Fatal(err)
		}
		lists, err := NewLists(context.Background(), tree, r2, memory)
		if err != nil {
			t.Fatal(err)
		}
		var scratch []int32
		for i := range len(c) / d {
			want := naive(d, c, i, r2)
			if int(counts[i]) != min(limit, len(want)) {
				t.Fatalf("point %d: count %d, want the smaller of %d and %d", i, counts[i], len(want), limit)
			}
			got := slices.Clone(lists.Near(int32(i), &scratch))
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("point %d: neighbours %v, want %v", i, got, want)
			}
		}
	})
}

func TestCoreIsTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, c := cloud(t, 14)
		n := len(c) / d
		r2 := rapid.Int64Range(0, 400).Draw(t, "r2")
		first := rapid.IntRange(0, n).Draw(t, "first")
		end := rapid.IntRange(first, n).Draw(t, "end")
		limit := rapid.IntRange(0, n+1).Draw(t, "limit")
		tree, err := NewTree(d, c)
		if err != nil {
			t.Fatal(err)
		}
		lists, err := NewLists(context.Background(), tree, r2, rapid.SampledFrom([]int64{0, 1 << 20}).Draw(t, "memory"))
		if err != nil {
			t.Fatal(err)
		}
		var p Peeler
		if got, want := lists.Core(first, end, limit, &p), min(limit, naiveCore(d, c, first, end, r2)); got != want {
			t.Fatalf("core %d, want %d", got, want)
		}
	})
}

func TestRowsOfBits(t *testing.T) {
	c := make([]int32, 3000)
	for i := range c {
		c[i] = int32(i % 7)
	}
	tree, err := NewTree(1, c)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := NewLists(context.Background(), tree, 1, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	var scratch []int32
	for i := range int32(len(c)) {
		if lists.rows[i].bits == nil {
			t.Fatalf("row %d, with hundreds of neighbours, is a list", i)
		}
		got := slices.Clone(lists.Near(i, &scratch))
		slices.Sort(got)
		if !slices.Equal(got, naive(1, c, int(i), 1)) {
			t.Fatalf("row %d differs", i)
		}
	}
	var p Peeler
	// Places 0..6 hold 3000/7 points each; two neighbouring places are a clique.
	if got := lists.Core(0, len(c), len(c), &p); got < 857 || got > 1287 {
		t.Fatalf("core %d", got)
	}
}

func TestPointsAtOnePlace(t *testing.T) {
	const n = 200_000
	tree, err := NewTree(2, make([]int32, 2*n))
	if err != nil {
		t.Fatal(err)
	}
	counts, err := tree.Count(context.Background(), 0, n)
	if err != nil {
		t.Fatal(err)
	}
	if counts[0] != n-1 || counts[n-1] != n-1 {
		t.Fatalf("counts %d, %d, want %d", counts[0], counts[n-1], n-1)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := NewTree(2, make([]int32, 3)); err == nil {
		t.Error("three coordinates of points in the plane")
	}
	if _, err := NewTree(0, nil); err == nil {
		t.Error("no dimension")
	}
	if _, err := NewTree(2, []int32{-1 << 31, -1 << 31, 1<<31 - 1, 1<<31 - 1}); err == nil {
		t.Error("a span whose square leaves an int64")
	}
	tree, err := NewTree(1, []int32{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewLists(context.Background(), tree, -1, 0); err == nil {
		t.Error("a negative squared distance")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := tree.Count(ctx, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func BenchmarkCountMillion(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := make([]int32, 2_000_000)
	for i := range c {
		c[i] = rng.Int32N(1_000_000)
	}
	for b.Loop() {
		tree, err := NewTree(2, c)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := tree.Count(context.Background(), 1900*1900, 40); err != nil {
			b.Fatal(err)
		}
	}
}
