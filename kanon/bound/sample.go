package bound

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// sampledCell is about how many records a cell of a sample has: enough that
// most groups of a record in it lie in it altogether.
const sampledCell = 2000

// sample returns all records in order when there are no more than most, else
// those of randomly chosen cells, most of them or fewer. Cells come from cutting
// at the median of the widest numeric axis, in standard deviations; where no
// axis is left to cut they are cut by the order of records.
func sample(s *space.Space, k, most int, rng *rand.Rand) []int32 {
	all := seq(s.Len())
	if len(all) <= most {
		return all
	}
	size := max(min(sampledCell, most), 4*k)
	var cells [][]int32
	var cut func(ids []int32)
	cut = func(ids []int32) {
		if len(ids) <= size {
			cells = append(cells, ids)
			return
		}
		var widest []float64
		width := 0.0
		for _, x := range s.Numbers() {
			var sum, squares float64
			for _, i := range ids {
				sum += x[i]
			}
			for _, i := range ids {
				d := x[i] - sum/float64(len(ids))
				squares += d * d
			}
			if squares > width {
				widest, width = x, squares
			}
		}
		if widest != nil {
			slices.SortStableFunc(ids, func(i, j int32) int { return cmp.Compare(widest[i], widest[j]) })
		}
		cut(ids[:len(ids)/2])
		cut(ids[len(ids)/2:])
	}
	cut(all)
	rng.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	var chosen []int32
	for _, c := range cells {
		if len(chosen)+len(c) <= most {
			chosen = append(chosen, c...)
		}
	}
	slices.Sort(chosen)
	return chosen
}
