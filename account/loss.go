package account

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
)

// Accounting is how a budget adds up the privacy losses of its answers.
type Accounting string

const (
	// Basic: epsilons and deltas add up, and both have a cap ([Cost.Add]).
	Basic Accounting = "epsilon"
	// ZCDP: losses in zero-concentrated differential privacy add up, and rho has a cap
	// ([Loss.Add]).
	ZCDP Accounting = "zcdp"
)

// ParseAccounting reads "epsilon" or "zcdp"; the empty text is [Basic]. Error:
// [noren.Usage].
func ParseAccounting(text string) (Accounting, error) {
	switch a := Accounting(text); a {
	case "", Basic:
		return Basic, nil
	case ZCDP:
		return ZCDP, nil
	}
	return "", noren.Usagef("accounting", "is neither epsilon nor zcdp").Hinted("epsilon adds up epsilons and deltas, zcdp adds up rhos")
}

// Loss is the privacy loss of one or several answers in a budget in zCDP. Rho is the
// loss of all of them, which the cap bounds; the other parts give statements that may
// be smaller than the conversion of Rho ([Loss.Statement]).
type Loss struct {
	// Rho is the zCDP loss of all answers.
	Rho Rho
	// Pure is the sum of the epsilons of the answers that are private without a delta,
	// in units of 1e-9.
	Pure int64
	// Gaussian is the zCDP loss of the other answers. It is part of Rho.
	Gaussian Rho
}

// PureLoss is the loss of an answer that is epsilon-private, epsilon in units of 1e-9:
// rho = epsilon^2/2, rounded up (Bun and Steinke 2016, proposition 1.4;
// docs/differential-privacy.md, theorem 9). Error: [noren.Usage].
func PureLoss(epsilon int64) (Loss, error) {
	if epsilon < 0 {
		return Loss{}, noren.Usagef("epsilon", "is negative")
	}
	e := big.NewRat(epsilon, EpsilonUnits)
	rho, err := RhoUp(e.Mul(e, e).Mul(e, big.NewRat(1, 2)))
	return Loss{Rho: rho, Pure: epsilon}, err
}

// GaussianLoss is the loss of an answer that is rho-zCDP.
func GaussianLoss(rho Rho) Loss { return Loss{Rho: rho, Gaussian: rho} }

// RhoUp is rho in units, rounded up. Error: [noren.Usage] where it does not fit 64 bits
// (above 9223).
func RhoUp(rho *big.Rat) (Rho, error) {
	n, err := unitsUp(rho, RhoUnits)
	return Rho(n), err
}

// Validate refuses a loss that is no loss, or whose parts contradict each other. Error:
// [noren.Usage].
func (l Loss) Validate() error {
	switch {
	case l.Rho < 0 || l.Pure < 0 || l.Gaussian < 0:
		return noren.Usagef(noren.Phrase("the privacy loss"), "has a negative part")
	case l.Rho == 0:
		return noren.Usagef(noren.Phrase("the privacy loss"), "is 0").Hinted("give an epsilon above 0")
	case l.Gaussian > l.Rho || l.Pure == 0 && l.Gaussian != l.Rho || l.Pure != 0 && l.Gaussian == l.Rho:
		return noren.Usagef(noren.Phrase("the privacy loss"), "the parts of rho do not add up")
	}
	return nil
}

// Add is the loss of both, also when the second question depends on the first answer
// (docs/differential-privacy.md, theorem 8). Error: [noren.Usage] where a sum does not
// fit 64 bits.
func (l Loss) Add(m Loss) (Loss, error) {
	if min(l.Pure, m.Pure, int64(l.Rho), int64(m.Rho), int64(l.Gaussian), int64(m.Gaussian)) < 0 {
		return Loss{}, noren.Usagef(noren.Phrase("the privacy loss"), "has a negative part")
	}
	if l.Rho > math.MaxInt64-m.Rho || l.Gaussian > math.MaxInt64-m.Gaussian || l.Pure > math.MaxInt64-m.Pure {
		return Loss{}, tooLarge()
	}
	return Loss{Rho: l.Rho + m.Rho, Pure: l.Pure + m.Pure, Gaussian: l.Gaussian + m.Gaussian}, nil
}

// Group is the loss for n units at once: epsilons grow n-fold, rhos n^2-fold, rounded up
// (docs/differential-privacy.md, theorem 10). Error: [noren.Usage].
func (l Loss) Group(n int64) (Loss, error) {
	if n < 1 {
		return Loss{}, noren.Usagef(noren.Phrase("the group"), "has no member").Hinted("its size is at least 1")
	}
	times := func(x int64, by *big.Int) (int64, bool) {
		p := new(big.Int).Mul(big.NewInt(x), by)
		return p.Int64(), p.IsInt64()
	}
	once := big.NewInt(n)
	square := new(big.Int).Mul(once, once)
	rho, ok1 := times(int64(l.Rho), square)
	gaussian, ok2 := times(int64(l.Gaussian), square)
	pure, ok3 := times(l.Pure, once)
	if !ok1 || !ok2 || !ok3 {
		return Loss{}, tooLarge()
	}
	return Loss{Rho: Rho(rho), Pure: pure, Gaussian: Rho(gaussian)}, nil
}

// ChargeLoss is what a loss in the relation of the mechanism costs a budget of another
// relation, as [Charge] is for an epsilon and a delta: a replacement is two steps, so
// that an add-remove loss costs a replace-one budget that of a group of two, and a
// replace-one loss is refused in an add-remove budget. Error: [noren.Usage].
func ChargeLoss(l Loss, mechanism, budget Neighbours) (Loss, error) {
	switch {
	case mechanism == budget:
		return l, nil
	case mechanism == AddRemove:
		return l.Group(2)
	}
	_, err := Charge(Cost{}, mechanism, budget)
	return Loss{}, err
}

// Statement is an (epsilon, delta) guarantee of answers whose loss is l, at delta in
// units of 1e-18 and above 0: the one of the smallest epsilon of
//
//   - the sum of the epsilons, with delta 0, where no answer has a Gaussian part;
//   - the conversion of the whole rho ([Rho.Cost]);
//   - the sum of the epsilons and the conversion of the rho of the Gaussian parts.
//
// The proof is docs/differential-privacy.md, theorem 11. Error: [noren.Usage].
func (l Loss) Statement(delta int64) (Cost, error) {
	best, err := l.Rho.Cost(delta)
	if err != nil {
		return Cost{}, err
	}
	apart := Cost{Epsilon: l.Pure}
	if l.Gaussian > 0 {
		if apart, err = l.Gaussian.Cost(delta); err != nil {
			return Cost{}, err
		}
		if apart.Epsilon > math.MaxInt64-l.Pure {
			return best, nil
		}
		apart.Epsilon += l.Pure
	}
	if apart.Epsilon <= best.Epsilon {
		return apart, nil
	}
	return best, nil
}
