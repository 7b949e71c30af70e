package ldp

import (
	"math"
	"testing"

	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/internal/randtest"
)

type newMeanFunc = func(lo, hi, epsilon float64) (*Mean, error)

var means = map[string]newMeanFunc{"duchi": NewDuchi, "piecewise": NewPiecewise, "hybrid": NewHybrid}

// Section 4 of docs/local-privacy.md: the worst variances at epsilon 1.
func TestWorstVariances(t *testing.T) {
	for name, want := range map[string]float64{"duchi": 4.68, "piecewise": 5.22, "hybrid": 4.29} {
		m, err := means[name](-1, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.WorstVariance(); math.Abs(got-want) > 0.005 {
			t.Errorf("%s: %.4f, want %g", name, got, want)
		}
	}
	for _, epsilon := range []float64{0.2, 0.6, 0.62, 1, 2, 5} {
		var worst []float64
		for _, name := range []string{"hybrid", "duchi", "piecewise"} {
			m, err := means[name](-1, 1, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			worst = append(worst, m.WorstVariance())
		}
		if worst[0] > min(worst[1], worst[2])*(1+1e-9) {
			t.Errorf("epsilon %g: hybrid %g is worse than %g or %g", epsilon, worst[0], worst[1], worst[2])
		}
	}
}

// Reports are unbiased and have the stated variance; symbols read as written.
func TestMeansAreUnbiased(t *testing.T) {
	const n = 40_000
	for name, construct := range means {
		for _, epsilon := range []float64{0.5, 1, 4} {
			m, err := construct(10, 30, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			src := randtest.Source(6)
			for _, x := range []float64{10, 17.3, 20, 30, 99} {
				c := NewMeanCollector(m)
				for range n {
					s, err := m.Randomise(src, x)
					if err != nil {
						t.Fatal(err)
					}
					if err := c.AddWord(m.Format(s)); err != nil {
						t.Fatal(err)
					}
				}
				e, err := c.Estimate(0.95)
				if err != nil {
					t.Fatal(err)
				}
				truth, sd := min(x, 30), math.Sqrt(m.Variance(x)/n)
				if math.Abs(e.Value-truth) > 4.5*sd {
					t.Errorf("%s, epsilon %g: the mean of %g is %.3f, standard error %.3f", name, epsilon, truth, e.Value, sd)
				}
				if math.Abs(e.StdErr/sd-1) > 0.05 {
					t.Errorf("%s, epsilon %g, x = %g: standard error %.4f, by the formula %.4f", name, epsilon, x, e.StdErr, sd)
				}
			}
		}
	}
}

// An attack on the two ends of the range finds no more than epsilon.
func TestAttackOnMeans(t *testing.T) {
	for name, construct := range means {
		m, err := construct(-1, 1, 1.2)
		if err != nil {
			t.Fatal(err)
		}
		mechanism := func(x float64) randtest.Mechanism {
			return func(src *entropy.Source) (int64, error) {
				s, err := m.Randomise(src, x)
				return int64(s), err
			}
		}
		b, err := randtest.EpsilonLowerBound(t.Context(), randtest.Audit{Runs: 60_000, Seed: 2}, mechanism(-1), mechanism(1))
		if err != nil {
			t.Fatal(err)
		}
		if b.Epsilon > 1.2 || b.Epsilon < 0.8*1.2 {
			t.Errorf("%s: an attack shows %.4f of 1.2", name, b.Epsilon)
		}
	}
}

func TestMeansRefuse(t *testing.T) {
	for _, c := range [][3]float64{
		{1, 1, 1},
		{0, math.Inf(1), 1},
		{-1e308, 1e308, 1},
		{0, math.NaN(), 1},
		{0, 1, 0},
		{0, 1, math.NaN()},
		{0, 1, 41},
	} {
		if _, err := NewHybrid(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
	m, err := NewDuchi(0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Randomise(randtest.Source(1), math.NaN()); err == nil {
		t.Error("not a number was reported")
	}
	c := NewMeanCollector(m)
	for _, w := range []string{"2", "-1", "", "x", "1 "} {
		if c.AddWord(w) == nil {
			t.Errorf("%q was counted", w)
		}
	}
	if c.N() != 0 || c.Rejected().Malformed != 5 {
		t.Error("bad reports are not counted as such")
	}
	if _, err := c.Estimate(0.95); err == nil {
		t.Error("an estimate from nothing")
	}
}

// Square Wave finds a distribution again.
func TestSquareWaveFindsTheDistribution(t *testing.T) {
	const d, n = 32, 60_000
	m, err := NewSquareWave(0, 8, d, 2)
	if err != nil {
		t.Fatal(err)
	}
	src, c := randtest.Source(3), NewWaveCollector(m)
	truth := make([]float64, d)
	mean := 0.0
	for i := range n {
		x := 8 * math.Sqrt((float64(i)+0.5)/n) // density rises from 0
		mean += x / n
		l, err := m.Buckets().Label(x)
		if err != nil {
			t.Fatal(err)
		}
		truth[l] += 1. / n
		r, err := m.Randomise(src, x)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddWord(m.Format(r)); err != nil {
			t.Fatal(err)
		}
	}
	for _, smooth := range []bool{true, false} {
		e, err := c.Estimate(t.Context(), smooth, EM{Tolerance: 1e-7})
		if err != nil {
			t.Fatal(err)
		}
		total, far, run, runTruth := 0.0, 0.0, 0.0, 0.0
		for i, s := range e.Share {
			total += s
			run, runTruth = run+s, runTruth+truth[i]
			far = max(far, math.Abs(run-runTruth)) // Kolmogorov's distance
		}
		if math.Abs(total-1) > 1e-9 || far > 0.05 || math.Abs(e.Mean()-mean) > 0.15 || !e.Converged {
			t.Errorf("smooth %v: sums to %g, off by %g, mean %g of %g, converged %v", smooth, total, far, e.Mean(), mean, e.Converged)
		}
		if q := e.Quantile(0.5); math.Abs(q-8*math.Sqrt(0.5)) > 0.25 {
			t.Errorf("median %g, truly %g", q, 8*math.Sqrt(0.5))
		}
	}
	if c.AddWord("99999") == nil || c.AddWord("x") == nil || c.Rejected().Total() != 2 || c.N() != n {
		t.Error("bad reports")
	}
}

// The likelihood never falls from step to step, and the window sums are right:
// one step of the estimate equals one computed from the whole matrix.
func TestSquareWaveStep(t *testing.T) {
	m, err := NewSquareWave(0, 1, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := NewWaveCollector(m)
	for y := range m.Cells() {
		for range y*y%5 + 1 {
			if err := c.Add(uint32(y)); err != nil {
				t.Fatal(err)
			}
		}
	}
	e, err := c.Estimate(t.Context(), false, EM{MaxIterations: 1})
	if err != nil {
		t.Fatal(err)
	}
	in, out := m.wave.densities()
	p := func(y, i int) float64 {
		if y >= i && y < i+m.wave.width {
			return in
		}
		return out
	}
	want := make([]float64, 7)
	for y, n := range c.counts {
		whole := 0.0
		for i := range 7 {
			whole += p(y, i) / 7
		}
		for i := range 7 {
			want[i] += float64(n) / float64(c.n) * p(y, i) / 7 / whole
		}
	}
	for i := range want {
		if math.Abs(e.Share[i]-want[i]) > 1e-12 {
			t.Errorf("bucket %d: %.12g, want %.12g", i, e.Share[i], want[i])
		}
	}
}
