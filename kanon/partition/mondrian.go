package partition

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/space"
)

// Cut is where a table, or a cell of it, may be cut.
type Cut uint8

const (
	// Spread makes the cells of the coarse step by a [CellTree], by sums of
	// squares. Mondrian itself does not know it.
	Spread Cut = iota
	// Balanced is Mondrian's: the widest axis is cut between the two different
	// values nearest to the middle that leave k records on both sides.
	Balanced
	// Strict cuts below the upper median, {x < sorted[n/2]}, or not at all:
	// the paper's.
	Strict
)

// mondrianAxis is an axis as Mondrian sees it: values on a line. A category's
// codes are taken in their order, so that the two sides of a cut have no code
// in common. Its width is the number of codes present less one, as that of a
// number is its span, both as a share of the whole table's.
type mondrianAxis struct {
	value func(i int32) float64
	codes bool
	whole float64
}

func mondrianAxes(s *space.Space) []mondrianAxis {
	all := make([]int32, s.Len())
	for i := range all {
		all[i] = int32(i)
	}
	var axes []mondrianAxis
	for _, x := range s.Numbers() {
		axes = append(axes, mondrianAxis{value: func(i int32) float64 { return x[i] }})
	}
	for _, w := range s.Words() {
		axes = append(axes, mondrianAxis{value: func(i int32) float64 { return float64(w.Codes[i]) }, codes: true})
	}
	for a := range axes {
		axes[a].whole = axes[a].extent(all)
	}
	return axes
}

// extent is how far the values of records lie apart, in the axis's own unit.
func (a *mondrianAxis) extent(ids []int32) float64 {
	if a.codes {
		present := map[float64]bool{}
		for _, i := range ids {
			present[a.value(i)] = true
		}
		return float64(len(present) - 1)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, i := range ids {
		v := a.value(i)
		lo, hi = min(lo, v), max(hi, v)
	}
	return hi - lo
}

// width is the extent as a share of the whole table's.
func (a *mondrianAxis) width(ids []int32) float64 {
	if a.whole == 0 {
		return 0
	}
	return a.extent(ids) / a.whole
}

// mondrian is Mondrian (LeFevre et al. 2006): cut the widest axis that allows
// it, ties to the first, and go on in both halves, until no axis does. The
// cells come in the order of the recursion, left before right, records
// ascending in each.
func mondrian(ctx context.Context, s *space.Space, k int, cut Cut, progress noren.Progress) ([][]int32, error) {
	m := &mondrianRun{k: k, cut: cut, axes: mondrianAxes(s), progress: progress, n: s.Len(), sorted: make([]float64, s.Len())}
	all := make([]int32, s.Len())
	for i := range all {
		all[i] = int32(i)
	}
	err := m.divide(ctx, all)
	return m.cells, err
}

type mondrianRun struct {
	k        int
	cut      Cut
	axes     []mondrianAxis
	cells    [][]int32
	progress noren.Progress
	n, done  int
	sorted   []float64
}

func (m *mondrianRun) divide(ctx context.Context, ids []int32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	axis, at := m.choose(ids)
	if axis < 0 {
		m.cells = append(m.cells, ids)
		m.done += len(ids)
		m.progress.Report("partition", int64(m.done), int64(m.n))
		return nil
	}
	a := &m.axes[axis]
	var left, right []int32
	for _, i := range ids {
		if a.value(i) < at {
			left = append(left, i)
		} else {
			right = append(right, i)
		}
	}
	if err := m.divide(ctx, left); err != nil {
		return err
	}
	return m.divide(ctx, right)
}

// choose returns the axis to cut and the least value of its right side; axis
// is -1 when no cut is allowed.
func (m *mondrianRun) choose(ids []int32) (axis int, at float64) {
	if len(ids) < 2*m.k {
		return -1, 0
	}
	order := make([]int, len(m.axes))
	width := make([]float64, len(m.axes))
	for a := range m.axes {
		order[a] = a
		width[a] = m.axes[a].width(ids)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case width[a] > width[b]:
			return -1
		case width[a] < width[b]:
			return 1
		}
		return 0
	})
	for _, a := range order {
		if width[a] == 0 {
			break
		}
		if at, ok := m.allowable(&m.axes[a], ids); ok {
			return a, at
		}
	}
	return -1, 0
}

func (m *mondrianRun) allowable(a *mondrianAxis, ids []int32) (at float64, ok bool) {
	sorted := m.sorted[:0]
	for _, i := range ids {
		sorted = append(sorted, a.value(i))
	}
	slices.Sort(sorted)
	n := len(sorted)
	if m.cut == Strict {
		median := sorted[n/2]
		left, _ := slices.BinarySearch(sorted, median)
		return median, left >= m.k && n-left >= m.k
	}
	best := n + 1
	for left := m.k; left <= n-m.k; left++ {
		// Distances from n/2 in halves, so that an odd n has its true middle.
		d := max(2*left-n, n-2*left)
		if sorted[left-1] != sorted[left] && d < best {
			best, at, ok = d, sorted[left], true
		}
	}
	return at, ok
}
