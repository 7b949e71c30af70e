package partition

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/noren-privacy/noren/kanon/space"
)

// CellTree cuts a space into cells along its axes, by what a sample of its
// records says: each node asks one axis, numbers against a bound, codes against
// a set, so that every record finds its cell alone ([CellTree.Route]).
//
// It is made for what comes after, small groups inside each cell: it cuts the
// axis that has the largest sum of squares, and counts of a category only what
// a cut can spare the groups. Two records with different codes are best apart
// anyway, so that a cut between codes that are frequent enough for groups of
// their own costs nothing, whereas one through a number parts neighbours. Codes
// too rare for that are neighbours in all but name, and no reason to cut.
type CellTree struct {
	nodes []cellNode
	cells int
}

type cellNode struct {
	axis        int // numeric axes first, then the categorical ones; -1 for a cell
	cell        uint32
	at          float64 // numbers below it go left
	from, upTo  uint32  // codes of this range go left
	left, right int32
}

// NewCellTree cuts the sample s, taken out of n records, into cells that stand
// for at least least of them; a code of a category is frequent from common
// records on.
func NewCellTree(ctx context.Context, s *space.Space, n, least, common int) (*CellTree, error) {
	share := float64(s.Len()) / float64(max(n, 1))
	b := &cellTreeBuilder{
		ctx: ctx, s: s, t: &CellTree{}, common: share * float64(common),
		least: max(1, int(share*float64(least))),
	}
	b.forks = treeForks
	ids := make([]int32, s.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	if _, err := b.grow(ids); err != nil {
		return nil, err
	}
	return b.t, nil
}

const (
	// treeForks is on how many levels both sides of a cut grow at once.
	treeForks = 3
	// forkLeast is the least number of records of the sample that this is worth.
	forkLeast = 1 << 14
)

// cellSample is the most records that a [CellTree] is made by.
const cellSample = 1 << 20

// SampleRecords picks the records of n that a [CellTree] is made by: all where
// they are not too many, otherwise one out of every so many, at a place that
// changes from one to the next.
func SampleRecords(n int) []uint32 {
	m := uint64(min(n, cellSample))
	out := make([]uint32, m)
	for i := range out {
		out[i] = uint32(sampled(uint64(i), uint64(n), m))
	}
	return out
}

// sampled is record i of the m that are picked of n.
func sampled(i, n, m uint64) uint64 {
	lo, hi := i*n/m, (i+1)*n/m
	// splitmix64 (Steele, Lea, Flood 2014)
	z := (i + 1) * 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return lo + (z^z>>31)%(hi-lo)
}

// SampleMost is the largest number of records that [SampleRange] samples.
const SampleMost = 1 << 43

// SampleRange is those of the records that [SampleRecords] picks of n, at most
// [SampleMost], that lie in from..to-1.
func SampleRange(n, from, to int64) []int64 {
	if n <= 0 || from >= to {
		return nil
	}
	m := uint64(min(n, cellSample))
	var out []int64
	for i := max(0, uint64(from)*m/uint64(n)); i < m && i*uint64(n)/m < uint64(to); i++ {
		if r := int64(sampled(i, uint64(n), m)); r >= from && r < to {
			out = append(out, r)
		}
	}
	return out
}

// Bounds divides the records, in the order of their cells and in a cell in any
// order that is kept, into pieces of least records or more, as counts tells the
// cells' true sizes: piece p has the places bounds[p] to bounds[p+1]. What the
// sample did not foresee is mended: small cells go with the next, and what is
// far too large, as it is of records that no axis tells apart, is divided by
// order alone.
func Bounds(counts []int64, least int) []int64 {
	bounds := []int64{0}
	var from, to int64
	end := func() {
		size := to - from
		parts := int64(1)
		if size >= 4*int64(least) {
			parts = size / (2 * int64(least))
		}
		for p := int64(1); p <= parts; p++ {
			bounds = append(bounds, from+p*size/parts)
		}
		from = to
	}
	var left int64
	for _, n := range counts {
		left += n
	}
	for _, n := range counts {
		to, left = to+n, left-n
		if to-from >= int64(least) && (left == 0 || left >= int64(least)) {
			end()
		}
	}
	if to > from {
		end()
	}
	return bounds
}

// cellTreeBuilder grows a tree over a sample.
type cellTreeBuilder struct {
	ctx    context.Context
	s      *space.Space
	t      *CellTree
	least  int     // records of the sample that a cell has at least
	common float64 // records of the sample from which on a code counts
	forks  int     // levels on which both sides grow at once
	buf    []float64
	right  []int32
	found  []codeCount
	place  []int32 // of each code in found, plus 1
}

// Cells is the number of cells.
func (t *CellTree) Cells() int { return t.cells }

// routeLeast is the least number of records that a goroutine finds the cells of.
const routeLeast = 1 << 12

// Route tells the cell of each record of s, a space with the axes of the
// sample, by some workers; none means one a processor.
func (t *CellTree) Route(s *space.Space, cells []uint32, workers int) {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, len(cells)/routeLeast))
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { t.route(s, cells, len(cells)*w/workers, len(cells)*(w+1)/workers) })
	}
	t.route(s, cells, 0, len(cells)/workers)
	wg.Wait()
}

// route tells the cells of the records from..to-1.
func (t *CellTree) route(s *space.Space, cells []uint32, from, to int) {
	numbers, words := s.Numbers(), s.Words()
	for i := from; i < to; i++ {
		nd := &t.nodes[0]
		for nd.axis >= 0 {
			if nd.goesLeft(numbers, words, int32(i)) {
				nd = &t.nodes[nd.left]
			} else {
				nd = &t.nodes[nd.right]
			}
		}
		cells[i] = nd.cell
	}
}

func (nd *cellNode) goesLeft(numbers [][]float64, words []space.Categorical, i int32) bool {
	if nd.axis < len(numbers) {
		return numbers[nd.axis][i] < nd.at
	}
	code := words[nd.axis-len(numbers)].Codes[i]
	return nd.from <= code && code <= nd.upTo
}

// grow makes the node of ids, which it reorders.
func (b *cellTreeBuilder) grow(ids []int32) (int32, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	me := int32(len(b.t.nodes))
	b.t.nodes = append(b.t.nodes, cellNode{axis: -1})
	cut, ok := b.choose(ids)
	if !ok {
		b.t.nodes[me].cell = uint32(b.t.cells)
		b.t.cells++
		return me, nil
	}
	at := b.split(ids, &cut)
	var err error
	if b.forks > 0 && len(ids) >= forkLeast {
		if cut.left, cut.right, err = b.fork(ids[:at], ids[at:]); err != nil {
			return 0, err
		}
		b.t.nodes[me] = cut
		return me, nil
	}
	if cut.left, err = b.grow(ids[:at]); err != nil {
		return 0, err
	}
	if cut.right, err = b.grow(ids[at:]); err != nil {
		return 0, err
	}
	b.t.nodes[me] = cut
	return me, nil
}

// fork grows both sides of a cut at once. The nodes and cells of the right one are numbered
// behind those of the left, as if they had grown one after the other.
func (b *cellTreeBuilder) fork(ids, rest []int32) (left, right int32, err error) {
	forks := b.forks
	b.forks--
	other := &cellTreeBuilder{ctx: b.ctx, s: b.s, t: &CellTree{}, least: b.least, common: b.common, forks: b.forks}
	var failed error
	var wg sync.WaitGroup
	wg.Go(func() { _, failed = other.grow(rest) })
	left, err = b.grow(ids)
	wg.Wait()
	b.forks = forks
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, 0, err
	}
	right = int32(len(b.t.nodes))
	for _, nd := range other.t.nodes {
		if nd.axis >= 0 {
			nd.left, nd.right = nd.left+right, nd.right+right
		} else {
			nd.cell += uint32(b.t.cells)
		}
		b.t.nodes = append(b.t.nodes, nd)
	}
	b.t.cells += other.t.cells
	return left, right, nil
}

// split moves the records that go left to the front and returns their number.
func (b *cellTreeBuilder) split(ids []int32, cut *cellNode) int {
	numbers, words := b.s.Numbers(), b.s.Words()
	b.right = b.right[:0]
	at := 0
	for _, i := range ids {
		if cut.goesLeft(numbers, words, i) {
			ids[at] = i
			at++
		} else {
			b.right = append(b.right, i)
		}
	}
	copy(ids[at:], b.right)
	return at
}

// choose takes the axis of the largest sum of squares that allows a cut. A
// large node that allows none, as almost all of it is equal, is cut into unequal
// parts.
func (b *cellTreeBuilder) choose(ids []int32) (cellNode, bool) {
	if len(ids) < 2*b.least {
		return cellNode{}, false
	}
	spread := b.spreads(ids)
	order := make([]int, 0, len(spread))
	for a, v := range spread {
		if v > 0 {
			order = append(order, a)
		}
	}
	slices.SortStableFunc(order, func(a, c int) int { return cmp.Compare(spread[c], spread[a]) })
	for least := b.least; ; least = max(1, least/8) {
		for _, a := range order {
			if cut, ok := b.cut(a, ids, least); ok {
				return cut, true
			}
		}
		if len(ids) < 4*b.least || least == 1 {
			return cellNode{}, false
		}
	}
}

// spreads are the sums of squares of all axes, in categories over frequent
// codes alone.
func (b *cellTreeBuilder) spreads(ids []int32) []float64 {
	numbers, words := b.s.Numbers(), b.s.Words()
	spread := make([]float64, len(numbers)+len(words))
	for a, x := range numbers {
		spread[a] = spreadOf(x, ids)
	}
	for a := range words {
		w := &words[a]
		var present, squares float64
		several := -1
		for _, c := range b.counts(w, ids) {
			if f := float64(c.n); f >= b.common {
				present += f
				squares += f * f
				several++
			}
		}
		if several > 0 {
			spread[len(numbers)+a] = w.Weight / 2 * (present - squares/present)
		}
	}
	return spread
}

// spreadOf is a sum of squares in whole steps of a 2^-16 of the span: such sums
// are exact, so that the order of the records cannot turn a choice.
func spreadOf(x []float64, ids []int32) float64 {
	lo, hi := x[ids[0]], x[ids[0]]
	for _, i := range ids[1:] {
		lo, hi = min(lo, x[i]), max(hi, x[i])
	}
	if lo == hi {
		return 0
	}
	const steps = 1 << 16
	step := (hi - lo) / steps
	var sum, squares uint64
	for _, i := range ids {
		v := uint64((x[i] - lo) / step)
		sum += v
		squares += v * v
	}
	mean := float64(sum) / float64(len(ids))
	return step * step * (float64(squares) - mean*float64(sum))
}

// codeCount is how many records have a code.
type codeCount struct {
	code uint32
	n    int
}

// counts counts the codes that occur, in their order.
func (b *cellTreeBuilder) counts(w *space.Categorical, ids []int32) []codeCount {
	if len(b.place) < w.Cardinality {
		b.place = make([]int32, w.Cardinality)
	}
	found := b.found[:0]
	for _, i := range ids {
		code := w.Codes[i]
		if b.place[code] == 0 {
			found = append(found, codeCount{code: code})
			b.place[code] = int32(len(found))
		}
		found[b.place[code]-1].n++
	}
	for _, c := range found {
		b.place[c.code] = 0
	}
	slices.SortFunc(found, func(c, d codeCount) int { return cmp.Compare(c.code, d.code) })
	b.found = found
	return found
}

// cut cuts an axis into sides of least records or more, as equal as can be.
func (b *cellTreeBuilder) cut(a int, ids []int32, least int) (cellNode, bool) {
	if a < len(b.s.Numbers()) {
		return b.cutNumbers(a, ids, least)
	}
	return b.cutCodes(a, ids, least)
}

// cutNumbers cuts between the two different values nearest to the middle.
func (b *cellTreeBuilder) cutNumbers(a int, ids []int32, least int) (cellNode, bool) {
	x := b.s.Numbers()[a]
	sorted := b.buf[:0]
	for _, i := range ids {
		sorted = append(sorted, x[i])
	}
	b.buf = sorted
	slices.Sort(sorted)
	n := len(sorted)
	allowed := func(left int) bool {
		return left >= least && n-left >= least && sorted[left-1] != sorted[left]
	}
	for d := 0; d <= n/2+1-least; d++ {
		for _, left := range [2]int{n/2 - d, n/2 + d} {
			if allowed(left) {
				return cellNode{axis: a, at: sorted[left]}, true
			}
		}
	}
	return cellNode{}, false
}

// cutCodes parts one code from the others, or the lower codes from the higher,
// whichever is nearer to the middle.
func (b *cellTreeBuilder) cutCodes(a int, ids []int32, least int) (cellNode, bool) {
	w := &b.s.Words()[a-len(b.s.Numbers())]
	n := len(ids)
	best := n + 1
	out := cellNode{axis: a}
	below := 0
	for _, c := range b.counts(w, ids) {
		for _, side := range [2]struct {
			from uint32
			left int
		}{{0, below + c.n}, {c.code, c.n}} {
			far := max(2*side.left-n, n-2*side.left)
			if side.left >= least && n-side.left >= least && far < best {
				best, out.from, out.upTo = far, side.from, c.code
			}
		}
		below += c.n
	}
	return out, best <= n
}
