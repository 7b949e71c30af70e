package query

import (
	"testing"

	"pgregory.net/rapid"
)

// A tally counts as a plain loop does.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{1, 2, 6, severalCells + 1}).Draw(t, "cells")
		c, want := newTally(n), make([]int64, n)
		for range rapid.IntRange(0, 4).Draw(t, "blocks") {
			cells := rapid.SliceOfN(rapid.Int32Range(-1, int32(n)-1), 0, 23).Draw(t, "block")
			c.count(cells)
			for _, cell := range cells {
				if cell >= 0 {
					want[cell]++
				}
			}
		}
		c.add(n-1, 7)
		want[n-1] += 7
		for cell := range want {
			if c.of(cell) != want[cell] {
				t.Fatalf("cell %d has %d records, want %d", cell, c.of(cell), want[cell])
			}
		}
	})
}
