package account

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/noren-privacy/noren"

	"pgregory.net/rapid"
)

func cost(t testing.TB, epsilon, delta string) Cost {
	t.Helper()
	e, err := ParseEpsilon(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	d, err := ParseDelta(delta)
	if err != nil {
		t.Fatal(err)
	}
	return Cost{Epsilon: e, Delta: d}
}

// Figures of Balle and Wang (2018) for sensitivity 1 and delta 1e-6.
func TestGaussianSigma(t *testing.T) {
	for _, test := range []struct {
		epsilon string
		want    float64
		places  float64
	}{{"0.1", 36.3047, 1e-4}, {"1", 4.22468, 1e-5}, {"10", 0.541087, 1e-6}} {
		c := cost(t, test.epsilon, "1e-6")
		sigma, err := GaussianSigma(c, big.NewRat(1, 1))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := sigma.Float64()
		if math.Abs(got-test.want) > test.places/2*1.001 {
			t.Errorf("epsilon %s: sigma = %.8f, want %g", test.epsilon, got, test.want)
		}
		if continuousDelta(c, sigma).hiRat().Cmp(c.DeltaRat()) > 0 {
			t.Errorf("epsilon %s: the sigma does not meet delta", test.epsilon)
		}
		less := new(big.Rat).Mul(sigma, big.NewRat(999_999_999, 1_000_000_000))
		if continuousDelta(c, less).loRat().Cmp(c.DeltaRat()) <= 0 {
			t.Errorf("epsilon %s: a smaller sigma would do", test.epsilon)
		}
		scaled, err := GaussianSigma(c, big.NewRat(7, 3))
		if err != nil || scaled.Cmp(new(big.Rat).Mul(sigma, big.NewRat(7, 3))) != 0 {
			t.Errorf("sensitivity 7/3: %v, %v", scaled, err)
		}
	}
}

// deltaBySum is the exact delta of discrete noise by its definition, the sum of
// max(0, P(k) - e^eps P(k-d)), in floating point.
func deltaBySum(epsilon float64, d int64, sigma2 float64) float64 {
	n := int64(40*math.Sqrt(sigma2)) + 3*d + 40
	f := func(k int64) float64 { return math.Exp(-float64(k) * float64(k) / (2 * sigma2)) }
	total, delta := 0.0, 0.0
	for k := -n; k <= n; k++ {
		total += f(k)
		delta += max(0, f(k)-math.Exp(epsilon)*f(k-d))
	}
	return delta / total
}

func TestDiscreteDeltaIsTheSum(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		// Sigmas on both sides of the change from sums to Euler-Maclaurin.
		sigma := rapid.Float64Range(0.3, 300).Draw(rt, "sigma")
		d := rapid.Int64Range(1, 40).Draw(rt, "d")
		epsilon := rapid.Int64Range(1_000_000, 5_000_000_000).Draw(rt, "epsilon")
		sigma2 := new(big.Rat).SetFloat64(sigma * sigma)
		bounds := discreteDelta(Cost{Epsilon: epsilon}, d, sigma2)
		lo, _ := bounds.lo.Float64()
		hi, _ := bounds.hi.Float64()
		want := deltaBySum(float64(epsilon)/1e9, d, sigma*sigma)
		const floats = 2e-14 // what they cancel to
		if want < lo*(1-1e-9)-floats || want > hi*(1+1e-9)+floats {
			rt.Fatalf("sigma %g d %d epsilon %d: the sum is %g, outside [%g, %g]", sigma, d, epsilon, want, lo, hi)
		}
		// Tails are bounded by Euler-Maclaurin, and delta is a difference of them: over a grid
		// of sigma and epsilon the bounds were at most a relative 3.4e-5 apart.
		if hi-lo > 1e-4*hi+floats {
			rt.Fatalf("sigma %g d %d epsilon %d: delta is known to [%g, %g] only", sigma, d, epsilon, lo, hi)
		}
		if got := float64(DeltaUp(bounds.hiRat())); got < want*DeltaUnits*(1-1e-9)-floats*DeltaUnits {
			rt.Fatalf("sigma %g d %d epsilon %d: delta %g is stated, the sum is %g", sigma, d, epsilon, got, want*DeltaUnits)
		}
	})
}

// At the border the two ways of summing tails hold the same value.
func TestTailsMeet(t *testing.T) {
	for _, sigma2 := range []*big.Rat{big.NewRat(4096, 1), big.NewRat(12345, 2)} {
		for _, m := range []int64{1, 20, 149, 150, 151, 400, 900} {
			g := newTheta(arith{160}, sigma2)
			x, y := g.sumTerms(big.NewInt(m)), g.sumEulerMaclaurin(big.NewInt(m))
			if x.lo.Cmp(y.hi) > 0 || y.lo.Cmp(x.hi) > 0 {
				t.Errorf("sigma^2 %v, m %d: [%g, %g] and [%g, %g] have nothing in common", sigma2, m, x.lo, x.hi, y.lo, y.hi)
			}
			wide, _ := new(big.Float).Quo(new(big.Float).Sub(y.hi, y.lo), y.hi).Float64()
			if wide > 1e-4 {
				t.Errorf("sigma^2 %v, m %d: relative width %g", sigma2, m, wide)
			}
		}
	}
}

func TestDiscreteGaussianIsCheckedAndTight(t *testing.T) {
	above, below := 0, 0
	for _, test := range []struct {
		epsilon, delta string
		d              int64
	}{
		{"0.1", "1e-6", 1},
		{"1", "1e-6", 1},
		{"10", "1e-6", 1},
		{"3", "1e-9", 1},
		{"5", "1e-5", 1},
		{"20", "1e-6", 1},
		{"0.5", "1e-9", 100},
		{"1", "1e-12", 1 << 20},
		{"0.001", "1e-9", 1},
		{"1", "1e-6", 1 << 50},
	} {
		c := cost(t, test.epsilon, test.delta)
		sigma2, err := DiscreteGaussian(c, test.d)
		if err != nil {
			t.Fatal(err)
		}
		if got := DeltaUp(discreteDelta(c, test.d, sigma2).hiRat()); got > c.Delta {
			t.Errorf("%v: delta %d above %d", test, got, c.Delta)
		}
		if s := SigmaFloat(sigma2); s < 100 && test.d < 10 {
			e, d := c.Float()
			if sum := deltaBySum(e, test.d, s*s); sum > d*(1+1e-6) {
				t.Errorf("%v: by its definition delta is %g", test, sum)
			}
		}
		continuous, err := GaussianSigma(c, new(big.Rat).SetInt64(test.d))
		if err != nil {
			t.Fatal(err)
		}
		square := new(big.Rat).Mul(continuous, continuous)
		ratio, _ := new(big.Rat).Quo(sigma2, square).Float64()
		if math.Abs(ratio-1) > 0.5 || test.d >= 100 && math.Abs(ratio-1) > 1e-3 {
			t.Errorf("%v: sigma^2 is %g times the continuous one", test, ratio)
		}
		switch {
		case ratio > 1+1e-9:
			above++
		case ratio < 1-1e-9:
			below++
		}
	}
	// The reason for not trusting the continuous curve.
	if above == 0 || below == 0 {
		t.Errorf("discrete noise needs more than continuous noise %d times and less %d times: both were expected", above, below)
	}
}

func TestGaussianRefuses(t *testing.T) {
	for _, c := range []Cost{
		{},
		{Epsilon: 1},
		{Delta: 1},
		{Epsilon: -1, Delta: 1},
		{Epsilon: 1, Delta: -1},
		{Epsilon: 1, Delta: DeltaUnits},
		{Epsilon: 101 * EpsilonUnits, Delta: 1},
	} {
		if _, err := GaussianSigma(c, big.NewRat(1, 1)); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v: %v", c, err)
		}
		if _, err := DiscreteGaussian(c, 1); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v: %v", c, err)
		}
	}
	for _, d := range []int64{0, -1, maxSensitivity + 1, math.MaxInt64} {
		if _, err := DiscreteGaussian(Cost{Epsilon: 1e9, Delta: 1e9}, d); noren.KindOf(err) != noren.Usage {
			t.Errorf("sensitivity %d: %v", d, err)
		}
	}
	for _, r := range []*big.Rat{nil, new(big.Rat), big.NewRat(-1, 1)} {
		if _, err := GaussianSigma(Cost{Epsilon: 1e9, Delta: 1e9}, r); noren.KindOf(err) != noren.Usage {
			t.Errorf("sensitivity %v: %v", r, err)
		}
	}
}

func BenchmarkDiscreteGaussian(b *testing.B) {
	c := cost(b, "0.5", "1e-9")
	for _, d := range []int64{1, 1 << 30} {
		b.Run(fmt.Sprint(d), func(b *testing.B) {
			for b.Loop() {
				if _, err := DiscreteGaussian(c, d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
