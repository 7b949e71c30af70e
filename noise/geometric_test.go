package noise

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

func geometric(t testing.TB, alpha string) *TwoSidedGeometric {
	t.Helper()
	g, err := NewTwoSidedGeometric(rat(t, alpha))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func (g *TwoSidedGeometric) cdf(k int64) float64 {
	tail := func(m float64) float64 { return math.Exp(m*g.logAlpha()) / (2 - g.rest) } // P(X >= m), m >= 1
	if k < 0 {
		return tail(-float64(k))
	}
	return 1 - tail(float64(k)+1)
}

func TestGeometricHasItsDistributionAndNoOther(t *testing.T) {
	for i, alpha := range []string{"1/2", "1/3", "3/4", "99/100", "999999/1000000", "30000000000000000000001/31000000000000000000100"} {
		t.Run(alpha, func(t *testing.T) {
			right := geometric(t, alpha)
			src := randtest.Source(uint64(i))
			randtest.AssertScale(t, draws, right.cdf, func(factor *big.Rat) (func() (int64, error), error) {
				// 1/(1-alpha) is the scale: times the factor.
				f, _ := factor.Float64()
				g := right
				if f != 1 {
					wrong := new(big.Rat).Sub(big.NewRat(1, 1), right.alpha)
					wrong.Quo(wrong, factor)
					var err error
					if g, err = NewTwoSidedGeometric(wrong.Sub(big.NewRat(1, 1), wrong)); err != nil {
						return nil, err
					}
				}
				return func() (int64, error) { return g.Draw(src) }, nil
			})
		})
	}
}

// At alpha = e^(-1/b), up to 2^-60, it is the discrete Laplace distribution.
func TestGeometricIsLaplace(t *testing.T) {
	for _, b := range []string{"1/2", "7", "3000"} {
		lo, _ := expNegBounds(new(big.Rat).Inv(rat(t, b)), 60)
		g, err := NewTwoSidedGeometric(new(big.Rat).SetFrac(lo, powerOfTwo(60).Num()))
		if err != nil {
			t.Fatal(err)
		}
		l, err := NewLaplace(rat(t, b))
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []int64{0, 1, -5, 1000} {
			if a, b := g.LogP(x), l.LogP(x); math.Abs(a-b) > 1e-9*math.Max(1, math.Abs(a)) {
				t.Errorf("ln P(%d) is %v, of Laplace %v", x, a, b)
			}
		}
		if math.Abs(g.Variance()/l.Variance()-1) > 1e-9 {
			t.Errorf("variance %v, of Laplace %v", g.Variance(), l.Variance())
		}
		for _, level := range []float64{0, 0.5, 0.95, 0.999999} {
			if g.Interval(level) != l.Interval(level) {
				t.Errorf("interval %v, of Laplace %v", g.Interval(level), l.Interval(level))
			}
		}
		src := randtest.Source(3)
		got, err := randtest.Draws(draws, func() (int64, error) { return g.Draw(src) })
		if err != nil {
			t.Fatal(err)
		}
		f, _ := rat(t, b).Float64()
		if fit, err := randtest.GoodnessOfFit(got, laplaceCDF(f), 40); err != nil || fit.P < randtest.FitLevel {
			t.Errorf("scale %s: %+v, %v", b, fit, err)
		}
	}
}

// The word-sized powers keep their bound, the exact bounds hold the exact power,
// and both ways decide alike close to the edge.
func TestGeometricPowers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.Int64Range(2, 1<<45).Draw(t, "den")
		num := rapid.Int64Range(1, den-1).Draw(t, "num")
		if rapid.Bool().Draw(t, "near 1") {
			num = den - 1
		}
		g, err := NewTwoSidedGeometric(big.NewRat(num, den))
		if err != nil {
			t.Fatal(err)
		}
		m := uint64(1) << (len(g.powers) - 1)
		if last := g.powers[len(g.powers)-1]; last >= 1<<63 || len(g.powers) > 1 && g.powers[len(g.powers)-2] < 1<<63 {
			t.Fatalf("m = %d is not the first power of two with alpha^m <= 1/2", m)
		}
		u := rapid.Uint64Range(1, m).Draw(t, "u")
		lo, hi := g.powerBounds(u, 128)
		if new(big.Int).Sub(hi, lo).Cmp(big.NewInt(3)) > 0 {
			t.Fatalf("bounds %v apart", new(big.Int).Sub(hi, lo))
		}
		if u < 200 {
			exact := new(big.Rat).SetFrac(
				new(big.Int).Exp(big.NewInt(num), new(big.Int).SetUint64(u), nil),
				new(big.Int).Exp(big.NewInt(den), new(big.Int).SetUint64(u), nil))
			exact.Mul(exact, powerOfTwo(128))
			if exact.Cmp(new(big.Rat).SetInt(lo)) < 0 || exact.Cmp(new(big.Rat).SetInt(hi)) > 0 {
				t.Fatalf("(%d/%d)^%d is outside its bounds", num, den, u)
			}
		}
		p := new(big.Int).SetUint64(g.power(u))
		if off := new(big.Int).Sub(lo.Rsh(lo, 64), p); off.Sign() < 0 || off.Cmp(big.NewInt(powerSlack)) > 0 {
			t.Fatalf("(%d/%d)^%d is off by %v units", num, den, u, off)
		}
		lo, hi = g.powerBounds(u, 128)
		w := g.power(u) + rapid.Uint64Range(0, 3*powerSlack).Draw(t, "jump") - powerSlack
		for _, tail := range []byte{0x00, 0xff} {
			got, err := g.bernoulliPower(words(w, tail), u, g.power(u))
			if err != nil {
				return // a tie with a dyadic power stays undecided
			}
			x := new(big.Int).Lsh(new(big.Int).SetUint64(w), 64)
			if tail == 0xff {
				x.Or(x, new(big.Int).SetUint64(1<<64-1))
			}
			if x.Cmp(lo) < 0 && !got || x.Cmp(hi) > 0 && got {
				t.Fatalf("(%d/%d)^%d, word %#x: decided %v", num, den, u, w, got)
			}
		}
	})
}

func TestGeometricRefuses(t *testing.T) {
	near := new(big.Rat).Sub(big.NewRat(1, 1), powerOfTwo(-57))
	for _, alpha := range []*big.Rat{nil, new(big.Rat), big.NewRat(1, 1), big.NewRat(-1, 2), big.NewRat(3, 2), near} {
		if _, err := NewTwoSidedGeometric(alpha); noren.KindOf(err) != noren.Usage {
			t.Errorf("alpha %v gave %v", alpha, err)
		}
	}
	// The largest scale is served.
	g, err := NewTwoSidedGeometric(new(big.Rat).Sub(big.NewRat(1, 1), powerOfTwo(-56)))
	if err != nil {
		t.Fatal(err)
	}
	src := randtest.Source(1)
	large := 0
	for range 2000 {
		x, err := g.Draw(src)
		if err != nil {
			t.Fatal(err)
		}
		if x > 1<<55 || x < -1<<55 {
			large++
		}
	}
	// P(|X| > 2^55) = e^(-1/2) = 0.6065.
	if large < 1100 || large > 1330 {
		t.Errorf("%d of 2000 beyond 2^55, want about 1213", large)
	}
}
