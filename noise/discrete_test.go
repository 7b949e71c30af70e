package noise

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/internal/randtest"
)

// laplaceCDF is P(X <= k) in closed form.
func laplaceCDF(b float64) randtest.CDF {
	q := func(m float64) float64 { return math.Exp(-m/b) / (1 + math.Exp(-1/b)) } // P(X >= m), m >= 1
	return func(k int64) float64 {
		if k < 0 {
			return q(-float64(k))
		}
		return 1 - q(float64(k)+1)
	}
}

// gaussianCDF is P(X <= k) by the sampler's own sums, which have a test of their own.
func gaussianCDF(t *testing.T, g *Gaussian) randtest.CDF {
	t.Helper()
	return func(k int64) float64 {
		if k < 0 {
			return g.tail(-float64(k)) / g.total()
		}
		return 1 - g.tail(float64(k)+1)/g.total()
	}
}

const draws = 100_000

func TestLaplaceHasItsDistributionAndNoOther(t *testing.T) {
	randtest.SkipShort(t)
	for i, scale := range []string{
		"1/2", "1", "10/3", "64", "1000", "1000000", "123456789/1000",
		"9223372036854775809/36893488147419103", "1000000000/17", // both terms large; as ScaleFor gives them
		"100000000000000000000001/30000000000000000000007", // beyond a word: the big path
		"1/3",
	} {
		t.Run(scale, func(t *testing.T) {
			right := rat(t, scale)
			b, _ := right.Float64()
			src := randtest.Source(uint64(i))
			randtest.AssertScale(t, draws, laplaceCDF(b), func(factor *big.Rat) (func() (int64, error), error) {
				l, err := NewLaplace(new(big.Rat).Mul(right, factor))
				return func() (int64, error) { return l.Draw(src) }, err
			})
		})
	}
}

func TestGaussianHasItsDistributionAndNoOther(t *testing.T) {
	randtest.SkipShort(t)
	for i, sigma := range []string{
		"1/2", "1", "10/3", "60", "1000", "1000000", "123456789/1000",
		"100000000000000000000001/30000000000000000000007",
	} {
		t.Run(sigma, func(t *testing.T) {
			s := rat(t, sigma)
			right, err := NewGaussian(new(big.Rat).Mul(s, s))
			if err != nil {
				t.Fatal(err)
			}
			src := randtest.Source(uint64(i))
			randtest.AssertScale(t, draws, gaussianCDF(t, right), func(factor *big.Rat) (func() (int64, error), error) {
				f := new(big.Rat).Mul(s, factor)
				g, err := NewGaussian(f.Mul(f, f))
				return func() (int64, error) { return g.Draw(src) }, err
			})
		})
	}
}

// A scale in lowest terms takes the word path; the same scale with both terms
// times a large number takes the big one. They must be one distribution.
func TestBigPathIsTheWordPathsDistribution(t *testing.T) {
	randtest.SkipShort(t)
	for _, scale := range []string{"1", "10/3", "5000/7"} {
		word, err := NewLaplace(rat(t, scale))
		if err != nil {
			t.Fatal(err)
		}
		long := *word
		factor := new(big.Int).Lsh(big.NewInt(1), 80)
		long.t, long.s = 0, 0
		long.tBig = new(big.Int).Mul(word.scale.Num(), factor)
		long.sBig = new(big.Int).Mul(word.scale.Denom(), factor)
		src := randtest.Source(11)
		got, err := randtest.Draws(draws, func() (int64, error) { return long.Draw(src) })
		if err != nil {
			t.Fatal(err)
		}
		b, _ := word.scale.Float64()
		fit, err := randtest.GoodnessOfFit(got, laplaceCDF(b), 100)
		if err != nil || fit.P < randtest.FitLevel {
			t.Errorf("scale %s by the big path: %+v, %v", scale, fit, err)
		}
	}
}

// Every decision that the float takes in accept is the one that the exact
// comparison takes, tried close to the edge, at every size of sigma.
func TestGaussianAcceptsExactly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.Int64Range(1, 1<<50).Draw(t, "num")
		den := rapid.Int64Range(1, 1<<50).Draw(t, "den")
		g, err := NewGaussian(big.NewRat(num, den))
		if err != nil {
			t.Fatal(err)
		}
		spread := 12*g.sigma + 3
		y := int64(rapid.Float64Range(-spread, spread).Draw(t, "y"))
		x := g.exponent(y)
		if x.Cmp(big.NewRat(1000, 1)) > 0 {
			return // a stream of zeros alone stays undecided for thousands of bits
		}
		lo, hi := expNegBounds(x, 128)
		jump := rapid.Int64Range(-3*acceptSlack, 3*acceptSlack).Draw(t, "jump")
		w := new(big.Int).Rsh(lo, 64).Uint64() + uint64(jump)
		// The U that begins with w, followed by zeros or by ones, against e^-x.
		u := new(big.Int).Lsh(new(big.Int).SetUint64(w), 64)
		for _, tail := range []byte{0x00, 0xff} {
			got, err := g.accept(words(w, tail), y)
			if err != nil {
				t.Fatal(err)
			}
			if tail == 0xff {
				u.Or(u, new(big.Int).SetUint64(1<<64-1))
			}
			switch {
			case u.Cmp(lo) < 0 && !got:
				t.Fatalf("sigma^2 = %d/%d, y = %d, word %#x: refused below e^-x", num, den, y, w)
			case u.Cmp(hi) > 0 && got:
				t.Fatalf("sigma^2 = %d/%d, y = %d, word %#x: accepted above e^-x", num, den, y, w)
			}
		}
	})
}

// words is a source of one given word and then one byte for ever.
func words(w uint64, tail byte) *Source {
	b := bytes.Repeat([]byte{tail}, 1024)
	binary.LittleEndian.PutUint64(b, w)
	return entropy.FromReader(bytes.NewReader(b))
}

// wordThenZeros is a source of a given word, a word of zeros and then ones: a
// run that passes the table's end is not endless.
func wordThenZeros(w uint64) *Source {
	b := bytes.Repeat([]byte{0xff}, 1024)
	binary.LittleEndian.PutUint64(b, w)
	clear(b[8:16])
	return entropy.FromReader(bytes.NewReader(b))
}

// The undecided words of geometricE and belowT: the word equal to the table's
// entry, with bits after it that fall on either side.
func TestUndecidedWordsAreResolved(t *testing.T) {
	for n := uint64(1); n <= runLength; n++ {
		w := expTableInt[n]
		// e^-n lies strictly inside the cell: zeros are below it, ones above.
		if v, err := geometricE(wordThenZeros(w)); err != nil || v < n {
			t.Errorf("just below e^-%d: run of %d (%v)", n, v, err)
		}
		if v, err := geometricE(words(w, 0xff)); err != nil || v != n-1 {
			t.Errorf("just above e^-%d: run of %d (%v)", n, v, err)
		}
		if v, err := geometricE(words(w+1, 0x00)); err != nil || v != n-1 {
			t.Errorf("a cell above e^-%d: run of %d (%v)", n, v, err)
		}
		if v, err := geometricE(words(w-1, 0xff)); err != nil || v < n {
			t.Errorf("a cell below e^-%d: run of %d (%v)", n, v, err)
		}
	}
}

func TestGeometricE(t *testing.T) {
	src := randtest.Source(3)
	counts := make([]int64, 30)
	probs := make([]float64, 30)
	for range 400_000 {
		v, err := geometricE(src)
		if err != nil {
			t.Fatal(err)
		}
		counts[min(v, 29)]++
	}
	for i := range probs {
		probs[i] = math.Exp(-float64(i)) * -math.Expm1(-1)
	}
	probs[29] = math.Exp(-29)
	fit, err := randtest.ChiSquared(counts, probs)
	if err != nil || fit.P < randtest.FitLevel {
		t.Errorf("%+v, %v", fit, err)
	}
	// A run longer than one word serves for: all zeros, then a word that fails.
	b := make([]byte, 1024)
	for i := 24; i < 32; i++ {
		b[i] = 0xff
	}
	if v, err := geometricE(entropy.FromReader(bytes.NewReader(b))); err != nil || v != 3*runLength {
		t.Errorf("three words of zeros are a run of %d (%v), want %d", v, err, 3*runLength)
	}
}

func TestUniformBig(t *testing.T) {
	src := randtest.Source(4)
	n, _ := new(big.Int).SetString("300000000000000000000000000001", 10)
	tenth := new(big.Int).Quo(n, big.NewInt(10))
	counts, probs := make([]int64, 11), make([]float64, 11)
	for range 50_000 {
		u, err := uniformBig(src, n)
		if err != nil {
			t.Fatal(err)
		}
		if u.Sign() < 0 || u.Cmp(n) >= 0 {
			t.Fatalf("%v is not below %v", u, n)
		}
		counts[u.Quo(u, tenth).Int64()]++
	}
	for i := range 10 {
		probs[i] = 0.1
	}
	fit, err := randtest.ChiSquared(counts, probs)
	if err != nil || fit.P < randtest.FitLevel {
		t.Errorf("%+v, %v", fit, err)
	}
	for _, n := range []int64{1, 2, 3} {
		if u, err := uniformBig(src, big.NewInt(n)); err != nil || u.Int64() >= n {
			t.Errorf("below %d: %v, %v", n, u, err)
		}
	}
}

func TestScalesAreChecked(t *testing.T) {
	tooLarge := new(big.Rat).Add(powerOfTwo(56), big.NewRat(1, 1))
	tooSmall := new(big.Rat).Quo(powerOfTwo(-64), big.NewRat(2, 1))
	for name, scale := range map[string]*big.Rat{
		"nil": nil, "zero": new(big.Rat), "negative": big.NewRat(-1, 2), "large": tooLarge,
		"small": tooSmall,
	} {
		if _, err := NewLaplace(scale); noren.KindOf(err) != noren.Usage {
			t.Errorf("Laplace of a scale that is %s: %v", name, err)
		}
		if scale != nil && scale.Sign() > 0 {
			scale = new(big.Rat).Mul(scale, scale)
		}
		if _, err := NewGaussian(scale); noren.KindOf(err) != noren.Usage {
			t.Errorf("Gaussian of a variance that is %s: %v", name, err)
		}
	}
	// The ends themselves are served.
	src := randtest.Source(1)
	for _, bits := range []int{56, 55, -64} {
		l, err := NewLaplace(powerOfTwo(bits))
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGaussian(powerOfTwo(2*bits - max(0, bits-55)))
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			x, err := l.Draw(src)
			if err != nil {
				t.Fatal(err)
			}
			y, err := g.Draw(src)
			if err != nil {
				t.Fatal(err)
			}
			if bits < 0 && (x != 0 || y != 0) {
				t.Fatalf("noise of scale 2^-64 was %d, %d", x, y)
			}
		}
	}
}

// A caller's number may change after the sampler is made; the sampler may not.
func TestScaleIsCopied(t *testing.T) {
	for _, scale := range []string{"3", "1000000000000000000000001/1000000000000000000000003"} {
		r := rat(t, scale)
		l, err := NewLaplace(r)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGaussian(r)
		if err != nil {
			t.Fatal(err)
		}
		r.SetInt64(1 << 40)
		l.Scale().SetInt64(1 << 40)
		g.Sigma2().SetInt64(1 << 40)
		if l.Scale().Cmp(rat(t, scale)) != 0 || g.Sigma2().Cmp(rat(t, scale)) != 0 {
			t.Errorf("scale %s changed under the sampler", scale)
		}
		src := randtest.Source(1)
		for range 100 {
			if x, err := l.Draw(src); err != nil || x > 1000 || x < -1000 {
				t.Fatalf("drew %d, %v", x, err)
			}
		}
	}
}

func TestFillDrawsWhatDrawDraws(t *testing.T) {
	l, err := NewLaplace(rat(t, "10/3"))
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGaussian(rat(t, "100/3"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []interface {
		Draw(*Source) (int64, error)
		Fill(*Source, []int64) error
	}{l, g} {
		a, b := randtest.Source(5), randtest.Source(5)
		vector := make([]int64, 500)
		if err := s.Fill(a, vector); err != nil {
			t.Fatal(err)
		}
		for i, got := range vector {
			want, err := s.Draw(b)
			if err != nil || got != want {
				t.Fatalf("entry %d is %d, drawn alone %d (%v)", i, got, want, err)
			}
		}
	}
}
