package partition

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/kanon/space"
)

// The farthest record by bounds is the farthest of all that are measured, the lowest of
// several, while records are taken and the centre moves.
func TestFarthestIsFarthest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		x, codes := make([]float64, n), make([]uint32, n)
		seed := rapid.IntRange(0, 1000).Draw(t, "seed")
		for i := range n {
			x[i] = float64((seed+i*i*7)%23) / 23
			codes[i] = uint32((seed + i*5) % 3)
		}
		s, err := space.New(n, [][]float64{x}, []space.Categorical{{Codes: codes, Cardinality: 3, Weight: .5}})
		if err != nil {
			t.Fatal(err)
		}
		p, centre := newPool(s), s.NewCentroid()
		for i := range n {
			centre.Add(int32(i))
		}
		for p.left > 0 {
			var m space.Meter
			p.points.Meter(&m, centre)
			want, far := int32(-1), -1.0
			for at, id := range p.points.ID {
				if d := p.points.Measure(&m, at); !p.gone[id] && (d > far || d == far && id < want) {
					want, far = id, d
				}
			}
			if got := p.farthest(centre); got != want {
				t.Fatalf("%d records left: record %d, want %d", p.left, got, want)
			}
			for range rapid.IntRange(1, min(9, p.left)).Draw(t, "taken") {
				id := int32(rapid.IntRange(0, n-1).Draw(t, "id"))
				for p.gone[id] {
					id = (id + 1) % int32(n)
				}
				centre.Remove(id)
				p.take(id)
			}
		}
	})
}
