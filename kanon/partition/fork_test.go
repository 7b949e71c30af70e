package partition

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/noren-privacy/noren/kanon/space"
)

// A tree whose sides grow at once is the tree whose sides grow one after the other, and
// records find the same cells by several workers.
func TestForksChangeNothing(t *testing.T) {
	const n = 5 * forkLeast
	rng := rand.New(rand.NewPCG(5, 6))
	numbers := [][]float64{make([]float64, n), make([]float64, n)}
	words := []space.Categorical{{Codes: make([]uint32, n), Cardinality: 7, Weight: 1}}
	for i := range n {
		numbers[0][i], numbers[1][i] = rng.Float64(), float64(rng.IntN(30))/30
		words[0].Codes[i] = uint32(rng.IntN(7) * rng.IntN(2))
	}
	s, err := space.New(n, numbers, words)
	if err != nil {
		t.Fatal(err)
	}
	grown := func(forks int) *CellTree {
		b := &cellTreeBuilder{ctx: context.Background(), s: s, t: &CellTree{}, common: 100, least: 50, forks: forks}
		ids := make([]int32, n)
		for i := range ids {
			ids[i] = int32(i)
		}
		if _, err := b.grow(ids); err != nil {
			t.Fatal(err)
		}
		return b.t
	}
	want := grown(0)
	if want.cells < 500 {
		t.Fatalf("%d cells are too few for a test", want.cells)
	}
	for forks := 1; forks <= treeForks; forks++ {
		if got := grown(forks); got.cells != want.cells || !slices.Equal(got.nodes, want.nodes) {
			t.Fatalf("%d levels of forks: %d cells and %d nodes, want %d and %d", forks, got.cells, len(got.nodes), want.cells, len(want.nodes))
		}
	}
	one, several := make([]uint32, n), make([]uint32, n)
	want.Route(s, one, 1)
	want.Route(s, several, 5)
	if !slices.Equal(one, several) {
		t.Fatal("several workers found other cells")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewCellTree(ctx, s, n, 50, 100); err == nil {
		t.Fatal("a tree grew after its context had ended")
	}
}
