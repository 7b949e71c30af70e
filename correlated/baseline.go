package correlated

import (
	"context"
	"math"

	"github.com/noren-privacy/noren"
)

// Baselines are the noise scales of other methods, to compare with the calibrated one.
// Only Group, Range and Wasserstein give the guarantee of the exact calibration.
type Baselines struct {
	// Plain is the scale of ordinary differential privacy, osc(g)/epsilon, where osc is
	// the largest change by one record: enough only when records are independent.
	Plain float64 `json:"plain"`
	// Group is the scale n osc(g)/epsilon of all records as one group.
	Group float64 `json:"group"`
	// Range is the scale range(f)/epsilon, safe for any distribution.
	Range float64 `json:"range"`
	// Quilt is the Markov quilt mechanism's scale (exact influences), for
	// adversaries who know no record; absent where the model is no chain.
	Quilt float64 `json:"quilt,omitempty"`
	// QuiltApprox is the Markov quilt mechanism's scale with influences bounded by the
	// eigengap; 0 where the bound does not apply.
	QuiltApprox float64 `json:"quilt_approx,omitempty"`
	// Wasserstein is the scale W/epsilon, W the largest infinity-Wasserstein distance
	// between conditional distributions of f; absent where the model is too large.
	Wasserstein float64 `json:"wasserstein,omitempty"`
	// Tanh is the scale by the tanh rule; absent where the rule does not apply.
	Tanh float64 `json:"tanh,omitempty"`
}

// Compare computes the baselines for a query with one coordinate or, but for
// the quilts and Wasserstein, several.
func Compare(ctx context.Context, m Model, q *Query, epsilon float64, o LeakageOptions) (*Baselines, error) {
	e, err := newEngine(m, q, o)
	if err != nil {
		return nil, err
	}
	if !(epsilon > 0) {
		return nil, noren.Usagef("epsilon", "epsilon is a positive number")
	}
	rates := e.rates(1)
	b := &Baselines{Plain: e.query.osc(rates) / epsilon, Range: e.query.rangeLoss(rates) / epsilon}
	b.Group = float64(m.Records()) * b.Plain
	if e.box == nil && len(e.query.dims) == 1 {
		for _, member := range e.members {
			c, ok := member.model.(*Chain)
			if !ok {
				b.Quilt, b.QuiltApprox = 0, 0
				break
			}
			s, err := quiltScale(ctx, c, e.query, epsilon, exactInfluence(c))
			if err != nil {
				return nil, err
			}
			b.Quilt = max(b.Quilt, s)
			if a, err := approximateInfluence(c); err == nil {
				if s, err = quiltScale(ctx, c, e.query, epsilon, a); err != nil {
					return nil, err
				}
				b.QuiltApprox = max(b.QuiltApprox, s)
			}
		}
		w, err := e.wasserstein(ctx)
		switch {
		case err == nil:
			b.Wasserstein = w / epsilon
		case !isBudget(err):
			return nil, err
		}
	}
	if m.Kind() != "table" {
		o.Method = Tanh
		if c, err := Calibrate(ctx, m, q, epsilon, o); err == nil {
			b.Tanh = c.Scale
		} else if noren.KindOf(err) != noren.Usage {
			return nil, err
		}
	}
	return b, nil
}

// GroupScale is n osc(g)/epsilon, the scale of group privacy: every record may
// change with the target.
func GroupScale(m Model, q *Query, epsilon float64) (float64, error) {
	b, err := q.bind(m)
	if err != nil {
		return 0, err
	}
	if !(epsilon > 0) {
		return 0, noren.Usagef("epsilon", "epsilon is a positive number")
	}
	rates := make([]float64, len(b.dims))
	for i := range rates {
		rates[i] = b.dims[i].unit
	}
	return float64(m.Records()) * b.osc(rates) / epsilon, nil
}

// wasserstein is W, the largest infinity-Wasserstein distance between the
// distributions of f under two states of a record that an adversary of the kind
// asked for holds possible, in the query's units: Laplace noise of scale W/epsilon
// keeps CBP(b) <= epsilon (Song, Wang and Chaudhuri 2017, theorem 3.2). Masses below
// 1e-12 are taken for rounding. The query has one coordinate.
func (e *engine) wasserstein(ctx context.Context) (float64, error) {
	most := 0.0
	for _, m := range e.members {
		w, err := m.wasserstein(ctx)
		if err != nil {
			return 0, err
		}
		most = max(most, w)
	}
	return most * e.query.dims[0].unit, nil
}

// wasserstein is W in steps.
func (m *memberEngine) wasserstein(ctx context.Context) (float64, error) {
	q, o := m.all.query, &m.all.options
	switch o.Adversaries.kind {
	case advFull:
		return m.full([]float64{1}).Upper, nil
	case advListed:
		return 0, noren.Usagef("adversaries", "the Wasserstein bound is for all, empty or full adversaries")
	}
	most := 0.0
	see := func(row int32, dists []*dist) {
		key := q.rows[row].key
		for a := range dists {
			for c := range a {
				if dists[a] != nil && dists[c] != nil {
					most = max(most, distance(dists[a], key[a], dists[c], key[c]))
				}
			}
		}
	}
	switch model := m.model.(type) {
	case *JointTable:
		p := newTablePlan(model, q)
		if err := p.build(ctx, o); err != nil {
			return 0, err
		}
		for _, c := range p.configs {
			see(q.row[c.target], c.dists)
		}
	case *Chain:
		p, err := newChainPlan(ctx, model, q, o, model.Records())
		if err != nil {
			return 0, err
		}
		if err := p.eachConfig(ctx, see); err != nil {
			return 0, err
		}
	case *Tree:
		p, err := newTreePlan(ctx, model, q, o)
		if err != nil {
			return 0, err
		}
		supports := model.supports()
		for _, t := range p.targets {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			for _, o := range t.options {
				dists := append([]*dist(nil), o.dists...)
				for a := range dists {
					if supports[t.record]>>a&1 == 0 {
						dists[a] = nil
					}
				}
				see(q.row[t.record], dists)
			}
		}
	}
	return most, nil
}

// eachConfig calls see for every adversary of the plan.
func (p *chainPlan) eachConfig(ctx context.Context, see func(row int32, dists []*dist)) error {
	done := map[pairKey]bool{}
	work := 0
	for i := range p.targets {
		t := &p.targets[i]
		if err := ctx.Err(); err != nil {
			return err
		}
		for l := range t.left {
			for r := range t.right {
				left, right := &t.left[l], &t.right[r]
				for x := range left.node.ends {
					for y := range right.node.ends {
						key := pairKey{left: left.node.id, right: right.node.id, row: t.row, x: int8(x), y: int8(y)}
						if left.mask>>x&1 == 0 || right.mask>>y&1 == 0 || done[key] {
							continue
						}
						done[key] = true
						dists := make([]*dist, left.node.targets)
						for a := range dists {
							u, v := left.node.ends[x].dists[a], right.node.ends[y].dists[a]
							if u == nil || v == nil {
								continue
							}
							work += u.len() * v.len()
							if work > workPerConfig*p.options.budget(workBudget) {
								return errBudget
							}
							var err error
							if dists[a], err = p.space.convolve(u, v); err != nil {
								return err
							}
						}
						see(t.row, dists)
					}
				}
			}
		}
	}
	return nil
}

// massTolerance is what cumulative masses may differ by rounding.
const massTolerance = 1e-12

// distance is the infinity-Wasserstein distance between two distributions, each moved:
// the largest gap between their quantile functions. Both are walked from below,
// moving mass in step.
func distance(p *dist, shiftP int64, q *dist, shiftQ int64) float64 {
	most := 0.0
	i, j := 0, 0
	restP, restQ := p.lin[0], q.lin[0]
	for {
		if d := math.Abs(float64(p.at(i) + shiftP - q.at(j) - shiftQ)); min(restP, restQ) > massTolerance {
			most = max(most, d)
		}
		moved := min(restP, restQ)
		restP, restQ = restP-moved, restQ-moved
		for restP <= massTolerance {
			if i++; i == p.len() {
				return most
			}
			restP += p.lin[i]
		}
		for restQ <= massTolerance {
			if j++; j == q.len() {
				return most
			}
			restQ += q.lin[j]
		}
	}
}
