package space

import (
	"math"
	"math/bits"
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
	parent []int32 // of each node, -1 for the first
	middle []float64
	half   []float64 // of each node, for each numeric axis, the middle and half the width
	codes  []uint64  // and for each categorical one the set of its codes, see [tree.bit]
	sorted []float64 // values at hand, while the tree is built
	count  []int32   // likewise
}

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
	t.build(ids, 0, -1)
	t.points = s.NewPoints(ids)
	return t
}

// build makes the node of ids, which start at position from, and returns its
// number. It cuts the axis of the largest sum of squares into halves as equal as can
// be: numbers by value, codes by number.
func (t *tree) build(ids []int32, from, parent int32) int32 {
	me := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{from: from, to: from + int32(len(ids)), left: -1, right: -1})
	t.parent = append(t.parent, parent)
	t.enclose(ids)
	if len(ids) <= leafSize {
		return me
	}
	cut := t.cut(ids, me)
	if cut == 0 {
		return me
	}
	left := t.build(ids[:cut], from, me)
	right := t.build(ids[cut:], from+int32(cut), me)
	t.nodes[me].left, t.nodes[me].right = left, right
	return me
}

// enclose makes the box of the next node. Its half width is rounded up by more than
// what the middle and a distance from it are rounded by.
func (t *tree) enclose(ids []int32) {
	for _, x := range t.s.numbers {
		lo, hi := x[ids[0]], x[ids[0]]
		for _, i := range ids[1:] {
			if v := x[i]; v < lo {
				lo = v
			} else if v > hi {
				hi = v
			}
		}
		middle := lo/2 + hi/2
		half := max(middle-lo, hi-middle)
		t.middle = append(t.middle, middle)
		t.half = append(t.half, half+0x1p-48*(math.Abs(middle)+half))
	}
	for a := range t.s.words {
		w := &t.s.words[a]
		var set uint64
		for _, i := range ids {
			set |= w.bit(w.Codes[i])
		}
		t.codes = append(t.codes, set)
	}
}

// bit is the member of a set of 64 that stands for a code: one for each code where
// they are that few, otherwise one for a range of codes.
func (w *Categorical) bit(code uint32) uint64 {
	return 1 << (uint64(code) * 64 / uint64(max(w.Cardinality, 64)))
}

// cut reorders the ids of node me and returns where to cut, 0 when all are
// equal.
func (t *tree) cut(ids []int32, me int32) int {
	numbers := len(t.s.numbers)
	best, axis := 0.0, -1
	m := float64(len(ids))
	for a, x := range t.s.numbers {
		at := t.middle[int(me)*numbers+a]
		if t.half[int(me)*numbers+a] == 0 {
			continue
		}
		var sum, squares float64
		for _, i := range ids {
			v := x[i] - at
			sum += v
			squares += v * v
		}
		if spread := squares - sum*sum/m; spread > best {
			best, axis = spread, a
		}
	}
	for a := range t.s.words {
		w := &t.s.words[a]
		if w.Weight == 0 {
			continue
		}
		if spread := w.Weight / 2 * (m - t.concentration(w, ids)); spread > best {
			best, axis = spread, numbers+a
		}
	}
	switch {
	case axis < 0:
		return 0
	case axis >= numbers:
		codes := t.s.words[axis-numbers].Codes
		return t.halve(ids, func(i int32) float64 { return float64(codes[i]) })
	}
	x := t.s.numbers[axis]
	return t.halve(ids, func(i int32) float64 { return x[i] })
}

// halve puts the records with the lower keys first and returns how many. The cut is
// between different keys, the one that is nearest to the middle; the lower one of two.
func (t *tree) halve(ids []int32, key func(int32) float64) int {
	sorted := t.sorted[:0]
	for _, i := range ids {
		sorted = append(sorted, key(i))
	}
	t.sorted = sorted
	slices.Sort(sorted)
	n := len(sorted)
	for d := range n {
		for _, at := range [2]int{n/2 - d, n/2 + d} {
			if at > 0 && at < n && sorted[at-1] != sorted[at] {
				bound := sorted[at]
				return split(ids, func(i int32) bool { return key(i) < bound })
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

// concentration is the sum of the squared counts of all codes over their number.
func (t *tree) concentration(w *Categorical, ids []int32) float64 {
	var squares float64
	if w.Cardinality > 1<<12 {
		count := map[uint32]int{}
		for _, i := range ids {
			squares += float64(2*count[w.Codes[i]] + 1)
			count[w.Codes[i]]++
		}
		return squares / float64(len(ids))
	}
	if len(t.count) < w.Cardinality {
		t.count = make([]int32, w.Cardinality)
	}
	for _, i := range ids {
		c := &t.count[w.Codes[i]]
		squares += float64(2**c + 1)
		*c++
	}
	for _, i := range ids {
		t.count[w.Codes[i]] = 0
	}
	return squares / float64(len(ids))
}

// between is a lower bound of the squared distance of a record of one node and one
// of another.
func (t *tree) between(g, h int32) float64 {
	n := len(t.s.numbers)
	mg, hg := t.middle[int(g)*n:][:n], t.half[int(g)*n:][:n]
	mh, hh := t.middle[int(h)*n:][:n], t.half[int(h)*n:][:n]
	var d float64
	for a := range mg {
		// What is below 0 counts for nothing.
		out := math.Abs(mg[a]-mh[a]) - (hg[a] + hh[a])
		out += math.Abs(out)
		d += out * out
	}
	d /= 4
	m := len(t.s.words)
	cg, ch := t.codes[int(g)*m:][:m], t.codes[int(h)*m:][:m]
	for a, set := range cg {
		if set&ch[a] == 0 {
			d += t.s.words[a].Weight
		}
	}
	return d
}

// bound is a lower bound of the squared distance of a record, given by its
// numbers and the bits of its codes, to a node's box.
func (t *tree) bound(numbers []float64, bits []uint64, k int32) float64 {
	n := len(numbers)
	middle, half := t.middle[int(k)*n:][:n], t.half[int(k)*n:][:n]
	var d float64
	for a, v := range numbers {
		out := math.Abs(v-middle[a]) - half[a]
		out += math.Abs(out)
		d += out * out
	}
	d /= 4
	m := len(bits)
	for a, set := range t.codes[int(k)*m:][:m] {
		if set&bits[a] == 0 {
			d += t.s.words[a].Weight
		}
	}
	return d
}

// apart is about how far the records of two nodes are apart: the squared distance of
// their middles, and the share of codes that one of them has alone.
func (t *tree) apart(g, h int32) float64 {
	n, m := len(t.s.numbers), len(t.s.words)
	d := squared(t.middle[int(g)*n:][:n], t.middle[int(h)*n:][:n])
	cg, ch := t.codes[int(g)*m:][:m], t.codes[int(h)*m:][:m]
	for a := range cg {
		all := float64(bits.OnesCount64(cg[a] | ch[a]))
		d += t.s.words[a].Weight * (1 - float64(bits.OnesCount64(cg[a]&ch[a]))/all)
	}
	return d
}

func squared(x, y []float64) float64 {
	var d float64
	for a := range x {
		t := x[a] - y[a]
		d += t * t
	}
	return d
}
