package space

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Categories add the sum of the weights of those that differ, in lanes of every width;
// where all weights are the same, the weight times their number to the last bit.
func TestLanes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for axes := 1; axes <= 19; axes++ {
		for _, same := range []bool{false, true} {
			const n = 200
			words := make([]Categorical, axes)
			for a := range words {
				w := Categorical{Weight: 0.1 + r.Float64(), Cardinality: 2 + r.IntN(255), Codes: make([]uint32, n)}
				if same {
					w.Weight = 0.7
				}
				if a%5 == 4 {
					w.Cardinality += 300 // two bytes
				}
				if a%9 == 8 {
					w.Cardinality = 1 << 20
				}
				for i := range w.Codes {
					// Often the code of the target or one that differs in one bit.
					w.Codes[i] = uint32(w.Cardinality-1) >> (r.IntN(3) * r.IntN(8))
				}
				words[a] = w
			}
			s, err := New(n, nil, words)
			if err != nil {
				t.Fatal(err)
			}
			lanes := map[uint]int{}
			for _, l := range s.lanes {
				if len(l.axes) > int(64/l.width) {
					t.Errorf("%d axes in lanes of %d bits", len(l.axes), l.width)
				}
				lanes[l.width] += len(l.axes)
			}
			if sum := lanes[8] + lanes[16] + lanes[32]; sum != axes {
				t.Errorf("%d axes have %d lanes", axes, sum)
			}
			p := s.NewPoints(nil)
			var target, again Target
			got := make([]float64, n)
			for from := range int32(20) {
				p.Target(&target, int(from))
				s.Target(&again, from)
				for k, w := range target.words {
					if w != again.words[k] {
						t.Fatalf("record %d is %x as a target of points and %x of the space", from, w, again.words[k])
					}
				}
				p.Distances2(&target, 0, got)
				for i := range got {
					var want float64
					count := 0
					for a := range s.words {
						if w := &s.words[a]; w.Codes[i] != w.Codes[from] {
							want += w.Weight
							count++
						}
					}
					if math.Abs(got[i]-want) > 1e-14*want {
						t.Fatalf("%d axes: %v, want %v", axes, got[i], want)
					}
					if exact := 0.7 * float64(count); same && axes <= 4 && got[i] != exact {
						t.Fatalf("%d axes of one weight, %d differ: %v, want %v", axes, count, got[i], exact)
					}
				}
			}
		}
	}
}
