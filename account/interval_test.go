package account

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// holds fails unless the interval holds the value, given to 30 places or so, and
// is narrow.
func holds(t *testing.T, what string, x interval, value string) {
	t.Helper()
	v, ok := new(big.Float).SetPrec(400).SetString(value)
	if !ok {
		t.Fatal(value)
	}
	// The figure is known to its last place only.
	slack := new(big.Float).SetPrec(400).SetMantExp(v, -95)
	slack.Abs(slack)
	if lo := new(big.Float).SetPrec(400).Add(v, slack); x.lo.Cmp(lo) > 0 {
		t.Errorf("%s: lo = %.40g above %s", what, x.lo, value)
	}
	if hi := new(big.Float).SetPrec(400).Sub(v, slack); x.hi.Cmp(hi) < 0 {
		t.Errorf("%s: hi = %.40g below %s", what, x.hi, value)
	}
	width, _ := new(big.Float).Quo(new(big.Float).Sub(x.hi, x.lo), v).Float64()
	if math.Abs(width) > 1e-25 {
		t.Errorf("%s: relative width %g", what, width)
	}
}

// The figures are those of Abramowitz and Stegun (1964): tables 1.1, 4.2 and
// 26.1 and 26.2, and of OEIS A000796, A001113, A002392.
func TestIntervalFigures(t *testing.T) {
	a := arith{128}
	holds(t, "pi", a.pi(), "3.14159265358979323846264338327950288")
	holds(t, "e", a.exp(a.int(1)), "2.71828182845904523536028747135266250")
	holds(t, "1/e", a.exp(a.int(-1)), "0.367879441171442321595523770161460867")
	holds(t, "ln 2", a.log(a.int(2)), "0.693147180559945309417232121458176568")
	holds(t, "ln 10", a.log(a.int(10)), "2.30258509299404568401799145468436421")
	holds(t, "sqrt 2", a.sqrt(a.int(2)), "1.41421356237309504880168872420969808")
	holds(t, "Q(1)", a.tail(a.int(1)), "0.158655253931457051414767454367962078")
	holds(t, "Q(5)", a.tail(a.int(5)), "2.8665157187919391167375233287e-7")
}

func TestIntervalsAgreeWithFloat(t *testing.T) {
	a := arith{96}
	near := func(rt *rapid.T, what string, x interval, want, tolerance float64) {
		rt.Helper()
		lo, _ := x.lo.Float64()
		hi, _ := x.hi.Float64()
		if x.lo.Cmp(x.hi) > 0 || math.Abs(lo-want) > tolerance*math.Abs(want) || math.Abs(hi-want) > tolerance*math.Abs(want) {
			rt.Fatalf("%s: [%g, %g], want %g", what, lo, hi, want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.Float64Range(-30, 30).Draw(rt, "x")
		near(rt, "exp", a.exp(a.float(x)), math.Exp(x), 1e-14)
		if x > -6 && x < 25 {
			near(rt, "tail", a.tail(a.float(x)), math.Erfc(x/math.Sqrt2)/2, 1e-12)
		}
		p := rapid.Float64Range(1e-300, 1e300).Draw(rt, "p")
		if math.Abs(p-1) > 1e-3 {
			near(rt, "log", a.log(a.float(p)), math.Log(p), 1e-11)
		}
		y := rapid.Float64Range(1e-3, 1e3).Draw(rt, "y")
		z := rapid.Float64Range(-1e3, 1e3).Draw(rt, "z")
		near(rt, "div", a.div(a.float(z), a.float(y)), z/y, 1e-15)
		near(rt, "mul", a.mul(a.float(z), a.float(-y)), -z*y, 1e-15)
		near(rt, "sqrt", a.sqrt(a.float(y)), math.Sqrt(y), 1e-15)
	})
}

func (x interval) loRat() *big.Rat { r, _ := x.lo.Rat(nil); return r }
