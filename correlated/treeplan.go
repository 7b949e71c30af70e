package correlated

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// treePlan is the exact evaluation of a tree law against all adversaries, or
// against those who know nothing.
//
// Seen from a target, the law is a product over its branches. What an
// adversary knows of a branch matters only through the law of the branch's sum
// given the state of the record it hangs on, up to one factor: an option. The
// branch u->v has an option for every state in which v can be known, and for
// every way to choose options in v's further branches one with v unknown
// (note, section 4.3). Options that agree are merged, and branches that agree
// are one branch, wherever they hang: a thousand equal households cost as much
// as one.
//
// The number of options is exponential for some trees, as it must be (finding
// the worst set of known records is NP-hard); it is bounded by a budget.
type treePlan struct {
	tree    *Tree
	query   *boundQuery
	space   *space
	empty   bool
	budget  int
	made    int
	atoms   int
	edges   []treeEdge
	down    []int32 // of each record, the edge from its parent to it; -1 at a root
	up      []int32 // of each record, the edge from it to its parent
	first   []int32
	next    []int32
	targets []treeTarget
	rest    map[int32]*law // by root's class: the sum of all other trees, for adversaries who know nothing
}

// treeEdge is a class of equal branches u->v.
type treeEdge struct {
	kernel   *kernel // P(X_v|X_u); a row of an impossible state is zero
	row      int32
	branches []int32 // of v, away from u, sorted
	options  []*treeOption
	done     bool
}

// treeOption is the law of a branch given the state of the record it hangs on.
type treeOption struct {
	laws  []*law
	mass  []float64
	known int // v's state, or -1
	parts *treePart
}

// treePart lists options of several branches, the last branch first.
type treePart struct {
	prev   *treePart
	option *treeOption
}

// treeTarget stands for all records that see the same.
type treeTarget struct {
	record   int
	branches []int32
	options  []*treeOption
	root     int32 // class of its tree's root
}

// maxExactTree is how many records a tree may have to be looked at exactly.
const maxExactTree = 200_000

func newTreePlan(ctx context.Context, t *Tree, q *boundQuery, o *Options) (*treePlan, error) {
	if t.Records() > maxExactTree {
		return nil, fmt.Errorf("%w: more than %d records", errBudget, maxExactTree)
	}
	p := &treePlan{
		tree: t, query: q, space: newSpace(q), empty: o.Adversaries.kind == advEmpty, budget: o.budget(treeBudget),
		rest: map[int32]*law{},
	}
	targets, roots := p.classify()
	p.targets = targets
	for i := range p.targets {
		tg := &p.targets[i]
		var err error
		if tg.options, err = p.product(ctx, tg.branches, t.States(tg.record)); err != nil {
			return nil, err
		}
	}
	if p.empty {
		if err := p.others(ctx, roots); err != nil {
			return nil, err
		}
	}
	return p, nil
}

type classKey struct {
	kernel, row int32
	list        string
}

// classify numbers the edges so that equal branches have equal numbers, and
// returns the distinct targets and, by root, the class of its whole tree.
func (p *treePlan) classify() ([]treeTarget, map[int32]int32) {
	t := p.tree
	n := t.Records()
	p.first, p.next = t.childLists()
	p.down, p.up = make([]int32, n), make([]int32, n)
	marginals := t.marginals()
	pool := newKernelPool()
	classes := map[classKey]int32{}
	intern := func(k *kernel, row int32, branches []int32) int32 {
		kid := pool.add(k)
		key := classKey{kid, row, listString(branches)}
		id, ok := classes[key]
		if !ok {
			id = int32(len(p.edges))
			classes[key] = id
			p.edges = append(p.edges, treeEdge{kernel: pool.all[kid], row: row, branches: branches})
		}
		return id
	}
	children := make([][]int32, n)
	roots := map[int32]int32{}
	for j := n - 1; j >= 0; j-- {
		v := t.order[j]
		for c := p.first[v]; c >= 0; c = p.next[c] {
			children[v] = append(children[v], p.down[c])
		}
		slices.Sort(children[v])
		p.down[v] = intern(t.pool[t.kernel[v]], p.query.row[v], children[v])
		if t.parent[v] < 0 {
			roots[v] = p.down[v]
		}
	}
	type backKey struct {
		kernel int32
		bits   string
	}
	backs := map[backKey]*kernel{}
	for _, v := range t.order {
		if t.parent[v] < 0 {
			p.up[v] = -1
		}
		// The edges from v's children back to v: all that hangs on v but the
		// child. Equal children have equal edges.
		seen := map[int32][]int32{}
		for c := p.first[v]; c >= 0; c = p.next[c] {
			branches, ok := seen[p.down[c]]
			if !ok {
				at, _ := slices.BinarySearch(children[v], p.down[c])
				branches = slices.Delete(slices.Clone(children[v]), at, at+1)
				if p.up[v] >= 0 {
					branches = append(branches, p.up[v])
					slices.Sort(branches)
				}
				seen[p.down[c]] = branches
			}
			bk := backKey{t.kernel[c], floatString(marginals[v])}
			back := backs[bk]
			if back == nil {
				back = t.pool[t.kernel[c]].reversed(marginals[v])
				backs[bk] = back
			}
			p.up[c] = intern(back, p.query.row[v], branches)
		}
	}
	rootOf := make([]int32, n)
	type targetKey struct {
		row  int32
		mask uint64
		list string
		root int32
	}
	known := map[targetKey]bool{}
	supports := t.supports()
	var targets []treeTarget
	for _, v := range t.order {
		branches := slices.Clone(children[v])
		rootOf[v] = p.down[v]
		if u := t.parent[v]; u >= 0 {
			branches = append(branches, p.up[v])
			slices.Sort(branches)
			rootOf[v] = rootOf[u]
		}
		key := targetKey{p.query.row[v], supports[v], listString(branches), -1}
		if p.empty {
			key.root = rootOf[v]
		}
		if !known[key] {
			known[key] = true
			targets = append(targets, treeTarget{record: int(v), branches: branches, root: rootOf[v]})
		}
	}
	return targets, roots
}

func listString(v []int32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = append(b, byte(x), byte(x>>8), byte(x>>16), byte(x>>24))
	}
	return string(b)
}

func floatString(v []float64) string {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		u := math.Float64bits(x)
		for s := 0; s < 64; s += 8 {
			b = append(b, byte(u>>s))
		}
	}
	return string(b)
}

// reversed is P(X_u|X_v) from k = P(X_v|X_u) and the law of X_u; the row of a
// state of v that cannot be is zero.
func (k *kernel) reversed(law []float64) *kernel {
	r := &kernel{rows: k.cols, cols: k.rows, p: make([]float64, len(k.p))}
	total := k.next(law)
	for y := range k.cols {
		if total[y] == 0 {
			continue
		}
		for x := range k.rows {
			r.p[y*r.cols+x] = law[x] * k.at(x, y) / total[y]
		}
	}
	r.log = logs(r.p)
	return r
}

// options are those of an edge's class.
func (p *treePlan) options(ctx context.Context, id int32) ([]*treeOption, error) {
	if p.edges[id].done {
		return p.edges[id].options, nil
	}
	k := p.edges[id].kernel
	inner, err := p.product(ctx, p.edges[id].branches, k.cols)
	if err != nil {
		return nil, err
	}
	set := newOptionSet(p)
	if !p.empty {
		for y := range k.cols {
			o := &treeOption{laws: make([]*law, k.rows), mass: make([]float64, k.rows), known: y}
			for x := range k.rows {
				if o.mass[x] = k.logAt(x, y); o.mass[x] > negInf {
					o.laws[x] = p.space.point()
				}
			}
			if err := set.add(o); err != nil {
				return nil, err
			}
		}
	}
	key := p.query.rows[p.edges[id].row].key
	for i, in := range inner {
		if i%256 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		o := &treeOption{laws: make([]*law, k.rows), mass: make([]float64, k.rows), known: -1, parts: in.parts}
		for x := range k.rows {
			terms := make([]term, 0, k.cols)
			for y := range k.cols {
				terms = append(terms, term{in.laws[y], key[y], in.mass[y] + k.logAt(x, y)})
			}
			sum, err := p.space.mix(terms)
			if err != nil {
				return nil, err
			}
			o.laws[x], o.mass[x] = normalise(sum)
		}
		if err := set.add(o); err != nil {
			return nil, err
		}
	}
	p.edges[id].options, p.edges[id].done = set.list, true
	return set.list, nil
}

// product chooses an option in each of several branches of a record with k
// states.
func (p *treePlan) product(ctx context.Context, branches []int32, k int) ([]*treeOption, error) {
	one := &treeOption{laws: make([]*law, k), mass: make([]float64, k), known: -1}
	for y := range k {
		one.laws[y] = p.space.point()
	}
	list := []*treeOption{one}
	for _, id := range branches {
		options, err := p.options(ctx, id)
		if err != nil {
			return nil, err
		}
		set := newOptionSet(p)
		for i, left := range list {
			if i%64 == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			for _, right := range options {
				o := &treeOption{laws: make([]*law, k), mass: make([]float64, k), known: -1, parts: &treePart{left.parts, right}}
				for y := range k {
					o.mass[y] = negInf
					if left.laws[y] == nil || right.laws[y] == nil {
						continue
					}
					if o.laws[y], err = p.space.convolve(left.laws[y], right.laws[y]); err != nil {
						return nil, err
					}
					o.mass[y] = left.mass[y] + right.mass[y]
				}
				if err := set.add(o); err != nil {
					return nil, err
				}
			}
		}
		list = set.list
	}
	return list, nil
}

// optionSet merges options that agree up to one factor.
type optionSet struct {
	plan   *treePlan
	list   []*treeOption
	byHash map[uint64][]*treeOption
}

func newOptionSet(p *treePlan) *optionSet {
	return &optionSet{plan: p, byHash: map[uint64][]*treeOption{}}
}

// sameLog is how near logarithms of masses must be to count as equal.
const sameLog = 1e-12

func (s *optionSet) add(o *treeOption) error {
	if s.plan.made++; s.plan.made > s.plan.budget {
		return fmt.Errorf("%w: more than %d options", errBudget, s.plan.budget)
	}
	top := slices.Max(o.mass)
	if top == negInf {
		return nil
	}
	h := uint64(len(o.laws))
	grid := func(v float64) uint64 {
		if v < -700 {
			return 1
		}
		return uint64(int64(math.Round(v / (64 * sameLog))))
	}
	for x, l := range o.laws {
		o.mass[x] -= top
		h = hashWord(h, grid(o.mass[x]))
		if l == nil {
			continue
		}
		for i, v := range l.log {
			if v > -700 {
				h = hashWord(h, uint64(l.at(i)))
				h = hashWord(h, grid(v))
			}
		}
	}
	for _, other := range s.byHash[h] {
		if other.same(o) {
			return nil
		}
	}
	s.byHash[h] = append(s.byHash[h], o)
	s.list = append(s.list, o)
	for _, l := range o.laws {
		if l != nil {
			s.plan.atoms += l.len()
		}
	}
	if s.plan.atoms > maxPlanAtoms {
		return fmt.Errorf("%w: the laws of the branches have too many atoms", errBudget)
	}
	return nil
}

func (o *treeOption) same(other *treeOption) bool {
	for x, l := range o.laws {
		m := other.laws[x]
		if (l == nil) != (m == nil) {
			return false
		}
		if l == nil {
			continue
		}
		if l.len() != m.len() || l.lo != m.lo || !slices.Equal(l.key, m.key) || !near(o.mass[x], other.mass[x]) {
			return false
		}
		for i := range l.log {
			if !near(l.log[i], m.log[i]) {
				return false
			}
		}
	}
	return true
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= sameLog }

func (p *treePlan) leakage(ctx context.Context, rates []float64) (*Leakage, error) {
	s := newSearch(p.space, p.query, rates)
	supports := p.tree.supports()
	for i := range p.targets {
		t := &p.targets[i]
		rest := p.rest[t.root]
		for j, o := range t.options {
			if j%256 == 0 {
				if err := ctx.Err(); err != nil {
					return nil, err
				}
			}
			laws := slices.Clone(o.laws)
			for a := range laws {
				switch {
				case supports[t.record]>>a&1 == 0:
					laws[a] = nil
				case rest != nil && laws[a] != nil:
					var err error
					if laws[a], err = p.space.convolve(laws[a], rest); err != nil {
						return nil, err
					}
				}
			}
			var inside []int
			known := func() ([]Known, bool) {
				var k []Known
				k, inside = p.reveal(t, o)
				if p.empty {
					inside = inside[:0]
					for v := range p.tree.parent {
						inside = append(inside, v)
					}
				}
				return k, len(inside) < p.tree.Records()
			}
			s.see(t.record, laws, known, func(yield func(int) bool) {
				for _, v := range inside {
					if !yield(v) {
						return
					}
				}
			})
			if err := s.spent(); err != nil {
				return nil, err
			}
		}
	}
	return s.result(), nil
}

// others finds, for every kind of tree in the forest, the law of the sum over
// all other trees: unknown to those who know nothing.
func (p *treePlan) others(ctx context.Context, roots map[int32]int32) error {
	counts := map[int32]int{}
	for _, class := range roots {
		counts[class]++
	}
	if len(roots) == 1 {
		return nil
	}
	ids := make([]int32, 0, len(counts))
	for id := range counts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	whole := map[int32]*law{}
	for _, id := range ids {
		options, err := p.options(ctx, id)
		if err != nil {
			return err
		}
		whole[id] = options[0].laws[0]
	}
	for _, id := range ids {
		sum := p.space.point()
		sum, _ = normalise(sum)
		for _, other := range ids {
			times := counts[other]
			if other == id {
				times--
			}
			for power := whole[other]; times > 0; times >>= 1 {
				var err error
				if times&1 == 1 {
					if sum, err = p.space.convolve(sum, power); err != nil {
						return err
					}
				}
				if times > 1 {
					if power, err = p.space.convolve(power, power); err != nil {
						return err
					}
				}
			}
		}
		p.rest[id] = sum
	}
	return nil
}

// reveal names the known records of an option of a target, and the unknown ones
// (the target among them) inside them.
func (p *treePlan) reveal(t *treeTarget, o *treeOption) (known []Known, inside []int) {
	known = []Known{}
	var visit func(v, from int32, parts *treePart)
	visit = func(v, from int32, parts *treePart) {
		inside = append(inside, int(v))
		type branch struct {
			id, to int32
		}
		var list []branch
		if u := p.tree.parent[v]; u >= 0 && u != from {
			list = append(list, branch{p.up[v], u})
		}
		for c := p.first[v]; c >= 0; c = p.next[c] {
			if c != from {
				list = append(list, branch{p.down[c], c})
			}
		}
		slices.SortStableFunc(list, func(a, b branch) int { return int(a.id) - int(b.id) })
		for i := len(list) - 1; i >= 0; i, parts = i-1, parts.prev {
			if parts.option.known >= 0 {
				known = append(known, Known{int(list[i].to), parts.option.known})
			} else {
				visit(list[i].to, v, parts.option.parts)
			}
		}
	}
	visit(int32(t.record), -1, o.parts)
	slices.SortFunc(known, func(a, b Known) int { return a.Record - b.Record })
	return known, inside
}
