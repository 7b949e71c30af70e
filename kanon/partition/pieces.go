package partition

import "slices"

// front is a search that goes through a part from one vertex beside what was
// removed. Searches that meet go on as one.
type front struct {
	into  int32   // the search that this one went on in, itself where it did not
	found []int32 // vertices, those before at with all of their neighbours
	at    int
}

// frontStep is how many vertices a search looks at in a turn.
const frontStep = 8

// pieces returns the components that part me has fallen into by the removal but
// one, which stays part me. The others are parts of their own now, their
// vertices in ascending order.
//
// It searches from all neighbours of what was removed in turns, until one search
// is left: searches that meet are one, and one that comes to an end has found a
// piece. What the last one has not seen yet belongs to it, so that the cost is
// that of the small pieces, however large the part is.
func (t *cutter) pieces(me int32, removed []int32) (pieces [][]int32) {
	first := t.search + 1 // the mark of search 0
	fronts := t.fronts[:0]
	for _, u := range removed {
		for _, v := range t.edges[u] {
			if t.part[v] != me || t.seen[v] >= first {
				continue
			}
			f := front{into: int32(len(fronts))}
			if len(fronts) < cap(fronts) {
				f.found = fronts[:len(fronts)+1][len(fronts)].found[:0] // used again
			}
			f.found = append(f.found, v)
			t.seen[v] = first + f.into
			fronts = append(fronts, f)
		}
	}
	t.search += int32(len(fronts))
	t.fronts = fronts
	left := len(fronts)
	for left > 1 {
		for i := range fronts {
			if fronts[i].into != int32(i) {
				continue
			}
			left -= t.advance(fronts, int32(i), me, first)
			if left == 1 {
				break
			}
			if f := &fronts[i]; f.at == len(f.found) {
				pieces = append(pieces, t.own(f.found))
				f.into = -1
				left--
			}
			if left == 1 {
				break
			}
		}
	}
	return pieces
}

// advance takes search i one turn further and returns how many others it met.
func (t *cutter) advance(fronts []front, i, me, first int32) (met int) {
	for range frontStep {
		f := &fronts[i]
		if f.at == len(f.found) {
			break
		}
		u := f.found[f.at]
		f.at++
		for _, v := range t.edges[u] {
			if t.part[v] != me {
				continue
			}
			if t.seen[v] < first {
				t.seen[v] = first + i
				f.found = append(f.found, v)
				continue
			}
			other := t.seen[v] - first
			for fronts[other].into != other {
				other = fronts[other].into
			}
			if other == i {
				continue
			}
			f.meet(&fronts[other])
			fronts[other].into = i
			met++
		}
	}
	return met
}

// meet takes over what search o has found.
func (f *front) meet(o *front) {
	f.found = slices.Insert(f.found, f.at, o.found[:o.at]...)
	f.at += o.at
	f.found = append(f.found, o.found[o.at:]...)
}

// own makes the vertices of a piece a part of their own.
func (t *cutter) own(piece []int32) []int32 {
	t.parts++
	for _, v := range piece {
		t.part[v] = t.parts
	}
	piece = slices.Clone(piece)
	slices.Sort(piece)
	return piece
}
