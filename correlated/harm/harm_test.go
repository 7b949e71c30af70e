package harm

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"
)

func drawCosts(t *rapid.T) *Costs {
	price := func(label string) float64 { return float64(rapid.IntRange(0, 40).Draw(t, label)) / 8 }
	c := &Costs{
		DamageSlope: price("s_D") + 0.125, ConcealmentSlope: price("s_C"), FalseAlarm: price("J_D"), Concealment: price("J_C"),
		Threshold: float64(rapid.IntRange(1, 8).Draw(t, "tau")) / 8, Identification: 10 * price("w_I"),
		Prior: []Share{{0, 0.5}, {1, 0.25}, {rapid.IntRange(2, 9).Draw(t, "count"), 0.25}},
	}
	c.CreditSlope = c.DamageSlope * float64(rapid.IntRange(0, 4).Draw(t, "s_0")) / 4
	return c
}

// integral of f against the Laplace density of scale b, by the midpoint rule on
// pieces that no jump of f crosses.
func integral(b float64, cuts []float64, f func(z float64) float64) float64 {
	sum := 0.0
	for i := 1; i < len(cuts); i++ {
		const n = 4000
		h := (cuts[i] - cuts[i-1]) / n
		for j := range n {
			z := cuts[i-1] + (float64(j)+0.5)*h
			sum += h * f(z) * math.Exp(-math.Abs(z)/b) / (2 * b)
		}
	}
	return sum
}

// The closed forms are the expectations of the realised harm.
func TestClosedFormsAreExpectations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCosts(t)
		b := rapid.SampledFrom([]float64{0.3, 1, 4}).Draw(t, "b")
		for _, s := range c.Prior {
			k := c.laplace(s.Count, b)
			tt := float64(s.Count)
			cuts := []float64{-40 * b, -tt, c.Threshold - tt, 0, 40 * b}
			if s.Count == 0 {
				cuts = []float64{-40 * b, 0, c.Threshold, 40 * b}
			}
			gain := integral(b, cuts, func(z float64) float64 { return math.Max(0, c.Realised(s.Count, tt+z)) })
			loss := integral(b, cuts, func(z float64) float64 { return -math.Min(0, c.Realised(s.Count, tt+z)) })
			alarm := integral(b, cuts, func(z float64) float64 {
				if tt+z >= c.Threshold {
					return 1
				}
				return 0
			})
			tolerance := 1e-4 * (1 + gain + loss)
			if math.Abs(gain-k.Damage) > tolerance || math.Abs(loss-k.Concealment-k.Credit) > tolerance || math.Abs(alarm-k.Alarm) > 1e-4 {
				t.Fatalf("t=%d b=%g: %+v, integrals %g, %g, %g", s.Count, b, k, gain, loss, alarm)
			}
		}
	})
}

// The geometric closed forms, against sums.
func TestGeometricClosedFormsAreSums(t *testing.T) {
	c := &Costs{DamageSlope: 1, ConcealmentSlope: 2, CreditSlope: 0.5, FalseAlarm: 3, Concealment: 4, Prior: []Share{{0, 1}}}
	for _, eps := range []float64{0.1, 1, 3} {
		al := math.Exp(-eps)
		for _, n := range []int{0, 1, 2, 5} {
			var over, under, clamped, alarm float64
			for z := -2000; z <= 2000; z++ {
				p := (1 - al) / (1 + al) * math.Pow(al, math.Abs(float64(z)))
				a := max(0, n+z)
				over += p * float64(max(0, a-n))
				under += p * float64(max(0, n-a))
				clamped += p * float64(max(0, -(n+z)))
				if a >= 1 {
					alarm += p
				}
			}
			k := c.geometric(n, eps)
			damage, conceal := over, 2*under
			if n == 0 {
				damage += 3 * alarm
			} else {
				conceal += 4 * (1 - alarm)
			}
			if math.Abs(k.Damage-damage) > 1e-9 || math.Abs(k.Concealment-conceal) > 1e-9 || math.Abs(k.Credit-0.5*clamped) > 1e-9 ||
				math.Abs(k.Alarm-alarm) > 1e-9 {
				t.Errorf("eps=%g t=%d: %+v; sums %g %g %g %g", eps, n, k, damage, conceal, clamped, alarm)
			}
		}
	}
}

// No scale of a fine grid is better than the one that is found.
func TestOptimumIsGlobal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCosts(t)
		o, err := c.Optimise(context.Background(), Search{EpsilonMax: 20})
		if err != nil {
			t.Fatal(err)
		}
		if o.Scale < 1/20.0*(1-1e-9) {
			t.Fatalf("b=%g is below the limit", o.Scale)
		}
		for b := 0.05; b < 3000; b *= 1.013 {
			e, err := c.Evaluate(b, 0)
			if err != nil {
				t.Fatal(err)
			}
			if e.Total < o.Total*(1-1e-9)-1e-12 {
				t.Fatalf("J(%g)=%.12g is below J(%g)=%.12g", b, e.Total, o.Scale, o.Total)
			}
		}
	})
}

// No other tau has smaller expected jumps, and where the answer is said to be
// uninformative, none makes the decision depend on it.
func TestThresholdIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCosts(t)
		c.FalseAlarm += 0.125
		b := rapid.SampledFrom([]float64{0.2, 1, 3}).Draw(t, "b")
		h, err := c.BestThreshold(b)
		if err != nil {
			t.Fatal(err)
		}
		jumps := func(tau float64) float64 {
			sum := 0.0
			for _, s := range c.Prior {
				if s.Count == 0 {
					sum += s.P * c.FalseAlarm * math.Exp(-tau/b) / 2
				} else {
					sum += s.P * c.Concealment * math.Exp(-(float64(s.Count)-tau)/b) / 2
				}
			}
			return sum
		}
		best := jumps(h.Tau)
		for tau := 0.0; tau <= 1; tau += 1.0 / 64 {
			if jumps(tau) < best*(1-1e-12) {
				t.Fatalf("tau=%g has %g, below %g at %g", tau, jumps(tau), best, h.Tau)
			}
		}
		if h.Uninformative && h.Tau > 0 && h.Tau < 1 {
			t.Fatalf("%+v", h)
		}
	})
}

func TestOptimiseWithLeakage(t *testing.T) {
	c := &Costs{
		DamageSlope: 1, ConcealmentSlope: 2, FalseAlarm: 2, Concealment: 3, Identification: 100,
		Prior: []Share{{0, 0.7}, {1, 0.2}, {3, 0.1}},
	}
	plain, err := c.Optimise(context.Background(), Search{EpsilonMax: 10})
	if err != nil {
		t.Fatal(err)
	}
	// Records that move together three at a time leak three times as much.
	three, err := c.Optimise(context.Background(), Search{
		EpsilonMax: 10, Least: 0.3, Leakage: func(_ context.Context, b float64) (float64, error) { return 3 / b, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if three.Scale <= plain.Scale || math.Abs(three.Epsilon-3/three.Scale) > 1e-12 {
		t.Errorf("%+v, %+v", plain.Evaluation, three.Evaluation)
	}
}

func TestValidateListsAllFaults(t *testing.T) {
	c := &Costs{DamageSlope: -1, CreditSlope: 2, Threshold: 2, Prior: []Share{{-1, 0.4}, {-1, 0.4}}}
	err := c.Validate()
	for _, want := range []string{"damage_slope", "credit_slope", "threshold", "prior[0]", "prior[1]", "do not sum"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	if _, err := c.Evaluate(1, 0); noren.KindOf(err) != noren.Internal && noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

func FuzzParseCosts(f *testing.F) {
	f.Add(`{"damage_slope":1,"concealment_slope":2,"credit_slope":0.1,"false_alarm":2,"concealment":3,"threshold":0.5,"identification":5,"measure":"test","prior":[{"count":0,"p":0.7},{"count":1,"p":0.3}]}`)
	f.Add(`{"damage_slope":1,"prior":[{"count":0,"p":1}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		c, err := ParseCosts(strings.NewReader(text), "costs.json")
		if err != nil {
			if noren.KindOf(err) != noren.Usage {
				t.Fatalf("%v is of kind %v", err, noren.KindOf(err))
			}
			return
		}
		again, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		e, err := c.Evaluate(1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if math.IsNaN(e.Total) {
			t.Fatalf("%s gives NaN", again)
		}
	})
}
