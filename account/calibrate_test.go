package account

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// bisected is leastUp without a look at how far delta is off: it widens and halves.
func bisected(start float64, ok func(*big.Rat) bool) *big.Rat {
	lo := gridIndex(start)
	hi := lo
	for step := int64(4); ok(gridNumber(lo)); step *= 8 {
		lo -= step
	}
	for step := int64(4); !ok(gridNumber(hi)); step *= 8 {
		hi += step
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; ok(gridNumber(mid)) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return gridNumber(hi)
}

// Calibrations find what a search by halving alone finds, which is slower.
func TestCalibrationsAreTheSearchByHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range randtest.Size(3, 10) {
		c := Cost{Epsilon: int64(math.Exp(rng.Float64()*14) * 10_000), Delta: int64(math.Exp(rng.Float64()*25) * 1000)}
		sensitivity := int64(1)
		if i%3 > 0 {
			sensitivity = int64(math.Exp(rng.Float64() * 30))
		}
		sigma := approximateSigma(c)
		square := sigma * sigma * float64(sensitivity) * float64(sensitivity)
		want := bisected(square, func(s *big.Rat) bool { return discreteDelta(c, sensitivity, s).hiRat().Cmp(c.DeltaRat()) <= 0 })
		if got, err := DiscreteGaussian(c, sensitivity); err != nil || got.Cmp(want) != 0 {
			t.Errorf("%+v, sensitivity %d: discrete noise of %v, want %v (%v)", c, sensitivity, got, want, err)
		}
		want = bisected(sigma, func(s *big.Rat) bool { return continuousDelta(c, s).hiRat().Cmp(c.DeltaRat()) <= 0 })
		if got, err := GaussianSigma(c, big.NewRat(1, 1)); err != nil || got.Cmp(want) != 0 {
			t.Errorf("%+v: noise of %v, want %v (%v)", c, got, want, err)
		}
		whole := bisectRho(func(r Rho) bool { return r.within(c) })
		if got, err := RhoWithin(c); err != nil || got != whole {
			t.Errorf("%+v: a rho of %v, want %v (%v)", c, got, whole, err)
		}
	}
}
