package space

import (
	"cmp"
	"slices"
)

// leafSize is the number of records below which a node of the tree is not cut
// any further: a scan of that many costs about as much as going on.
const leafSize = 40

// tree is a k-d tree over a space: records in an order in which near ones
// stand together, and nested runs of that order with their bounding boxes.
type tree struct {
	s      *Space
	points *Points
	nodes  []node
	leaf   []int32 // the leaf of each position
	lo, hi [][]float64
	code   [][]uint32 // one per node: the code that all share, or mixed
}

const mixed = ^uint32(0)

type node struct {
	from, to    int32 // positions
	left, right int32 // -1 for a leaf
}

func newTree(s *Space) *tree {
	ids := make([]int32, s.n)
	for i := range ids {
		ids[i] = int32(i)
	}
	t := &tree{s: s}
	t.build(ids, 0)
	t.points = s.NewPoints(ids)
	t.leaf = make([]int32, s.n)
	for k, nd := range t.nodes {
		if nd.left < 0 {
			for p := nd.from; p < nd.to; p++ {
				t.leaf[p] = int32(k)
			}
		}
	}
	return t
}

// build makes the node of ids, which start at position from, and returns its
// number. It cuts the axis of the largest sum of squares: numbers at the
// median, codes between the most frequent one and the rest.
func (t *tree) build(ids []int32, from int32) int32 {
	me := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{from: from, to: from + int32(len(ids)), left: -1, right: -1})
	lo, hi, codes := t.box(ids)
	t.lo, t.hi, t.code = append(t.lo, lo), append(t.hi, hi), append(t.code, codes)
	if len(ids) <= leafSize {
		return me
	}
	cut := t.cut(ids, lo, hi, codes)
	if cut == 0 {
		return me
	}
	left := t.build(ids[:cut], from)
	right := t.build(ids[cut:], from+int32(cut))
	t.nodes[me].left, t.nodes[me].right = left, right
	return me
}

func (t *tree) box(ids []int32) (lo, hi []float64, codes []uint32) {
	for _, x := range t.s.numbers {
		l, h := x[ids[0]], x[ids[0]]
		for _, i := range ids[1:] {
			l, h = min(l, x[i]), max(h, x[i])
		}
		lo, hi = append(lo, l), append(hi, h)
	}
	for a := range t.s.words {
		c := t.s.words[a].Codes
		code := c[ids[0]]
		for _, i := range ids[1:] {
			if c[i] != code {
				code = mixed
				break
			}
		}
		codes = append(codes, code)
	}
	return lo, hi, codes
}

// cut reorders ids and returns where to cut, 0 when all are equal.
func (t *tree) cut(ids []int32, lo, hi []float64, codes []uint32) int {
	best, axis := 0.0, -1
	m := float64(len(ids))
	for a, x := range t.s.numbers {
		if lo[a] == hi[a] {
			continue
		}
		var sum, squares float64
		for _, i := range ids {
			v := x[i] - lo[a]
			sum += v
			squares += v * v
		}
		if spread := squares - sum*sum/m; spread > best {
			best, axis = spread, a
		}
	}
	frequent := uint32(0)
	for a := range t.s.words {
		w := &t.s.words[a]
		if codes[a] != mixed || w.Weight == 0 {
			continue
		}
		code, most, squares := mostFrequent(w.Codes, ids)
		if spread := w.Weight / 2 * (m - squares/m); spread > best {
			best, axis, frequent = spread, len(t.s.numbers)+a, code
		}
		_ = most
	}
	switch {
	case axis < 0:
		return 0
	case axis >= len(t.s.numbers):
		c := t.s.words[axis-len(t.s.numbers)].Codes
		return split(ids, func(i int32) bool { return c[i] == frequent })
	}
	x := t.s.numbers[axis]
	slices.SortFunc(ids, func(i, j int32) int { return cmp.Compare(x[i], x[j]) })
	// The cut between different values that is nearest to the middle.
	at, far := 0, len(ids)
	for p := 1; p < len(ids); p++ {
		if d := max(p-len(ids)/2, len(ids)/2-p); x[ids[p-1]] != x[ids[p]] && d < far {
			at, far = p, d
		}
	}
	return at
}

// split moves the records that belong left to the front, in stable order.
func split(ids []int32, belongs func(int32) bool) int {
	var right []int32
	at := 0
	for _, i := range ids {
		if belongs(i) {
			ids[at] = i
			at++
		} else {
			right = append(right, i)
		}
	}
	copy(ids[at:], right)
	return at
}

// mostFrequent returns the code that most of ids have (the smallest of several)
// and the sum of the squared counts of all.
func mostFrequent(codes []uint32, ids []int32) (code uint32, most int, squares float64) {
	count := map[uint32]int{}
	for _, i := range ids {
		count[codes[i]]++
	}
	for c, m := range count {
		squares += float64(m) * float64(m)
		if m > most || m == most && c < code {
			code, most = c, m
		}
	}
	return code, most, squares
}

// bound is a lower bound of the squared distance of record i to a node's box.
func (t *tree) bound(i int32, k int32) float64 {
	var d float64
	lo, hi := t.lo[k], t.hi[k]
	for a, x := range t.s.numbers {
		if v := x[i]; v < lo[a] {
			d += (lo[a] - v) * (lo[a] - v)
		} else if v > hi[a] {
			d += (v - hi[a]) * (v - hi[a])
		}
	}
	for a, code := range t.code[k] {
		if w := &t.s.words[a]; code != mixed && code != w.Codes[i] {
			d += w.Weight
		}
	}
	return d
}
