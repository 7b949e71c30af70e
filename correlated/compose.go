package correlated

import (
	"context"
	"fmt"
	"math"

	"noren"
)

// Release is something that was, or will be, published of the records: the
// answer of a query with Laplace noise of scale Scale in every coordinate, or
// (Query nil) the output of any mechanism that is Epsilon-differentially
// private when one record is replaced.
type Release struct {
	Query   *Query
	Scale   float64
	Epsilon float64
}

// Compose bounds what several releases of the same records leak together.
//
// Leakages of this kind do not add up: two releases of CBP 1 can leak more
// than 2 together, because the first tells of the records around the target
// through which the second leaks. Two rules do hold, and the smaller bound is
// returned: Laplace answers are evaluated jointly (Theorem 1', exactly), where
// the budget allows it; and the tanh rule (Theorem 5) takes the sum of all
// per-record losses, from whatever mechanism, chosen adaptively or not.
func Compose(ctx context.Context, m Model, releases []Release, o Options) (*Leakage, error) {
	if len(releases) == 0 {
		return nil, usagef("releases", "there are no releases")
	}
	var queries []*Query
	var scales []float64
	extra := 0.0
	for i, r := range releases {
		where := index("releases", i)
		if r.Query == nil {
			if !(r.Epsilon >= 0) || math.IsInf(r.Epsilon, 1) {
				return nil, usagef(where, "the mechanism's epsilon is a positive number")
			}
			extra += r.Epsilon
			continue
		}
		if !(r.Scale > 0) || math.IsInf(r.Scale, 1) {
			return nil, usagef(where, "the noise scale is a positive number")
		}
		if m == nil {
			return nil, usagef("model", "the model is missing")
		}
		if err := r.Query.check(m); err != nil {
			return nil, &noren.Error{Kind: noren.Usage, Where: where, Err: err}
		}
		queries = append(queries, r.Query)
		for range r.Query.coordinates(m.States(0)) {
			scales = append(scales, r.Scale)
		}
	}
	if queries == nil {
		// A query that asks nothing stands in for the mechanisms' own.
		queries, scales = []*Query{Count(0)}, []float64{math.MaxFloat64}
	}
	if extra > 0 {
		o.Method = Tanh
	}
	e, err := newEngine(m, Joint(queries...), scales, o)
	if err != nil {
		return nil, err
	}
	e.extra = extra
	return e.leakage(ctx, 1)
}

// Charge is what a release of q with Laplace noise of scale b costs a budget
// that only adds: the smaller of the tanh rule's bound and of range(f)/b. Both
// may be added over releases, chosen adaptively or not, and with each other:
//
// The tanh rule takes sums of losses. Its beta is 4 artanh(tau tanh(Delta/4)),
// which is increasing and concave in Delta and 0 at 0, hence subadditive; so
// are sums and maxima; so is Lambda: Lambda(e+e') <= Lambda(e)+Lambda(e'). And
// an answer whose likelihood varies by at most e^R over all values of all
// records changes any mixture of likelihoods by a factor within e^R.
//
// The charge is at least CBP(b): a budget in charges is the price of asking
// again and again, and CBP(b) that of asking once.
func Charge(ctx context.Context, m Model, q *Query, b float64) (float64, error) {
	if m == nil {
		return 0, usagef("model", "the model is missing")
	}
	o := Options{Method: Tanh}
	e, err := newEngine(m, q, nil, o)
	if err != nil {
		return 0, err
	}
	if !(b > 0) || math.IsInf(b, 1) {
		return 0, usagef("scale", "the noise scale is a positive number")
	}
	charge := 0.0
	for _, member := range e.members {
		if member.model.Kind() == "table" {
			charge = max(charge, e.query.rangeLoss(e.rates(b)))
			continue
		}
		l, err := member.tanhBound(ctx, e.rates(b))
		if err != nil {
			return 0, err
		}
		charge = max(charge, l.Upper)
	}
	if e.box != nil {
		l, err := e.leakage(ctx, b)
		if err != nil {
			return 0, err
		}
		charge = l.Upper
	}
	return charge, nil
}

// Split is the report's own approximation (its equation 3), corrected: the
// unknown records are split into those that depend on the target and the rest,
// taken to be independent.
type Split struct {
	// Dependent is eps1: what the dependent records leak, for the worst values
	// of the others: sup A/A'.
	Dependent float64 `json:"eps1"`
	// Rest is eps2: what the others show of the target, sup B/B'.
	Rest float64 `json:"eps2"`
	// Bound is eps1+eps2.
	Bound float64 `json:"bound"`
}

// SplitBound evaluates the report's approximation for a chain, with the records
// less than reach away from the target as the dependent ones.
//
// The report writes sum A B/sum A' B' with B a sum of probabilities over all
// values of the other records, which is 1, so that its eps2 is always 0; and
// prints both ends of each bound as e^-eps. With B = P(u|a,x_K), a value u of the
// other records at a time,
//
//	p(r|a) / p(r|a') = sum_u B(u) A(u) / sum_u B'(u) A'(u) <= max_u A/A' max_u B/B' = e^(eps1+eps2),
//
// which holds. Theorem 6 is the same with the maximum taken pair by pair, so
// its bound is never larger.
func SplitBound(ctx context.Context, m Model, q *Query, b float64, reach int) (*Split, error) {
	c, ok := m.(*Chain)
	if !ok {
		return nil, usagef("model", "the report's split is evaluated for chains")
	}
	if reach < 1 {
		return nil, usagef("reach", "the reach is a number of records")
	}
	e, err := newEngine(c, q, nil, Options{})
	if err != nil {
		return nil, err
	}
	if !(b > 0) || math.IsInf(b, 1) {
		return nil, usagef("scale", "the noise scale is a positive number")
	}
	p, err := newChainPlan(ctx, c, e.query, &e.options, reach)
	if isBudget(err) {
		return nil, &noren.Error{Kind: noren.NotMet, Where: "reach", What: "the split is beyond the budget", Hint: "choose a smaller reach", Err: err}
	}
	if err != nil {
		return nil, err
	}
	s := &Split{}
	for i := range p.targets {
		t := &p.targets[i]
		s.Rest = max(s.Rest, worstOmega(t.left)+worstOmega(t.right))
		for _, refs := range [...][]armRef{t.left, t.right} {
			for j := range refs {
				refs[j].omega = nil
			}
		}
	}
	p.unbounded = false
	l, err := p.leakage(ctx, e.rates(b))
	if err != nil {
		return nil, err
	}
	s.Dependent = l.Upper
	s.Bound = s.Dependent + s.Rest
	return s, nil
}

func worstOmega(refs []armRef) float64 {
	worst := 0.0
	for _, r := range refs {
		for _, om := range r.omega {
			worst = max(worst, om)
		}
	}
	return worst
}

// String says s in one line.
func (s *Split) String() string {
	return fmt.Sprintf("eps1 %.4g + eps2 %.4g = %.4g", s.Dependent, s.Rest, s.Bound)
}
