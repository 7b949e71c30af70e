package ldp

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The distribution of a score over random hashes is that of all hashes there are.
func TestHashTestIsExact(t *testing.T) {
	g := rand.New(rand.NewPCG(8, 9))
	for _, p := range []struct {
		k, h int
		m    int64
	}{{4, 1, 4}, {4, 2, 3}, {5, 3, 2}, {3, 4, 2}} {
		r, err := NewRappor(Params{K: p.k, H: p.h, M: p.m, P: 0, Q: 1, F: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		counts := newRapporCounts(r)
		for i := range counts.N {
			counts.N[i] = 10
		}
		b, err := newBloomModel(counts, &Map{r: r})
		if err != nil {
			t.Fatal(err)
		}
		score := make([]float64, len(b.y))
		for i := range score {
			score[i] = math.Round(20 * g.NormFloat64()) // whole numbers, which the grid holds
		}
		// All ways in which the hashes of a word fall, each as likely.
		sums := map[float64]float64{0: 1}
		for c := range int(p.m) {
			ways := 1
			for range p.h {
				ways *= p.k
			}
			next := map[float64]float64{}
			for way := range ways {
				mask, rest := uint32(0), way
				for range p.h {
					mask |= 1 << (rest % p.k)
					rest /= p.k
				}
				for s, q := range sums {
					next[s+sumOf(score[c*p.k:(c+1)*p.k], mask)] += q / float64(ways)
				}
			}
			sums = next
		}
		test := newHashTest(b, score, 1) // a level at which nothing is approximated
		mean, square := 0.0, 0.0
		for s, q := range sums {
			mean += q * s
			square += q * s * s
		}
		if math.Abs(test.mean-mean) > 1e-9 || math.Abs(test.sd-math.Sqrt(square-mean*mean)) > 1e-9 {
			t.Errorf("%+v: mean %g and deviation %g, truly %g and %g", p, test.mean, test.sd, mean, math.Sqrt(square-mean*mean))
		}
		for range 50 {
			masks := make([]uint32, p.m)
			observed := 0.0
			for c := range masks {
				for range p.h {
					masks[c] |= 1 << g.IntN(p.k)
				}
				observed += sumOf(score[c*p.k:(c+1)*p.k], masks[c])
			}
			b.masks = [][]uint32{masks}
			want := 0.0
			for s, q := range sums {
				if s >= observed {
					want += q
				}
			}
			// The grid rounds scores: values that are nearly the observed one may change sides.
			slack := 0.0
			for s, q := range sums {
				if math.Abs(s-observed) < 1.5 {
					slack += q
				}
			}
			if got := test.p(0); math.Abs(got-want) > slack+1e-9 {
				t.Errorf("%+v: p = %g, truly %g", p, got, want)
			}
			if bound := math.Exp(test.bound(observed)); observed > mean && bound < want-1e-9 {
				t.Errorf("%+v: the bound %g is below %g", p, bound, want)
			}
		}
	}
}
