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
	// Cost is what the part adds to the charge.
	Cost account.Cost
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
	return p, p.Cost.Validate()
}
