package ratio

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/internal/randtest"
)

// The tail agrees with draws, and with the limits of one kind of noise.
func TestTwoSided(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	laplace := func(s float64) float64 {
		x := s * rng.ExpFloat64()
		if rng.IntN(2) == 0 {
			return -x
		}
		return x
	}
	const draws = 400_000
	for _, c := range []struct{ s1, s2, sigma float64 }{{1, 0, 0}, {1, 1, 0}, {1, 0.3, 0.5}, {0.3, 1, 2}, {0.05, 0.02, 1}, {1, 0.5, 0.001}} {
		x := make([]float64, draws)
		for i := range x {
			x[i] = math.Abs(laplace(c.s1) + laplace(c.s2) + c.sigma*rng.NormFloat64())
		}
		for _, at := range []float64{0.5, 2, 4} {
			more := 0.0
			for _, v := range x {
				if v > at {
					more++
				}
			}
			got := twoSided(at, c.s1, c.s2, c.sigma)
			if sd := math.Sqrt(got * (1 - got) / draws); math.Abs(more/draws-got) > 5*sd+1e-6 {
				t.Errorf("%+v beyond %g: %g, drawn %g", c, at, got, more/draws)
			}
		}
	}
	near(t, "Laplace alone", twoSided(20, 1, 0, 0), math.Exp(-20), 1e-20)
	near(t, "little Laplace", twoSided(4, 1e-9, 0, 1), math.Erfc(4/math.Sqrt2), 1e-12)
	if p := twoSided(30, 0.02, 0.01, 1); !(p >= 0 && p < 1e-100) {
		t.Errorf("far tail %g", p)
	}
}

// A check whose own noise decides finds correct weights off in about one of a hundred
// checks, and not in more than that: Laplace noise has heavier tails than normal noise of the
// same deviation, under which one of eleven was off.
func TestCheckFalseAlarms(t *testing.T) {
	randtest.SkipShort(t)
	ctx := context.Background()
	e := gaussian(2, 300, 1, 0, 1)
	x := gaussian(2, 300, 1, 0, 1) // the public records themselves
	w := fitOne(t, 1, e, x, Options{Cost: milli(1_000_000), Features: MarginalFeatures})
	c, err := NewCheck(CheckOptions{Weights: w, Public: e, Cost: milli(500), Neighbours: account.ReplaceOne, Records: x.Rows})
	if err != nil {
		t.Fatal(err)
	}
	const checks = 400
	alarms := 0
	src := entropy.Seeded(3)
	for range checks {
		s, err := c.Release(ctx, x, src)
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Compare(s)
		if err != nil {
			t.Fatal(err)
		}
		if r.Off > 0 {
			alarms++
		}
	}
	// Of a rate of 1 %, more than 14 of 400 have a chance below 10^-4.
	if alarms > 14 {
		t.Errorf("%d of %d checks of correct weights were off", alarms, checks)
	}
}
