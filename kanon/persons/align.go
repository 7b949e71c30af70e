package persons

import (
	"cmp"
	"math"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// mostClasses is how many classes the records of a group of persons are divided
// into at a time.
const mostClasses = 64

// divide divides records, given person by person, into classes with a record of
// each person: by a cut along an axis while there are many, then around the
// records of the person who has the fewest.
func (l *linking) divide(lists [][]int32) [][]int32 {
	fewest := 0
	for n := range lists {
		if len(lists[n]) < len(lists[fewest]) {
			fewest = n
		}
	}
	if len(lists[fewest]) > mostClasses {
		if left, right := l.cut(lists); left != nil {
			return append(l.divide(left), l.divide(right)...)
		}
	}
	if len(lists[fewest]) == 1 {
		return [][]int32{slices.Concat(lists...)}
	}
	seeds := lists[fewest][:min(len(lists[fewest]), mostClasses)]
	centres := make([]*space.Centroid, len(seeds))
	for c, i := range seeds {
		centres[c] = l.s.NewCentroid()
		centres[c].Add(i)
	}
	var best [][]int32
	least := math.Inf(1)
	for range 4 {
		classes := make([][]int32, len(centres))
		for _, list := range lists {
			l.assign(list, centres, classes)
		}
		centres = l.centres(classes)
		sse := 0.0
		for c, class := range classes {
			for _, i := range class {
				sse += centres[c].Distance2(i)
			}
		}
		if sse >= least {
			break
		}
		best, least = classes, sse
	}
	return best
}

// assign gives every class one of a person's records, the nearest pairs first,
// and the others of them to the nearest class.
func (l *linking) assign(list []int32, centres []*space.Centroid, classes [][]int32) {
	type pair struct {
		d    float64
		i, c int32
	}
	pairs := make([]pair, 0, len(list)*len(centres))
	for n, i := range list {
		for c, centre := range centres {
			pairs = append(pairs, pair{centre.Distance2(i), int32(n), int32(c)})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.i, b.i), cmp.Compare(a.c, b.c))
	})
	used, served := make([]bool, len(list)), make([]bool, len(centres))
	left := len(centres)
	for _, p := range pairs {
		if left == 0 {
			break
		}
		if !used[p.i] && !served[p.c] {
			used[p.i], served[p.c] = true, true
			classes[p.c] = append(classes[p.c], list[p.i])
			left--
		}
	}
	for n, i := range list {
		if !used[n] {
			c := nearestOf(centres, i)
			classes[c] = append(classes[c], i)
		}
	}
}

// cut cuts the records of all persons at one value of an axis, the one on which
// they spread most of those that leave each person records on both sides; nil
// where there is none.
func (l *linking) cut(lists [][]int32) (left, right [][]int32) {
	m := &mending{s: l.s}
	all := slices.Concat(lists...)
	for _, value := range m.axes(all) {
		// Between the largest of the persons' least values and the least of
		// their largest: nearest to the middle of all.
		lo, hi := math.Inf(-1), math.Inf(1)
		for _, list := range lists {
			low, high := math.Inf(1), math.Inf(-1)
			for _, i := range list {
				low, high = min(low, value(i)), max(high, value(i))
			}
			lo, hi = max(lo, low), min(hi, high)
		}
		if lo >= hi {
			continue
		}
		values := make([]float64, len(all))
		for n, i := range all {
			values[n] = value(i)
		}
		slices.Sort(values)
		// Records of at most at go left: lo <= at < hi.
		at := values[len(values)/2]
		if at >= hi {
			n, _ := slices.BinarySearch(values, hi)
			at = values[n-1]
		}
		at = max(at, lo)
		left, right = make([][]int32, len(lists)), make([][]int32, len(lists))
		for n, list := range lists {
			for _, i := range list {
				if value(i) <= at {
					left[n] = append(left[n], i)
				} else {
					right[n] = append(right[n], i)
				}
			}
		}
		return left, right
	}
	return nil, nil
}
