package noise

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
)

// nano is the unit of losses: an epsilon or a rho is a whole number of 1e-9.
const nano = 1_000_000_000

// ScaleFor returns the scale sensitivity/epsilon of Laplace noise, exactly. The
// sensitivity is an L1 sensitivity in the unit of the noise (grid steps, for
// noise on grid indices) and above 0; epsilon is in units of 1e-9 and above 0.
// Error: [noren.Usage].
func ScaleFor(sensitivity *big.Rat, epsilonNano int64) (*big.Rat, error) {
	if err := checkLoss(sensitivity, epsilonNano, "epsilon"); err != nil {
		return nil, err
	}
	return new(big.Rat).Mul(sensitivity, big.NewRat(nano, epsilonNano)), nil
}

// Sigma2For returns the sigma^2 = sensitivity^2 / (2 rho) of Gaussian noise that
// is rho-zCDP (Bun and Steinke 2016; Canonne, Kamath and Steinke 2020, theorem
// 4), exactly. The sensitivity is an L2 sensitivity in the unit of the noise and
// above 0; rho is in units of 1e-9 and above 0. Error: [noren.Usage].
func Sigma2For(sensitivity *big.Rat, rhoNano int64) (*big.Rat, error) {
	if err := checkLoss(sensitivity, rhoNano, "rho"); err != nil {
		return nil, err
	}
	s := new(big.Rat).Mul(sensitivity, sensitivity)
	s.Mul(s, big.NewRat(nano, 2))
	return s.Quo(s, new(big.Rat).SetInt64(rhoNano)), nil
}

func checkLoss(sensitivity *big.Rat, loss int64, what string) error {
	if sensitivity == nil || sensitivity.Sign() <= 0 {
		return &noren.Error{Kind: noren.Usage, What: "a sensitivity must be above 0"}
	}
	if loss <= 0 {
		return &noren.Error{Kind: noren.Usage, What: "%s must be above 0", Args: []any{what}}
	}
	return nil
}

// RatUp returns a rational that is no less than the positive number whose nearest
// float64, or one a few roundings away, is x: x times 1 + 2^-40. It is for scales
// that had to be computed in floating point, such as a calibrated sigma: more
// noise than was computed, never less. x must be finite and above 0. Error:
// [noren.Usage].
func RatUp(x float64) (*big.Rat, error) {
	if !finite(x) || x <= 0 {
		return nil, &noren.Error{Kind: noren.Usage, What: "a scale must be a finite number above 0"}
	}
	r := new(big.Rat).SetFloat64(math.Nextafter(x, math.Inf(1)))
	if r == nil { // the largest float64
		r = new(big.Rat).SetFloat64(x)
	}
	return r.Mul(r, new(big.Rat).SetFrac64(1<<40+1, 1<<40)), nil
}
