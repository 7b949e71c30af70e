package correlated

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
)

// chainRun is the search for the worst adversary of a chain at one scale.
//
// The search is by branch and bound. Changing the target's state changes three
// independent summands (given what is known): the target's own value and the
// two arms. Convolving both sides of a ratio with one distribution cannot raise its
// supremum, so
//
//	leakage(left, right)(a,c) <= |g(a)-g(c)|/b + lambda_left(a,c) + lambda_right(a,c),
//
// lambda being what an arm leaks alone. Only adversaries whose bound is above
// the worst found so far are evaluated; the result is the same as if all were.
type chainRun struct {
	*chainPlan
	eval  *evaluator
	rates []float64

	own   []float64 // |g(a)-g(c)|/b of the current target
	out   []extreme
	shift []int64
	lower float64
	upper float64
	best  *Witness
	worst *chainConfig
	done  map[pairKey]bool
	work  int
	limit int
}

type pairKey struct {
	left, right int32
	row         int32
	x, y        int8
	flags       uint8
}

// workPerConfig is how many multiplications the budget grants on average for a
// configuration that it allows.
const workPerConfig = 20

// slack lets ties go without being evaluated: it is far below the rounding of
// the densities.
const slack = 1 + 1e-14

func (p *chainPlan) leakage(ctx context.Context, rates []float64) (*Leakage, error) {
	r := &chainRun{chainPlan: p, rates: rates, eval: newEvaluator(p.space, p.query, rates), done: map[pairKey]bool{}}
	r.limit = workPerConfig * p.options.budget(workBudget)
	for i, n := range p.nodes {
		if i%64 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		zero := make([]int64, n.targets)
		for y := range n.ends {
			e := &n.ends[y]
			for j := range e.lambda {
				e.lambda[j].log = negInf
			}
			r.eval.ratios(e.dists, zero, e.lambda)
			if err := r.spent(); err != nil {
				return nil, err
			}
			for _, l := range e.dists {
				if l != nil {
					r.work += 8 * l.len()
				}
			}
		}
	}
	if p.last != nil {
		r.prepare(p.last.target)
		if err := r.evaluate(p.last); err != nil {
			return nil, err
		}
	}
	for _, t := range r.order() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.target(t.target); err != nil {
			return nil, err
		}
	}
	p.last = r.worst
	l := &Leakage{Upper: r.upper, Lower: r.lower, Exact: p.whole(), Method: Exact, Witness: r.best}
	if !l.Exact {
		l.Method, l.Arm = Quilt, p.arm
		if p.unbounded {
			l.Upper = math.Inf(1)
		}
	}
	return l, nil
}

type boundedTarget struct {
	target *chainTarget
	bound  float64
}

// order lists the targets with the largest bound first.
func (r *chainRun) order() []boundedTarget {
	list := make([]boundedTarget, len(r.targets))
	for i := range r.targets {
		t := &r.targets[i]
		r.prepare(t)
		left, right := r.largest(t, t.left), r.largest(t, t.right)
		list[i] = boundedTarget{target: t}
		for j := range left {
			list[i].bound = max(list[i].bound, r.own[j]+left[j]+right[j])
		}
	}
	slices.SortStableFunc(list, func(a, b boundedTarget) int {
		switch {
		case a.bound > b.bound:
			return -1
		case a.bound < b.bound:
			return 1
		}
		return 0
	})
	return list
}

// prepare sets what depends on the target's own values.
func (r *chainRun) prepare(t *chainTarget) {
	k := r.chain.States(t.record)
	r.own = slices.Grow(r.own[:0], k*k)[:k*k]
	r.out = slices.Grow(r.out[:0], k*k)[:k*k]
	r.shift = r.query.rows[t.row].key
	for a := range k {
		for c := range k {
			r.own[a*k+c] = negInf
			if a != c {
				r.own[a*k+c] = r.query.loss(t.row, a, c, r.rates)
			}
		}
	}
}

// largest is the largest lambda+omega over the arms, by ordered pair of states.
func (r *chainRun) largest(t *chainTarget, refs []armRef) []float64 {
	k := r.chain.States(t.record)
	most := make([]float64, k*k)
	for j := range most {
		most[j] = negInf
	}
	for i := range refs {
		ref := &refs[i]
		for y := range ref.node.ends {
			if ref.mask>>y&1 == 0 {
				continue
			}
			for j, l := range ref.node.ends[y].lambda {
				most[j] = max(most[j], l.log+ref.omegaAt(j))
			}
		}
	}
	return most
}

func (r *armRef) omegaAt(j int) float64 {
	if r.omega == nil {
		return 0
	}
	return r.omega[j]
}

// target looks at all adversaries of one target.
func (r *chainRun) target(t *chainTarget) error {
	r.prepare(t)
	rightMost := r.largest(t, t.right)
	floor := min(r.lower, r.upper)
	above := func(left, right []extreme, rightMost []float64, l, rt *armRef) bool {
		for j, own := range r.own {
			bound := own + left[j].log
			if rightMost != nil {
				if bound+rightMost[j]+l.omegaAt(j) > floor*slack {
					return true
				}
				continue
			}
			bound += right[j].log
			if !l.artefact && !rt.artefact && bound > r.lower*slack {
				return true
			}
			if bound+l.omegaAt(j)+rt.omegaAt(j) > r.upper*slack {
				return true
			}
		}
		return false
	}
	for i := range t.left {
		left := &t.left[i]
		for x := range left.node.ends {
			lambda := left.node.ends[x].lambda
			if left.mask>>x&1 == 0 || !above(lambda, nil, rightMost, left, nil) {
				continue
			}
			for j := range t.right {
				right := &t.right[j]
				for y := range right.node.ends {
					if right.mask>>y&1 == 0 || !above(lambda, right.node.ends[y].lambda, nil, left, right) {
						continue
					}
					if err := r.evaluate(&chainConfig{t, left, right, x, y}); err != nil {
						return err
					}
					floor = min(r.lower, r.upper)
				}
			}
		}
	}
	return nil
}

// evaluate computes the leakage to one adversary exactly.
func (r *chainRun) evaluate(c *chainConfig) error {
	key := pairKey{left: c.left.node.id, right: c.right.node.id, row: c.target.row, x: int8(c.x), y: int8(c.y)}
	if c.left.long {
		key.flags |= 1
	}
	if c.right.long {
		key.flags |= 2
	}
	if r.done[key] {
		return nil
	}
	r.done[key] = true
	left, right := &c.left.node.ends[c.x], &c.right.node.ends[c.y]
	k := c.left.node.targets
	live := func(a int) bool { return left.dists[a] != nil && right.dists[a] != nil }
	for j := range r.out {
		r.out[j].log = negInf
	}
	if r.space.dense && len(r.query.dims) == 1 {
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		for a := range k {
			if live(a) {
				from := left.dists[a].lo + right.dists[a].lo + r.shift[a]
				lo, hi = min(lo, from), max(hi, from+int64(left.dists[a].len()+right.dists[a].len()-1))
				r.work += left.dists[a].len() * right.dists[a].len()
			}
		}
		if lo >= hi {
			return nil
		}
		for a := range k {
			if live(a) {
				from := int(left.dists[a].lo + right.dists[a].lo + r.shift[a] - lo)
				to := from + left.dists[a].len() + right.dists[a].len() - 1
				convolveLinear(r.eval.clear(a, int(hi-lo))[from:to], left.dists[a].lin, right.dists[a].lin)
			}
		}
		var failed error
		full := func(a int) *dist {
			l, err := r.space.convolve(left.dists[a], right.dists[a])
			if err != nil {
				failed = err
				return &dist{lo: lo - r.shift[a]}
			}
			return l
		}
		r.eval.finishDense(k, lo, live, full, r.shift, r.out)
		if failed != nil {
			return failed
		}
	} else {
		dists := make([]*dist, k)
		for a := range k {
			if live(a) {
				var err error
				if dists[a], err = r.space.convolve(left.dists[a], right.dists[a]); err != nil {
					return err
				}
				r.work += 16 * left.dists[a].len() * right.dists[a].len()
			}
		}
		r.eval.ratios(dists, r.shift, r.out)
	}
	if err := r.spent(); err != nil {
		return err
	}
	r.note(c, k)
	return nil
}

// spent fails when the work, a public count of operations, is beyond the limit.
func (r *chainRun) spent() error {
	if r.eval.failed != nil {
		return r.eval.failed
	}
	if r.work+4*r.eval.work > r.limit {
		return noren.Reasonf("%s: the distributions of the arms are too long", errBudget)
	}
	return nil
}

// note keeps what is worse than all before.
func (r *chainRun) note(c *chainConfig, k int) {
	for j, e := range r.out {
		if e.log == negInf {
			continue
		}
		if e.log > r.lower && !c.left.artefact && !c.right.artefact {
			r.lower, r.worst = e.log, c
			r.best = r.witness(c, j/k, j%k, e)
		}
		r.upper = max(r.upper, e.log+c.left.omegaAt(j)+c.right.omegaAt(j))
	}
}

func (r *chainRun) witness(c *chainConfig, a, other int, e extreme) *Witness {
	i := c.target.record
	w := &Witness{Target: i, Known: []Known{}, State: a, Other: other, Log: e.log}
	from, to := i-c.left.length+1, i+c.right.length-1
	if !c.left.open {
		w.Known = append(w.Known, Known{i - c.left.length, c.x})
	}
	if !c.right.open {
		w.Known = append(w.Known, Known{i + c.right.length, c.y})
	}
	w.OthersKnown = len(w.Known) > 0
	w.Answer = r.query.answer(e.at, func(yield func(int) bool) {
		for v := from; v <= to; v++ {
			if !yield(v) {
				return
			}
		}
	})
	return w
}
