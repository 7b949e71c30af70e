package correlated

import (
	"context"
	"slices"

	"github.com/noren-privacy/noren"
)

// treePlan is the exact evaluation of a tree distribution against all adversaries, or
// against those who know nothing.
//
// Seen from a target, the distribution is a product over its branches. What an
// adversary knows of a branch matters only through the distribution of the branch's sum
// given the state of the record it hangs on, up to one factor: an option. The
// branch u->v has an option for every state in which v can be known, and for
// every way to choose options in v's further branches one with v unknown
// (docs/correlated-privacy.md, section 4.3). Options that agree are merged, and branches that agree
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
	rest    map[int32]*dist // by root's class: the sum of all other trees, for adversaries who know nothing
}

// treeEdge is a class of equal branches u->v.
type treeEdge struct {
	kernel   *kernel // P(X_v|X_u); a row of an impossible state is zero
	row      int32
	branches []int32 // of v, away from u, sorted
	options  []*treeOption
	done     bool
}

// treeOption is the distribution of a branch given the state of the record it hangs on.
type treeOption struct {
	dists []*dist
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

func newTreePlan(ctx context.Context, t *Tree, q *boundQuery, o *LeakageOptions) (*treePlan, error) {
	if t.Records() > maxExactTree {
		return nil, noren.Reasonf("%s: more than %d records", errBudget, maxExactTree)
	}
	p := &treePlan{
		tree: t, query: q, space: newSpace(q), empty: o.Adversaries.kind == advEmpty, budget: o.budget(treeBudget),
		rest: map[int32]*dist{},
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
			o := &treeOption{dists: make([]*dist, k.rows), mass: make([]float64, k.rows), known: y}
			for x := range k.rows {
				o.mass[x] = k.logAt(x, y)
				if o.mass[x] > negInf {
					o.dists[x] = p.space.point()
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
		o := &treeOption{dists: make([]*dist, k.rows), mass: make([]float64, k.rows), known: -1, parts: in.parts}
		for x := range k.rows {
			terms := make([]term, 0, k.cols)
			for y := range k.cols {
				terms = append(terms, term{in.dists[y], key[y], in.mass[y] + k.logAt(x, y)})
			}
			sum, err := p.space.mix(terms)
			if err != nil {
				return nil, err
			}
			o.dists[x], o.mass[x] = normalise(sum)
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
	one := &treeOption{dists: make([]*dist, k), mass: make([]float64, k), known: -1}
	for y := range k {
		one.dists[y] = p.space.point()
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
				o := &treeOption{dists: make([]*dist, k), mass: make([]float64, k), known: -1, parts: &treePart{left.parts, right}}
				for y := range k {
					o.mass[y] = negInf
					if left.dists[y] == nil || right.dists[y] == nil {
						continue
					}
					if o.dists[y], err = p.space.convolve(left.dists[y], right.dists[y]); err != nil {
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
			dists := slices.Clone(o.dists)
			for a := range dists {
				switch {
				case supports[t.record]>>a&1 == 0:
					dists[a] = nil
				case rest != nil && dists[a] != nil:
					var err error
					if dists[a], err = p.space.convolve(dists[a], rest); err != nil {
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
			s.see(t.record, dists, known, func(yield func(int) bool) {
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

// others finds, for every kind of tree in the forest, the distribution of the sum over
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
	whole := map[int32]*dist{}
	for _, id := range ids {
		options, err := p.options(ctx, id)
		if err != nil {
			return err
		}
		whole[id] = options[0].dists[0]
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
