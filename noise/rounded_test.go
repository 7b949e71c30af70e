package noise

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/internal/randtest"
)

// rounded is what the distributions of this kind share.
type rounded interface {
	AddTo(src *Source, value, scale *big.Rat, g Grid) (int64, error)
	CDF(z float64) float64
	Variance() float64
	Interval(level float64) float64
}

func lomax(t testing.TB, p string) *Lomax {
	t.Helper()
	l, err := NewLomax(rat(t, p))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func studentT(t testing.TB, freedom int) *StudentT {
	t.Helper()
	s, err := NewStudentT(freedom)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// named is a distribution to be tested.
type named struct {
	name string
	rounded
}

func allRounded(t testing.TB) []named {
	return []named{
		{"Lomax 6", lomax(t, "6")},
		{"Lomax 2", lomax(t, "2")},
		{"Lomax 3", lomax(t, "3")},
		{"Lomax 9/2", lomax(t, "9/2")},
		{"Lomax 17/3", lomax(t, "17/3")},
		{"t 1", studentT(t, 1)},
		{"t 2", studentT(t, 2)},
		{"t 3", studentT(t, 3)},
		{"t 30", studentT(t, 30)},
		{"Laplace", ContinuousLaplace{}},
		{"Gaussian", ContinuousGaussian{}},
	}
}

// indexCDF is P(index <= k) for value + scale Z rounded to the grid: the value is
// below the middle between two points.
func indexCDF(d rounded, value, scale float64, g Grid) randtest.CDF {
	return func(k int64) float64 {
		return d.CDF((math.Ldexp(float64(k)+0.5, -g.j) - value) / scale)
	}
}

func TestRoundedNoiseHasItsDistributionAndNoOther(t *testing.T) {
	randtest.SkipShort(t)
	all := allRounded(t)
	testRounded(t, 25_000, slices.DeleteFunc(all, func(d named) bool { return d.name == "Lomax 17/3" })) // 9/2 is no integer either
}

func TestLongRoundedNoiseHasItsDistributionAndNoOther(t *testing.T) {
	randtest.Long(t)
	testRounded(t, 60_000, allRounded(t))
}

func testRounded(t *testing.T, draws int, all []named) {
	settings := []struct {
		value, scale string
		j            int
	}{
		{"7", "3", 0},
		{"-22/7", "355/113", 3},
		{"1000001", "12345/2", -6},
	}
	for i, d := range all {
		s := settings[i%len(settings)]
		g, err := NewGrid(s.j)
		if err != nil {
			t.Fatal(err)
		}
		value, scale := rat(t, s.value), rat(t, s.scale)
		fv, _ := value.Float64()
		fs, _ := scale.Float64()
		src := randtest.Source(uint64(i))
		t.Run(d.name, func(t *testing.T) {
			randtest.AssertScale(t, draws, indexCDF(d, fv, fs, g), func(factor *big.Rat) (func() (int64, error), error) {
				scaled := new(big.Rat).Mul(scale, factor)
				return func() (int64, error) { return d.AddTo(src, value, scaled, g) }, nil
			})
		})
	}
}

// reverse8 turns the bytes of each 64-bit word about, so that a word of the source
// has the first byte of raw on top: words and single bytes then see one stream.
func reverse8(raw []byte) []byte {
	out := make([]byte, len(raw))
	for i := range raw {
		out[i] = raw[i/8*8+7-i%8]
	}
	return out
}

// What comes out depends on the stream of bits alone and not on how many were
// drawn at a time: with the first eight bits of U only, the bounds are wide and
// must be refined again and again, and end at the same point.
func TestRefinementEndsWhereManyBitsWouldHave(t *testing.T) {
	l := lomax(t, "6")
	refined, cases := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		raw := make([]byte, 1024)
		seed := entropy.Seeded(rapid.Uint64().Draw(t, "seed"))
		for i := range raw {
			w, err := seed.Bits(8)
			if err != nil {
				t.Fatal(err)
			}
			raw[i] = byte(w)
		}
		raw[0] |= 1 // so that eight bits give an upper bound
		value := big.NewRat(rapid.Int64Range(-1000, 1000).Draw(t, "value"), rapid.Int64Range(1, 20).Draw(t, "over"))
		scale := big.NewRat(rapid.Int64Range(1, 1<<30).Draw(t, "scale"), 1000)
		g := Grid{rapid.IntRange(-10, 60).Draw(t, "j")}
		negative := rapid.Bool().Draw(t, "negative")

		few := &stepwise{lomaxDraw: lomaxDraw{l, lazyUniform{big.NewInt(int64(raw[0])), 8}}, raw: raw[1:]}
		a, err := roundTo(nil, few, negative, value, scale, g)
		if err != nil {
			t.Fatal(err)
		}
		refined += few.steps
		cases++
		src := entropy.FromReader(bytes.NewReader(reverse8(raw)))
		many := &lomaxDraw{l, lazyUniform{new(big.Int), 0}}
		for range 6 {
			if err := many.refine(src); err != nil {
				t.Fatal(err)
			}
		}
		b, err := roundTo(src, many, negative, value, scale, g)
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Fatalf("8 bits and more where needed gave %d, 384 bits %d", a, b)
		}
	})
	if 5*refined < cases { // about 1.3 a case on average
		t.Errorf("only %d refinements: nothing was tried", refined)
	}
}

// stepwise refines by a byte.
type stepwise struct {
	lomaxDraw
	raw   []byte
	steps int
}

func (s *stepwise) refine(*Source) error {
	s.steps++
	s.v.n.Lsh(s.v.n, 8)
	s.v.n.Or(s.v.n, big.NewInt(int64(s.raw[0])))
	s.v.bits += 8
	s.raw = s.raw[1:]
	return nil
}

// The bounds of every kind of variate close in: each refinement lies within the
// one before, and the width goes down to a few units of the last bit.
func TestBoundsAreNested(t *testing.T) {
	src := randtest.Source(8)
	uniform := func() lazyUniform {
		u, err := newLazyUniform(src)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for range 50 {
		e, err := newExponential(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, z := range []magnitude{e, &lomaxDraw{lomax(t, "9/2"), uniform()}, &ratioDraw{3, uniform(), uniform()}} {
			lo, hi, prec := z.bounds()
			for range 4 {
				if err := z.refine(src); err != nil {
					t.Fatal(err)
				}
				lo2, hi2, prec2 := z.bounds()
				shift := prec2 - prec
				if new(big.Int).Lsh(lo, shift).Cmp(lo2) > 0 || new(big.Int).Lsh(hi, shift).Cmp(hi2) < 0 {
					t.Fatalf("%T: bounds [%v, %v] at %d bits do not hold [%v, %v] at %d", z, lo, hi, prec, lo2, hi2, prec2)
				}
				if lo2.Cmp(hi2) >= 0 || lo2.Sign() < 0 {
					t.Fatalf("%T: bounds [%v, %v]", z, lo2, hi2)
				}
				lo, hi, prec = lo2, hi2, prec2
			}
			width := new(big.Rat).SetFrac(new(big.Int).Sub(hi, lo), new(big.Int).Lsh(big.NewInt(1), prec))
			if width.Cmp(powerOfTwo(-100)) > 0 {
				t.Errorf("%T: 300 bits and more leave a width of %v", z, width)
			}
		}
	}
}

func TestRootFloor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, maxLomaxTerm).Draw(t, "k")
		y := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 1, 900).Draw(t, "y"))
		if rapid.Bool().Draw(t, "power") {
			// Around a perfect power, where a floor is easily missed.
			y.SetBytes(rapid.SliceOfN(rapid.Byte(), 1, 12).Draw(t, "root"))
			y.Exp(y, big.NewInt(int64(k)), nil)
			y.Add(y, big.NewInt(int64(rapid.IntRange(-1, 1).Draw(t, "off"))))
		}
		if y.Sign() <= 0 {
			return
		}
		x := rootFloor(y, k)
		kBig := big.NewInt(int64(k))
		if new(big.Int).Exp(x, kBig, nil).Cmp(y) > 0 {
			t.Fatalf("root %d of %v: %v is too large", k, y, x)
		}
		next := new(big.Int).Add(x, big.NewInt(1))
		if next.Exp(next, kBig, nil).Cmp(y) <= 0 {
			t.Fatalf("root %d of %v: %v is too small", k, y, x)
		}
	})
}

// Whole bits of U are zero or one: the far tail and the centre.
func TestExtremeStreams(t *testing.T) {
	g := Grid{}
	one := big.NewRat(1, 1)
	zeros := bytes.Repeat([]byte{0}, 1024)
	ones := bytes.Repeat([]byte{0xff}, 1024)
	stream := func(b []byte) *Source { return entropy.FromReader(bytes.NewReader(b)) }
	// Four words of zeros and one of 2^40: V is 2^-280 and |Z| = 2^56. The sign
	// after them is zero: positive.
	raw := bytes.Clone(zeros)
	raw[32+5] = 1
	k, err := lomax(t, "6").AddTo(entropy.FromReader(bytes.NewReader(raw)), one, one, g)
	if err != nil || math.Abs(float64(k)/0x1p56-1) > 1e-9 {
		t.Errorf("V = 2^-280 gave %d (%v), want about 2^56", k, err)
	}
	k, err = lomax(t, "6").AddTo(entropy.FromReader(bytes.NewReader(raw)), one, big.NewRat(1<<62, 1), g)
	if err != nil || k != math.MaxInt64 {
		t.Errorf("2^118 was not saturated: %d (%v)", k, err)
	}
	raw[40] = 1 // the sign
	k, err = lomax(t, "6").AddTo(entropy.FromReader(bytes.NewReader(raw)), one, big.NewRat(1<<62, 1), g)
	if err != nil || k != math.MinInt64 {
		t.Errorf("-2^118 was not saturated: %d (%v)", k, err)
	}
	// V is 1 to the last bit that the source has: with a value on the middle
	// between two points no bits decide, and the end of the source is an error.
	if k, err := lomax(t, "6").AddTo(stream(ones), big.NewRat(1, 2), one, g); err == nil {
		t.Errorf("a tie was decided without bits: %d", k)
	}
	// Away from the middle it is the value itself.
	if k, err := lomax(t, "6").AddTo(stream(ones), big.NewRat(10, 1), one, g); err != nil || k != 10 {
		t.Errorf("V = 1 gave %d (%v), want 10", k, err)
	}
	// Noughts for ever are a tail without end: an error as well.
	for _, p := range []string{"6", "2", "9/2"} {
		if k, err := lomax(t, p).AddTo(stream(zeros), one, one, g); err == nil {
			t.Errorf("shape %s: zeros gave %d", p, k)
		}
	}
}

func TestRoundedRefuses(t *testing.T) {
	for _, p := range []*big.Rat{nil, big.NewRat(1, 1), new(big.Rat), big.NewRat(-2, 1), big.NewRat(66, 1), big.NewRat(166, 65)} {
		if _, err := NewLomax(p); noren.KindOf(err) != noren.Usage {
			t.Errorf("shape %v: %v", p, err)
		}
	}
	for _, n := range []int{0, -1, 101} {
		if _, err := NewStudentT(n); noren.KindOf(err) != noren.Usage {
			t.Errorf("%d degrees of freedom: %v", n, err)
		}
	}
	src := randtest.Source(1)
	one := big.NewRat(1, 1)
	cause := errors.New("no entropy")
	for _, d := range allRounded(t) {
		for _, c := range [][2]*big.Rat{{nil, one}, {one, nil}, {one, new(big.Rat)}, {one, big.NewRat(-1, 1)}} {
			if _, err := d.AddTo(src, c[0], c[1], Grid{}); err == nil {
				t.Errorf("%s: value %v and scale %v were taken", d.name, c[0], c[1])
			}
		}
		failed := entropy.FromReader(&failsAfter{r: seededReader(1), left: 1024, err: cause})
		var err error
		for n := 0; err == nil; n++ {
			if n > 1000 {
				t.Fatal("the source never failed")
			}
			_, err = d.AddTo(failed, one, one, Grid{20})
		}
		if !errors.Is(err, cause) {
			t.Errorf("%s: %v does not name the cause", d.name, err)
		}
	}
	// Arguments are left as they were.
	value, scale := big.NewRat(5, 3), big.NewRat(7, 2)
	for _, d := range allRounded(t) {
		if _, err := d.AddTo(src, value, scale, Grid{5}); err != nil {
			t.Fatal(err)
		}
		if value.Cmp(big.NewRat(5, 3)) != 0 || scale.Cmp(big.NewRat(7, 2)) != 0 {
			t.Fatalf("%s changed its arguments", d.name)
		}
	}
}

// The decisions that the first word leaves open, in the exponential variate: U
// and W both need more bits.
func TestExponentialDecidesTheRareCase(t *testing.T) {
	src := randtest.Source(6)
	counts := map[bool]int{}
	for range 400 {
		u, err := newLazyUniform(src)
		if err != nil {
			t.Fatal(err)
		}
		w := expNeg(0, u.n.Uint64())
		jump, err := src.Bits(5)
		if err != nil {
			t.Fatal(err)
		}
		w += jump - 16
		e := &exponential{u: u}
		got, err := e.acceptSlow(src, w)
		if err != nil {
			t.Fatal(err)
		}
		if v := compareWord(w, expNeg(0, new(big.Int).Rsh(e.u.n, e.u.bits-64).Uint64()), expSlack+1); v == yes && !got || v == no && got {
			t.Fatalf("the word says %d, the exact way %v", v, got)
		}
		counts[got]++
	}
	if counts[true] < 50 || counts[false] < 50 {
		t.Errorf("accepted and refused %v: both must come", counts)
	}
}

// The same for the acceptance of the Gaussian: close to the edge, the float's
// answer and the exact one are the same, whatever follows.
func TestContinuousGaussianAcceptsExactly(t *testing.T) {
	src := randtest.Source(16)
	counts := map[bool]int{}
	for range 2000 {
		e, err := newExponential(src)
		if err != nil {
			t.Fatal(err)
		}
		near, far, err := e.squareBounds(src, 192)
		if err != nil {
			t.Fatal(err)
		}
		lo, _ := expNegBounds(far, 128)
		_, hi := expNegBounds(near, 128)
		jump, err := src.Bits(17)
		if err != nil {
			t.Fatal(err)
		}
		w := new(big.Int).Rsh(lo, 64).Uint64() + jump - 1<<16
		for _, tail := range []byte{0x00, 0xff} {
			got, err := e.acceptGaussian(words(0, tail), w)
			if err != nil {
				t.Fatal(err)
			}
			u := new(big.Int).Lsh(new(big.Int).SetUint64(w), 64)
			if tail == 0xff {
				u.Or(u, new(big.Int).SetUint64(1<<64-1))
			}
			if u.Cmp(lo) < 0 && !got || u.Cmp(hi) > 0 && got {
				t.Fatalf("Y = %v + %v/2^%d, word %#x: accepted is %v", e.k, e.u.n, e.u.bits, w, got)
			}
			counts[got]++
		}
	}
	if counts[true] < 500 || counts[false] < 500 {
		t.Errorf("accepted and refused %v: both must come", counts)
	}
}
