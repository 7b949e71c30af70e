package correlated

import (
	"context"
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// Charge is what an answer of q with Laplace noise of scale b costs a budget of
// a data set under the model m: the smaller of the tanh rule's bound and of
// range(f)/b. Charges add up over answers, chosen adaptively or not, with each
// other and with those of [Price] (docs/correlated-privacy.md, section 12,
// Theorem D).
//
// The charge is at least CBP(b): leakages of several answers do not add up, and
// charges do.
func Charge(ctx context.Context, m Model, q *Query, b float64) (float64, error) {
	e, err := newEngine(m, q, LeakageOptions{Method: Tanh})
	if err != nil {
		return 0, err
	}
	if !(b > 0) || math.IsInf(b, 1) {
		return 0, noren.Usagef("scale", "the noise scale is a positive number")
	}
	if e.box != nil {
		l, err := e.leakage(ctx, b)
		if err != nil {
			return 0, err
		}
		return l.Upper, nil
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
	return charge, nil
}

// Price is what the output of any mechanism costs a budget of a data set under
// the model m; plain is the mechanism's cost for one replaced record, its delta
// 0. It is the tanh rule's bound with a loss of plain.Epsilon in every record
// (Theorem 5), and for a joint table, which has no such bound, plain.Epsilon
// times the number of records; for a class the largest over its members. It is
// rounded up, and at least plain.
//
// Guarantee: if the prices and the charges ([Mechanism.Cost]) of all answers sum
// to at most E, the log likelihood ratio of all answers together, for any two
// states of a record that an adversary holds possible, is at most E. Neighbours:
// replace-one, of single records. Proof: docs/correlated-privacy.md, section 12,
// Theorem D. Assumptions: the records, as they are read, follow m.
//
// A delta above 0 is an error of kind [noren.Usage] with code "model": outputs of
// probability delta may have any likelihood ratio, and the theorem needs a bound
// for each output.
func Price(ctx context.Context, m Model, plain account.Cost) (account.Cost, error) {
	if m == nil {
		return account.Cost{}, noren.Usagef("model", "the model is missing")
	}
	if plain.Delta != 0 {
		return account.Cost{}, &noren.Error{
			Kind: noren.Usage, Code: codeModel, Where: "delta", What: "a data set under a model of dependence needs delta 0",
			Hint: "choose a mechanism of pure epsilon",
		}
	}
	if err := plain.Validate(); err != nil {
		return account.Cost{}, err
	}
	// The query that is bound is never asked: at rate 0 it loses nothing.
	e, err := newEngine(m, Count(0), LeakageOptions{Method: Tanh})
	if err != nil {
		return account.Cost{}, err
	}
	epsilon, _ := plain.EpsilonRat().Float64()
	none := []float64{0}
	units := plain.Epsilon
	raise := func(r *big.Rat) error {
		u, err := account.EpsilonUp(r)
		units = max(units, u)
		return err
	}
	lambda := func(v float64) error {
		return raise(new(big.Rat).SetFloat64(v * (1 + roundingMargin)))
	}
	if e.box != nil {
		v, err := e.boxBound(ctx, none, epsilon)
		if err == nil {
			err = lambda(v)
		}
		return account.Cost{Epsilon: units}, err
	}
	for _, member := range e.members {
		if member.model.Kind() == "table" {
			n := big.NewRat(int64(m.Records()), 1)
			if err := raise(n.Mul(n, plain.EpsilonRat())); err != nil {
				return account.Cost{}, err
			}
			continue
		}
		v, err := member.treeBound(ctx, none, epsilon)
		if err == nil {
			err = lambda(v)
		}
		if err != nil {
			return account.Cost{}, err
		}
	}
	return account.Cost{Epsilon: units}, nil
}

// unitsUp is x in units of account.Cost.Epsilon, rounded up.
func unitsUp(x float64) (int64, error) { return account.EpsilonUp(new(big.Rat).SetFloat64(x)) }

// epsilonOf is the number that units of account.Cost.Epsilon are, as the nearest
// float, which prints as their exact decimal.
func epsilonOf(units int64) float64 {
	v, _ := account.Cost{Epsilon: units}.Float()
	return v
}
