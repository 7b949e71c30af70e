package account

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/meter/metertest"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64
	}{
		{"0.1", 100_000_000},
		{".1", 100_000_000},
		{"1.", 1_000_000_000},
		{"1", 1_000_000_000},
		{"5e-2", 50_000_000},
		{"1E2", 100_000_000_000},
		{"0.1000000001", 100_000_001},
		{"0.1000000000", 100_000_000},
		{"1e-30", 1},
		{"9223372036.854775807", math.MaxInt64},
	} {
		if got, err := ParseEpsilon(test.text); err != nil || got != test.want {
			t.Errorf("%q: %d, %v, want %d", test.text, got, err, test.want)
		}
	}
	for _, text := range []string{
		"", "0", "0.0", "-1", "+1", "NaN", "inf", "1e", "e1", ".", "1..2", "1e1e1", "1_0", "0x1", "1e+-1", "1e--1",
		" 1", "1e1000", "9223372036.8547758071", strings.Repeat("1", 41),
	} {
		if got, err := ParseEpsilon(text); noren.KindOf(err) != noren.Usage || got != 0 {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]int64{"": 0, "0": 0, "1e-18": 1, "1e-19": 1, "1e-6": 1e12, "0.5": 5e17} {
		if got, err := ParseDelta(text); err != nil || got != want {
			t.Errorf("delta %q: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"1", "0.9999999999999999999", "-1", "2"} {
		if _, err := ParseDelta(text); noren.KindOf(err) != noren.Usage {
			t.Errorf("delta %q: %v", text, err)
		}
	}
}

// FuzzParse holds the rounding: units are at least the number, and by less than
// one unit.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"0.1", "1e-9", "12.5E+3", ".e", "1e-100", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		metertest.Hold(t, len(text))
		n, err := ParseEpsilon(text)
		if err != nil {
			return
		}
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q was read as %d", text, n)
		}
		gap := new(big.Rat).Sub(big.NewRat(n, EpsilonUnits), r)
		if gap.Sign() < 0 || gap.Cmp(big.NewRat(1, EpsilonUnits)) >= 0 {
			t.Fatalf("%q became %d units", text, n)
		}
	})
}

func TestDecimalReadsBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64Range(1, math.MaxInt64).Draw(rt, "n")
		if got, err := ParseEpsilon(Decimal(n, 9)); err != nil || got != n {
			rt.Fatalf("%d became %s and %d, %v", n, Decimal(n, 9), got, err)
		}
	})
	if got := Decimal(-1, 9); got != "-0.000000001" {
		t.Error(got)
	}
}

func TestAddAndSplit(t *testing.T) {
	if got, err := (Cost{Epsilon: 1, Delta: 2}).Add(Cost{Epsilon: 3, Delta: 4}); err != nil || got != (Cost{Epsilon: 4, Delta: 6}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := (Cost{Epsilon: 1, Delta: DeltaUnits}).Add(Cost{Epsilon: 1, Delta: DeltaUnits}); err != nil ||
		got != (Cost{Epsilon: 2, Delta: DeltaUnits}) {
		t.Errorf("a delta above 1: %v, %v", got, err)
	}
	for _, pair := range [][2]Cost{
		{{Epsilon: math.MaxInt64}, {Epsilon: 1}},
		{{Epsilon: -1}, {Epsilon: 5}},
		{{Epsilon: 1}, {Epsilon: 1, Delta: -1}},
		{{Rho: math.MaxInt64}, {Rho: 1}},
		{{Rho: -1}, {Rho: 5}},
	} {
		if _, err := pair[0].Add(pair[1]); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v: %v", pair, err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := Cost{Epsilon: rapid.Int64Range(10, math.MaxInt64).Draw(rt, "e"), Delta: rapid.Int64Range(0, DeltaUnits).Draw(rt, "d")}
		n := rapid.IntRange(1, 10).Draw(rt, "n")
		part, err := c.Split(n)
		if err != nil {
			rt.Fatal(err)
		}
		var sum Cost
		for range n {
			if sum, err = sum.Add(part); err != nil {
				rt.Fatal(err)
			}
		}
		if !sum.Within(c) || c.Epsilon-sum.Epsilon >= int64(n) {
			rt.Fatalf("%v in %d parts gives %v", c, n, sum)
		}
	})
	if _, err := (Cost{Epsilon: 2, Delta: 0}).Split(3); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

func TestCharge(t *testing.T) {
	half := Cost{Epsilon: 500_000_000, Delta: 1_000_000}
	for _, n := range []Neighbours{AddRemove, ReplaceOne} {
		if got, err := Charge(half, n, n); err != nil || got != half {
			t.Errorf("%v in its own budget: %v, %v", n, got, err)
		}
	}
	// 1 + e^0.5 = 2.6487212707...
	if got, err := Charge(half, AddRemove, ReplaceOne); err != nil || got != (Cost{Epsilon: 1_000_000_000, Delta: 2_648_722}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Charge(half, ReplaceOne, AddRemove); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "one unit more") {
		t.Errorf("a replace-one guarantee in an add-remove budget: %v", err)
	}
}

func TestGroup(t *testing.T) {
	for _, test := range []struct {
		c    Cost
		n    int64
		want Cost
	}{
		{Cost{Epsilon: 7, Delta: 3}, 1, Cost{Epsilon: 7, Delta: 3}},
		{Cost{Epsilon: 7, Delta: 0}, 5, Cost{Epsilon: 35, Delta: 0}},
		{Cost{Epsilon: 0, Delta: 3}, 5, Cost{Epsilon: 0, Delta: 15}},
		{Cost{Epsilon: 1_000_000_000, Delta: 1_000_000}, 3, Cost{Epsilon: 3_000_000_000, Delta: 11_107_338}}, // 1+e+e^2 = 11.107337927...
		{Cost{Epsilon: 1_000_000_000, Delta: 1}, 1000, Cost{Epsilon: 1_000_000_000_000, Delta: DeltaUnits}},
		{Cost{Epsilon: 1, Delta: 10}, math.MaxInt64 / 2, Cost{Epsilon: math.MaxInt64 / 2, Delta: DeltaUnits}},
	} {
		if got, err := Group(test.c, test.n); err != nil || got != test.want {
			t.Errorf("%d of %v: %v, %v, want %v", test.n, test.c, got, err, test.want)
		}
	}
	for _, n := range []int64{0, -1, math.MaxInt64} {
		if _, err := Group(Cost{Epsilon: 2, Delta: 1}, n); noren.KindOf(err) != noren.Usage {
			t.Errorf("n = %d: %v", n, err)
		}
	}
}

func TestRho(t *testing.T) {
	// Between the exact curve of Gaussian noise, for which rho is 1/(2 sigma^2),
	// and the simple conversion of Bun and Steinke.
	for _, test := range []struct {
		sigma float64
		delta int64
	}{{1, 1e12}, {4.22468, 1e12}, {36.3, 1e12}, {100, 1e9}, {0.5, 1e15}} {
		rho := Rho(math.Ceil(RhoUnits / (2 * test.sigma * test.sigma)))
		c, err := rho.Cost(test.delta)
		if err != nil {
			t.Fatal(err)
		}
		delta := float64(test.delta) / DeltaUnits
		simple := rho.Float() + 2*math.Sqrt(rho.Float()*math.Log(1/delta))
		if e := float64(c.Epsilon) / 1e9; e >= simple {
			t.Errorf("sigma %g: epsilon %g is not below Bun and Steinke's %g", test.sigma, e, simple)
		}
		if exact := continuousDelta(c, new(big.Rat).SetFloat64(test.sigma)).loRat(); exact.Cmp(c.DeltaRat()) > 0 {
			t.Errorf("sigma %g: the conversion is below the exact curve", test.sigma)
		}
	}
	if c, err := Rho(0).Cost(5); err != nil || c != (Cost{Epsilon: 0, Delta: 5}) {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := Rho(1).Cost(0); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

func TestRhoWithin(t *testing.T) {
	for _, c := range []Cost{
		{Epsilon: 1_000_000_000, Delta: 1e12},
		{Epsilon: 100_000_000, Delta: 1e9},
		{Epsilon: 10_000_000_000, Delta: 1e6},
		{Epsilon: 1_000_000, Delta: 1e9},
	} {
		rho, err := RhoWithin(c)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if got, err := rho.Cost(c.Delta); err != nil || !got.Within(c) {
			t.Errorf("%v: rho %v costs %v, %v", c, rho, got, err)
		}
		more := rho + rho/1000 + 2
		if got, err := more.Cost(c.Delta); err != nil || got.Within(c) {
			t.Errorf("%v: rho %v would do as well", c, more)
		}
	}
	for _, c := range []Cost{{Epsilon: 1}, {Delta: 1}, {Epsilon: 1, Delta: DeltaUnits}} {
		if _, err := RhoWithin(c); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestNeighbours(t *testing.T) {
	for _, n := range []Neighbours{AddRemove, ReplaceOne} {
		if got, err := ParseNeighbours(n.String()); err != nil || got != n {
			t.Errorf("%v: %v, %v", n, got, err)
		}
	}
	if _, err := ParseNeighbours("bounded"); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}
