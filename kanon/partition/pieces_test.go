package partition

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The parts after a removal are the components of a plain search: one of them
// keeps its number, and the others are listed.
func TestPiecesAreComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 300).Draw(t, "n")
		edges := make([][]int32, n)
		join := func(u, v int) {
			edges[u], edges[v] = append(edges[u], int32(v)), append(edges[v], int32(u))
		}
		reach := rapid.SampledFrom([]int{1, 3, 300}).Draw(t, "reach")
		for v := 1; v < n; v++ { // connected, and long where the reach is short
			join(v, rapid.IntRange(max(0, v-reach), v-1).Draw(t, "to"))
		}
		for range rapid.IntRange(0, n/4).Draw(t, "more") {
			u := rapid.IntRange(1, n-1).Draw(t, "u")
			join(u, rapid.IntRange(max(0, u-reach), u-1).Draw(t, "v"))
		}
		c := &cutter{edges: edges, part: make([]int32, n), seen: make([]int32, n)}
		left := n
		for me := int32(0); left > 1; {
			// A connected set of some vertices is removed from the part.
			var in []int32
			for v := range c.part {
				if c.part[v] == me {
					in = append(in, int32(v))
				}
			}
			if len(in) < 2 {
				break
			}
			removed := []int32{rapid.SampledFrom(in).Draw(t, "first")}
			c.parts++
			c.part[removed[0]] = c.parts
			for at := 0; at < len(removed) && len(removed) < min(7, len(in)-1); at++ {
				for _, v := range edges[removed[at]] {
					if c.part[v] == me && len(removed) < min(7, len(in)-1) {
						c.part[v] = c.parts
						removed = append(removed, v)
					}
				}
			}
			before := slices.Clone(c.part)
			pieces := c.pieces(me, removed)
			want := componentsIn(edges, before, me)
			var kept []int32
			for v := range c.part {
				if c.part[v] == me {
					kept = append(kept, int32(v))
				}
				if before[v] != me && c.part[v] != before[v] {
					t.Fatalf("vertex %d is not of the part and was moved", v)
				}
			}
			got := append(slices.Clone(pieces), kept)
			for _, piece := range pieces {
				for _, v := range piece {
					if c.part[v] != c.part[piece[0]] || c.part[v] == me {
						t.Fatalf("a piece is not a part of its own: %v", piece)
					}
				}
			}
			slices.SortFunc(got, slices.Compare)
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("after removing %v: %v, want %v", removed, got, want)
			}
			me = c.part[got[rapid.IntRange(0, len(got)-1).Draw(t, "next")][0]]
			left -= len(removed)
		}
	})
}

// componentsIn are the components of part me, by their lowest vertices.
func componentsIn(edges [][]int32, part []int32, me int32) [][]int32 {
	var all [][]int32
	seen := make([]bool, len(part))
	for v := range part {
		if part[v] != me || seen[v] {
			continue
		}
		seen[v] = true
		c := []int32{int32(v)}
		for at := 0; at < len(c); at++ {
			for _, w := range edges[c[at]] {
				if part[w] == me && !seen[w] {
					seen[w] = true
					c = append(c, w)
				}
			}
		}
		slices.Sort(c)
		all = append(all, c)
	}
	return all
}
