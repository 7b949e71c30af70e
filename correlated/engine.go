package correlated

import (
	"context"
	"errors"
	"math"

	"github.com/noren-privacy/noren"
)

// engine holds what does not depend on the scale.
type engine struct {
	model   Model
	query   *boundQuery
	options LeakageOptions
	members []*memberEngine
	box     *Box
	boxPlan *tanhPlan
	// boundOnly leaves out what only fills in Lower.
	boundOnly bool
}

// memberEngine is the engine for one distribution.
type memberEngine struct {
	model Model
	all   *engine
	table *tablePlan
	chain *chainPlan
	tree  *treePlan
	tanh  *tanhPlan
	// beyond is set once exact evaluation, or the quilted one, was found to be
	// beyond the budget: other scales cost as much.
	beyond, beyondQuilt bool
}

func newEngine(m Model, q *Query, o LeakageOptions) (*engine, error) {
	if m == nil {
		return nil, noren.Usagef("model", "the model is missing")
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	bound, err := q.bind(m)
	if err != nil {
		return nil, err
	}
	if err := o.Adversaries.check(m); err != nil {
		return nil, err
	}
	e := &engine{model: m, query: bound, options: o}
	e.box, _ = m.(*Box)
	for _, member := range m.members() {
		e.members = append(e.members, &memberEngine{model: member, all: e})
	}
	return e, nil
}

// rates are unit/b by coordinate.
func (e *engine) rates(b float64) []float64 {
	r := make([]float64, len(e.query.dims))
	for i, d := range e.query.dims {
		r[i] = d.unit / b
	}
	return r
}

func (e *engine) leakage(ctx context.Context, b float64) (*Leakage, error) {
	if !(b > 0) || math.IsInf(b, 1) {
		return nil, noren.Usagef("scale", "the noise scale is a positive number")
	}
	rates := e.rates(b)
	if e.box != nil && (e.boundOnly || e.options.Method == Tanh || e.options.Method == Range) {
		return e.boxLeakage(ctx, rates, nil)
	}
	var worst *Leakage
	for i, m := range e.members {
		l, err := m.leakage(ctx, rates)
		if err != nil {
			return nil, err
		}
		l.Member = i
		if worst == nil {
			worst = l
			continue
		}
		// Exact stays true of the largest: no other member leaks more than that.
		if l.Upper > worst.Upper {
			l, worst = worst, l
		}
		worst.Lower, worst.Witness = pickLower(worst, l)
	}
	if e.box != nil {
		return e.boxLeakage(ctx, rates, worst)
	}
	return worst, nil
}

func pickLower(a, b *Leakage) (float64, *Witness) {
	if b.Lower > a.Lower {
		return b.Lower, b.Witness
	}
	return a.Lower, a.Witness
}

var errBudget = errors.New("beyond the budget")

// leakage of one distribution.
func (m *memberEngine) leakage(ctx context.Context, rates []float64) (*Leakage, error) {
	o := &m.all.options
	switch o.Adversaries.kind {
	case advFull:
		return m.full(rates), nil
	case advListed:
		return m.listed(ctx, rates)
	}
	switch o.Method {
	case Exact:
		l, err := m.exact(ctx, rates)
		if isBudget(err) {
			return nil, &noren.Error{
				Kind: noren.NotMet, Where: "method", What: "the exact leakage is beyond the budget",
				Hint: "raise the budget, or let the method be auto", Err: err,
			}
		}
		return l, err
	case Quilt:
		if m.model.Kind() != "chain" {
			return nil, noren.Usagef("method", "the quilted evaluation is for chains, and this model is a %s", m.model.Kind())
		}
		return m.quilted(ctx, rates)
	case Tanh:
		return m.tanhBound(ctx, rates)
	case Range:
		return m.rangeBound(rates), nil
	}
	if !m.beyond {
		l, err := m.exact(ctx, rates)
		if !isBudget(err) {
			return l, err
		}
		m.beyond, m.chain = true, nil
	}
	if m.model.Kind() == "table" {
		return m.rangeBound(rates), nil
	}
	var l *Leakage
	if m.model.Kind() == "chain" && !m.beyondQuilt {
		var err error
		if l, err = m.quilted(ctx, rates); err != nil && !isBudget(err) {
			return nil, err
		}
		m.beyondQuilt = err != nil
	}
	t, err := m.tanhBound(ctx, rates)
	if err != nil {
		return nil, err
	}
	if l != nil && l.Upper <= t.Upper {
		return l, nil
	}
	if l != nil {
		t.Lower, t.Witness = l.Lower, l.Witness
	}
	return t, nil
}

func isBudget(err error) bool {
	return errors.Is(err, errBudget) || errors.Is(err, errTooManyAtoms)
}

// exact evaluates every adversary.
func (m *memberEngine) exact(ctx context.Context, rates []float64) (*Leakage, error) {
	switch model := m.model.(type) {
	case *JointTable:
		if m.table == nil {
			m.table = newTablePlan(model, m.all.query)
		}
		return m.table.leakage(ctx, rates, &m.all.options)
	case *Chain:
		if m.chain == nil || !m.chain.whole() {
			p, err := newChainPlan(ctx, model, m.all.query, &m.all.options, model.Records())
			if err != nil {
				return nil, err
			}
			m.chain = p
		}
		return m.chain.leakage(ctx, rates)
	case *Tree:
		if m.tree == nil {
			p, err := newTreePlan(ctx, model, m.all.query, &m.all.options)
			if err != nil {
				return nil, err
			}
			m.tree = p
		}
		return m.tree.leakage(ctx, rates)
	}
	return nil, &noren.Error{Kind: noren.Internal, What: "a distribution of an unknown kind"}
}

// rangeBound holds for any distribution: whatever else is unknown, the answers under
// two states of a record are the same distribution moved by at most range(f), mixed.
func (m *memberEngine) rangeBound(rates []float64) *Leakage {
	return &Leakage{Upper: m.all.query.rangeLoss(rates), Method: Range}
}
