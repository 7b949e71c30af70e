package noise

import (
	"math"
	"math/big"
	"testing"
)

func TestMomentsAndIntervals(t *testing.T) {
	// Variance and interval against sums of the probabilities themselves.
	check := func(t *testing.T, name string, logP func(int64) float64, variance float64, interval func(float64) int64, reach int64) {
		t.Helper()
		mass, second := 0.0, 0.0
		for x := reach; x >= 1; x-- {
			p := math.Exp(logP(x))
			mass += p
			second += float64(x) * float64(x) * p
		}
		mass, second = 2*mass+math.Exp(logP(0)), 2*second
		if math.Abs(mass-1) > 1e-9 {
			t.Errorf("%s: the probabilities sum to %v", name, mass)
		}
		if math.Abs(second/variance-1) > 1e-9 {
			t.Errorf("%s: variance %v, summed %v", name, variance, second)
		}
		for _, level := range []float64{0, 0.1, 0.5, 0.9, 0.95, 0.99, 1 - 1e-6} {
			w := interval(level)
			inside := math.Exp(logP(0))
			for x := int64(1); x <= w; x++ {
				inside += 2 * math.Exp(logP(x))
			}
			if inside < level-1e-9 {
				t.Errorf("%s: |X| <= %d has probability %v, not %v", name, w, inside, level)
			}
			if w > 0 && inside-2*math.Exp(logP(w)) > level+1e-6*(1-level) {
				t.Errorf("%s: at level %v, %d is wider than needed", name, level, w)
			}
		}
		for _, level := range []float64{1, 1.5, -0.1, math.NaN()} {
			if w := interval(level); w != math.MaxInt64 {
				t.Errorf("%s: level %v gives %d", name, level, w)
			}
		}
	}
	for _, scale := range []string{"1/5", "1", "7/2", "100", "5000"} {
		l, err := NewLaplace(rat(t, scale))
		if err != nil {
			t.Fatal(err)
		}
		check(t, "Laplace "+scale, l.LogP, l.Variance(), l.Interval, int64(40*l.b)+5)
		// Sums below and integrals above: 63 and 65 lie on either side.
		g, err := NewGaussian(new(big.Rat).Mul(l.scale, l.scale))
		if err != nil {
			t.Fatal(err)
		}
		check(t, "Gaussian "+scale, g.LogP, g.Variance(), g.Interval, int64(12*g.sigma)+5)
	}
	for _, sigma := range []int64{63, 64, 65, 66, 300} {
		g, err := NewGaussian(big.NewRat(sigma*sigma, 1))
		if err != nil {
			t.Fatal(err)
		}
		check(t, "Gaussian", g.LogP, g.Variance(), g.Interval, 12*sigma)
		// The tail by the formula against the tail term by term.
		for _, m := range []float64{1, float64(sigma / 2), float64(sigma), 3 * float64(sigma), 8 * float64(sigma)} {
			sum := 0.0
			for x := g.reach(); x >= m; x-- {
				sum += g.weight(x)
			}
			if got := g.tail(m); math.Abs(got/sum-1) > 1e-8 {
				t.Errorf("sigma %d: the tail from %v is %v, summed %v", sigma, m, got, sum)
			}
		}
	}
	// The 95% half-width of the largest scales, by hand: b ln 20 and 1.959964 sigma.
	l, err := NewLaplace(powerOfTwo(maxScaleBits))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := float64(l.Interval(0.95)), math.Ldexp(math.Log(20), 56); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("Laplace 2^56: %v, want %v", got, want)
	}
	g, err := NewGaussian(powerOfTwo(2*maxScaleBits - 1))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := float64(g.Interval(0.95)), 1.959963984540054*math.Ldexp(math.Sqrt2, 55); math.Abs(got/want-1) > 1e-6 {
		t.Errorf("Gaussian 2^55.5: %v, want %v", got, want)
	}
}

func TestRoundedMomentsAndIntervals(t *testing.T) {
	for _, d := range allRounded(t) {
		for _, level := range []float64{0.5, 0.9, 0.95, 0.999} {
			w := d.Interval(level)
			if inside := d.CDF(w) - d.CDF(-w); math.Abs(inside-level) > 1e-7 || inside < level-1e-12 {
				t.Errorf("%s: |Z| <= %v has probability %v, not %v", d.name, w, inside, level)
			}
		}
		if w := d.Interval(0); w != 0 {
			t.Errorf("%s: level 0 gives %v", d.name, w)
		}
		for _, level := range []float64{1, -1, 2, math.NaN()} {
			if w := d.Interval(level); !math.IsInf(w, 1) {
				t.Errorf("%s: level %v gives %v", d.name, level, w)
			}
		}
		// The variance, integrated: 2 int z P(|Z| > z) dz, on a grid that grows.
		if v := d.Variance(); !math.IsInf(v, 1) {
			sum := 0.0
			const step = 1e-4
			for x := 1e-9; x < 1e12; x *= 1 + step {
				mid := x * (1 + step/2)
				sum += 2 * mid * 2 * d.CDF(-mid) * x * step
			}
			if math.Abs(sum/v-1) > 2e-3 {
				t.Errorf("%s: variance %v, integrated %v", d.name, v, sum)
			}
		}
	}
	// Figures of docs/differential-privacy.md: sd per unit of S/a is sqrt(2/12) for p = 6, and the
	// 95% half-width 20^0.2 - 1 = 0.8206.
	l := lomax(t, "6")
	if got := l.Variance(); math.Abs(got-1./6) > 1e-15 {
		t.Errorf("variance %v, want 1/6", got)
	}
	if got := l.Interval(0.95); math.Abs(got-0.8206) > 5e-5 {
		t.Errorf("95%% half-width %v, want 0.8206", got)
	}
}
