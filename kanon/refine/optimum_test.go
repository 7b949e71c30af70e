package refine_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kanon/refine"
	"github.com/noren-privacy/noren/kanon/space"
)

// optimum is the least sum of squared errors of all k-partitions of the space,
// each of which it looks at.
func optimum(s *space.Space, k int) float64 {
	n := s.Len()
	best := math.Inf(1)
	p := space.Partition{Group: make([]uint32, n)}
	sizes := make([]int, n)
	var place func(i, short int)
	place = func(i, short int) {
		if short > n-i {
			return // some group can no more be filled
		}
		if i == n {
			best = min(best, sse(s, p))
			return
		}
		for g := range p.Groups + 1 {
			opened := g == p.Groups
			lacks := short
			switch {
			case opened:
				p.Groups++
				lacks += k - 1
			case sizes[g] < k:
				lacks--
			}
			p.Group[i] = uint32(g)
			sizes[g]++
			place(i+1, lacks)
			sizes[g]--
			if opened {
				p.Groups--
			}
		}
	}
	place(0, 0)
	return best
}

func TestOptimumIsTheLeast(t *testing.T) {
	s, err := space.New(7, [][]float64{{0, 1, 2, 10, 11, 30, 31}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int]float64{
		1: 0,
		2: 2 + 0.5 + 0.5,                                                 // 0 1 2 | 10 11 | 30 31
		3: 3.25*3.25 + 2.25*2.25 + 1.25*1.25 + 6.75*6.75 + 169 + 36 + 49, // 0 1 2 10 | 11 30 31
	} {
		if got := optimum(s, k); !close(got, want) {
			t.Errorf("k = %d: %v, want %v", k, got, want)
		}
	}
}

// On tables of nine records or fewer the search finds the best partition there
// is, from any start.
func TestSearchReachesTheOptimum(t *testing.T) {
	randtest.SkipShort(t)
	rng := rand.New(rand.NewPCG(3, 4))
	descents := 0
	const cases = 60
	for range cases {
		k := 2 + rng.IntN(2)
		n := 2*k + rng.IntN(10-2*k)
		s := randomMixed(rng, n)
		start := space.Partition{Group: make([]uint32, n), Groups: n / k}
		for at, i := range rng.Perm(n) {
			start.Group[i] = uint32(min(at/k, start.Groups-1))
		}
		want := optimum(s, k)
		_, fast := refined(t, s, start, refine.Options{K: k, Effort: refine.Fast})
		_, long := refined(t, s, start, refine.Options{
			K: k, Effort: refine.Effort{Descend: true, Duration: 10 * time.Millisecond},
			Seed: rng.Uint64(),
		})
		if fast.After < want-1e-9 || !close(long.After, want) {
			t.Errorf("%d records, k = %d: %v after a descent, %v after a search, the optimum is %v", n, k, fast.After, long.After, want)
		}
		if close(fast.After, want) {
			descents++
		}
	}
	// A descent alone may end beside it, but not often.
	if descents < cases*2/3 {
		t.Errorf("%d of %d descents reached the optimum", descents, cases)
	}
	t.Logf("%d of %d descents reached the optimum", descents, cases)
}

func randomMixed(rng *rand.Rand, n int) *space.Space {
	numbers := [][]float64{make([]float64, n), make([]float64, n)}
	word := space.Categorical{Codes: make([]uint32, n), Cardinality: 3, Weight: 0.25}
	for i := range n {
		numbers[0][i], numbers[1][i] = rng.Float64(), float64(rng.IntN(4))/4
		word.Codes[i] = uint32(rng.IntN(3))
	}
	s, err := space.New(n, numbers, []space.Categorical{word})
	if err != nil {
		panic(err)
	}
	return s
}
