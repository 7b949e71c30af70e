package correlated

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
)

// tanhPlan evaluates the tanh rule (Theorem 5) on a tree distribution: a bound on the
// leakage of any mechanism to every adversary, in one pass up and one down.
//
// Records are numbered in breadth-first order here, so that both passes read
// memory in order; pairs of states {x,x'} are unordered.
type tanhPlan struct {
	n      int
	parent []int32
	edge   []int32 // class of the edge from the parent; -1 at a root
	row    []int32 // of the query
	record []int32 // the model's number of a record
	off    []int32 // where a record's pairs start
	class  []edgeClass
	query  *boundQuery

	sum  []float64 // by record and pair: sum of beta over the children
	beta []float64 // by record and pair of the PARENT: of the edge to it
	up   []float64 // by record and pair: beta of the edge to the parent
	bOff []int32   // where beta's entries of a record start
}

// edgeClass is what equal edges share: for each pair of states of one end the
// number tau = tanh(om/4) for the other end's distribution, and 1-tau, which a
// difference would lose. A pair that cannot be has tau 0.
type edgeClass struct {
	down, up []tau
}

type tau struct{ t, rest float64 }

// tauOf is tanh(om/4) for om in [0, Inf].
func tauOf(om float64) tau {
	if math.IsInf(om, 1) {
		return tau{1, 0}
	}
	return tau{math.Tanh(om / 4), 2 / (math.Exp(om/2) + 1)}
}

// beta is 4 artanh(tau tanh(delta/4)), the largest log ratio that a change of
// the distribution within om can make to an average of a function that varies by
// e^delta (Lemma 4). With z = tau tanh(delta/4),
// 4 artanh z = 2 log1p(2z/(1-z)) and 1-z = (1-tau) + tau (1-tanh(delta/4)).
func (t tau) beta(delta float64) float64 {
	if t.t == 0 || delta == 0 {
		return 0
	}
	if t.rest == 0 {
		return delta
	}
	var s, tanh, rest float64
	if delta < 0.5 {
		m := math.Expm1(-delta / 2)
		s = 1 + m
		tanh = -m / (1 + s)
	} else {
		s = math.Exp(-delta / 2)
		tanh = (1 - s) / (1 + s)
	}
	rest = 2 * s / (1 + s)
	z := t.t * tanh
	x := 2 * z / (t.rest + t.t*rest)
	if x < 0.5 {
		return min(2*math.Log1p(x), delta)
	}
	return min(2*math.Log(1+x), delta)
}

// pairs of k states.
func pairs(k int) int { return k * (k - 1) / 2 }

// bounds on the entries of a kernel between which it may lie: for a known
// kernel both are the kernel.
type kernelBounds struct{ low, high *kernel }

func newTanhPlan(ctx context.Context, t *Tree, q *boundQuery, boxes []kernelBounds, free bool) (*tanhPlan, error) {
	n := t.Records()
	p := &tanhPlan{
		n: n, parent: make([]int32, n), edge: make([]int32, n), row: make([]int32, n), record: t.order,
		off: make([]int32, n+1), bOff: make([]int32, n+1), query: q,
	}
	place := make([]int32, n)
	for j, v := range t.order {
		place[v] = int32(j)
	}
	var supports []uint64
	if free {
		supports = make([]uint64, n)
		for i := range supports {
			supports[i] = math.MaxUint64
		}
	} else {
		supports = t.supports()
	}
	type key struct {
		kernel   int32
		from, to uint64
	}
	known := map[key]int32{}
	for j, v := range t.order {
		if j%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		p.row[j] = q.row[v]
		p.off[j+1] = p.off[j] + int32(pairs(t.States(int(v))))
		p.parent[j], p.edge[j], p.bOff[j+1] = -1, -1, p.bOff[j]
		u := t.parent[v]
		if u < 0 {
			continue
		}
		p.parent[j] = place[u]
		p.bOff[j+1] += int32(pairs(t.States(int(u))))
		k := key{t.kernel[v], supports[u], supports[v]}
		id, ok := known[k]
		if !ok {
			b := kernelBounds{t.pool[k.kernel], t.pool[k.kernel]}
			if boxes != nil {
				b = boxes[k.kernel]
			}
			id = int32(len(p.class))
			p.class = append(p.class, newEdgeClass(b, k.from, k.to))
			known[k] = id
		}
		p.edge[j] = id
	}
	p.sum = make([]float64, p.off[n])
	p.up = make([]float64, p.off[n])
	p.beta = make([]float64, p.bOff[n])
	return p, nil
}

// newEdgeClass finds om in both directions. Against the arrow,
// P(X_u=y|X_v=x)/P(X_u=y|X_v=x') = P(x|y)/P(x'|y) up to a factor without y: the
// distribution of X_u does not matter but for its support.
func newEdgeClass(b kernelBounds, from, to uint64) edgeClass {
	rows, cols := b.low.rows, b.low.cols
	var c edgeClass
	for x := range rows {
		for o := range x {
			var om float64
			if from>>x&1 == 1 && from>>o&1 == 1 {
				om = oscillation(cols, to, func(y int) (lo, hi, lo2, hi2 float64) {
					return b.low.at(x, y), b.high.at(x, y), b.low.at(o, y), b.high.at(o, y)
				})
			}
			c.down = append(c.down, tauOf(om))
		}
	}
	for x := range cols {
		for o := range x {
			var om float64
			if to>>x&1 == 1 && to>>o&1 == 1 {
				om = oscillation(rows, from, func(y int) (lo, hi, lo2, hi2 float64) {
					return b.low.at(y, x), b.high.at(y, x), b.low.at(y, o), b.high.at(y, o)
				})
			}
			c.up = append(c.up, tauOf(om))
		}
	}
	return c
}

// oscillation bounds the range over y of log(p(y)/q(y)), where p(y) and q(y)
// lie in the bounds that at gives. A y that neither allows does not count.
func oscillation(n int, support uint64, at func(y int) (lo, hi, lo2, hi2 float64)) float64 {
	highest, lowest := negInf, math.Inf(1)
	for y := range n {
		if support>>y&1 == 0 {
			continue
		}
		lo, hi, lo2, hi2 := at(y)
		if hi == 0 && hi2 == 0 {
			continue
		}
		if lo == 0 || lo2 == 0 {
			return math.Inf(1)
		}
		highest = max(highest, math.Log(hi/lo2))
		lowest = min(lowest, math.Log(lo/hi2))
	}
	return max(0, highest-lowest)
}

// bound is Lambda of Theorem 5, for Laplace noise of the given rates and
// further mechanisms of which each record's change costs extra, and the record
// where it is reached.
func (p *tanhPlan) bound(ctx context.Context, rates []float64, extra float64) (float64, int, error) {
	own := make([][]float64, len(p.query.rows))
	for r := range own {
		for v := range p.query.rows[r].states {
			for w := range v {
				own[r] = append(own[r], p.query.loss(int32(r), v, w, rates)+extra)
			}
		}
	}
	clear(p.sum)
	clear(p.up)
	// The last beta is remembered: neighbours in this order are often equal.
	lastEdge, lastDelta := int32(-1), math.NaN()
	var last []float64
	for j := p.n - 1; j >= 0; j-- {
		if j&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return 0, 0, err
			}
		}
		u := p.parent[j]
		if u < 0 {
			continue
		}
		delta := 0.0
		sum := p.sum[p.off[j]:p.off[j+1]]
		for i, e := range own[p.row[j]] {
			delta = max(delta, e+sum[i])
		}
		beta := p.beta[p.bOff[j]:p.bOff[j+1]]
		if p.edge[j] == lastEdge && delta == lastDelta {
			copy(beta, last)
		} else {
			for i, t := range p.class[p.edge[j]].down {
				beta[i] = t.beta(delta)
			}
			lastEdge, lastDelta, last = p.edge[j], delta, beta
		}
		to := p.sum[p.off[u]:p.off[u+1]]
		for i, b := range beta {
			to[i] += b
		}
	}
	most, where := 0.0, int32(0)
	lastEdge, lastDelta = -1, math.NaN()
	for j := range p.n {
		if j&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return 0, 0, err
			}
		}
		up := p.up[p.off[j]:p.off[j+1]]
		if u := p.parent[j]; u >= 0 {
			// The parent's branch, seen from here: all of it but this child's.
			beta := p.beta[p.bOff[j]:p.bOff[j+1]]
			sum, above := p.sum[p.off[u]:p.off[u+1]], p.up[p.off[u]:p.off[u+1]]
			delta := 0.0
			for i, e := range own[p.row[u]] {
				delta = max(delta, e+max(0, sum[i]-beta[i])+above[i])
			}
			if p.edge[j] == lastEdge && delta == lastDelta {
				copy(up, last)
			} else {
				for i, t := range p.class[p.edge[j]].up {
					up[i] = t.beta(delta)
				}
				lastEdge, lastDelta, last = p.edge[j], delta, up
			}
		}
		sum := p.sum[p.off[j]:p.off[j+1]]
		for i, e := range own[p.row[j]] {
			if v := e + sum[i] + up[i]; v > most {
				most, where = v, p.record[j]
			}
		}
	}
	// Rounding: each sum has at most n terms, and beta does not amplify errors.
	return most * (1 + 4e-16*float64(p.n+1000)), int(where), nil
}

// tanhBound is the certified bound of Theorem 5 for one distribution.
func (m *memberEngine) tanhBound(ctx context.Context, rates []float64) (*Leakage, error) {
	upper, err := m.treeBound(ctx, rates, 0)
	if err != nil {
		return nil, err
	}
	// Never worse than the range, which needs no model.
	return &Leakage{Upper: min(upper, m.all.query.rangeLoss(rates)), Method: Tanh}, nil
}

// treeBound is Lambda for Laplace noise of the given rates and mechanisms of
// which each record's change costs extra.
func (m *memberEngine) treeBound(ctx context.Context, rates []float64, extra float64) (float64, error) {
	if m.tanh == nil {
		t, err := m.asTree("the tanh rule")
		if err != nil {
			return 0, err
		}
		if m.tanh, err = newTanhPlan(ctx, t, m.all.query, nil, false); err != nil {
			return 0, err
		}
	}
	upper, _, err := m.tanh.bound(ctx, rates, extra)
	return upper, err
}

func (m *memberEngine) asTree(what noren.Phrase) (*Tree, error) {
	switch model := m.model.(type) {
	case *Chain:
		return model.tree(), nil
	case *Tree:
		return model, nil
	}
	return nil, noren.Usagef("method", "%s needs a chain or a tree, and this model is a %s", what, m.model.Kind())
}
