package service

import (
	"context"
	"math"
	"math/big"
	"slices"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/api"
)

const (
	// priceStep is the step of epsilon in which prices of a margin are sought, 0.001, and
	// rhoStep that of rho, 0.000001.
	priceStep = account.EpsilonUnits / 1000
	rhoStep   = account.RhoUnits / 1_000_000
	// mostSteps bounds the price of a margin: epsilon 100, and rho 5,000, which gives no
	// protection.
	mostSteps    = 100_000
	mostRhoSteps = 5_000_000_000
)

// CodeMargin is the code of a margin that no price reaches.
const CodeMargin = "margin-unreachable"

// priced makes the mechanism of the least cost whose error is within the margin: at the
// next smaller step of the grid it is not. In a budget in zCDP it takes the noise that
// costs less.
func (q *pricedQuestion) priced(ctx context.Context, a *openSet) error {
	m := q.question.Margin
	if !(m.Within > 0 && m.Within <= math.MaxFloat64) {
		return noren.Usagef("margin.within", "expected a number above 0, got another")
	}
	if q.needsAbout() && q.question.Margin.About == 0 {
		return noren.Usagef("margin.about", "expected about how many records a group has, got none").
			Hinted("the error of this question depends on it: say what you expect; no data is read")
	}
	delta, zcdp := a.zcdp()
	stated, err := account.ParseDelta(m.Delta)
	if err != nil {
		return err
	}
	if m.Delta != "" && (zcdp || !needsDelta(&q.question)) {
		return noren.Usagef("margin.delta", "is for gaussian noise in a budget of epsilon").Hinted("leave it out")
	}
	if m.Delta == "" && !zcdp && needsDelta(&q.question) {
		return noren.Usagef("margin.delta", "expected a delta for this noise, got none").
			Hinted("one far below 1 divided by the number of records, for instance 1e-9")
	}
	noises := q.noises()
	if named := q.question.Noise(); named != "" {
		noises = []string{named}
	}
	var best *payment
	var least *big.Int // in units of 1e-18: the epsilon, or twice the rho
	var fault error
	for _, noise := range noises {
		search := search{within: m.Within, most: mostSteps, power: 1}
		pay := func(step int64) payment {
			return payment{noise: noise, cost: account.Cost{Epsilon: step * priceStep, Delta: stated}}
		}
		if noise == gaussian && zcdp {
			search.most, search.power = mostRhoSteps, 2
			pay = func(step int64) payment {
				return payment{noise: noise, cost: account.Cost{Delta: delta}, rho: account.Rho(step * rhoStep)}
			}
		}
		search.at = func(step int64) (*float64, error) {
			// The form was made before at a usual cost: what fails now is noise of this size.
			f, err := q.form.at(ctx, pay(step))
			if noren.KindOf(err) == noren.Usage {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			acc, err := f.accuracy(q.level, q.about)
			return acc.within, err
		}
		step, err := search.least(ctx)
		if err != nil {
			fault = err
			continue
		}
		p := pay(step)
		if cost := p.comparable(zcdp); best == nil || cost.Cmp(least) < 0 {
			best, least = &p, cost
		}
	}
	if best == nil {
		return fault
	}
	return q.settle(ctx, *best)
}

// comparable is the cost as a whole number, for comparison within one kind of budget: in
// zCDP twice the rho in units of 1e-18, which is epsilon squared for pure noise.
func (p *payment) comparable(zcdp bool) *big.Int {
	if p.rho != 0 {
		return new(big.Int).Mul(big.NewInt(int64(p.rho)), big.NewInt(2000))
	}
	e := big.NewInt(p.cost.Epsilon)
	if zcdp {
		return e.Mul(e, e)
	}
	return e
}

// search finds the least step of a grid at which an error is within a bound. The error
// falls as the step rises, about as step^(-1/power).
type search struct {
	within float64
	most   int64
	power  float64
	at     func(step int64) (*float64, error) // nil: no bound on the error
}

// least returns a step at which the error is within the bound, and one below which it is
// not. It guesses from the errors that it has seen, and bisects where guesses do not help.
func (s *search) least(ctx context.Context) (int64, error) {
	low, high := int64(0), s.most+1 // outside of low, within of high
	step := min(int64(100), s.most)
	for try := 0; high-low > 1; try++ {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		within, err := s.at(step)
		if err != nil {
			return 0, err
		}
		guess := float64(step) * 4
		if within != nil {
			guess = math.Ceil(float64(step) * math.Pow(*within/s.within, s.power))
		}
		if within != nil && *within <= s.within {
			high = step
		} else {
			low = step
		}
		switch {
		case high > s.most && low == s.most:
			return 0, &noren.Error{
				Kind: noren.Usage, Code: CodeMargin, Where: "margin.within", What: "no cost reaches this margin",
				Hint: "choose a wider margin, narrower bounds, or a larger group",
			}
		case try >= 6 && high <= s.most:
			step = low + (high-low)/2
		case try >= 6:
			step = min(max(low+1, low*4), s.most)
		default:
			step = int64(min(max(guess, float64(low+1)), float64(min(high-1, s.most))))
		}
	}
	return high, nil
}

// needsDelta reports whether the noise that the question names is paid with a delta.
func needsDelta(q *api.Question) bool {
	return slices.Contains(q.Of.Facts().Delta, q.Noise())
}
