package refine

import (
	"slices"

	"github.com/noren-privacy/noren/kanon/space"
)

// split divides a group of 2k or more into two of k or more, which never
// raises the sum of squares: the best of a few descents from the two ends of
// its longest axis.
func (d *descent) split(g int32) {
	records := slices.Clone(d.members[g])
	h := newHood(d.rows, records)
	h.seedEnds(d.k)
	h.descend(d.k)
	if h.sse() >= h.whole()-d.guard {
		return
	}
	d.replace([]int32{g}, h)
}

// replace puts the groups of a neighbourhood in place of those it was made
// from.
func (d *descent) replace(groups []int32, h *hood) {
	made := make([][]int32, h.groups)
	for j, i := range h.records {
		made[h.group[j]] = append(made[h.group[j]], i)
	}
	for _, g := range groups {
		d.members[g] = d.members[g][:0]
	}
	for n, members := range made {
		var g int32
		if n < len(groups) {
			g = groups[n]
		} else {
			g = d.open(nil)
		}
		d.members[g] = append(d.members[g][:0], members...)
		for _, i := range members {
			d.group[i] = g
		}
		d.renew(g)
	}
	// Groups that are not needed any more go, the highest number first, so
	// that the others keep theirs.
	if len(made) < len(groups) {
		rest := slices.Clone(groups[len(made):])
		slices.Sort(rest)
		for n := len(rest) - 1; n >= 0; n-- {
			d.drop(rest[n])
		}
	}
}

// hood is a small set of records under division, known by its distances alone:
// a group of m records has the sum of squares sum_{i<j} d²(i,j) / m.
type hood struct {
	records []int32
	n       int
	d       []float64 // n*n squared distances
	group   []int
	groups  int
	size    []int
	within  []float64 // sum of d² over pairs of each group
	to      []float64 // n*groups: sum of d² from a record to a group's members
}

func newHood(rows *space.Rows, records []int32) *hood {
	n := len(records)
	h := &hood{records: records, n: n, d: make([]float64, n*n), group: make([]int, n)}
	for i := range n {
		for j := range i {
			d := distance(rows, records[i], records[j])
			h.d[i*n+j], h.d[j*n+i] = d, d
		}
	}
	return h
}

// whole is the sum of squares of all records as one group.
func (h *hood) whole() float64 {
	var t float64
	for i := range h.n {
		for j := range i {
			t += h.d[i*h.n+j]
		}
	}
	return t / float64(h.n)
}

// sse is the sum of squares as divided.
func (h *hood) sse() float64 {
	var t float64
	for g := range h.groups {
		t += h.within[g] / float64(h.size[g])
	}
	return t
}

// seedEnds divides by the two records that are farthest apart: the k nearest to
// each, then the rest by the nearer one.
func (h *hood) seedEnds(k int) {
	a, b, far := 0, 1, -1.0
	for i := range h.n {
		for j := range i {
			if h.d[i*h.n+j] > far {
				a, b, far = j, i, h.d[i*h.n+j]
			}
		}
	}
	order := make([]int, h.n)
	for i := range order {
		order[i] = i
	}
	// Nearer to a than to b comes first.
	slices.SortStableFunc(order, func(i, j int) int {
		x := h.d[i*h.n+a] - h.d[i*h.n+b]
		y := h.d[j*h.n+a] - h.d[j*h.n+b]
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for at, i := range order {
		left := at < k || at < h.n-k && h.d[i*h.n+a] < h.d[i*h.n+b]
		h.group[i] = 1
		if left {
			h.group[i] = 0
		}
	}
	h.groups = 2
	h.sum()
}

// sum computes sizes and sums from the division; records in no group (-1) are
// left out, but know their sums to all groups.
func (h *hood) sum() {
	h.size = make([]int, h.groups)
	h.within = make([]float64, h.groups)
	h.to = make([]float64, h.n*h.groups)
	for j, g := range h.group {
		if g < 0 {
			continue
		}
		h.size[g]++
		for i := range h.n {
			h.to[i*h.groups+g] += h.d[i*h.n+j]
		}
	}
	for j, g := range h.group {
		if g >= 0 {
			h.within[g] += h.to[j*h.groups+g] / 2
		}
	}
}

// put adds a record that is in no group to one.
func (h *hood) put(i, g int) {
	h.within[g] += h.to[i*h.groups+g]
	h.size[g]++
	h.group[i] = g
	for j := range h.n {
		h.to[j*h.groups+g] += h.d[i*h.n+j]
	}
}

// take takes a record out of its group.
func (h *hood) take(i int) {
	g := h.group[i]
	h.within[g] -= h.to[i*h.groups+g]
	h.size[g]--
	h.group[i] = -1
	for j := range h.n {
		h.to[j*h.groups+g] -= h.d[i*h.n+j]
	}
}

// descend moves and swaps records, the best change first, until none lowers
// the sum of squares.
func (h *hood) descend(k int) {
	guard := 1e-10 * h.whole()
	for range 10 * h.n {
		best := -guard
		move, with, to := -1, -1, -1
		for i := range h.n {
			a := h.group[i]
			sa := float64(h.size[a])
			ia := h.to[i*h.groups+a]
			for b := range h.groups {
				if b == a {
					continue
				}
				sb := float64(h.size[b])
				ib := h.to[i*h.groups+b]
				now := h.within[a]/sa + h.within[b]/sb
				if h.size[a] > k {
					if change := (h.within[a]-ia)/(sa-1) + (h.within[b]+ib)/(sb+1) - now; change < best {
						best, move, with, to = change, i, -1, b
					}
				}
				if b < a {
					continue // each pair once
				}
				for j := range h.n {
					if h.group[j] != b {
						continue
					}
					ij := h.d[i*h.n+j]
					change := (h.within[a]-ia+h.to[j*h.groups+a]-ij)/sa + (h.within[b]-h.to[j*h.groups+b]+ib-ij)/sb - now
					if change < best {
						best, move, with, to = change, i, j, b
					}
				}
			}
		}
		if move < 0 {
			return
		}
		from := h.group[move]
		h.take(move)
		h.put(move, to)
		if with >= 0 {
			h.take(with)
			h.put(with, from)
		}
	}
}
