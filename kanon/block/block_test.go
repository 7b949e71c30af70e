package block_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/block"
	"github.com/noren-privacy/noren/kanon/persons"
)

func TestSize(t *testing.T) {
	for _, c := range []struct {
		n                     int64
		cell, k, stated, want int
	}{
		{100_000, 3_000, 5, 0, 20_000},
		{100_000, 8_000, 5, 0, 32_000},
		{2_000_001, 3_000, 5, 0, 3_000},
		{100_000, 3_000, 5, 700, 700},
		{100_000, 3_000, 50, 7, 50},
	} {
		if got := block.Size(c.n, c.cell, c.k, c.stated); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// Blocks that were joined have k persons each, if all have together, and no cut is new.
func TestJoinShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := rapid.SliceOfN(rapid.Uint32Range(0, 6), 1, 60).Draw(t, "persons")
		bounds := []int64{0}
		for at := int64(0); at < int64(len(of)); {
			at = min(int64(len(of)), at+rapid.Int64Range(1, 20).Draw(t, "size"))
			bounds = append(bounds, at)
		}
		k := rapid.IntRange(1, 4).Draw(t, "k")
		joined, err := block.JoinShort(bounds, k, func(from, to int64) ([]uint32, error) { return of[from:to], nil })
		if err != nil {
			t.Fatal(err)
		}
		if joined[0] != 0 || joined[len(joined)-1] != int64(len(of)) {
			t.Fatalf("%v do not hold all of %v", joined, bounds)
		}
		for i, at := range joined {
			if !slices.Contains(bounds, at) || i > 0 && joined[i-1] >= at {
				t.Fatalf("%v of %v", joined, bounds)
			}
			if i > 0 && persons.Count(of) >= k && persons.Count(of[joined[i-1]:at]) < k {
				t.Fatalf("a block of %d persons, k = %d", persons.Count(of[joined[i-1]:at]), k)
			}
		}
	})
	failed := errors.New("cannot be read")
	if _, err := block.JoinShort([]int64{0, 1}, 1, func(int64, int64) ([]uint32, error) { return nil, failed }); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}
