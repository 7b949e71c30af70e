package partition

import (
	"cmp"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// starter knows the vertices that are left of a part and says where the next
// cut starts.
type starter struct {
	s    *space.Space
	kind Start
	in   func(v int32) bool // still in the part
	left int
	all  []int32 // ascending; may hold some that are not left
	// FromLowest: vertices by their distance from base, the farthest first.
	base  int32
	order []int32
	// FromCentroid.
	pool   *pool
	centre *space.Centroid
}

// newStarter takes the vertices of a part in ascending order. gone is as in
// newPoolOf.
func newStarter(s *space.Space, kind Start, vertices []int32, in func(int32) bool, gone []bool) *starter {
	st := &starter{s: s, kind: kind, in: in, left: len(vertices), all: vertices, base: -1}
	if kind == FromCentroid {
		st.pool = newPoolOf(s, vertices, gone)
		st.centre = s.NewCentroid()
		for _, v := range vertices {
			st.centre.Add(v)
		}
	}
	return st
}

// take tells that vertices have left the part.
func (st *starter) take(ids []int32) {
	st.left -= len(ids)
	if st.kind == FromCentroid {
		for _, v := range ids {
			st.centre.Remove(v)
		}
		st.pool.take(ids...)
	}
}

// rest lists the vertices that are left, in ascending order.
func (st *starter) rest() []int32 {
	rest := make([]int32, 0, st.left)
	for _, v := range st.all {
		if st.in(v) {
			rest = append(rest, v)
		}
	}
	return rest
}

// farthest is the vertex to start from, the lowest of several.
func (st *starter) farthest() int32 {
	if st.kind == FromCentroid {
		return st.pool.farthest(st.centre)
	}
	if st.base < 0 || !st.in(st.base) {
		for !st.in(st.all[0]) {
			st.all = st.all[1:]
		}
		st.base = st.all[0]
		st.rank()
	}
	for !st.in(st.order[0]) {
		st.order = st.order[1:]
	}
	return st.order[0]
}

// rank lists what is left by distance from base.
func (st *starter) rank() {
	st.all = st.rest()
	distance := make([]float64, len(st.all))
	points := st.s.NewPoints(st.all)
	var target space.Target
	points.Target(&target, 0)
	points.Distances2(&target, 0, distance)
	order := make([]int32, len(st.all))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(distance[b], distance[a]), cmp.Compare(a, b))
	})
	for i, at := range order {
		order[i] = st.all[at]
	}
	st.order = order
}
