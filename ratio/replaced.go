package ratio

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
)

// replaced is what a mechanism that was made for add-remove costs for replace-one, where
// that is known to be less than twice its cost (docs/density-ratio.md, section 3, theorem
// 5): its noise on the sums of kernels covers sqrt(2) times the sensitivity at sqrt(2) eps
// (RKHSPure), or at the smallest eps' for which the Gaussian noise is enough at the same
// delta (RKHSGaussian). The number of records does not change when one is replaced, and
// costs nothing; the number of those outside changes by 1, as when one is added; the cells
// of histograms change by twice as much.
func (m *Mechanism) replaced() (account.Cost, bool) {
	var main account.Cost
	if len(m.kernels) == 0 {
		return account.Cost{}, false
	}
	switch m.options.Noise {
	case RKHSPure:
		// ceil(sqrt(2) x) in integers: the least y with y^2 >= 2 x^2.
		x := big.NewInt(m.main.Epsilon)
		square := new(big.Int).Mul(x, x)
		square.Lsh(square, 1)
		y := new(big.Int).Sqrt(square)
		if new(big.Int).Mul(y, y).Cmp(square) < 0 {
			y.Add(y, big.NewInt(1))
		}
		// The slack for floating point in the sensitivity is the same for both relations, so
		// that the quotient of the two is at most sqrt(2).
		if !y.IsInt64() {
			return account.Cost{}, false
		}
		main.Epsilon = y.Int64()
	case RKHSGaussian:
		var ok bool
		main, ok = m.replacedGaussian()
		if !ok {
			return account.Cost{}, false
		}
	default:
		return account.Cost{}, false
	}
	main.Epsilon += m.beyond + 2*m.cells.Epsilon
	if main.Epsilon < 0 {
		return account.Cost{}, false
	}
	return main, true
}

// replacedGaussian searches the least epsilon, of 30 halvings between that of the
// mechanism and twice it, at which the noise is enough for replaced records.
func (m *Mechanism) replacedGaussian() (account.Cost, bool) {
	d2 := 0.0
	for _, k := range m.kernels {
		s := k.rkhsSensitivity(account.ReplaceOne)
		d2 += s * s
	}
	up, err := noise.RatUp(math.Sqrt(d2) * (1 + 0x1p-40))
	if err != nil {
		return account.Cost{}, false
	}
	scale := new(big.Rat).SetFloat64(m.distribution.Scale)
	if scale == nil {
		return account.Cost{}, false
	}
	enough := func(epsilon int64) bool {
		s, err := account.GaussianSigma(account.Cost{Epsilon: epsilon, Delta: m.main.Delta}, up)
		return err == nil && s.Cmp(scale) <= 0
	}
	low, high := m.main.Epsilon, 2*m.main.Epsilon
	if high < low || !enough(high) {
		return account.Cost{}, false
	}
	for range 30 {
		if mid := low + (high-low)/2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return account.Cost{Epsilon: high, Delta: m.main.Delta}, true
}
