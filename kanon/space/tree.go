package space

import (
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
	leaf   []int32   // the leaf of each position
	box    []float64 // of each node, for each numeric axis, the least and the largest value
	code   []uint32  // and for each categorical one the code that all share, or mixed
	sorted []float64 // values at hand, while the tree is built
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
	t.enclose(ids)
	if len(ids) <= leafSize {
		return me
	}
	cut := t.cut(ids, me)
	if cut == 0 {
		return me
	}
	left := t.build(ids[:cut], from)
	right := t.build(ids[cut:], from+int32(cut))
	t.nodes[me].left, t.nodes[me].right = left, right
	return me
}

// enclose makes the box of the next node.
func (t *tree) enclose(ids []int32) {
	for _, x := range t.s.numbers {
		lo, hi := x[ids[0]], x[ids[0]]
		for _, i := range ids[1:] {
			lo, hi = min(lo, x[i]), max(hi, x[i])
		}
		t.box = append(t.box, lo, hi)
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
		t.code = append(t.code, code)
	}
}

// of is the box of node k.
func (t *tree) of(k int32) (box []float64, codes []uint32) {
	n, w := 2*len(t.s.numbers), len(t.s.words)
	return t.box[int(k)*n : int(k+1)*n], t.code[int(k)*w : int(k+1)*w]
}

// cut reorders the ids of node me and returns where to cut, 0 when all are
// equal.
func (t *tree) cut(ids []int32, me int32) int {
	box, codes := t.of(me)
	best, axis := 0.0, -1
	m := float64(len(ids))
	for a, x := range t.s.numbers {
		lo := box[2*a]
		if lo == box[2*a+1] {
			continue
		}
		var sum, squares float64
		for _, i := range ids {
			v := x[i] - lo
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
	sorted := t.sorted[:0]
	for _, i := range ids {
		sorted = append(sorted, x[i])
	}
	t.sorted = sorted
	slices.Sort(sorted)
	// The cut between different values that is nearest to the middle; the lower
	// one of two.
	n := len(sorted)
	for d := range n {
		for _, at := range [2]int{n/2 - d, n/2 + d} {
			if at > 0 && at < n && sorted[at-1] != sorted[at] {
				bound := sorted[at]
				return split(ids, func(i int32) bool { return x[i] < bound })
			}
		}
	}
	return 0
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

// bound is a lower bound of the squared distance of a record, given by its
// numbers and codes, to a node's box.
func (t *tree) bound(numbers []float64, codes []uint32, k int32) float64 {
	box, shared := t.of(k)
	var d float64
	for a, v := range numbers {
		lo, hi := box[2*a], box[2*a+1]
		// One of the two is positive at most.
		out := max(lo-v, v-hi, 0)
		d += out * out
	}
	for a, code := range shared {
		if code != mixed && code != codes[a] {
			d += t.s.words[a].Weight
		}
	}
	return d
}
