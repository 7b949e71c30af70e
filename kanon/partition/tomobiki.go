package partition

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/kanon/space"
)

// nearGraph is the paper's (k,m)-near graph: while some component has fewer
// than k vertices, each such component is joined to the rest by its m closest
// (inside, outside) pairs. A component of fewer than k vertices finds these
// among the k-1+m nearest of each of its vertices, as at most k-2 of them are
// inside. Pairs are ranked by distance, then by ties: cyclic by (v-u) mod n and
// the inside vertex u, by index by u and the outside vertex v. Components at
// least double in each round.
func nearGraph(ctx context.Context, s *space.Space, k, m int, ties space.Ties, workers int, progress noren.Progress) ([][]int32, error) {
	n := s.Len()
	near, err := s.NearLists(ctx, k-1+m, space.NearOptions{Ties: ties, Workers: workers, Progress: progress})
	if err != nil {
		return nil, err
	}
	edges := make([][]int32, n)
	label := make([]int32, n)
	components := make([][]int32, n)
	for i := range components {
		components[i] = []int32{int32(i)}
		label[i] = int32(i)
	}
	for {
		small := false
		type edge struct{ u, v int32 }
		var added []edge
		for _, c := range components {
			if len(c) >= k {
				continue
			}
			small = true
			for _, p := range closestOutside(near, c, label, m, ties, int32(n)) {
				added = append(added, edge{p.u, p.v})
			}
		}
		if !small {
			return edges, nil
		}
		for _, e := range added {
			if !slices.Contains(edges[e.u], e.v) {
				edges[e.u] = append(edges[e.u], e.v)
				edges[e.v] = append(edges[e.v], e.u)
			}
		}
		components = connected(edges, label)
	}
}

type pair struct {
	u, v int32
	d    float64
	rank int32
}

// closestOutside is the m closest pairs of a vertex of component c and one
// outside it.
func closestOutside(near *space.Near, c, label []int32, m int, ties space.Ties, n int32) []pair {
	var pairs []pair
	for _, u := range c {
		records, distances := near.Of(u)
		found := 0
		for i, v := range records {
			if label[v] == label[u] {
				continue
			}
			pairs = append(pairs, pair{u, v, distances[i], ties.Rank(u, v, n)})
			if found++; found == m {
				break
			}
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		if ties == space.ByIndex {
			// The golden figures of tied data (Adult) rank the inside vertex
			// before the outside one here.
			return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.u, b.u), cmp.Compare(a.v, b.v))
		}
		return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.rank, b.rank), cmp.Compare(a.u, b.u))
	})
	return pairs[:min(m, len(pairs))]
}

// connected finds the components of a graph, vertices ascending in each, and
// labels the vertices by them.
func connected(edges [][]int32, label []int32) [][]int32 {
	for i := range label {
		label[i] = -1
	}
	var components [][]int32
	var queue []int32
	for i := range label {
		if label[i] >= 0 {
			continue
		}
		c := int32(len(components))
		label[i] = c
		queue = append(queue[:0], int32(i))
		for at := 0; at < len(queue); at++ {
			for _, v := range edges[queue[at]] {
				if label[v] < 0 {
					label[v] = c
					queue = append(queue, v)
				}
			}
		}
		slices.Sort(queue)
		components = append(components, slices.Clone(queue))
	}
	return components
}

// Start is the vertex that a cut starts farthest from.
type Start uint8

const (
	// FromCentroid starts at the vertex farthest from the component's centre,
	// which does not depend on the order of the records.
	FromCentroid Start = iota
	// FromLowest starts at the vertex farthest from the component's lowest
	// record: the paper's figures.
	FromLowest
)

// tomobiki cuts the near graph into groups (the paper's Algorithm 3 with lines
// 25, 27 and 29 corrected, see docs/k-anonymity.md): from the edge of a
// component vertices are removed, nearest to the removed ones' centre first,
// each dragging along what would be left with fewer than k, until k are removed.
func tomobiki(ctx context.Context, s *space.Space, o *Options, progress noren.Progress) (space.Partition, error) {
	edges, err := nearGraph(ctx, s, o.K, o.M, o.Ties, o.Workers, progress)
	if err != nil {
		return space.Partition{}, err
	}
	t := &cutter{
		s: s, o: o, edges: edges,
		part: make([]int32, s.Len()), seen: make([]int32, s.Len()),
		centre: s.NewCentroid(), groups: newGrouping(s.Len()), gone: make([]bool, s.Len()),
	}
	t.stack = connected(edges, t.part)
	t.parts = int32(len(t.stack))
	for len(t.stack) > 0 {
		if err := ctx.Err(); err != nil {
			return space.Partition{}, err
		}
		c := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if err := t.component(ctx, c, progress); err != nil {
			return space.Partition{}, err
		}
	}
	return t.groups.p, nil
}

// cutter is the state of the cutting. Every vertex that is in no group yet is
// in one part, a connected subgraph.
type cutter struct {
	s      *space.Space
	o      *Options
	edges  [][]int32
	part   []int32 // the part of each vertex
	parts  int32
	seen   []int32 // marks of a search, the search's number
	search int32
	stack  [][]int32
	centre *space.Centroid
	groups *grouping
	done   int
	queue  []int32
	gone   []bool
	fronts []front
}

// component cuts a connected part into groups, or into parts for the stack.
func (t *cutter) component(ctx context.Context, vertices []int32, progress noren.Progress) error {
	k := t.o.K
	me := t.part[vertices[0]]
	start := newStarter(t.s, t.o.Start, vertices, func(v int32) bool { return t.part[v] == me }, t.gone)
	for rounds := 0; ; rounds++ {
		if rounds%checkEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			progress.Report("partition", int64(t.done), int64(t.s.Len()))
		}
		if start.left < 2*k {
			t.finish(start.rest())
			return nil
		}
		removed := t.grow(me, start.farthest())
		if len(removed) == start.left {
			return t.whole(ctx, removed)
		}
		start.take(removed)
		if len(removed) < 2*k {
			t.finish(removed)
		} else {
			slices.Sort(removed)
			t.stack = append(t.stack, removed)
		}
		for _, piece := range t.pieces(me, removed) {
			start.take(piece)
			t.stack = append(t.stack, piece)
		}
	}
}

// finish makes a group.
func (t *cutter) finish(ids []int32) {
	t.groups.add(ids...)
	t.done += len(ids)
}

// whole deals with a part that was dragged along whole (line 31): one group in
// literal mode, else MDAV splits it when it has 2k records or more.
func (t *cutter) whole(ctx context.Context, ids []int32) error {
	if t.o.Literal || len(ids) < 2*t.o.K {
		t.finish(ids)
		return nil
	}
	slices.Sort(ids)
	p, err := mdav(ctx, t.s.Subset(ids), t.o.K, nil)
	if err != nil {
		return err
	}
	list, start := p.Members()
	for g := range p.Groups {
		var group []int32
		for _, j := range list[start[g]:start[g+1]] {
			group = append(group, ids[j])
		}
		t.finish(group)
	}
	return nil
}

// grow removes vertices from part me, from n on, into a part of their own, and
// returns them.
func (t *cutter) grow(me, n int32) (removed []int32) {
	t.parts++
	own := t.parts
	t.centre.Reset()
	remove := func(v int32) {
		t.part[v] = own
		removed = append(removed, v)
		t.centre.Add(v)
	}
	var border []int32 // neighbours of what was removed; may hold some that are removed themselves
	for {
		remove(n)
		for _, v := range t.edges[n] {
			if t.part[v] != me {
				continue
			}
			if piece := t.small(me, v); piece != nil {
				for _, w := range piece {
					remove(w)
				}
			} else {
				border = append(border, v)
			}
		}
		if len(removed) >= t.o.K {
			return removed
		}
		n = -1
		far := math.Inf(1)
		kept := border[:0]
		for _, v := range border {
			if t.part[v] != me {
				continue
			}
			kept = append(kept, v)
			if d := t.centre.Distance2(v); d < far || d == far && v < n {
				n, far = v, d
			}
		}
		border = kept
		if n < 0 {
			return removed
		}
	}
}

// small returns the vertices that v is connected with in part me when they are
// fewer than k, nil when they are not.
func (t *cutter) small(me, v int32) []int32 {
	t.search++
	t.seen[v] = t.search
	queue := append(t.queue[:0], v)
	for at := 0; at < len(queue); at++ {
		for _, w := range t.edges[queue[at]] {
			if t.part[w] == me && t.seen[w] != t.search {
				t.seen[w] = t.search
				queue = append(queue, w)
			}
		}
		if len(queue) >= t.o.K {
			t.queue = queue
			return nil
		}
	}
	t.queue = queue
	return slices.Clone(queue)
}
