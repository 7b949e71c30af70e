package geom

import (
	"context"
	"math/bits"
	"sync/atomic"

	"github.com/noren-privacy/noren"
)

// Lists holds, for every point of a tree, which other points lie within a
// distance: the near graph. Rows are kept as lists or, where that is smaller,
// as sets of bits, as long as they fit the memory that was given; the rest is
// found anew each time.
type Lists struct {
	tree  *Tree
	r2    int64
	rows  []row
	place []int32 // where the tree keeps each point, for rows that are not kept
}

// row is kept as a list, as bits, or (both nil) not at all.
type row struct {
	list []int32
	bits []uint64
	kept bool
}

// NewLists finds the neighbours within the squared distance r2 of every point
// of t and keeps at most about memory bytes of them. It works on several
// processors and ends early with the context's error.
func NewLists(ctx context.Context, t *Tree, r2, memory int64) (*Lists, error) {
	if r2 < 0 {
		return nil, noren.Bug("geom: a squared distance is not negative")
	}
	n := t.Len()
	l := &Lists{tree: t, r2: r2, rows: make([]row, n), place: make([]int32, n)}
	for p, id := range t.ids {
		l.place[id] = int32(p)
	}
	words := (n + 63) / 64
	var used atomic.Int64
	err := t.eachLeaf(ctx, func() func(v int32) {
		var found, chunk []int32
		return func(v int32) {
			for i := t.nodes[v].first; i < t.nodes[v].end; i++ {
				id := t.ids[i]
				found = without(t.AppendNear(found[:0], t.point(i), r2), id)
				size := min(4*len(found), 8*words)
				if used.Add(int64(size)) > memory {
					used.Add(-int64(size))
					continue
				}
				l.rows[id].kept = true
				if 8*words < 4*len(found) {
					set := make([]uint64, words)
					for _, j := range found {
						set[j>>6] |= 1 << (j & 63)
					}
					l.rows[id].bits = set
					continue
				}
				// Short lists share pieces of memory.
				if cap(chunk)-len(chunk) < len(found) {
					chunk = make([]int32, 0, max(1<<14, len(found)))
				}
				at := len(chunk)
				chunk = append(chunk, found...)
				l.rows[id].list = chunk[at:len(chunk):len(chunk)]
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// without removes id, which occurs once, from ids.
func without(ids []int32, id int32) []int32 {
	for k, j := range ids {
		if j == id {
			last := len(ids) - 1
			ids[k] = ids[last]
			return ids[:last]
		}
	}
	return ids
}

// Len is the number of points.
func (l *Lists) Len() int { return len(l.rows) }

// Near returns the neighbours of point i, in no particular order. The result
// is either the graph's own, which must not be changed, or lies in scratch,
// which it may enlarge: it is good until the next call with that scratch.
func (l *Lists) Near(i int32, scratch *[]int32) []int32 {
	r := &l.rows[i]
	switch {
	case r.bits != nil:
		out := (*scratch)[:0]
		for w, word := range r.bits {
			for ; word != 0; word &= word - 1 {
				out = append(out, int32(w<<6+bits.TrailingZeros64(word)))
			}
		}
		*scratch = out
		return out
	case r.kept:
		return r.list
	}
	*scratch = without(l.tree.AppendNear((*scratch)[:0], l.tree.point(l.place[i]), l.r2), i)
	return *scratch
}

// Core returns the largest c, at most limit, such that some of the points
// first, first+1, .., end-1 form a set in which each has at least c-1
// neighbours: 1 + the degeneracy of the graph on them, and 0 when there are
// none. It peels: it takes away a point with the fewest neighbours left until
// none is left, and returns 1 + the largest such number (Matula and Beck 1983).
// Time O(points + neighbours).
func (l *Lists) Core(first, end, limit int, p *Peeler) int {
	n := end - first
	if n <= 0 || limit <= 0 {
		return 0
	}
	p.reset(n)
	most := int32(0)
	for v := range int32(n) {
		count := int32(0)
		for _, w := range l.Near(v+int32(first), &p.scratch) {
			if int(w) >= first && int(w) < end {
				count++
			}
		}
		p.degree[v] = count
		most = max(most, count)
	}
	p.sort(most)
	core := int32(0)
	for k := range n {
		v := p.order[k]
		core = max(core, p.degree[v])
		if int(core)+1 >= limit {
			return limit
		}
		if int(core)+1 >= n-k {
			break // those that are left cannot have more neighbours than that
		}
		for _, w := range l.Near(v+int32(first), &p.scratch) {
			if int(w) >= first && int(w) < end {
				p.lower(w-int32(first), p.degree[v])
			}
		}
	}
	return int(core) + 1
}

// Peeler is memory that peelings share one after another. The zero value is
// ready.
type Peeler struct {
	degree, order, at, bin []int32
	scratch                []int32
}

func (p *Peeler) reset(n int) {
	if cap(p.degree) < n {
		p.degree, p.order, p.at = make([]int32, n), make([]int32, n), make([]int32, n)
	}
	p.degree, p.order, p.at = p.degree[:n], p.order[:n], p.at[:n]
}

// sort puts the points into order by degree: bin[d] is where those of degree d
// begin (Batagelj and Zaversnik 2003).
func (p *Peeler) sort(most int32) {
	if cap(p.bin) < int(most)+2 {
		p.bin = make([]int32, most+2)
	}
	p.bin = p.bin[:most+2]
	clear(p.bin)
	for _, d := range p.degree {
		p.bin[d+1]++
	}
	for d := int32(1); d < int32(len(p.bin)); d++ {
		p.bin[d] += p.bin[d-1]
	}
	for v, d := range p.degree {
		p.order[p.bin[d]] = int32(v)
		p.at[v] = p.bin[d]
		p.bin[d]++
	}
	// Every bin has moved to the start of the next.
	copy(p.bin[1:], p.bin[:len(p.bin)-1])
	p.bin[0] = 0
}

// lower takes one neighbour from point v, unless it has no more than floor: it
// then stands among those that are gone, or will not be worth more.
func (p *Peeler) lower(v, floor int32) {
	d := p.degree[v]
	if d <= floor {
		return
	}
	first := p.bin[d]
	u := p.order[first]
	if u != v {
		here := p.at[v]
		p.order[first], p.order[here] = v, u
		p.at[v], p.at[u] = first, here
	}
	p.bin[d]++
	p.degree[v]--
}
