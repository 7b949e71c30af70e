package correlated

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
)

// chainPlan is what the exact evaluation of a chain needs for every scale.
//
// By Theorem 3 the unknown records that matter form an interval around the
// target, so an adversary is a left arm and a right arm: the unknown records up
// to the nearest known one on that side and its state, or all of them (an open
// arm). Arms that see the same matrices and values are the same arm, wherever
// they stand: they are nodes of a trie.
type chainPlan struct {
	chain   *Chain
	query   *boundQuery
	space   *space
	options *LeakageOptions
	arm     int // the longest closed arm that is looked at
	nodes   []*armNode
	targets []chainTarget
	atoms   int
	last    *chainConfig // the worst of the last scale
	// unbounded reports that Theorem 6 gives nothing: some boundary is possible
	// under one state of a target and not under another.
	unbounded bool
}

// armNode is the distribution of the sum over an arm, given the target's state.
type armNode struct {
	id      int32
	targets int // states of the target
	ends    []armEnd
}

// armEnd is an arm with its boundary record in one state (or open). With P the
// distribution of the arm's sum and the boundary's state given that the target is in
// state a, dists[a] is P normalised and mass[a] the logarithm of what it had.
// Left arms condition the other way round, on the boundary's state: the factor
// between cancels in a ratio.
type armEnd struct {
	dists []*dist // nil where impossible
	mass  []float64
	// lambda is, for one scale, the log ratio that this arm alone can give to
	// state a against c, at a*targets+c.
	lambda []extreme
}

// armRef is an arm of a target.
type armRef struct {
	node   *armNode
	length int    // from the target to the boundary, or for an open arm past the end
	mask   uint64 // boundary states that have positive probability
	open   bool
	// long marks an arm cut short: beyond it others exist, whose leakage is
	// larger by at most omega (Theorem 6). An artefact arm is no adversary of
	// the kind asked for, and counts for the bound only.
	long     bool
	artefact bool
	omega    []float64
}

// chainTarget stands for all records whose surroundings are the same.
type chainTarget struct {
	record      int
	row         int32
	left, right []armRef
}

// chainConfig is one adversary of a chain.
type chainConfig struct {
	target      *chainTarget
	left, right *armRef
	x, y        int
}

const (
	armRight = iota
	armLeft
	armOpenRight
	armOpenLeft
)

type armKey struct {
	prev, step, row int32
	kind            uint8
}

// maxPlanAtoms bounds the memory of a plan, 24 bytes an atom.
const maxPlanAtoms = 12_000_000

type chainBuilder struct {
	*chainPlan
	trie     map[armKey]*armNode
	lists    map[listKey]int32
	supports []uint64
}

type listKey struct {
	prev, node int32
	mask       uint64
	flags      uint8
}

// newChainPlan lays out all arms of at most the given length.
func newChainPlan(ctx context.Context, c *Chain, q *boundQuery, o *LeakageOptions, arm int) (*chainPlan, error) {
	n := c.Records()
	p := &chainPlan{chain: c, query: q, space: newSpace(q), options: o, arm: min(arm, n)}
	if err := p.afford(); err != nil {
		return nil, err
	}
	b := &chainBuilder{chainPlan: p, trie: map[armKey]*armNode{}, lists: map[listKey]int32{}, supports: c.supports()}
	type targetKey struct{ row, left, right int32 }
	seen := map[targetKey]bool{}
	for i := range n {
		if i%64 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		left, leftID, err := b.arms(i, -1)
		if err != nil {
			return nil, err
		}
		right, rightID, err := b.arms(i, +1)
		if err != nil {
			return nil, err
		}
		key := targetKey{q.row[i], leftID, rightID}
		if seen[key] {
			continue
		}
		seen[key] = true
		p.targets = append(p.targets, chainTarget{record: i, row: q.row[i], left: left, right: right})
	}
	return p, nil
}

// afford estimates the configurations before anything is built.
func (p *chainPlan) afford() error {
	n, k := float64(p.chain.Records()), 0.0
	for _, m := range p.chain.pool {
		k = max(k, float64(m.cols))
	}
	a := min(float64(p.arm), n)
	pairs := n * a * a
	if a == n {
		pairs = n * n * n / 6
	}
	if p.options.Adversaries.kind == advEmpty {
		pairs = n
	}
	// Where all surroundings are equal only the ends differ.
	if p.chain.Homogeneous() && a < n {
		pairs = min(pairs, 4*a*a*a)
	}
	if pairs*k*k > float64(p.options.budget(workBudget)) {
		return noren.Reasonf("%s: about %.2g configurations", errBudget, pairs*k*k)
	}
	return nil
}

func (p *chainPlan) whole() bool { return p.arm >= p.chain.Records() }

// arms lists the arms of record i in one direction, with a number that equal
// lists share.
func (b *chainBuilder) arms(i, dir int) ([]armRef, int32, error) {
	n := b.chain.Records()
	reach := i
	if dir > 0 {
		reach = n - 1 - i
	}
	empty := b.options.Adversaries.kind == advEmpty
	var refs []armRef
	list := int32(-1)
	add := func(r armRef) {
		refs = append(refs, r)
		flags := uint8(0)
		if r.long {
			flags |= 1
		}
		key := listKey{list, r.node.id, r.mask, flags}
		id, ok := b.lists[key]
		if !ok {
			id = int32(len(b.lists))
			b.lists[key] = id
		}
		list = id
	}
	var node *armNode
	for d := 1; d <= min(reach, b.arm); d++ {
		at := i + dir*d
		var err error
		if node, err = b.extend(node, i, at, dir); err != nil {
			return nil, 0, err
		}
		long := d == b.arm && d < reach
		if empty && !long {
			continue
		}
		r := armRef{node: node, length: d, mask: b.supports[at], long: long, artefact: empty}
		if long {
			r.omega = r.oscillation()
			for _, om := range r.omega {
				b.unbounded = b.unbounded || math.IsInf(om, 1)
			}
		}
		add(r)
	}
	if reach <= b.arm {
		open, err := b.open(node, i, i+dir*reach, dir)
		if err != nil {
			return nil, 0, err
		}
		add(armRef{node: open, length: reach + 1, mask: 1, open: true})
	}
	return refs, list, nil
}

// step is the kernel between two neighbours, and its number.
func (b *chainBuilder) step(from, to int) (*kernel, int32) {
	id := b.chain.step[min(from, to)]
	return b.chain.pool[id], id
}

// extend moves the boundary of an arm of target i to record at, one further in
// direction dir than before; node nil is the arm without records.
func (b *chainBuilder) extend(node *armNode, i, at, dir int) (*armNode, error) {
	before := at - dir
	k, id := b.step(before, at)
	key := armKey{prev: -1, step: id, row: -1, kind: armRight}
	if dir < 0 {
		key.kind = armLeft
	}
	if node != nil {
		key.prev, key.row = node.id, b.query.row[before]
	}
	if known := b.trie[key]; known != nil {
		return known, nil
	}
	logP := func(inner, outer int) float64 {
		if dir > 0 {
			return k.logAt(inner, outer)
		}
		return k.logAt(outer, inner)
	}
	targets := b.chain.States(i)
	next := &armNode{targets: targets, ends: make([]armEnd, b.chain.States(at))}
	for y := range next.ends {
		end := b.newEnd(next, y)
		for a := range targets {
			if node == nil {
				if w := logP(a, y); w > negInf {
					end.dists[a], end.mass[a] = b.space.point(), w
				}
				continue
			}
			terms := make([]term, 0, len(node.ends))
			for x := range node.ends {
				terms = append(terms, term{node.ends[x].dists[a], b.query.rows[key.row].key[x], node.ends[x].mass[a] + logP(x, y)})
			}
			if err := b.fill(end, a, terms); err != nil {
				return nil, err
			}
		}
	}
	return b.keep(key, next)
}

// open adds the last record, which is unknown too.
func (b *chainBuilder) open(node *armNode, i, at, dir int) (*armNode, error) {
	key := armKey{prev: -1, step: -1, row: -1, kind: armOpenRight}
	if dir < 0 {
		key.kind = armOpenLeft
	}
	if node != nil {
		key.prev, key.row = node.id, b.query.row[at]
	} else {
		key.step = int32(b.chain.States(i))
	}
	if known := b.trie[key]; known != nil {
		return known, nil
	}
	init := func(x int) float64 {
		if dir > 0 {
			return 0
		}
		return math.Log(b.chain.init[x])
	}
	targets := b.chain.States(i)
	next := &armNode{targets: targets, ends: make([]armEnd, 1)}
	end := b.newEnd(next, 0)
	for a := range targets {
		if node == nil {
			if w := init(a); w > negInf {
				end.dists[a], end.mass[a] = b.space.point(), w
			}
			continue
		}
		terms := make([]term, 0, len(node.ends))
		for x := range node.ends {
			terms = append(terms, term{node.ends[x].dists[a], b.query.rows[key.row].key[x], node.ends[x].mass[a] + init(x)})
		}
		if err := b.fill(end, a, terms); err != nil {
			return nil, err
		}
	}
	return b.keep(key, next)
}

func (b *chainBuilder) newEnd(n *armNode, y int) *armEnd {
	e := &n.ends[y]
	e.dists, e.mass = make([]*dist, n.targets), make([]float64, n.targets)
	for a := range e.mass {
		e.mass[a] = negInf
	}
	return e
}

func (b *chainBuilder) fill(e *armEnd, a int, terms []term) error {
	sum, err := b.space.mix(terms)
	if err != nil {
		return err
	}
	e.dists[a], e.mass[a] = normalise(sum)
	if e.dists[a] != nil {
		b.atoms += e.dists[a].len()
		if b.atoms > maxPlanAtoms {
			return noren.Reasonf("%s: the distributions of the arms have too many atoms", errBudget)
		}
	}
	return nil
}

func (b *chainBuilder) keep(key armKey, n *armNode) (*armNode, error) {
	n.id = int32(len(b.nodes))
	for y := range n.ends {
		n.ends[y].lambda = make([]extreme, n.targets*n.targets)
	}
	b.nodes = append(b.nodes, n)
	b.trie[key] = n
	return n, nil
}

// oscillation is, at a*k+c, the range over boundary states u of
// log P(u|a)/P(u|c), P(u|.) the distribution of the boundary given the target: what
// Theorem 6 adds for arms beyond this one. It is infinite where only one of a
// and c allows u.
func (r *armRef) oscillation() []float64 {
	k := r.node.targets
	om := make([]float64, k*k)
	possible := make([]bool, k)
	for u := range r.node.ends {
		for a, m := range r.node.ends[u].mass {
			possible[a] = possible[a] || r.mask>>u&1 == 1 && m > negInf
		}
	}
	for a := range k {
		for c := range a {
			if !possible[a] || !possible[c] {
				continue
			}
			lo, hi := math.Inf(1), negInf
			for u := range r.node.ends {
				p, q := r.node.ends[u].mass[a], r.node.ends[u].mass[c]
				if r.mask>>u&1 == 0 || p == negInf && q == negInf {
					continue
				}
				lo, hi = min(lo, p-q), max(hi, p-q)
			}
			if hi > lo {
				om[a*k+c], om[c*k+a] = hi-lo, hi-lo
			}
		}
	}
	return om
}
