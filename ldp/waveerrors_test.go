package ldp

import (
	"fmt"
	"maps"
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

// waveShapes draw numbers; those outside of [0, 1] go to its ends.
var waveShapes = map[string]func(g *rand.Rand) float64{
	"normal":    func(g *rand.Rand) float64 { return 0.45 + 0.12*g.NormFloat64() },
	"uniform":   func(g *rand.Rand) float64 { return g.Float64() },
	"one end":   func(*rand.Rand) float64 { return 0 },
	"near end":  func(g *rand.Rand) float64 { return 0.02 * g.Float64() },
	"skewed":    func(g *rand.Rand) float64 { return 0.1 * g.ExpFloat64() },
	"high":      func(g *rand.Rand) float64 { return 1 - 0.05*g.ExpFloat64() },
	"one place": func(g *rand.Rand) float64 { return 0.5 + 0.01*g.NormFloat64() },
	"two clouds": func(g *rand.Rand) float64 {
		if g.Float64() < 0.4 {
			return 0.25 + 0.06*g.NormFloat64()
		}
		return 0.7 + 0.08*g.NormFloat64()
	},
	"many zeros": func(g *rand.Rand) float64 {
		if g.Float64() < 0.7 {
			return 0
		}
		return math.Exp(-1.5 + 0.6*g.NormFloat64())
	},
	"both ends": func(g *rand.Rand) float64 {
		if g.Float64() < 0.6 {
			return 0
		}
		return 1
	},
}

// waveMisses counts how often the intervals of the mean and the quartiles miss without
// a warning, how often there is one, and the mean widths.
type waveMisses struct {
	silent  [4]int
	doubted int
	width   [4]float64
}

// missesOf makes the collection repeats times.
func missesOf(t *testing.T, s waveSetting, repeats int, planted float64) (out waveMisses) {
	t.Helper()
	g := rand.New(rand.NewPCG(5, uint64(s.n)))
	population := make([]float64, 100_000)
	truth := [4]float64{}
	for i := range population {
		population[i] = min(max(waveShapes[s.shape](g), 0), 1)
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
	in, smooth := m.wave.in.float(), s.buckets >= 128
	for range repeats {
		c := NewWaveCollector(m)
		for range s.n {
			// As window.draw draws, from a generator that is faster.
			position, err := m.bins.Label(population[g.IntN(len(population))])
			if err != nil {
				t.Fatal(err)
			}
			cell := position + g.IntN(m.wave.width)
			if g.Float64() >= in {
				cell = g.IntN(m.wave.cells - m.wave.width)
				if cell >= position {
					cell += m.wave.width
				}
			}
			if err := c.Add(uint32(cell)); err != nil {
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
		if !e.Doubt.IsZero() {
			out.doubted++
		}
		for i, v := range []Measured{e.Mean, e.Quartiles[0], e.Quartiles[1], e.Quartiles[2]} {
			out.width[i] += (v.High - v.Low) / float64(repeats)
			if x := truth[i] + planted; (x < v.Low-1e-12 || x > v.High+1e-12) && (i == 0 || e.Doubt.IsZero()) {
				out.silent[i]++
			}
			if !(v.StdErr >= 0) || v.Value < v.Low || v.Value > v.High || v.Low < 0 || v.High > 1 {
				t.Fatalf("%+v: %d: %+v", s, i, v)
			}
		}
	}
	return out
}

// tooMany reports that so many misses of repeats have a probability below 1e-4 if an
// interval misses with probability 0.07.
func tooMany(misses, repeats int) bool {
	tail, term := 0.0, math.Pow(0.93, float64(repeats))
	for k := range repeats + 1 {
		if k >= misses {
			tail += term
		}
		term *= float64(repeats-k) / float64(k+1) * 0.07 / 0.93
	}
	return tail < 1e-4
}

func testWaveCoverage(t *testing.T, repeats int, settings []waveSetting) {
	for _, s := range settings {
		got := missesOf(t, s, repeats, 0)
		for i, misses := range got.silent {
			if tooMany(misses, repeats) {
				t.Errorf("%+v: interval %d misses %d of %d times without a warning", s, i, misses, repeats)
			}
		}
		smooth := map[string]bool{"normal": true, "two clouds": true, "uniform": true}[s.shape]
		if s.epsilon >= 1 && s.n >= 1000 && (s.buckets < 128 || smooth) && got.doubted > repeats/5 {
			t.Errorf("%+v: %d warnings of %d where intervals hold", s, got.doubted, repeats)
		}
	}
}

// Intervals hold as often as stated or have a warning, over epsilon and reports. The
// long test has the rest.
func TestWaveCoverage(t *testing.T) {
	randtest.SkipShort(t)
	testWaveCoverage(t, 10, []waveSetting{
		{32, 1000, 0.02, "one end"},
		{32, 20, 0.05, "skewed"},
		{32, 20, 1, "near end"},
		{32, 2000, 1, "one end"},
		{128, 500, 1, "many zeros"},
		{8, 1000, 8, "uniform"},
		{32, 20, 4, "both ends"},
		{32, 40, 8, "both ends"},
	})
}

func TestLongWaveCoverage(t *testing.T) {
	randtest.Long(t)
	var settings []waveSetting
	for shape := range waveShapes {
		for _, epsilon := range []float64{0.02, 0.05, 0.2, 0.5, 1, 2, 4, 8} {
			for _, n := range []int{20, 100, 1000, 30_000, 100_000} {
				settings = append(settings, waveSetting{32, n, epsilon, shape})
				if n <= 1000 && (epsilon == 1 || epsilon == 4) {
					settings = append(settings, waveSetting{256, n, epsilon, shape})
				}
			}
		}
	}
	testWaveCoverage(t, 25, settings)
}

// A planted error of the mean and the quartiles is caught.
func TestWaveErrorsCatch(t *testing.T) {
	randtest.SkipShort(t)
	got := missesOf(t, waveSetting{8, 2000, 1, "normal"}, 10, 0.25)
	if slices.Min(got.silent[:]) < 9 {
		t.Errorf("caught %v of 10 times", got.silent)
	}
}

// The linear mean is unbiased and its interval holds, by the exact distribution of one
// report of each bucket.
func TestWaveMeanIsUnbiased(t *testing.T) {
	for _, epsilon := range []float64{0.02, 1, 8} {
		for _, d := range []int{2, 3, 32, 300} {
			m, err := NewSquareWave(-3, 7, d, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			s, largest := m.spread(), 0.0
			in, out := m.wave.densities()
			for i := range d {
				mean, square := 0.0, 0.0
				for y := range m.wave.cells {
					p := out
					if y >= i && y < i+m.wave.width {
						p = in
					}
					v := s.value(y)
					mean, square = mean+p*v, square+p*v*v
					if math.Abs(v) > s.top {
						t.Fatalf("a value %g beyond %g", v, s.top)
					}
				}
				if want := 2*float64(i)/float64(d-1) - 1; math.Abs(mean-want) > 1e-9*s.top {
					t.Errorf("epsilon %g, %d buckets: bucket %d has mean %g, want %g", epsilon, d, i, mean, want)
				}
				largest = max(largest, square)
			}
			if math.Abs(largest/s.moment-1) > 1e-9 {
				t.Errorf("epsilon %g, %d buckets: largest mean square %g, stated %g", epsilon, d, largest, s.moment)
			}
		}
	}
}

// Ends of an interval go to the edges of their buckets.
func TestWaveIntervalsEndAtEdges(t *testing.T) {
	d := &Distribution{Edges: []float64{0, 1, 2, 3}}
	for _, c := range [][4]float64{{0.2, 0.7, 0, 1}, {1, 2, 1, 2}, {-5, 9, 0, 3}, {1.5, 1.5, 1, 2}, {0, 3, 0, 3}, {0.9, 2.1, 0, 3}} {
		if low, high := d.around(c[0], c[1]); low != c[2] || high != c[3] {
			t.Errorf("%g to %g: got %g to %g", c[0], c[1], low, high)
		}
	}
}

// TestWaveTable makes the table of docs/local-privacy.md, section 5:
//
//	NOREN_COVERAGE=40 go test ./ldp -run TestWaveTable -v
func TestWaveTable(t *testing.T) {
	repeats, err := strconv.Atoi(os.Getenv("NOREN_COVERAGE"))
	if err != nil {
		t.Skip("NOREN_COVERAGE is not a number of repetitions")
	}
	for _, shape := range slices.Sorted(maps.Keys(waveShapes)) {
		for _, buckets := range []int{32, 256} {
			t.Run(fmt.Sprintf("%s/%d", shape, buckets), func(t *testing.T) {
				for _, n := range []int{1000, 10_000} {
					for _, epsilon := range []float64{1, 3} {
						got := missesOf(t, waveSetting{buckets, n, epsilon, shape}, repeats, 0)
						var held [4]float64
						for i, misses := range got.silent {
							held[i] = 1 - float64(misses)/float64(repeats)
						}
						t.Logf("| %s | %d | %d | %g | %.2f widths %.3f", shape, buckets, n, epsilon, held, got.width)
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
