package noise

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// The attack on a count with neighbours 0 and 1: it stays below the claim, and
// noise of half the scale is caught.
func TestEpsilonIsKeptAndHalvedNoiseIsCaught(t *testing.T) {
	const epsilon = 1.0
	at := func(scale *big.Rat, value int64) randtest.Mechanism {
		l, err := NewLaplace(scale)
		if err != nil {
			t.Fatal(err)
		}
		return func(src *Source) (int64, error) {
			x, err := l.Draw(src)
			return value + x, err
		}
	}
	right, err := ScaleFor(big.NewRat(1, 1), epsilon*1e9)
	if err != nil {
		t.Fatal(err)
	}
	audit := randtest.Audit{Seed: 1}
	b, err := randtest.EpsilonLowerBound(context.Background(), audit, at(right, 0), at(right, 1))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("claimed %v, found at least %.3f by %v", epsilon, b.Epsilon, b.Event)
	if b.Epsilon > epsilon || b.Epsilon < 0.9*epsilon {
		t.Errorf("found epsilon >= %v; the claim is %v and the attack should come near", b.Epsilon, epsilon)
	}
	half := new(big.Rat).Quo(right, big.NewRat(2, 1))
	b, err = randtest.EpsilonLowerBound(context.Background(), audit, at(half, 0), at(half, 1))
	if err != nil {
		t.Fatal(err)
	}
	if b.Epsilon <= epsilon {
		t.Errorf("halved noise shows only %v", b.Epsilon)
	}

	// Gaussian: rho = 1/2 at sigma = 1, D = 1; by the conversion of Bun and
	// Steinke (2016), epsilon = rho + 2 sqrt(rho ln(1/delta)) at delta = 1e-5.
	const delta = 1e-5
	claim := 0.5 + 2*math.Sqrt(0.5*math.Log(1/delta))
	gauss := func(sigma2 *big.Rat, value int64) randtest.Mechanism {
		g, err := NewGaussian(sigma2)
		if err != nil {
			t.Fatal(err)
		}
		return func(src *Source) (int64, error) {
			x, err := g.Draw(src)
			return value + x, err
		}
	}
	audit.Delta = delta
	b, err = randtest.EpsilonLowerBound(context.Background(), audit, gauss(big.NewRat(1, 1), 0), gauss(big.NewRat(1, 1), 1))
	if err != nil || b.Epsilon > claim || b.Epsilon < 1 {
		t.Errorf("Gaussian: found %v of %v (%v)", b.Epsilon, claim, err)
	}
}

// Neighbours have equal support: whatever x gives, x+1 can give. Every value in
// the middle is seen from both sides.
func TestNeighboursHaveEqualSupport(t *testing.T) {
	l, err := NewLaplace(big.NewRat(2, 1))
	if err != nil {
		t.Fatal(err)
	}
	src := randtest.Source(9)
	var seen [2]map[int64]bool
	for side := range seen {
		seen[side] = make(map[int64]bool)
		for range draws {
			x, err := l.Draw(src)
			if err != nil {
				t.Fatal(err)
			}
			seen[side][x+int64(side)] = true
		}
	}
	for v := int64(-8); v <= 9; v++ {
		if !seen[0][v] || !seen[1][v] {
			t.Errorf("%d was seen from 0: %v, from 1: %v", v, seen[0][v], seen[1][v])
		}
	}
}

// The smooth-sensitivity mechanism at its default, epsilon = 1, beta = 1/5, p = 6,
// on the worst pair that its theorem allows: the counts differ by S and the scales
// by e^beta. The attack stays below the claim, and finds noise of half the scale.
func TestLomaxKeepsItsEpsilon(t *testing.T) {
	randtest.SkipShort(t)
	testLomaxKeepsItsEpsilon(t, 40_000)
}

func TestLongLomaxKeepsItsEpsilon(t *testing.T) {
	randtest.Long(t)
	testLomaxKeepsItsEpsilon(t, 100_000)
}

func testLomaxKeepsItsEpsilon(t *testing.T, runs int) {
	const epsilon, beta, p = 1.0, 0.2, 6.0
	a := min(math.Expm1(epsilon/p), math.Exp(beta)*math.Expm1((epsilon-beta)/p))
	l := lomax(t, "6")
	at := func(value int64, s float64) randtest.Mechanism {
		scale := new(big.Rat).SetFloat64(s / a)
		return func(src *Source) (int64, error) {
			return l.AddTo(src, new(big.Rat).SetInt64(value), scale, Grid{})
		}
	}
	audit := randtest.Audit{Seed: 3, Runs: runs}
	const s = 4.0
	b, err := randtest.EpsilonLowerBound(context.Background(), audit, at(0, s), at(int64(s), s*math.Exp(beta)))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("claimed %v, found at least %.3f by %v", epsilon, b.Epsilon, b.Event)
	if b.Epsilon > epsilon || b.Epsilon < 0.5*epsilon {
		t.Errorf("found epsilon >= %v of a claim of %v", b.Epsilon, epsilon)
	}
	b, err = randtest.EpsilonLowerBound(context.Background(), audit, at(0, s/2), at(int64(s), s/2*math.Exp(beta)))
	if err != nil || b.Epsilon <= epsilon {
		t.Errorf("halved noise shows only %v (%v)", b.Epsilon, err)
	}
}
