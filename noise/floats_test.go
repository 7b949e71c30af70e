package noise

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/internal/randtest"
)

func floats(t *testing.T, n int, draw func() (float64, error)) []float64 {
	t.Helper()
	out := make([]float64, n)
	for i := range out {
		x, err := draw()
		if err != nil {
			t.Fatal(err)
		}
		out[i] = x
	}
	return out
}

func normalCDF(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

func TestFloatSamplersHaveTheirDistributions(t *testing.T) {
	const n = 50_000
	src := randtest.Source(1)
	gamma := func(shape float64) func(float64) float64 {
		return func(x float64) float64 { return mathext.GammaIncReg(shape, max(0, x)) }
	}
	for _, c := range []struct {
		name   string
		centre float64
		draw   func() (float64, error)
		cdf    func(float64) float64
	}{
		{"uniform", 0, func() (float64, error) { return Uniform(src) }, func(x float64) float64 { return min(1, max(0, x)) }},
		{"exponential", 0, func() (float64, error) { return Exponential(src) }, func(x float64) float64 { return -math.Expm1(-max(0, x)) }},
		{"normal", 0, func() (float64, error) { return Normal(src) }, normalCDF},
		{"gamma 0.3", 0, func() (float64, error) { return Gamma(src, 0.3) }, gamma(0.3)},
		{"gamma 1", 0, func() (float64, error) { return Gamma(src, 1) }, gamma(1)},
		{"gamma 7.5", 0, func() (float64, error) { return Gamma(src, 7.5) }, gamma(7.5)},
	} {
		t.Run(c.name, func(t *testing.T) {
			randtest.AssertContinuous(t, floats(t, n, c.draw), c.centre, c.cdf)
		})
	}
}

// Near 0 the numbers are as fine as float64 allows: all 52 bits of the mantissa
// vary, at every size.
func TestUniformIsFineNearNought(t *testing.T) {
	src := randtest.Source(2)
	var seen [52]int
	small, n := 0, 200_000
	for range n {
		u, err := Uniform(src)
		if err != nil {
			t.Fatal(err)
		}
		if !(u > 0 && u < 1) {
			t.Fatalf("%v is not within (0, 1)", u)
		}
		if u < 0x1p-8 {
			small++
			for b := range seen {
				seen[b] += int(math.Float64bits(u) >> b & 1)
			}
		}
	}
	if want := float64(n) / 256; math.Abs(float64(small)-want) > 6*math.Sqrt(want) {
		t.Errorf("%d below 1/256, want about %.0f", small, want)
	}
	for b, c := range seen {
		if math.Abs(float64(c)-float64(small)/2) > 6*math.Sqrt(float64(small)/4) {
			t.Errorf("bit %d of the small ones is set in %d of %d", b, c, small)
		}
	}
	// 2^-130 and a bit: two words of zeros and a one after a zero.
	raw := make([]byte, 1024)
	raw[23] = 0x40
	u, err := Uniform(entropy.FromReader(bytes.NewReader(raw)))
	if err != nil || u != 0x1p-130 {
		t.Errorf("drew %v (%v), want 2^-130", u, err)
	}
	// Noughts without end are the smallest number, not 0.
	u, err = Uniform(entropy.FromReader(bytes.NewReader(make([]byte, 2048))))
	if err != nil || u != math.SmallestNonzeroFloat64 {
		t.Errorf("drew %v (%v) from zeros", u, err)
	}
}

// The norm of L2Laplace is Gamma(d), each coordinate's sign is fair, and in one
// dimension it is the Laplace distribution; a direction's first coordinate in
// three dimensions is uniform on [-1, 1] (Archimedes).
func TestL2LaplaceAndDirection(t *testing.T) {
	randtest.SkipShort(t)
	src := randtest.Source(3)
	for _, d := range []int{1, 2, 5} {
		dst := make([]float64, d)
		norms := floats(t, 40_000, func() (float64, error) {
			err := L2Laplace(src, dst, 2.5)
			norm := 0.0
			for _, x := range dst {
				norm = math.Hypot(norm, x)
			}
			return norm, err
		})
		randtest.AssertContinuous(t, norms, 0, func(x float64) float64 { return mathext.GammaIncReg(float64(d), max(0, x/2.5)) })
	}
	one := make([]float64, 1)
	line := floats(t, 40_000, func() (float64, error) { err := L2Laplace(src, one, 1); return one[0], err })
	randtest.AssertContinuous(t, line, 0, ContinuousLaplace{}.CDF)
	for i := range 3 {
		dst := make([]float64, 3)
		first := floats(t, 40_000, func() (float64, error) { err := Direction(src, dst); return dst[i], err })
		randtest.AssertContinuous(t, first, 0, func(x float64) float64 { return min(1, max(0, (x+1)/2)) })
	}
}

func TestFloatSamplersRefuseAndFail(t *testing.T) {
	src := randtest.Source(4)
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := Gamma(src, bad); noren.KindOf(err) != noren.Usage {
			t.Errorf("shape %v gave %v", bad, err)
		}
		if err := L2Laplace(src, make([]float64, 2), bad); noren.KindOf(err) != noren.Usage {
			t.Errorf("scale %v gave %v", bad, err)
		}
	}
	if err := Direction(src, nil); noren.KindOf(err) != noren.Usage {
		t.Errorf("no dimensions gave %v", err)
	}
	cause := errors.New("no entropy")
	vector := make([]float64, 3)
	for name, draw := range map[string]func(*Source) error{
		"Uniform":     func(s *Source) error { _, err := Uniform(s); return err },
		"Exponential": func(s *Source) error { _, err := Exponential(s); return err },
		"Normal":      func(s *Source) error { _, err := Normal(s); return err },
		"Gamma":       func(s *Source) error { _, err := Gamma(s, 3); return err },
		"Gamma 1/2":   func(s *Source) error { _, err := Gamma(s, 0.5); return err },
		"Direction":   func(s *Source) error { return Direction(s, vector) },
		"L2Laplace":   func(s *Source) error { return L2Laplace(s, vector, 1) },
	} {
		failed := entropy.FromReader(&failsAfter{r: seededReader(7), left: 2048, err: cause})
		var err error
		for n := 0; err == nil; n++ {
			if n > 1000 {
				t.Fatal("the source never failed")
			}
			err = draw(failed)
		}
		if !errors.Is(err, cause) {
			t.Errorf("%s: %v does not name the cause", name, err)
		}
	}
}
