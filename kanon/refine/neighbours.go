package refine

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// neighbours are the near points of every point. Records that are equal on all
// axes are one point: a record with many duplicates would otherwise be near to
// these alone.
type neighbours struct {
	q     int
	near  []int32 // points*q: points
	point []int32 // by record
	// list holds the records of each point, those of point u from start[u] on;
	// nil where every record is a point of its own.
	list, start []int32
	found       []int32
}

// newNeighbours lists the q nearest points of each, or fewer if there are none.
func newNeighbours(ctx context.Context, s *space.Space, q int) (*neighbours, error) {
	b := &neighbours{point: make([]int32, s.Len())}
	firsts := b.points(s)
	distinct := s
	if len(firsts) < s.Len() {
		distinct = s.Subset(firsts)
	} else {
		b.list, b.start = nil, nil
	}
	near, err := distinct.NearLists(ctx, q, space.NearOptions{Ties: space.Cyclic, Workers: 1})
	if err != nil {
		return nil, err
	}
	if b.list == nil {
		b.q, b.near = near.Q, near.Record
		return b, nil
	}
	// A point of several records is near to itself as well.
	b.q = near.Q + 1
	b.near = make([]int32, 0, len(firsts)*b.q)
	for u := range int32(len(firsts)) {
		records, _ := near.Of(u)
		b.near = append(b.near, records...)
		if b.start[u+1]-b.start[u] > 1 || len(records) == 0 {
			b.near = append(b.near, u)
		} else {
			b.near = append(b.near, records[0])
		}
	}
	return b, nil
}

// points numbers the distinct records and returns the first record of each.
func (b *neighbours) points(s *space.Space) (firsts []int32) {
	order := make([]int32, s.Len())
	for i := range order {
		order[i] = int32(i)
	}
	compare := func(i, j int32) int {
		for _, x := range s.Numbers() {
			if x[i] != x[j] {
				if x[i] < x[j] {
					return -1
				}
				return 1
			}
		}
		for _, w := range s.Words() {
			if w.Codes[i] != w.Codes[j] && w.Weight > 0 {
				return int(w.Codes[i]) - int(w.Codes[j])
			}
		}
		return 0
	}
	slices.SortFunc(order, func(i, j int32) int {
		if c := compare(i, j); c != 0 {
			return c
		}
		return int(i - j)
	})
	for at, i := range order {
		if at == 0 || compare(order[at-1], i) != 0 {
			firsts = append(firsts, i)
		}
		b.point[i] = firsts[len(firsts)-1]
	}
	slices.Sort(firsts)
	for i, first := range b.point {
		at, _ := slices.BinarySearch(firsts, first)
		b.point[i] = int32(at)
	}
	p := space.Partition{Group: make([]uint32, s.Len()), Groups: len(firsts)}
	for i, u := range b.point {
		p.Group[i] = uint32(u)
	}
	b.list, b.start = p.Members()
	return firsts
}

// pick is a record of one of p's near points; which, a number below 2^16, says
// of which one.
func (b *neighbours) pick(p int32, which uint32, rng *draws) int32 {
	at := int(which) * b.q >> 16
	if b.list == nil {
		return b.near[int(p)*b.q+at]
	}
	u := b.near[int(b.point[p])*b.q+at]
	from, to := b.start[u], b.start[u+1]
	if to-from == 1 {
		return b.list[from]
	}
	return b.list[from+int32(rng.next()>>32*uint64(to-from)>>32)]
}

// of lists a record of each of p's near points, nearest first; the list is
// used again.
func (b *neighbours) of(p int32) []int32 {
	if b.list == nil {
		return b.near[int(p)*b.q:][:b.q]
	}
	b.found = b.found[:0]
	own := b.point[p]
	q := b.q
	if b.near[int(own)*b.q+q-1] != own {
		q-- // the last one stands there twice
	}
	for _, u := range b.near[int(own)*b.q:][:q] {
		b.found = append(b.found, b.list[b.start[u]])
	}
	return b.found
}

// some lists records of p's near points, nearest first: two of each, where
// there are so many, and others at another turn. The list is used again.
func (b *neighbours) some(p int32, turn int) []int32 {
	if b.list == nil {
		return b.near[int(p)*b.q:][:b.q]
	}
	b.found = b.found[:0]
	for _, u := range b.near[int(b.point[p])*b.q:][:b.q] {
		records := b.list[b.start[u]:b.start[u+1]]
		for j := range min(2, len(records)) {
			b.found = append(b.found, records[(2*turn+j)%len(records)])
		}
	}
	return b.found
}

// draws is a fast generator of random numbers (splitmix64; Steele, Lea and
// Flood 2014): it decides what a search tries, and nothing else.
type draws uint64

func (d *draws) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float is uniform in [0,1).
func (d *draws) float() float64 { return float64(d.next()>>11) * 0x1p-53 }

// alias is an entry of a table to draw from a distribution with: of those drawn
// uniformly, entry i stays with probability keep/2^32 and is another otherwise
// (Walker 1977).
type alias struct {
	keep  uint64
	other int32
}

// aliases makes the table of some positive weights.
func aliases(weights []float64) []alias {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	table := make([]alias, len(weights))
	share := make([]float64, len(weights)) // times their number
	var under, over []int32
	for i, w := range weights {
		share[i] = w * float64(len(weights)) / sum
		table[i] = alias{1 << 32, int32(i)}
		if share[i] < 1 {
			under = append(under, int32(i))
		} else {
			over = append(over, int32(i))
		}
	}
	for len(under) > 0 && len(over) > 0 {
		u, o := under[len(under)-1], over[len(over)-1]
		under = under[:len(under)-1]
		table[u] = alias{uint64(share[u] * 0x1p32), o}
		share[o] -= 1 - share[u]
		if share[o] < 1 {
			over = over[:len(over)-1]
			under = append(under, o)
		}
	}
	return table
}
