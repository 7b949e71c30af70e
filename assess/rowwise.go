package assess

import (
	"maps"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/table"
)

// rowwise compares tables whose rows correspond.
type rowwise struct {
	classes Classes  // of the release
	x, y    []uint32 // scratch: value numbers of a column
}

func newRowwise(original, release *table.Table) (*rowwise, error) {
	// The classes over the columns that are compared, in the release's form.
	shared := &table.Table{Rows: release.Rows}
	for _, c := range original.Columns {
		if r := release.Column(c.Field.Name); r != nil {
			shared.Columns = append(shared.Columns, r)
		}
	}
	classes, err := Classify(shared)
	if err != nil {
		return nil, err
	}
	return &rowwise{classes: classes[0], x: make([]uint32, release.Rows), y: make([]uint32, release.Rows)}, nil
}

// numberPenalty is the NCP of published single values: the width of the
// original values within each class of the release, over the column's. A value
// that is withheld counts 1.
func (w *rowwise) numberPenalty(x, y *numbers, width float64) float64 {
	if width <= 0 {
		return 0
	}
	lo := make([]float64, len(w.classes.Size))
	hi := make([]float64, len(w.classes.Size))
	for c := range lo {
		lo[c], hi[c] = math.Inf(1), math.Inf(-1)
	}
	for i, here := range x.present {
		if here {
			c := w.classes.Of[i]
			lo[c], hi[c] = min(lo[c], x.lo[i]), max(hi[c], x.lo[i])
		}
	}
	sum := 0.0
	for i, c := range w.classes.Of {
		switch {
		case !y.present[i]:
			if x.present[i] {
				sum++
			}
		case hi[c] > lo[c]:
			sum += (hi[c] - lo[c]) / width
		}
	}
	return sum / float64(max(1, len(x.present)))
}

// category fills in what is exact with corresponding rows.
func (w *rowwise) category(o, c *table.Column, k *CategoryColumn) {
	changed := 0
	same := map[uint32]uint32{} // code of the release -> code of the original + 1
	code := map[string]uint32{}
	for id, word := range o.Dict {
		code[word] = uint32(id) + 1
	}
	for id, word := range c.Dict {
		same[uint32(id)] = code[word]
	}
	for i := range o.Len() {
		gone, hidden := o.IsMissing(i), c.IsMissing(i)
		if gone != hidden || !gone && same[c.Codes[i]] != o.Codes[i]+1 {
			changed++
		}
	}
	n := float64(max(1, o.Len()))
	k.Changed = exact(float64(changed) / n)
	k.EntropyLoss = w.entropyLoss(o, c)
	if k.NCP.Value != nil || k.New > 0 {
		return
	}
	// Single values: what a class of the release holds is the set.
	type pair struct{ class, value uint32 }
	seen := map[pair]struct{}{}
	distinct := make([]int, len(w.classes.Size))
	for i, class := range w.classes.Of {
		if o.IsMissing(i) {
			continue
		}
		p := pair{class, o.Codes[i]}
		if _, known := seen[p]; !known {
			seen[p] = struct{}{}
			distinct[class]++
		}
	}
	sum, all := 0.0, float64(max(1, domain(o)))
	for i, class := range w.classes.Of {
		switch {
		case c.IsMissing(i):
			if !o.IsMissing(i) {
				sum++
			}
		case distinct[class] > 1:
			sum += float64(distinct[class]) / all
		}
	}
	k.NCP = exact(sum / n)
}

// entropyLoss is H(original | release) / H(original) of the joint frequencies;
// a missing value is a value of its own.
func (w *rowwise) entropyLoss(o, c *table.Column) Figure {
	values, err := numberValues([]*table.Column{o}, w.x)
	if err != nil {
		return noFigure(noren.TextOf(err))
	}
	published, err := numberValues([]*table.Column{c}, w.y)
	if err != nil {
		return noFigure(noren.TextOf(err))
	}
	n := float64(len(w.x))
	countX, countY := make([]float64, values), make([]float64, published)
	joint := map[uint64]float64{}
	for i, x := range w.x {
		countX[x]++
		countY[w.y[i]]++
		joint[uint64(x)<<32|uint64(w.y[i])]++
	}
	entropy := func(counts []float64) float64 {
		h := 0.0
		for _, k := range counts {
			if k > 0 {
				h -= k / n * math.Log2(k/n)
			}
		}
		return h
	}
	all, given := entropy(countX), entropy(countY)
	if all == 0 {
		return exact(0)
	}
	// Sorted sums would not be needed for accuracy, but a map's order changes
	// from run to run and with it the last digit: count equal terms instead.
	times := map[float64]float64{}
	for _, k := range joint {
		times[k]++
	}
	both := 0.0
	for _, k := range sortedKeys(times) {
		both -= times[k] * k / n * math.Log2(k/n)
	}
	return exact(clamp((both-given)/all, 1))
}

func sortedKeys(m map[float64]float64) []float64 { return slices.Sorted(maps.Keys(m)) }
