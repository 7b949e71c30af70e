package account

import (
	"fmt"

	"github.com/noren-privacy/noren"
)

// Filter is a budget that refuses what does not fit. For costs that are chosen
// adaptively, each after seeing the answers before, everything that a Filter lets
// through is private with its cap in all: the sums of epsilon and of delta stay
// under the cap on every path, and a question that does not fit is never asked
// (Rogers, Roth, Ullman and Vadhan 2016, theorem 3.6, basic composition). The zero
// Filter lets nothing through. It is not safe for concurrent use, and it forgets:
// a budget that must outlive the process is a ledger's.
type Filter struct {
	Cap   Cost
	spent Cost
}

// Spent is the sum of what was let through.
func (f *Filter) Spent() Cost { return f.spent }

// Remaining is what is left.
func (f *Filter) Remaining() Cost {
	return Cost{f.Cap.Epsilon - f.spent.Epsilon, f.Cap.Delta - f.spent.Delta}
}

// Spend takes c from the budget, or refuses it whole with an error of kind
// [noren.Refused] that says what was requested and what remains. It depends on
// public figures alone.
func (f *Filter) Spend(c Cost) error {
	if err := c.Validate(); err != nil {
		return err
	}
	left := f.Remaining()
	if !c.Within(left) {
		return &noren.Error{
			Kind: noren.Refused, Where: "the budget",
			What: fmt.Sprintf("%s requested, %s remaining", c, left),
			Hint: "ask for less, or stop here: what was spent does not come back",
		}
	}
	f.spent = Cost{f.spent.Epsilon + c.Epsilon, f.spent.Delta + c.Delta}
	return nil
}

// RhoFilter is a [Filter] of zCDP: sums of rho are a sound filter as well
// (Feldman and Zrnic 2021, with all orders at once). The zero RhoFilter lets
// nothing through.
type RhoFilter struct {
	Cap   Rho
	spent Rho
}

// Spent is the sum of what was let through.
func (f *RhoFilter) Spent() Rho { return f.spent }

// Spend takes r from the budget, or refuses it with an error of kind
// [noren.Refused].
func (f *RhoFilter) Spend(r Rho) error {
	if r <= 0 {
		return usage("rho", "must be above 0", "")
	}
	if left := f.Cap - f.spent; r > left {
		return &noren.Error{
			Kind: noren.Refused, Where: "the budget",
			What: fmt.Sprintf("%s requested, %s remaining", r, left),
			Hint: "ask for less, or stop here: what was spent does not come back",
		}
	}
	f.spent += r
	return nil
}
