package bound

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/space"
)

// epsilon is the distance of 1 to the next float64, twice the unit roundoff:
// what is computed in one operation is exact to a factor of 1 ± epsilon/2.
const epsilon = 0x1p-52

// places are the different points of a space, each with the number of records
// there. Points that are alike but for the sign of a zero may count as two,
// which does not change what is computed from them.
type places struct {
	of    []int32 // record -> place
	first []int32 // place -> its lowest record
	count []int32 // place -> its records
}

func newPlaces(s *space.Space) *places {
	n := s.Len()
	hash := make([]uint64, n)
	mix := func(h, v uint64) uint64 {
		h = (h ^ v) * 0x9e3779b97f4a7c15
		return h ^ h>>32
	}
	for _, x := range s.Numbers() {
		for i, v := range x {
			hash[i] = mix(hash[i], math.Float64bits(v))
		}
	}
	for _, w := range s.Words() {
		for i, c := range w.Codes {
			hash[i] = mix(hash[i], uint64(c))
		}
	}
	p := &places{of: make([]int32, n)}
	at := make(map[uint64]int32, n/2)
	for i := range int32(n) {
		place, ok := at[hash[i]]
		if ok && alike(s, p.first[place], i) {
			p.of[i] = place
			p.count[place]++
			continue
		}
		p.of[i] = int32(len(p.first))
		if !ok {
			at[hash[i]] = p.of[i]
		}
		p.first, p.count = append(p.first, i), append(p.count, 1)
	}
	return p
}

func alike(s *space.Space, i, j int32) bool {
	for _, x := range s.Numbers() {
		if x[i] != x[j] {
			return false
		}
	}
	for _, w := range s.Words() {
		if w.Codes[i] != w.Codes[j] {
			return false
		}
	}
	return true
}

// nearSums are, for every place, the sums of the j smallest squared distances
// of a record there to other records, j = 0..reach, none too large.
type nearSums struct {
	reach int
	sum   []float64 // places*(reach+1)
}

func (p *places) nearSums(ctx context.Context, s *space.Space, reach, workers int, progress noren.Progress) (*nearSums, error) {
	reach = min(reach, s.Len()-1)
	sub := s
	if len(p.first) < s.Len() {
		sub = s.Subset(p.first)
	}
	lists, err := sub.NearLists(ctx, reach, space.NearOptions{Ties: space.Cyclic, Workers: workers, Progress: progress})
	if err != nil {
		return nil, err
	}
	deflate := deflation(s)
	out := &nearSums{reach: reach, sum: make([]float64, len(p.first)*(reach+1))}
	for a := range p.first {
		sums := out.of(int32(a))
		j := min(int(p.count[a])-1, reach) // at no distance
		near, d := lists.Of(int32(a))
		for b := 0; j < reach; b++ {
			for range min(int(p.count[near[b]]), reach-j) {
				sums[j+1] = (sums[j] + d[b]*deflate) * (1 - epsilon)
				j++
			}
		}
	}
	return out, nil
}

func (n *nearSums) of(place int32) []float64 {
	at := int(place) * (n.reach + 1)
	return n.sum[at : at+n.reach+1]
}

// price is what a record at a place pays at least in any group of k or
// more: D(k-1)/(2k), where D(q) is the sum of its q smallest squared distances.
func (n *nearSums) price(k int, place int32) float64 {
	return n.of(place)[k-1] / float64(2*k) * (1 - epsilon)
}

// simple is the simple bound, the sum of all these prices.
func (n *nearSums) simple(k int, p *places) float64 {
	var sum float64
	for a, count := range p.count {
		sum += float64(count) * n.price(k, int32(a))
	}
	return sum * (1 - float64(len(p.count)+2)*epsilon)
}

// deflation is the factor that makes a computed squared distance of the space
// one that is not too large: a sum over A axes of terms that are not negative,
// each rounded three times at most, is exact to a factor of
// (1 + epsilon/2)^(A+3), and the product with the factor is rounded once more.
func deflation(s *space.Space) float64 {
	axes := len(s.Numbers()) + len(s.Words())
	return 1 - float64(axes+8)*epsilon
}
