package ldp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// waveSetting is a collection of numbers in [0, 1].
type waveSetting struct {
	buckets, n int
	epsilon    float64
	shape      string
}

// waveCoverage is how often the intervals of the mean and the quartiles hold.
func waveCoverage(t *testing.T, s waveSetting, repeats int, planted float64) [4]float64 {
	t.Helper()
	g := rand.New(rand.NewPCG(5, uint64(s.n)))
	draw := func() float64 {
		switch {
		case s.shape == "two clouds" && g.Float64() < 0.4:
			return 0.25 + 0.06*g.NormFloat64()
		case s.shape == "two clouds":
			return 0.7 + 0.08*g.NormFloat64()
		case s.shape == "uniform":
			return g.Float64()
		}
		return 0.45 + 0.12*g.NormFloat64()
	}
	population := make([]float64, 200_000)
	truth := [4]float64{}
	for i := range population {
		population[i] = min(max(draw(), 0), 1)
		truth[0] += population[i] / float64(len(population))
	}
	slices.Sort(population)
	for q := range 3 {
		truth[q+1] = population[len(population)*(q+1)/4]
	}
	m, err := NewSquareWave(0, 1, s.buckets, s.epsilon)
	if err != nil {
		t.Fatal(err)
	}
	src := randtest.Source(uint64(s.buckets))
	smooth := s.buckets >= 128
	var out [4]float64
	for range repeats {
		c := NewWaveCollector(m)
		for range s.n {
			cell, err := m.Randomise(src, population[g.IntN(len(population))])
			if err != nil || c.Add(cell) != nil {
				t.Fatal(err)
			}
		}
		d, err := c.Estimate(t.Context(), smooth, EM{})
		if err != nil {
			t.Fatal(err)
		}
		e, err := c.Errors(t.Context(), d, smooth, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range []Measured{e.Mean, e.Quartiles[0], e.Quartiles[1], e.Quartiles[2]} {
			if v.Low <= truth[i]+planted && truth[i]+planted <= v.High {
				out[i] += 1 / float64(repeats)
			}
			if !(v.StdErr > 0) || v.Value < v.Low || v.Value > v.High {
				t.Fatalf("%+v", v)
			}
		}
	}
	return out
}

// A share of 40 intervals at 0.95 is below 31/40 with probability 1e-4.
func TestWaveErrorsCover(t *testing.T) {
	randtest.SkipShort(t)
	testWaveErrors(t, waveSetting{8, 2000, 1, "normal"})
}

func TestLongWaveErrorsCover(t *testing.T) {
	randtest.Long(t)
	testWaveErrors(t, waveSetting{16, 2000, 1, "normal"}, waveSetting{32, 2000, 1, "normal"}, waveSetting{128, 4000, 2, "two clouds"})
}

func testWaveErrors(t *testing.T, settings ...waveSetting) {
	const repeats = 40
	for _, s := range settings {
		if got := waveCoverage(t, s, repeats, 0); slices.Min(got[:]) < 31./40 {
			t.Errorf("%+v: coverage %v", s, got)
		}
		if got := waveCoverage(t, s, repeats/4, 0.15); slices.Max(got[:]) > 0.5 {
			t.Errorf("%+v: a planted error was not caught: %v", s, got)
		}
	}
}

// TestWaveTable makes the table of docs/local-privacy.md, section 5:
//
//	NOREN_COVERAGE=100 go test ./ldp -run TestWaveTable -v
func TestWaveTable(t *testing.T) {
	repeats, err := strconv.Atoi(os.Getenv("NOREN_COVERAGE"))
	if err != nil {
		t.Skip("NOREN_COVERAGE is not a number of repetitions")
	}
	for _, shape := range []string{"normal", "two clouds", "uniform"} {
		for _, buckets := range []int{32, 256} {
			t.Run(fmt.Sprintf("%s/%d", shape, buckets), func(t *testing.T) {
				for _, n := range []int{1000, 10_000} {
					for _, epsilon := range []float64{1, 3} {
						s := waveSetting{buckets, n, epsilon, shape}
						t.Logf("| %s | %d | %d | %g | %.2f", shape, buckets, n, epsilon, waveCoverage(t, s, repeats, 0))
					}
				}
			})
		}
	}
}

func TestMixIsPoisson(t *testing.T) {
	draw := mix(1)
	for _, mean := range []float64{0.5, 20, 400} {
		sum, squares := 0.0, 0.0
		const n = 20_000
		for range n {
			v := draw.poisson(mean)
			sum += v
			squares += v * v
		}
		m := sum / n
		if v := squares/n - m*m; math.Abs(m-mean) > 5*math.Sqrt(mean/n) || math.Abs(v/mean-1) > 0.06 {
			t.Errorf("mean %g: drawn with mean %g and variance %g", mean, m, v)
		}
	}
}
