package assess

import (
	"testing"

	"github.com/noren-privacy/noren/table"
)

// No bin of whole numbers goes on beyond the largest value, and all records are counted.
func TestHistogramOfWholeNumbersEndsWithThem(t *testing.T) {
	for _, largest := range []int{1, 6, 39, 40, 97, 100, 109, 110, 1000} {
		n := largest + 1
		x := &numbers{lo: make([]float64, n), present: make([]bool, n)}
		for i := range n {
			x.lo[i], x.present[i] = float64(i), true
		}
		x.hi = x.lo
		h := histogramOf(x, x, x.spread(), &table.Field{Type: table.Integer})
		if first, last := h.Edges[0], h.Edges[len(h.Edges)-1]; first != -0.5 || last != float64(largest)+0.5 {
			t.Errorf("0 to %d: the bins span %v to %v", largest, first, last)
		}
		total := 0.0
		for i, c := range h.Original {
			total += c
			if c != h.Edges[i+1]-h.Edges[i] {
				t.Errorf("0 to %d: bin %d of %v to %v counts %v", largest, i, h.Edges[i], h.Edges[i+1], c)
			}
		}
		if total != float64(n) {
			t.Errorf("0 to %d: %v of %d values are counted", largest, total, n)
		}
	}
}
