package correlated

import (
	"context"
	"math"
)

// quilted evaluates a chain exactly for adversaries whose arms are at most A
// long, and bounds all others by Theorem 6. A grows until the bounds are near
// enough, or the budget ends.
func (m *memberEngine) quilted(ctx context.Context, rates []float64) (*Leakage, error) {
	c := m.model.(*Chain)
	o := &m.all.options
	if o.Arm > 0 {
		return m.quiltedAt(ctx, c, rates, o.Arm)
	}
	arm := 8
	if m.chain != nil {
		arm = m.chain.arm
	}
	var best *Leakage
	for {
		l, err := m.quiltedAt(ctx, c, rates, arm)
		if err != nil {
			if best != nil && isBudget(err) {
				return best, nil
			}
			return nil, err
		}
		if best == nil || l.Upper < best.Upper {
			best = l
		}
		if l.Exact || l.Upper-l.Lower <= o.gap()*l.Upper {
			return l, nil
		}
		if o.Adversaries.kind == advEmpty && arm >= 512 {
			return best, nil // no adversary of that kind is looked at: there is no gap to close
		}
		arm += max(8, arm/2)
	}
}

func (m *memberEngine) quiltedAt(ctx context.Context, c *Chain, rates []float64, arm int) (*Leakage, error) {
	if m.chain == nil || m.chain.arm != min(arm, c.Records()) {
		p, err := newChainPlan(ctx, c, m.all.query, &m.all.options, arm)
		if err != nil {
			return nil, err
		}
		m.chain = p
	}
	l, err := m.chain.leakage(ctx, rates)
	if err != nil {
		return nil, err
	}
	if r := m.rangeBound(rates); r.Upper < l.Upper {
		l.Upper = r.Upper
	}
	if math.IsInf(l.Upper, 1) {
		return nil, errBudget // Theorem 6 says nothing; the tanh rule may
	}
	return l, nil
}
