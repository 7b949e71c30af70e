package noise

import (
	"math/big"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/internal/entropy"
)

// expSeries is 2^prec e^-x by the series of e^x with positive terms, twice the
// digits and none of expNegBounds' code: within one unit.
func expSeries(x *big.Rat, prec uint) *big.Int {
	work := 2*prec + 64
	term := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), work))
	sum := new(big.Int)
	for n := int64(1); ; n++ {
		whole := new(big.Int).Quo(term.Num(), term.Denom())
		sum.Add(sum, whole)
		if whole.Sign() == 0 {
			break
		}
		// Keep the terms short; what is cut off is far below a unit of prec.
		term.SetInt(whole)
		term.Mul(term, x)
		term.Quo(term, new(big.Rat).SetInt64(n))
	}
	e := new(big.Int).Lsh(big.NewInt(1), work+prec)
	return e.Quo(e, sum)
}

func TestTablesOfExp(t *testing.T) {
	check := func(name string, table []uint64, denom int64) {
		if table[0] != 1<<64-1 {
			t.Errorf("%s[0] = %#x", name, table[0])
		}
		for i, got := range table[1:] {
			want := expSeries(big.NewRat(int64(i+1), denom), 192)
			want.Rsh(want, 128) // 128 guard bits
			if want.Uint64() != got {
				t.Errorf("%s[%d] = %#x, want %#x", name, i+1, got, want)
			}
		}
	}
	check("expTable32", expTable32[:], 32)
	check("expTable1024", expTable1024[:], 1024)
	check("expTableInt", expTableInt[:], 1)
	if next := expSeries(big.NewRat(int64(len(expTableInt)), 1), 64); next.Sign() != 0 {
		t.Errorf("the integer table ends too early: the next entry is %v", next)
	}
}

// pointOf is k + f/2^64.
func pointOf(k, f uint64) *big.Rat {
	n := new(big.Int).SetUint64(k)
	n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(f))
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), 64))
}

// The word-sized exponential keeps its proven error, everywhere it was tried.
func TestExpNegKeepsItsBound(t *testing.T) {
	randtest.SkipShort(t)
	testExpNegKeepsItsBound(t, 1000)
}

func TestLongExpNegKeepsItsBound(t *testing.T) {
	randtest.Long(t)
	testExpNegKeepsItsBound(t, 4000)
}

func testExpNegKeepsItsBound(t *testing.T, random int) {
	worst := uint64(0)
	check := func(t interface{ Fatalf(string, ...any) }, k, f uint64) {
		p := new(big.Int).SetUint64(expNeg(k, f))
		want := expSeries(pointOf(k, f), 64)
		diff := new(big.Int).Abs(p.Sub(p, want))
		// expSeries is itself rounded down by up to a unit.
		if diff.Cmp(big.NewInt(expSlack+1)) > 0 {
			t.Fatalf("expNeg(%d, %#x) is off by %v units", k, f, diff)
		}
		worst = max(worst, diff.Uint64())
	}
	edges := []uint64{0, 1, 1<<54 - 1, 1 << 54, 1<<54 + 1, 1<<59 - 1, 1 << 59, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	for k := range uint64(70) {
		for _, f := range edges {
			check(t, k, f)
		}
	}
	src := entropy.Seeded(1)
	for range random {
		f, err := src.Uint64()
		if err != nil {
			t.Fatal(err)
		}
		check(t, 0, f)
		check(t, f%50, f)
	}
	t.Logf("largest error found: %d units; proven: %d", worst, expSlack)
}

func TestExpNegBoundsHoldAndAreTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.Int64Range(0, 1<<40).Draw(t, "num")
		den := rapid.Int64Range(1, 1<<40).Draw(t, "den")
		prec := uint(rapid.SampledFrom([]int{64, 128, 192, 320}).Draw(t, "prec"))
		x := big.NewRat(num, den)
		if x.Cmp(big.NewRat(400, 1)) > 0 {
			x = big.NewRat(num%400, 1)
		}
		lo, hi := expNegBounds(x, prec)
		// want <= 2^prec e^-x < want + 1, with much to spare in the series.
		want := expSeries(x, prec+600)
		want.Rsh(want, 600)
		if lo.Cmp(want) > 0 || hi.Cmp(want) < 0 {
			t.Fatalf("e^-%v at %d bits: [%v, %v] misses %v", x, prec, lo, hi, want)
		}
		if width := new(big.Int).Sub(hi, lo); width.Cmp(big.NewInt(2)) > 0 {
			t.Fatalf("e^-%v at %d bits: bounds %v apart", x, prec, width)
		}
	})
	lo, hi := expNegBounds(new(big.Rat).SetInt(powerOfTwo(200).Num()), 128)
	if lo.Sign() != 0 || hi.Cmp(big.NewInt(1)) != 0 {
		t.Errorf("e^-2^200 is in [%v, %v] units", lo, hi)
	}
}

func TestCompareWord(t *testing.T) {
	const top = 1<<64 - 1
	for _, c := range []struct {
		w, p, slack uint64
		want        verdict
	}{
		// U in [w, w+1), y in [p-slack, p+slack].
		{10, 20, 9, yes},
		{10, 20, 10, unsure}, // y may be 10
		{10, 11, 0, yes},
		{10, 10, 0, no}, // y is 10 exactly, U is not below
		{20, 10, 10, no},
		{20, 10, 11, unsure},
		{0, 0, 0, no},
		{0, 3, 8, unsure},
		{7, 3, 8, unsure},
		{11, 3, 8, no},
		{top, top, 8, unsure},
		{top - 20, top, 8, yes},
		{top, 0, 8, no},
		{0, top, 8, yes},
	} {
		if got := compareWord(c.w, c.p, c.slack); got != c.want {
			t.Errorf("compareWord(%d, %d, %d) = %d, want %d", c.w, c.p, c.slack, got, c.want)
		}
	}
}

// Close to the edge, the draw of probability e^(-u/t) is decided as the exact
// comparison decides it, whatever bits follow; and both answers come.
func TestBernoulliFractionIsExact(t *testing.T) {
	src := entropy.Seeded(2)
	answers := make(map[bool]int)
	for range 3000 {
		u, err := src.Bits(40)
		if err != nil {
			t.Fatal(err)
		}
		den := uint64(1)<<40 + 15
		lo, hi := expNegBounds(new(big.Rat).SetFrac64(int64(u), int64(den)), 128)
		jump, err := src.Bits(6)
		if err != nil {
			t.Fatal(err)
		}
		w := new(big.Int).Rsh(lo, 64).Uint64() + jump - 32
		for _, tail := range []byte{0x00, 0xff} {
			got, err := bernoulliFraction(words(w, tail), u, den)
			if err != nil {
				t.Fatal(err)
			}
			x := new(big.Int).Lsh(new(big.Int).SetUint64(w), 64)
			if tail == 0xff {
				x.Or(x, new(big.Int).SetUint64(1<<64-1))
			}
			if x.Cmp(lo) < 0 && !got || x.Cmp(hi) > 0 && got {
				t.Fatalf("u/t = %d/%d, word %#x: decided %v", u, den, w, got)
			}
			answers[got]++
		}
	}
	if answers[true] < 1000 || answers[false] < 1000 {
		t.Errorf("accepted and refused %v: both must come", answers)
	}
}
