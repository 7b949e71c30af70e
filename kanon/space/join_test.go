package space

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Categories of different weights are measured in one pass, with the distances of one
// pass for each to the last bit.
func TestJoinedPacks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for lanes := 1; lanes <= 11; lanes++ {
		const n = 200
		s := &Space{n: n}
		for a := range lanes {
			w := Categorical{Weight: 0.1 + r.Float64(), Cardinality: 3 + r.IntN(250), Codes: make([]uint32, n)}
			if a%5 == 4 {
				w.Cardinality += 300 // two bytes
			}
			for i := range w.Codes {
				w.Codes[i] = uint32(r.IntN(w.Cardinality))
			}
			s.words = append(s.words, w)
		}
		p := s.NewPoints(nil)
		if want := map[int]int{1: 1, 2: 1, 3: 1, 4: 1, 5: 2, 6: 3, 9: 3}[lanes]; want > 0 && len(p.packs) != want {
			t.Errorf("%d lanes are in %d packs, want %d", lanes, len(p.packs), want)
		}
		var target Target
		p.Target(&target, 7)
		got, want := make([]float64, n), make([]float64, n)
		p.Distances2(&target, 0, got)
		for a := range s.words {
			w := &s.words[a]
			for i := range want {
				if w.Codes[i] != w.Codes[7] {
					want[i] += w.Weight
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d lanes: the distances differ", lanes)
		}
	}
}
