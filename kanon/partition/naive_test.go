package partition_test

import (
	"cmp"
	"math"
	"slices"

	"github.com/noren-privacy/noren/kanon/partition"
	"github.com/noren-privacy/noren/kanon/space"
)

// The methods again, plainly by their definition and as slow as that is. They
// know a table by its geometry alone.
type geometry struct {
	n    int
	pair func(i, j int) float64 // squared distance of two records
	// far and near make a function of a record's squared distance to the
	// centre of some records: the one that the farthest is asked of, and the
	// one that the nearest is asked of. Mathematically they are the same.
	far, near func(members []int) func(i int) float64
}

// shared is the space's own geometry, with every centre made afresh. On values
// that floating point adds without rounding, what ties here ties for the fast
// methods. That it is the right geometry is tested in package space.
func shared(s *space.Space) geometry {
	centre := func(members []int) *space.Centroid {
		c := s.NewCentroid()
		for _, i := range members {
			c.Add(int32(i))
		}
		return c
	}
	points := s.NewPoints(nil)
	return geometry{
		n: s.Len(), pair: s.Distance2,
		far: func(members []int) func(int) float64 {
			out := make([]float64, s.Len())
			points.CentreDistances2(centre(members), 0, out)
			return func(i int) float64 { return out[i] }
		},
		near: func(members []int) func(int) float64 {
			c := centre(members)
			return func(i int) float64 { return c.Distance2(int32(i)) }
		},
	}
}

// embedded is the geometry of the space written out, one coordinate a numeric
// axis and one a code, and nothing of package space in it.
func embedded(s *space.Space) geometry {
	points := make([][]float64, s.Len())
	for i := range points {
		for _, x := range s.Numbers() {
			points[i] = append(points[i], x[i])
		}
		for _, w := range s.Words() {
			at := make([]float64, w.Cardinality)
			at[w.Codes[i]] = math.Sqrt(w.Weight / 2)
			points[i] = append(points[i], at...)
		}
	}
	squared := func(a, b []float64) float64 {
		var d float64
		for x := range a {
			d += (a[x] - b[x]) * (a[x] - b[x])
		}
		return d
	}
	centre := func(members []int) func(int) float64 {
		mean := make([]float64, len(points[0]))
		for _, i := range members {
			for x := range mean {
				mean[x] += points[i][x] / float64(len(members))
			}
		}
		return func(i int) float64 { return squared(points[i], mean) }
	}
	return geometry{n: s.Len(), pair: func(i, j int) float64 { return squared(points[i], points[j]) }, far: centre, near: centre}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func without(from, taken []int) []int {
	return slices.DeleteFunc(slices.Clone(from), func(i int) bool { return slices.Contains(taken, i) })
}

// most is the record of the largest value, the lowest of several.
func most(of []int, value func(int) float64) int {
	best := of[0]
	for _, i := range of[1:] {
		if value(i) > value(best) {
			best = i
		}
	}
	return best
}

func least(of []int, value func(int) float64) int {
	return most(of, func(i int) float64 { return -value(i) })
}

// nearestTo is r and the k-1 of from that are nearest to it.
func (g geometry) nearestTo(r int, from []int, k int) []int {
	others := without(from, []int{r})
	slices.SortFunc(others, func(a, b int) int {
		return cmp.Or(cmp.Compare(g.pair(r, a), g.pair(r, b)), cmp.Compare(a, b))
	})
	return append([]int{r}, others[:k-1]...)
}

func (g geometry) mdav(records []int, k int) [][]int {
	var groups [][]int
	rest := slices.Clone(records)
	take := func(group []int) {
		groups = append(groups, group)
		rest = without(rest, group)
	}
	for len(rest) >= 3*k {
		r := most(rest, g.far(rest))
		fromR := func(i int) float64 { return g.pair(r, i) }
		s := most(without(rest, []int{r}), fromR)
		take(g.nearestTo(r, rest, k))
		if !slices.Contains(rest, s) {
			s = most(rest, fromR)
		}
		take(g.nearestTo(s, rest, k))
	}
	if len(rest) >= 2*k {
		take(g.nearestTo(most(rest, g.far(rest)), rest, k))
	}
	if len(rest) > 0 {
		take(rest)
	}
	return groups
}

func (g geometry) vmdav(k int, gamma float64, limit int) [][]int {
	var groups [][]int
	rest := upTo(g.n)
	fromAll := g.far(rest)
	for len(rest) >= k {
		group := g.nearestTo(most(rest, fromAll), rest, k)
		rest = without(rest, group)
		toNearest := func(i int, of []int) float64 {
			d := math.Inf(1)
			for _, j := range of {
				d = min(d, math.Sqrt(g.pair(i, j)))
			}
			return d
		}
		for len(group) < limit && len(rest) > 0 {
			r := least(rest, func(i int) float64 { return toNearest(i, group) })
			if !(toNearest(r, group) < gamma*toNearest(r, without(rest, []int{r}))) {
				break
			}
			group = append(group, r)
			rest = without(rest, []int{r})
		}
		groups = append(groups, group)
	}
	fixed := make([]func(int) float64, len(groups))
	for j, group := range groups {
		fixed[j] = g.near(group)
	}
	for _, i := range rest {
		j := least(upTo(len(fixed)), func(j int) float64 { return fixed[j](i) })
		groups[j] = append(groups[j], i)
	}
	return groups
}

// graph is an adjacency matrix.
type graph [][]bool

// components of the graph that the given vertices induce.
func (e graph) components(of []int) [][]int {
	var found [][]int
	left := slices.Clone(of)
	for len(left) > 0 {
		piece := []int{left[0]}
		for at := 0; at < len(piece); at++ {
			for _, v := range left {
				if e[piece[at]][v] && !slices.Contains(piece, v) {
					piece = append(piece, v)
				}
			}
		}
		slices.Sort(piece)
		left = without(left, piece)
		found = append(found, piece)
	}
	return found
}

func (g geometry) nearGraph(k, m int, ties space.Ties) graph {
	edges := make(graph, g.n)
	for i := range edges {
		edges[i] = make([]bool, g.n)
	}
	for {
		var added [][2]int
		for _, inside := range edges.components(upTo(g.n)) {
			if len(inside) >= k {
				continue
			}
			var pairs [][2]int
			for _, u := range inside {
				for _, v := range without(upTo(g.n), inside) {
					pairs = append(pairs, [2]int{u, v})
				}
			}
			slices.SortFunc(pairs, func(a, b [2]int) int {
				byDistance := cmp.Compare(g.pair(a[0], a[1]), g.pair(b[0], b[1]))
				if ties == space.ByIndex {
					return cmp.Or(byDistance, cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
				}
				return cmp.Or(byDistance, cmp.Compare((a[1]-a[0]+g.n)%g.n, (b[1]-b[0]+g.n)%g.n), cmp.Compare(a[0], b[0]))
			})
			added = append(added, pairs[:min(m, len(pairs))]...)
		}
		if len(added) == 0 {
			return edges
		}
		for _, p := range added {
			edges[p[0]][p[1]], edges[p[1]][p[0]] = true, true
		}
	}
}

func (g geometry) tomobiki(o partition.Options) [][]int {
	edges := g.nearGraph(o.K, o.M, o.Ties)
	var groups [][]int
	var cut func(vertices []int)
	cut = func(vertices []int) {
		if len(vertices) < 2*o.K {
			groups = append(groups, vertices)
			return
		}
		from := g.far(vertices)
		if o.Start == partition.FromLowest {
			from = func(i int) float64 { return g.pair(vertices[0], i) }
		}
		n := most(vertices, from)
		var removed []int
		for {
			removed = append(removed, n)
			for _, piece := range edges.components(without(vertices, removed)) {
				if len(piece) < o.K {
					removed = append(removed, piece...)
				}
			}
			if len(removed) >= o.K {
				break
			}
			beside := slices.DeleteFunc(without(vertices, removed), func(v int) bool {
				return !slices.ContainsFunc(removed, func(u int) bool { return edges[u][v] })
			})
			n = least(beside, g.near(removed))
		}
		slices.Sort(removed)
		switch {
		case len(removed) < len(vertices):
			cut(removed)
			for _, piece := range edges.components(without(vertices, removed)) {
				cut(piece)
			}
		case o.Literal:
			groups = append(groups, vertices)
		default:
			groups = append(groups, g.mdav(vertices, o.K)...)
		}
	}
	for _, c := range edges.components(upTo(g.n)) {
		cut(c)
	}
	return groups
}

// mondrian works on the axes of a space, codes in their order.
func naiveMondrian(s *space.Space, k int, strict bool) [][]int {
	type axis struct {
		of     func(i int) float64
		extent func(sorted []float64) float64
	}
	var axes []axis
	for _, x := range s.Numbers() {
		axes = append(axes, axis{
			func(i int) float64 { return x[i] },
			func(sorted []float64) float64 { return sorted[len(sorted)-1] - sorted[0] },
		})
	}
	for _, w := range s.Words() {
		axes = append(axes, axis{
			func(i int) float64 { return float64(w.Codes[i]) },
			func(sorted []float64) float64 { return float64(len(slices.Compact(slices.Clone(sorted))) - 1) },
		})
	}
	sorted := func(a axis, ids []int) []float64 {
		var v []float64
		for _, i := range ids {
			v = append(v, a.of(i))
		}
		slices.Sort(v)
		return v
	}
	var groups [][]int
	var divide func(ids []int)
	divide = func(ids []int) {
		var widest, at float64
		var by *axis
		for a := range axes {
			values := sorted(axes[a], ids)
			whole := axes[a].extent(sorted(axes[a], upTo(s.Len())))
			if whole == 0 {
				continue
			}
			width := axes[a].extent(values) / whole
			if width <= widest {
				continue
			}
			// All values to cut below, and the one that the mode takes.
			middle, found, value := math.Inf(1), false, 0.0
			for _, v := range slices.Compact(slices.Clone(values)) {
				left := 0
				for _, x := range values {
					if x < v {
						left++
					}
				}
				if left < k || len(ids)-left < k || strict && v != values[len(ids)/2] {
					continue
				}
				if off := math.Abs(float64(left) - float64(len(ids))/2); off < middle {
					middle, found, value = off, true, v
				}
			}
			if found {
				widest, at, by = width, value, &axes[a]
			}
		}
		if by == nil {
			groups = append(groups, ids)
			return
		}
		var left, right []int
		for _, i := range ids {
			if by.of(i) < at {
				left = append(left, i)
			} else {
				right = append(right, i)
			}
		}
		divide(left)
		divide(right)
	}
	divide(upTo(s.Len()))
	return groups
}

// naive is the partition by the definition of the method that o names.
func naive(s *space.Space, of func(*space.Space) geometry, o partition.Options) space.Partition {
	var groups [][]int
	if o.Coarse > 0 && o.Coarse < s.Len() {
		for _, cell := range naiveMondrian(s, o.Coarse, o.CoarseCut == partition.Strict) {
			var records []int32
			for _, i := range cell {
				records = append(records, int32(i))
			}
			inner := o
			inner.Coarse = partition.CoarseOff
			p := naive(s.Subset(records), of, inner)
			made := make([][]int, p.Groups)
			for j, g := range p.Group {
				made[g] = append(made[g], cell[j])
			}
			groups = append(groups, made...)
		}
		return asPartition(s.Len(), groups)
	}
	switch o.Method {
	case partition.Mondrian, partition.MondrianStrict:
		groups = naiveMondrian(s, o.K, o.Method == partition.MondrianStrict)
	case partition.MDAV:
		groups = of(s).mdav(upTo(s.Len()), o.K)
	case partition.VMDAV:
		limit := 2*o.K - 1
		if o.LargeLimit {
			limit = 2 * o.K
		}
		groups = of(s).vmdav(o.K, o.Gamma, limit)
	default:
		groups = of(s).tomobiki(o)
	}
	return asPartition(s.Len(), groups)
}

func asPartition(n int, groups [][]int) space.Partition {
	p := space.Partition{Group: make([]uint32, n), Groups: len(groups)}
	for g, members := range groups {
		for _, i := range members {
			p.Group[i] = uint32(g)
		}
	}
	return p.Canonical()
}
