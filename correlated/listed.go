package correlated

import (
	"context"
	"slices"
)

// listed is the leakage to the adversaries of a list: always exact.
func (m *memberEngine) listed(ctx context.Context, rates []float64) (*Leakage, error) {
	adversaries := m.all.options.Adversaries
	if t, ok := m.model.(*JointTable); ok {
		p := newTablePlan(t, m.all.query)
		s := newSearch(p.space, p.query, rates)
		err := adversaries.each(t, func(target int, known []int) error {
			return p.each(ctx, target, known, false, func(k []Known, dists []*dist) {
				s.see(target, dists, func() ([]Known, bool) { return slices.Clone(k), false }, unknown(known))
			})
		})
		if err != nil {
			return nil, err
		}
		return s.result(), s.spent()
	}
	t, err := m.asTree("the listed adversaries' leakage")
	if err != nil {
		return nil, err
	}
	g := newGiven(t, m.all.query)
	s := newSearch(g.space, g.query, rates)
	err = adversaries.each(t, func(target int, known []int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		dists, err := g.dists(target, known)
		if err != nil {
			return err
		}
		s.see(target, dists, func() ([]Known, bool) {
			k := []Known{}
			for i, v := range known {
				if v >= 0 {
					k = append(k, Known{i, v})
				}
			}
			return k, false
		}, unknown(known))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.result(), s.spent()
}

// unknown lists the records whose state is not known.
func unknown(known []int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i, v := range known {
			if v < 0 && !yield(i) {
				return
			}
		}
	}
}

// given computes distributions of the sum over the unknown records of a tree for one
// set of known ones, by messages towards the target (docs/correlated-privacy.md, section 4.3).
type given struct {
	tree      *Tree
	query     *boundQuery
	space     *space
	marginals [][]float64
	supports  []uint64
	first     []int32
	next      []int32
	back      []*kernel // P(parent|record)
	roots     []int32
	root      []int32
}

func newGiven(t *Tree, q *boundQuery) *given {
	g := &given{tree: t, query: q, space: newSpace(q), marginals: t.marginals(), supports: t.supports()}
	g.first, g.next = t.childLists()
	g.back, g.root = make([]*kernel, t.Records()), make([]int32, t.Records())
	for _, v := range t.order {
		g.root[v] = v
		if u := t.parent[v]; u >= 0 {
			g.root[v] = g.root[u]
		} else {
			g.roots = append(g.roots, v)
		}
	}
	return g
}

// message is a sub-distribution for every state of the record it goes to.
type message struct {
	dists []*dist
	mass  []float64
}

// product is the message of all of v's branches but the one to from.
func (g *given) product(v, from int32, known []int) (*message, error) {
	k := g.tree.States(int(v))
	out := &message{make([]*dist, k), make([]float64, k)}
	for y := range k {
		out.dists[y], _ = normalise(g.space.point())
	}
	join := func(to int32, kernel *kernel) error {
		in, err := g.message(to, v, kernel, known)
		if err != nil {
			return err
		}
		for y := range k {
			out.mass[y] += in.mass[y]
			if out.dists[y] == nil || in.dists[y] == nil {
				out.dists[y], out.mass[y] = nil, negInf
				continue
			}
			if out.dists[y], err = g.space.convolve(out.dists[y], in.dists[y]); err != nil {
				return err
			}
		}
		return nil
	}
	if u := g.tree.parent[v]; u >= 0 && u != from {
		if g.back[v] == nil {
			g.back[v] = g.tree.pool[g.tree.kernel[v]].reversed(g.marginals[u])
		}
		if err := join(u, g.back[v]); err != nil {
			return nil, err
		}
	}
	for c := g.first[v]; c >= 0; c = g.next[c] {
		if c != from {
			if err := join(c, g.tree.pool[g.tree.kernel[c]]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// message goes from v to the record whose states are the kernel's rows. A known
// v still passes on the sum of what is unknown behind it.
func (g *given) message(v, to int32, k *kernel, known []int) (*message, error) {
	in, err := g.product(v, to, known)
	if err != nil {
		return nil, err
	}
	out := &message{make([]*dist, k.rows), make([]float64, k.rows)}
	key := g.query.rows[g.query.row[v]].key
	for x := range k.rows {
		terms := make([]term, 0, k.cols)
		for y := range k.cols {
			shift := key[y]
			if known[v] >= 0 {
				if y != known[v] {
					continue
				}
				shift = 0
			}
			terms = append(terms, term{in.dists[y], shift, in.mass[y] + k.logAt(x, y)})
		}
		sum, err := g.space.mix(terms)
		if err != nil {
			return nil, err
		}
		out.dists[x], out.mass[x] = normalise(sum)
	}
	return out, nil
}

// distributions are those of the unknown sum without the target, by the target's state;
// nil for states that are impossible given what is known.
func (g *given) dists(target int, known []int) ([]*dist, error) {
	out, err := g.product(int32(target), -1, known)
	if err != nil {
		return nil, err
	}
	for a := range out.dists {
		if g.supports[target]>>a&1 == 0 {
			out.dists[a] = nil
		}
	}
	for _, r := range g.roots {
		if r == g.root[target] {
			continue
		}
		m, err := g.message(r, -1, g.tree.pool[g.tree.kernel[r]], known)
		if err != nil {
			return nil, err
		}
		for a := range out.dists {
			if m.dists[0] == nil {
				out.dists[a] = nil // what is known there is impossible
			}
			if out.dists[a] != nil {
				if out.dists[a], err = g.space.convolve(out.dists[a], m.dists[0]); err != nil {
					return nil, err
				}
			}
		}
	}
	return out.dists, nil
}
