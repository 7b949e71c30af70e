package noise

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
)

func TestGridPoints(t *testing.T) {
	for _, c := range []struct {
		j     int
		k     int64
		value float64
	}{
		{0, 7, 7},
		{3, -20, -2.5},
		{-4, 3, 48},
		{10, math.MaxInt64, 0x1p53},
		{500, 1, 0x1p-500},
		{-500, -1, -0x1p500},
	} {
		g, err := NewGrid(c.j)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Value(c.k); got != c.value {
			t.Errorf("point %d of 2^-%d is %v, want %v", c.k, c.j, got, c.value)
		}
		if c.k != math.MaxInt64 {
			if exact, _ := g.Rat(c.k).Float64(); exact != c.value {
				t.Errorf("point %d of 2^-%d is exactly %v, want %v", c.k, c.j, exact, c.value)
			}
		}
		if step, _ := g.Step().Float64(); step != math.Ldexp(1, -c.j) || g.J() != c.j {
			t.Errorf("the step of 2^-%d is %v", c.j, step)
		}
	}
	for _, j := range []int{-501, 501, math.MaxInt, math.MinInt} {
		if _, err := NewGrid(j); noren.KindOf(err) != noren.Usage {
			t.Errorf("a step of 2^-%d gave %v", j, err)
		}
	}
}

func TestStepsRoundUp(t *testing.T) {
	g, err := NewGrid(2)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]int64{"0": 0, "1/4": 1, "1/5": 1, "26/100": 2, "10": 40, "1/1000000000000000000000": 1} {
		if got, err := g.Steps(rat(t, in)); err != nil || got != want {
			t.Errorf("%s is %d steps of 1/4 (%v), want %d", in, got, err, want)
		}
	}
	for _, x := range []*big.Rat{nil, big.NewRat(-1, 9), powerOfTwo(61)} {
		if _, err := g.Steps(x); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v steps gave %v", x, err)
		}
	}
}

func TestRangeAndQuantise(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	const tiny = 5e-324
	for _, c := range []struct {
		j      int
		lo, hi float64
		x      float64
		want   int64
	}{
		{0, -10, 10, 3.4, 3},
		{0, -10, 10, 2.5, 2}, // the even one of two
		{0, -10, 10, 3.5, 4},
		{0, -10, 10, -2.5, -2},
		{0, -10, 10, 11, 10},
		{0, -10, 10, -1e300, -10},
		{0, -10, 10, math.Copysign(0, -1), 0},
		{0, -10, 10, tiny, 0},
		{0, 0.5, 2.9, 0.1, 1}, // bounds move inwards
		{0, 0.5, 2.9, 2.8, 2},
		{4, 0, 1, 0.3, 5}, // 4.8 sixteenths
		{-3, -100, 100, 13, 2},
		{0, -0x1p53, 0x1p53, 0x1p53, 1 << 53},
		{0, -0x1p53, 0x1p53, 0x1p53 + 2, 1 << 53},
		{0, -0x1p53, 0x1p53, math.MaxFloat64, 1 << 53},
		{0, -0x1p53, 0x1p53, -math.MaxInt64, -1 << 53},
		{0, -0x1p53, 0x1p53, 0x1p53 - 1, 1<<53 - 1},
		{-500, -0x1p540, 0x1p540, 0x1p510 + 0x1p460, 1024},
		{500, -0x1p-490, 0x1p-490, 0x1p-499, 2},
	} {
		g, err := NewGrid(c.j)
		if err != nil {
			t.Fatal(err)
		}
		r, err := g.Range(c.lo, c.hi)
		if err != nil {
			t.Errorf("[%v, %v] on 2^-%d: %v", c.lo, c.hi, c.j, err)
			continue
		}
		got, err := r.Quantise(c.x)
		if err != nil || got != c.want {
			t.Errorf("%v in [%v, %v] on 2^-%d is %d (%v), want %d", c.x, c.lo, c.hi, c.j, got, err, c.want)
		}
		if got < r.Lo() || got > r.Hi() {
			t.Errorf("%d is not within %d..%d", got, r.Lo(), r.Hi())
		}
		for _, x := range []float64{nan, inf, -inf} {
			_, err := r.Quantise(x)
			var e *noren.Error
			if !errors.As(err, &e) || e.Kind != noren.BadData {
				t.Errorf("%v gave %v", x, err)
			} else if strings.ContainsAny(err.Error(), "0123456789") || strings.Contains(err.Error(), "NaN") ||
				strings.Contains(err.Error(), "Inf") {
				t.Errorf("the error tells the value: %v", err)
			}
		}
	}
	g, err := NewGrid(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range [][2]float64{
		{1, 0},
		{nan, 1},
		{0, nan},
		{-inf, 0},
		{0, inf},
		{0.2, 0.8},
		{tiny, 0.5},
		{-0.5, -tiny},
		{0, 0x1p54},
		{-1e300, 0},
	} {
		if _, err := g.Range(b[0], b[1]); noren.KindOf(err) != noren.Usage {
			t.Errorf("bounds %v were not refused: %v", b, err)
		}
	}
	// A coarse grid, where tiny bounds fall below the smallest float64.
	coarse, err := NewGrid(-500)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := coarse.Range(1e-300, 1); noren.KindOf(err) != noren.Usage {
		t.Error("a bound above 0 moved to 0")
	}
	if _, err := coarse.Range(-1, -1e-300); noren.KindOf(err) != noren.Usage {
		t.Error("a bound below 0 moved to 0")
	}
	var zero Range
	if k, err := zero.Quantise(7); k != 0 || err != nil {
		t.Errorf("the zero range gave %d, %v", k, err)
	}
}

// The nearest grid point, in exact arithmetic; and one record moves the result
// by no more than the width of the range: the sensitivity is what it is said to be.
func TestQuantiseIsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, err := NewGrid(rapid.IntRange(-40, 40).Draw(t, "j"))
		if err != nil {
			t.Fatal(err)
		}
		a := g.Value(rapid.Int64Range(-maxIndex, maxIndex).Draw(t, "a"))
		b := g.Value(rapid.Int64Range(-maxIndex, maxIndex).Draw(t, "b"))
		r, err := g.Range(min(a, b), max(a, b))
		if err != nil {
			t.Fatal(err)
		}
		x := rapid.Float64().Draw(t, "x")
		if rapid.Bool().Draw(t, "inside") {
			x = rapid.Float64Range(min(a, b), max(a, b)).Draw(t, "x")
		}
		k, err := r.Quantise(x)
		if err != nil {
			t.Fatal(err)
		}
		clamped := new(big.Rat).SetFloat64(min(max(x, min(a, b)), max(a, b)))
		off := clamped.Sub(clamped, g.Rat(k))
		off.Abs(off)
		if off.Cmp(new(big.Rat).Quo(g.Step(), big.NewRat(2, 1))) > 0 {
			t.Fatalf("%v went to the point %d of 2^-%d, which is not the nearest", x, k, g.J())
		}
		if k < r.Lo() || k > r.Hi() {
			t.Fatalf("%d is not within %d..%d", k, r.Lo(), r.Hi())
		}
	})
}

func TestSumIsExactAndOrderFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.OneOf(
			rapid.Int64(),
			rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64, -1, 0, 1 << 53, -1 << 53}),
		)).Draw(t, "values")
		exact := new(big.Int)
		var s Sum
		for _, v := range values {
			exact.Add(exact, big.NewInt(v))
			s.Add(v)
		}
		got, err := s.Int64()
		if exact.IsInt64() != (err == nil) || err == nil && got != exact.Int64() {
			t.Fatalf("sum %d (%v), want %v", got, err, exact)
		}
		if want := saturate(exact); s.Saturated() != want {
			t.Fatalf("saturated sum %d, want %d", s.Saturated(), want)
		}
		// In another order and in two parts: the same, errors too.
		shuffled := slices.Clone(values)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		var parts [2]Sum
		for i, v := range shuffled {
			parts[i%2].Add(v)
		}
		parts[0].AddSum(parts[1])
		if parts[0] != s {
			t.Fatalf("the order changed the sum: %v, %v", parts[0], s)
		}
	})
	var s Sum
	s.Add(math.MaxInt64)
	s.Add(1)
	if _, err := s.Int64(); noren.KindOf(err) != noren.BadData {
		t.Errorf("MaxInt64 + 1 gave %v", err)
	}
	s.Add(-1)
	if v, err := s.Int64(); v != math.MaxInt64 || err != nil {
		t.Errorf("taken back, it gave %d, %v", v, err)
	}
}

func TestAddSaturating(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any64 := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64, 0, 1, -1}))
		a, b := any64.Draw(t, "a"), any64.Draw(t, "b")
		want := new(big.Int).Add(big.NewInt(a), big.NewInt(b))
		if want.Cmp(big.NewInt(math.MaxInt64)) > 0 {
			want.SetInt64(math.MaxInt64)
		}
		if want.Cmp(big.NewInt(math.MinInt64)) < 0 {
			want.SetInt64(math.MinInt64)
		}
		if got := AddSaturating(a, b); got != want.Int64() {
			t.Fatalf("%d + %d = %d, want %v", a, b, got, want)
		}
	})
}

func TestScales(t *testing.T) {
	b, err := ScaleFor(big.NewRat(3, 1), 300_000_000)
	if err != nil || b.Cmp(big.NewRat(10, 1)) != 0 {
		t.Errorf("3/0.3 = %v, %v", b, err)
	}
	// A third of 1e-9 cannot be had; 0.333333333 is exact.
	b, err = ScaleFor(big.NewRat(1, 1), 333_333_333)
	if err != nil || b.Cmp(big.NewRat(1_000_000_000, 333_333_333)) != 0 {
		t.Errorf("1/0.333333333 = %v, %v", b, err)
	}
	s2, err := Sigma2For(big.NewRat(3, 1), 500_000_000)
	if err != nil || s2.Cmp(big.NewRat(9, 1)) != 0 {
		t.Errorf("9/(2*0.5) = %v, %v", s2, err)
	}
	s2, err = Sigma2For(big.NewRat(3, 7), 125_000_000)
	if err != nil || s2.Cmp(big.NewRat(36, 49)) != 0 {
		t.Errorf("(9/49)/(2/8) = %v, %v", s2, err)
	}
	for _, bad := range []struct {
		s    *big.Rat
		loss int64
	}{{nil, 1}, {new(big.Rat), 1}, {big.NewRat(-1, 1), 1}, {big.NewRat(1, 1), 0}, {big.NewRat(1, 1), -5}} {
		if _, err := ScaleFor(bad.s, bad.loss); noren.KindOf(err) != noren.Usage {
			t.Errorf("ScaleFor(%v, %d) gave %v", bad.s, bad.loss, err)
		}
		if _, err := Sigma2For(bad.s, bad.loss); noren.KindOf(err) != noren.Usage {
			t.Errorf("Sigma2For(%v, %d) gave %v", bad.s, bad.loss, err)
		}
	}
}

func TestRatUpIsAboveAndClose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Min(5e-324).Draw(t, "x")
		if math.IsInf(x, 1) {
			return
		}
		r, err := RatUp(x)
		if err != nil {
			t.Fatal(err)
		}
		exact := new(big.Rat).SetFloat64(x)
		if r.Cmp(exact) <= 0 {
			t.Fatalf("%v went down", x)
		}
		if x > 1e-300 && new(big.Rat).Quo(r, exact).Cmp(big.NewRat(1<<39+1, 1<<39)) > 0 {
			t.Fatalf("%v went up too far", x)
		}
	})
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if _, err := RatUp(x); noren.KindOf(err) != noren.Usage {
			t.Errorf("RatUp(%v) gave %v", x, err)
		}
	}
}
