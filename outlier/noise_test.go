package outlier

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

func TestLomaxIsAsGolden(t *testing.T) {
	for _, c := range readGolden(t).Lomax {
		n, err := LomaxNoise(c.Eps, c.Beta*(1-1e-13), c.P)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(n.Divisor/c.A-1) > 1e-11 || n.Divisor > c.A {
			t.Errorf("epsilon %g: a = %.17g, want a little below %.17g", c.Eps, n.Divisor, c.A)
		}
		if sd := n.SD(1); math.Abs(sd/c.SD-1) > 1e-11 {
			t.Errorf("epsilon %g: sd %.17g, want %.17g", c.Eps, sd, c.SD)
		}
		d, err := DefaultLomax(c.Eps)
		if err != nil || d != n {
			t.Errorf("epsilon %g: the default is %+v, want %+v (%v)", c.Eps, d, n, err)
		}
		// The note: a half-width of 0.8206 S/a holds 95%.
		if w := (n.Interval(1, 0.95) - 0.5) * n.Divisor; math.Abs(w-0.8206) > 5e-5 {
			t.Errorf("half-width %g S/a", w)
		}
	}
}

// Theorem 4: for S <= S' = e^l S, 0 <= l <= beta, |q - q'| <= S, the densities of
// q + (S/a) Z and q' + (S'/a) Z differ by a factor of at most e^epsilon, both
// ways; and a is the best: one that is a part in a thousand greater fails.
func TestTheorem4(t *testing.T) {
	randtest.SkipShort(t)
	// worst is the largest log ratio over a grid of outputs u (in units of the
	// first noise), shifts and scales. With u = a(y-q)/S the other is
	// e^{-l}(u + a w), |w| <= 1.
	worst := func(a, beta, p float64) float64 {
		most := 0.0
		for _, l := range []float64{0, beta / 4, beta / 2, beta} {
			for _, w := range []float64{-1, -0.5, 0, 0.5, 1} {
				for i := -400; i <= 400; i++ {
					u := math.Sinh(float64(i) / 20) // dense near 0, far at the ends
					for _, u := range []float64{u, -a * w, 0} {
						v := math.Exp(-l) * (u + a*w)
						ratio := l + p*(math.Log1p(math.Abs(v))-math.Log1p(math.Abs(u)))
						most = max(most, math.Abs(ratio))
					}
				}
			}
		}
		return most
	}
	for _, epsilon := range []float64{0.01, 0.1, 0.5, 1, 4} {
		for _, share := range []float64{0.02, 0.1, 0.2, 0.4} {
			for _, p := range []float64{3.25, 3.5, 6, 12, 48} {
				beta := epsilon * share
				n, err := LomaxNoise(epsilon, beta, p)
				if err != nil {
					if (p-1)*beta < epsilon {
						t.Errorf("epsilon %g, beta %g, p %g: %v", epsilon, beta, p, err)
					}
					continue
				}
				if w := worst(n.Divisor, beta, p); w > epsilon {
					t.Errorf("epsilon %g, beta %g, p %g: log ratio %.17g", epsilon, beta, p, w)
				}
				if w := worst(n.Divisor*1.001, beta, p); w <= epsilon {
					t.Errorf("epsilon %g, beta %g, p %g: a greater divisor passes too, log ratio %.17g", epsilon, beta, p, w)
				}
			}
		}
	}
}

// The same for Student's t, which is a smooth density: log ratio at all u.
func TestStudentCondition(t *testing.T) {
	for _, nu := range []int{3, 5, 10} {
		for _, epsilon := range []float64{0.1, 1} {
			beta := epsilon / float64(nu) / 2
			n, err := StudentNoise(epsilon, beta, nu)
			if err != nil {
				t.Fatal(err)
			}
			v, most := float64(nu), 0.0
			for _, l := range []float64{0, beta / 2, beta} {
				for _, w := range []float64{-1, 0, 1} {
					for i := -600; i <= 600; i++ {
						u := math.Sinh(float64(i) / 40)
						z := math.Exp(-l) * (u + n.Divisor*w)
						ratio := l + (v+1)/2*(math.Log1p(z*z/v)-math.Log1p(u*u/v))
						most = max(most, math.Abs(ratio))
					}
				}
			}
			if most > epsilon || most < epsilon*0.7 {
				t.Errorf("nu %d, epsilon %g: log ratio %g", nu, epsilon, most)
			}
		}
	}
}

// The golden table's figures of the mechanisms of Nissim, Raskhodnikova and
// Smith are for their delta without the loss of composition: asked for what
// their two steps compose to, ours are theirs.
func TestApproximateNoiseIsTheirs(t *testing.T) {
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		Noise map[string]map[string]map[string]any
	}
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	const epsilon = 0.5
	delta := 1e-3 * (1 + math.Exp(epsilon/2)) / 2
	row := g.Noise["ionosphere"]["0.5,1e-3"]
	gauss, err := GaussianNoise(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := gauss.SD(row["S_gauss_nrs"].(float64)), row["gauss_nrs"].(float64); math.Abs(got/want-1) > 1e-10 {
		t.Errorf("Gaussian sd %.17g, want %.17g", got, want)
	}
	if math.Abs(gauss.Beta-0.014533358631607488) > 1e-13 {
		t.Errorf("Gaussian beta %.17g", gauss.Beta)
	}
	laplace, err := LaplaceNoise(epsilon, delta)
	if err != nil {
		t.Fatal(err)
	}
	if want := epsilon / (2 * math.Log(2/1e-3)); math.Abs(laplace.Beta/want-1) > 1e-10 || math.Abs(laplace.Divisor/(epsilon/2)-1) > 1e-10 {
		t.Errorf("Laplace beta %.17g, a %.17g", laplace.Beta, laplace.Divisor)
	}
	// As Nissim, Raskhodnikova and Smith need it: each step alone holds.
	for _, n := range []Calibrated{gauss, laplace} {
		if literal := 1e-3; insideDelta(epsilon, delta) > literal {
			t.Errorf("%s: inner delta %g above %g", n.Family, insideDelta(epsilon, delta), literal)
		}
	}
}

// tailMass is the largest, over sets E, of P(Z in E) - e^epsilon P(e^l Z + a w in
// E), for a density h: the sum of the positive part of the difference.
func tailMass(h func(z float64) float64, epsilon, l, shift float64) float64 {
	const step = 1e-3
	sum := 0.0
	for z := -60.0; z <= 60; z += step {
		other := math.Exp(-l) * h(math.Exp(-l)*(z-shift))
		sum += max(0, h(z)-math.Exp(epsilon)*other) * step
	}
	return sum
}

// The (epsilon, delta) of Laplace and Gaussian noise, by integrating what is in
// excess of e^epsilon for the largest shift and scale.
func TestApproximateNoiseKeepsItsDelta(t *testing.T) {
	randtest.SkipShort(t)
	normal := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	laplace := func(z float64) float64 { return math.Exp(-math.Abs(z)) / 2 }
	for _, epsilon := range []float64{0.1, 0.5, 2} {
		for _, delta := range []float64{0.1, 1e-3} {
			g, err := GaussianNoise(epsilon, delta)
			if err != nil {
				t.Fatal(err)
			}
			b, err := LaplaceNoise(epsilon, delta)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []struct {
				n Calibrated
				h func(float64) float64
			}{{g, normal}, {b, laplace}} {
				for _, l := range []float64{-c.n.Beta, 0, c.n.Beta} {
					for _, shift := range []float64{0, c.n.Divisor} {
						if got := tailMass(c.h, epsilon, l, shift); got > delta {
							t.Errorf("%s, epsilon %g, delta %g: excess %g at scale e^%g, shift %g", c.n.Family, epsilon, delta, got, l, shift)
						}
					}
				}
				// Ten times the shift is not private any more.
				if got := tailMass(c.h, epsilon, 0, 10*c.n.Divisor); c.n.Family == Laplace && got <= delta {
					t.Errorf("%s: ten times the shift leaves an excess of %g only", c.n.Family, got)
				}
			}
		}
	}
}

func TestNoiseRefusals(t *testing.T) {
	for name, make := range map[string]func() (Calibrated, error){
		"p between quarters": func() (Calibrated, error) { return LomaxNoise(1, 0.1, 3.3) },
		"infinite variance":  func() (Calibrated, error) { return LomaxNoise(1, 0.1, 3) },
		"beta too great":     func() (Calibrated, error) { return LomaxNoise(1, 0.2000001, 6) },
		"beta too small":     func() (Calibrated, error) { return LomaxNoise(1, 1e-9, 6) },
		"epsilon NaN":        func() (Calibrated, error) { return DefaultLomax(math.NaN()) },
		"epsilon nought":     func() (Calibrated, error) { return GlobalNoise(0) },
		"two degrees":        func() (Calibrated, error) { return StudentNoise(1, 0.1, 2) },
		"all for beta":       func() (Calibrated, error) { return StudentNoise(1, 0.34, 3) },
		"no delta":           func() (Calibrated, error) { return LaplaceNoise(1, 0) },
		"a delta of 1":       func() (Calibrated, error) { return GaussianNoise(1, 1) },
		"a great epsilon":    func() (Calibrated, error) { return GaussianNoise(3, 1e-6) },
	} {
		if n, err := make(); err == nil {
			t.Errorf("%s: made %+v", name, n)
		}
	}
}

func TestPlan(t *testing.T) {
	// The note: d = 2, k = 5 has G = 26; at epsilon 0.1 the global sensitivity
	// wins, at 0.3 smooth noise does if U_t grows as expected.
	for guess := 2; guess <= 4; guess++ {
		low, err := NewPlan(Facts{Neighbours: 1, Records: 10_000, Dimensions: 2, K: 5, Epsilon: 0.1, Guess: guess})
		if err != nil {
			t.Fatal(err)
		}
		if low.G != 26 || low.Noise.Family != GlobalLaplace {
			t.Errorf("epsilon 0.1, guess %d: G %d, %s", guess, low.G, low.Noise.Family)
		}
		if sd := math.Sqrt2 * 26 / 0.1; math.Abs(low.Global.SD/sd-1) > 1e-12 {
			t.Errorf("global sd %g, want %g", low.Global.SD, sd)
		}
		high, err := NewPlan(Facts{Neighbours: 1, Records: 10_000, Dimensions: 2, K: 5, Epsilon: 0.3, Guess: guess})
		if err != nil {
			t.Fatal(err)
		}
		if high.Noise.Family != Lomax || high.Smooth.SD >= high.Global.SD {
			t.Errorf("epsilon 0.3, guess %d: %s, %g against %g", guess, high.Noise.Family, high.Smooth.SD, high.Global.SD)
		}
		if len(high.Advice) < 3 || !strings.Contains(low.Advice.Join(" "), "From about epsilon") {
			t.Errorf("advice: %q, %q", high.Advice, low.Advice)
		}
	}
	// Many dimensions: G = N.
	p, err := NewPlan(Facts{Neighbours: 1, Records: 235, Dimensions: 34, K: 5, Epsilon: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if p.G != 235 || p.Noise.Family != Lomax || p.Facts.Guess != 3 {
		t.Errorf("%+v", p)
	}
	// No more than k records.
	if p, err = NewPlan(Facts{Neighbours: 1, Records: 5, Dimensions: 2, K: 5, Epsilon: 0.5}); err != nil || p.G != 0 || p.Global.SD != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	for _, f := range []Facts{
		{Dimensions: 0, K: 5, Epsilon: 1},
		{Dimensions: 2, K: 0, Epsilon: 1},
		{Dimensions: 2, K: 5, Epsilon: -1},
		{Dimensions: 2, K: 5, Epsilon: 1, Neighbours: 1},
		{Dimensions: 2, K: 5, Epsilon: 1, Guess: -1},
		{Dimensions: 2, K: 5, Epsilon: 1, Neighbours: 7},
	} {
		if _, err := NewPlan(f); err == nil {
			t.Errorf("planned for %+v", f)
		}
	}
	_, err = NewPlan(Facts{Guess: -1})
	for _, word := range []string{"dimensions", "k", "epsilon", "guess"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("all faults at once: %v", err)
		}
	}
}

// guessedS is the maximum over all integers t.
func TestGuessedS(t *testing.T) {
	for _, beta := range []float64{0.001, 0.01, 0.05, 0.1, 0.3, 1, 5} {
		for _, g := range []int64{0, 1, 3, 26, 235, 4000} {
			for _, guess := range []int{1, 2, 3, 10, 300} {
				want := 0.0
				for s := 0; s < 5000; s++ {
					want = max(want, math.Exp(-beta*float64(s))*float64(min(g, int64(s+guess))))
				}
				if got := guessedS(beta, g, guess); got < want*(1-1e-15) || got > want*(1+1e-15) {
					t.Errorf("beta %g, G %d, guess %d: %g, want %g", beta, g, guess, got, want)
				}
			}
		}
	}
}
