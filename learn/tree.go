package learn

import (
	"math/rand/v2"
	"slices"
)

// tree is a CART tree in arrays: node 0 is the root, children come after it.
type tree struct {
	feature   []int32 // -1 for a leaf
	threshold []float64
	left      []int32 // the child for x <= threshold; the other is right; of a leaf, where its shares begin
	right     []int32
	shares    []float64 // classes numbers a leaf: what share of its records is of each class
}

// leaf returns the class shares of the leaf that x falls in.
func (t *tree) leaf(x []float64, classes int) []float64 {
	node := int32(0)
	for t.feature[node] >= 0 {
		if x[t.feature[node]] <= t.threshold[node] {
			node = t.left[node]
		} else {
			node = t.right[node]
		}
	}
	return t.shares[t.left[node] : int(t.left[node])+classes]
}

// coded is the training data with every feature as ranks among its distinct
// values: splits need no more, and ranks can be counted instead of sorted.
type coded struct {
	n, classes int
	rank       [][]uint32  // features x records
	values     [][]float64 // features x distinct values, ascending
	y          []int32
}

func code(x *Matrix, y []int, classes int) *coded {
	c := &coded{n: x.Rows, classes: classes, y: make([]int32, x.Rows)}
	for i, k := range y {
		c.y[i] = int32(k)
	}
	for j := range x.Cols {
		column := x.Column(j)
		distinct := slices.Clone(column)
		slices.Sort(distinct)
		distinct = slices.Compact(distinct)
		rank := make([]uint32, x.Rows)
		for i, v := range column {
			r, _ := slices.BinarySearch(distinct, v)
			rank[i] = uint32(r)
		}
		c.rank, c.values = append(c.rank, rank), append(c.values, distinct)
	}
	return c
}

// grower grows one tree at a time; its buffers serve many.
type grower struct {
	*coded
	o       Forest // with all defaults filled in
	rng     *rand.Rand
	weight  []int32 // how often a record was drawn
	records []int32 // those drawn, rearranged so that every node is a range
	columns []int32
	counts  []int32 // of the node, by class
	leftOf  []int32
	table   []int32  // rank x class
	keys    []uint64 // rank and record, where a table would be mostly empty
	t       *tree
}

func newGrower(c *coded, o Forest) *grower {
	g := &grower{coded: c, o: o, weight: make([]int32, c.n), counts: make([]int32, c.classes), leftOf: make([]int32, c.classes)}
	g.columns = make([]int32, len(c.rank))
	return g
}

// grow grows the tree of one stream of random numbers.
func (g *grower) grow(rng *rand.Rand) *tree {
	g.rng, g.t = rng, &tree{}
	g.records = g.records[:0]
	clear(g.weight)
	for i := range g.n {
		if g.o.All {
			g.weight[i] = 1
		} else {
			g.weight[rng.IntN(g.n)]++
		}
	}
	for i, w := range g.weight {
		if w > 0 {
			g.records = append(g.records, int32(i))
		}
	}
	for j := range g.columns {
		g.columns[j] = int32(j)
	}
	g.node(0, len(g.records), 0)
	return g.t
}

// split is a question and how well it parts the classes.
type split struct {
	feature int32
	rank    uint32 // records of this rank and below go left
	next    uint32 // the next rank that occurs
	score   float64
}

// node grows the node of g.records[lo:hi] and returns its number.
func (g *grower) node(lo, hi, depth int) int32 {
	t := g.t
	id := int32(len(t.feature))
	t.feature = append(t.feature, -1)
	t.threshold = append(t.threshold, 0)
	t.left, t.right = append(t.left, 0), append(t.right, 0)

	clear(g.counts)
	total := int32(0)
	for _, i := range g.records[lo:hi] {
		g.counts[g.y[i]] += g.weight[i]
		total += g.weight[i]
	}
	pure := g.counts[g.y[g.records[lo]]] == total
	if !pure && (g.o.Depth == 0 || depth < g.o.Depth) && int(total) >= 2*g.o.MinLeaf {
		if s, ok := g.bestSplit(lo, hi, total); ok {
			values := g.values[s.feature]
			t.feature[id] = s.feature
			t.threshold[id] = midpoint(values[s.rank], values[s.next])
			mid := g.part(lo, hi, s)
			l := g.node(lo, mid, depth+1)
			r := g.node(mid, hi, depth+1)
			t.left[id], t.right[id] = l, r
			return id
		}
	}
	t.left[id] = int32(len(t.shares))
	for _, c := range g.counts {
		t.shares = append(t.shares, float64(c)/float64(total))
	}
	return id
}

// midpoint of a < b, such that a <= it < b: a point that parts them.
func midpoint(a, b float64) float64 {
	if m := a/2 + b/2; m >= a && m < b {
		return m
	}
	return a
}

// part moves the records that go left to the front and returns where the others begin.
func (g *grower) part(lo, hi int, s split) int {
	rank := g.rank[s.feature]
	mid := lo
	for k := lo; k < hi; k++ {
		if i := g.records[k]; rank[i] <= s.rank {
			g.records[k], g.records[mid] = g.records[mid], i
			mid++
		}
	}
	return mid
}

// bestSplit draws features without putting back until enough have been looked
// at and one of them varies (as scikit-learn does), and returns the best split
// among them, the first of equals.
func (g *grower) bestSplit(lo, hi int, total int32) (split, bool) {
	var best split
	found, varies := false, false
	for k := 0; k < len(g.columns) && (k < g.o.Features || !varies); k++ {
		pick := k + g.rng.IntN(len(g.columns)-k)
		g.columns[k], g.columns[pick] = g.columns[pick], g.columns[k]
		f := g.columns[k]
		var s split
		var ok, constant bool
		if len(g.values[f])*g.classes <= 8*(hi-lo)+64 {
			s, ok, constant = g.byTable(lo, hi, total, f)
		} else {
			s, ok, constant = g.bySorting(lo, hi, total, f)
		}
		varies = varies || !constant
		if ok && (!found || s.score > best.score) {
			best, found = s, true
		}
	}
	return best, found
}

// byTable counts ranks and classes.
func (g *grower) byTable(lo, hi int, total int32, f int32) (best split, ok, constant bool) {
	size := len(g.values[f]) * g.classes
	if cap(g.table) < size {
		g.table = make([]int32, size)
	}
	table := g.table[:size]
	clear(table)
	rank := g.rank[f]
	from, to := ^uint32(0), uint32(0)
	for _, i := range g.records[lo:hi] {
		r := rank[i]
		table[int(r)*g.classes+int(g.y[i])] += g.weight[i]
		from, to = min(from, r), max(to, r)
	}
	if from == to {
		return split{}, false, true
	}
	sw := g.sweep(f, total)
	for r := from; r <= to; r++ {
		row := table[int(r)*g.classes : int(r+1)*g.classes]
		here := int32(0)
		for _, w := range row {
			here += w
		}
		if here == 0 {
			continue
		}
		sw.reach(r)
		for c, w := range row {
			g.leftOf[c] += w
		}
		sw.left += here
	}
	return sw.best, sw.found, false
}

// bySorting sorts the records of the node by rank.
func (g *grower) bySorting(lo, hi int, total int32, f int32) (best split, ok, constant bool) {
	rank := g.rank[f]
	g.keys = g.keys[:0]
	for _, i := range g.records[lo:hi] {
		g.keys = append(g.keys, uint64(rank[i])<<32|uint64(uint32(i)))
	}
	slices.Sort(g.keys)
	if g.keys[0]>>32 == g.keys[len(g.keys)-1]>>32 {
		return split{}, false, true
	}
	sw := g.sweep(f, total)
	for k := 0; k < len(g.keys); {
		r := uint32(g.keys[k] >> 32)
		sw.reach(r)
		for ; k < len(g.keys) && uint32(g.keys[k]>>32) == r; k++ {
			i := uint32(g.keys[k])
			g.leftOf[g.y[i]] += g.weight[i]
			sw.left += g.weight[i]
		}
	}
	return sw.best, sw.found, false
}

// sweep walks over the ranks of one feature, from below.
type sweep struct {
	g           *grower
	feature     int32
	total, left int32 // records of the node, and those already passed
	last        uint32
	best        split
	found       bool
}

func (g *grower) sweep(f, total int32) sweep {
	clear(g.leftOf)
	return sweep{g: g, feature: f, total: total}
}

// reach comes to rank r, whose records are not yet on the left: here the node
// could be split. The Gini impurity of the two sides, weighed by their sizes,
// is total - (sum_c l_c^2/l + sum_c r_c^2/r), over total: the smallest impurity
// is the largest of the term in brackets.
func (s *sweep) reach(r uint32) {
	last := s.last
	s.last = r
	right := s.total - s.left
	if minLeaf := int32(s.g.o.MinLeaf); s.left < minLeaf || right < minLeaf {
		return
	}
	var l2, r2 float64
	for c, l := range s.g.leftOf {
		lc, rc := float64(l), float64(s.g.counts[c]-l)
		l2 += lc * lc
		r2 += rc * rc
	}
	if score := l2/float64(s.left) + r2/float64(right); !s.found || score > s.best.score {
		s.best, s.found = split{feature: s.feature, rank: last, next: r, score: score}, true
	}
}
