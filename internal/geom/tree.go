package geom

import (
	"math"
	"math/bits"

	"github.com/noren-privacy/noren"
)

// leafSize is the largest number of points of a block: large enough that the
// boxes cost little beside the points, small enough that few points are
// measured in vain.
const leafSize = 24

// MaxSpan is the largest sum, over the axes, of the squared extents that points
// may have: with it, no squared distance leaves an int64.
const MaxSpan = int64(1) << 62

// Tree is a set of n points of d integer coordinates, in blocks. It does not
// change after it was made and may be used from several goroutines.
type Tree struct {
	dim    int
	ids    []int32 // caller's index of the point at each place
	coords []int32 // n x d, by place
	nodes  []node
	boxes  []int32 // for each node d lower and d upper ends
	leaves []int32 // nodes that are blocks
}

// node is a run of places. Its left child is the node behind it; right is 0
// for a block.
type node struct {
	first, end int32
	right      int32
}

// NewTree makes the tree of the n points whose coordinates are in coords, d
// for each point; it does not keep coords. It fails when d does not divide their
// number, when there are 2^31 points or more, or when the squared extents sum
// to more than [MaxSpan].
func NewTree(d int, coords []int32) (*Tree, error) {
	if d < 1 || len(coords)%d != 0 {
		return nil, noren.Bug("geom: the number of coordinates is no multiple of the dimension")
	}
	n := len(coords) / d
	if n > math.MaxInt32 {
		return nil, noren.Bug("geom: 2^31 points or more")
	}
	t := &Tree{dim: d, ids: make([]int32, n), coords: make([]int32, len(coords))}
	copy(t.coords, coords)
	for i := range t.ids {
		t.ids[i] = int32(i)
	}
	if n == 0 {
		return t, nil
	}
	size := 2*n/leafSize + 2
	t.nodes = make([]node, 0, size)
	t.boxes = make([]int32, 0, size*2*d)
	t.build(0, n)
	if !spanFits(t.box(0)) {
		return nil, noren.Bug("geom: the points are spread too widely for exact distances")
	}
	return t, nil
}

// spanFits reports whether the squared extents of a box sum to MaxSpan at most.
func spanFits(lo, hi []int32) bool {
	var sum uint64
	for j := range lo {
		e := uint64(int64(hi[j]) - int64(lo[j]))
		over, square := bits.Mul64(e, e)
		var carry uint64
		sum, carry = bits.Add64(sum, square, 0)
		if over != 0 || carry != 0 || sum > uint64(MaxSpan) {
			return false
		}
	}
	return true
}

// Len is the number of points.
func (t *Tree) Len() int { return len(t.ids) }

// Dim is the number of coordinates of a point.
func (t *Tree) Dim() int { return t.dim }

// box returns the ends of a node's box.
func (t *Tree) box(v int32) (lo, hi []int32) {
	b := t.boxes[int(v)*2*t.dim:][:2*t.dim]
	return b[:t.dim], b[t.dim:]
}

// point returns the coordinates at a place.
func (t *Tree) point(place int32) []int32 {
	return t.coords[int(place)*t.dim:][:t.dim]
}

// build appends the node over [first, end) and all below it.
func (t *Tree) build(first, end int) int32 {
	v := int32(len(t.nodes))
	t.nodes = append(t.nodes, node{first: int32(first), end: int32(end)})
	d := t.dim
	t.boxes = append(t.boxes, t.coords[first*d:first*d+d]...)
	t.boxes = append(t.boxes, t.coords[first*d:first*d+d]...)
	lo, hi := t.box(v)
	for i := first + 1; i < end; i++ {
		for j, x := range t.coords[i*d : i*d+d] {
			lo[j] = min(lo[j], x)
			hi[j] = max(hi[j], x)
		}
	}
	axis, widest := 0, int64(-1)
	for j := range lo {
		if w := int64(hi[j]) - int64(lo[j]); w > widest {
			axis, widest = j, w
		}
	}
	if end-first <= leafSize || widest == 0 {
		// Points of one place need no cutting: their block is counted as one.
		t.leaves = append(t.leaves, v)
		return v
	}
	mid := (first + end) / 2
	t.selectNth(first, end, mid, axis)
	t.build(first, mid)
	t.nodes[v].right = t.build(mid, end)
	return v
}

// swap exchanges two places.
func (t *Tree) swap(a, b int) {
	t.ids[a], t.ids[b] = t.ids[b], t.ids[a]
	d := t.dim
	p, q := t.coords[a*d:a*d+d], t.coords[b*d:b*d+d]
	for j := range p {
		p[j], q[j] = q[j], p[j]
	}
}

// selectNth reorders [first, end) so that no coordinate on axis left of nth is
// greater and none from nth on smaller than that at nth: quickselect with three
// parts, so that equal coordinates cost one pass.
func (t *Tree) selectNth(first, end, nth, axis int) {
	d := t.dim
	at := func(i int) int32 { return t.coords[i*d+axis] }
	for end-first > 1 {
		a, b, c := at(first), at((first+end)/2), at(end-1)
		pivot := max(min(a, b), min(max(a, b), c)) // their median
		low, i, high := first, first, end
		for i < high {
			switch x := at(i); {
			case x < pivot:
				if i != low {
					t.swap(i, low)
				}
				low++
				i++
			case x > pivot:
				high--
				t.swap(i, high)
			default:
				i++
			}
		}
		switch {
		case nth < low:
			end = low
		case nth >= high:
			first = high
		default:
			return
		}
	}
}
