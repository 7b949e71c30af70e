package release

import (
	"context"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// Part is the price of one mechanism of a request. A request for a [Batch] has one for
// each of its mechanisms, any other request has one.
type Part struct {
	// Name is the mechanism's.
	Name string
	// Cost is what the part adds to the charge: epsilon and delta, or in a budget in zCDP
	// rho. Loss is the latter with its parts.
	Cost account.Cost
	Loss account.Loss
	// Alone is the (epsilon, delta) of the answer by itself: Cost, but in zCDP.
	Alone account.Cost
	// Guarantee is that of the part's answer alone.
	Guarantee noren.Guarantee

	own account.Cost // before a model of dependence
}

// partsOf are the mechanisms of m.
func partsOf(m Mechanism) []Mechanism {
	if b, ok := m.(*Batch); ok {
		return b.parts
	}
	return []Mechanism{m}
}

// priceOf prices one mechanism for the data set of the request: the relation and unit of
// its budget, and its model of dependence.
func (q *Request) priceOf(ctx context.Context, m Mechanism) (p Part, err error) {
	d := q.Dataset.Definition
	if err := q.fits(m); err != nil {
		return p, err
	}
	p.Name = m.Name()
	if p.Cost, err = m.Cost(d.Relation(), d.Unit); err != nil {
		return p, err
	}
	p.own = p.Cost
	if p.Guarantee, err = m.Guarantee(d.Relation(), d.Unit); err != nil {
		return p, err
	}
	if err := q.underModel(ctx, m, &p); err != nil {
		return p, err
	}
	if err := p.Cost.Validate(); err != nil {
		return p, err
	}
	p.Alone = p.Cost
	if q.Dataset.Accounting() == account.ZCDP {
		err = q.inZCDP(m, &p)
	}
	return p, err
}

// inZCDP turns the cost of a mechanism into that for a budget in zCDP.
func (q *Request) inZCDP(m Mechanism, p *Part) error {
	refuse := func(what, hint noren.Format) error {
		return &noren.Error{Kind: noren.Usage, Code: CodeNotZCDP, Where: noren.Textf("data set %s", q.Dataset.Name), What: what, Hint: hint}
	}
	d := q.Dataset.Definition
	_, dependent := m.(Dependent)
	if dependent || d.Model != nil {
		return refuse("a model of dependent records has no budget in zCDP", "the steward grants the data set a budget in epsilon and delta")
	}
	var err error
	if c, ok := m.(Concentrated); ok {
		p.Loss, err = c.Loss(d.Relation(), d.Unit)
	} else if p.Alone.Delta > 0 {
		return refuse("its budget is in zCDP, and the answer has a delta and no loss in zCDP",
			"ask for Gaussian noise, or for noise that is private without a delta")
	} else {
		p.Loss, err = account.PureLoss(p.Alone.Epsilon)
	}
	if err != nil {
		return err
	}
	p.Cost = account.Cost{Rho: p.Loss.Rho}
	return p.Loss.Validate()
}
