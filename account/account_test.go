package account

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"

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
	for _, text := range []string{"", "0", "0.0", "-1", "+1", "NaN", "inf", "1e", "e1", ".", "1..2", "1e1e1", "1_0", "0x1", "1e+-1", "1e--1", " 1", "1e1000", "9223372036.8547758071", strings.Repeat("1", 41)} {
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

func TestSumAndSplit(t *testing.T) {
	if got, err := Sum(Cost{1, 2}, Cost{3, 4}, Cost{}); err != nil || got != (Cost{4, 6}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Sum(Cost{1, DeltaUnits}, Cost{1, DeltaUnits}); err != nil || got != (Cost{2, DeltaUnits}) {
		t.Errorf("a delta above 1: %v, %v", got, err)
	}
	for _, pair := range [][2]Cost{{{math.MaxInt64, 0}, {1, 0}}, {{-1, 0}, {5, 0}}, {{1, 0}, {1, -1}}} {
		if _, err := pair[0].Add(pair[1]); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v: %v", pair, err)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := Cost{rapid.Int64Range(10, math.MaxInt64).Draw(rt, "e"), rapid.Int64Range(0, DeltaUnits).Draw(rt, "d")}
		n := rapid.IntRange(1, 10).Draw(rt, "n")
		part, err := c.Split(n)
		if err != nil {
			rt.Fatal(err)
		}
		parts := make([]Cost, n)
		for i := range parts {
			parts[i] = part
		}
		if sum, err := Sum(parts...); err != nil || !sum.Within(c) || c.Epsilon-sum.Epsilon >= int64(n) {
			rt.Fatalf("%v in %d parts gives %v, %v", c, n, sum, err)
		}
	})
	if _, err := (Cost{2, 0}).Split(3); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

func TestCharge(t *testing.T) {
	half := Cost{500_000_000, 1_000_000}
	for _, n := range []Neighbours{AddRemove, ReplaceOne} {
		if got, err := Charge(half, n, n); err != nil || got != half {
			t.Errorf("%v in its own book: %v, %v", n, got, err)
		}
	}
	// 1 + e^0.5 = 2.6487212707...
	if got, err := Charge(half, AddRemove, ReplaceOne); err != nil || got != (Cost{1_000_000_000, 2_648_722}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Charge(half, ReplaceOne, AddRemove); noren.KindOf(err) != noren.Usage || !strings.Contains(err.Error(), "one unit more") {
		t.Errorf("a replace-one guarantee in an add-remove book: %v", err)
	}
}

func TestGroup(t *testing.T) {
	for _, test := range []struct {
		c    Cost
		n    int64
		want Cost
	}{
		{Cost{7, 3}, 1, Cost{7, 3}},
		{Cost{7, 0}, 5, Cost{35, 0}},
		{Cost{0, 3}, 5, Cost{0, 15}},
		{Cost{1_000_000_000, 1_000_000}, 3, Cost{3_000_000_000, 11_107_338}}, // 1+e+e^2 = 11.107337927...
		{Cost{1_000_000_000, 1}, 1000, Cost{1_000_000_000_000, DeltaUnits}},
		{Cost{1, 10}, math.MaxInt64 / 2, Cost{math.MaxInt64 / 2, DeltaUnits}},
	} {
		if got, err := Group(test.c, test.n); err != nil || got != test.want {
			t.Errorf("%d of %v: %v, %v, want %v", test.n, test.c, got, err, test.want)
		}
	}
	for _, n := range []int64{0, -1, math.MaxInt64} {
		if _, err := Group(Cost{2, 1}, n); noren.KindOf(err) != noren.Usage {
			t.Errorf("n = %d: %v", n, err)
		}
	}
}

func TestParallel(t *testing.T) {
	a, b, c := Branch{Enter: Cost{5, 1}}, Branch{Enter: Cost{3, 4}}, Branch{Enter: Cost{4, 2}}
	if got, err := Parallel(AddRemove, a, b, c); err != nil || got != (Cost{5, 4}) {
		t.Errorf("%v, %v", got, err)
	}
	a.Stay, b.Stay, c.Stay = a.Enter, b.Enter, c.Enter
	if got, err := Parallel(ReplaceOne, a, b, c); err != nil || got != (Cost{9, 6}) {
		t.Errorf("the two largest: %v, %v", got, err)
	}
	// A unit that stays in the group of the largest cost costs its own conversion.
	a.Stay, a.Enter.Delta, b.Enter.Delta, c.Enter.Delta = Cost{}, 0, 0, 0
	if got, err := Parallel(ReplaceOne, a, b, c); err != nil || got != (Cost{10, 4}) {
		t.Errorf("staying: %v, %v", got, err)
	}
	if _, err := Parallel(AddRemove); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := Parallel(AddRemove, Branch{}); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

func TestAmplify(t *testing.T) {
	// ln(1 + 0.1 (e - 1)) = 0.158565..., rounded up.
	got, err := Amplify(Cost{1_000_000_000, 7}, AddRemove, big.NewRat(1, 10))
	want := int64(math.Ceil(1e9 * math.Log1p(0.1*(math.E-1))))
	if err != nil || got != (Cost{want, 1}) {
		t.Errorf("%v, %v, want epsilon %d units", got, err, want)
	}
	if got, err := Amplify(Cost{5, 7}, AddRemove, big.NewRat(1, 1)); err != nil || got != (Cost{5, 7}) {
		t.Errorf("all in the sample: %v, %v", got, err)
	}
	if _, err := Amplify(Cost{5, 7}, ReplaceOne, big.NewRat(1, 2)); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	for _, rate := range []*big.Rat{nil, new(big.Rat), big.NewRat(-1, 2), big.NewRat(3, 2)} {
		if _, err := Amplify(Cost{5, 7}, AddRemove, rate); noren.KindOf(err) != noren.Usage {
			t.Errorf("rate %v: %v", rate, err)
		}
	}
}

func TestRho(t *testing.T) {
	if got, err := PureRho(100_000_000); err != nil || got != RhoUnits/200 {
		t.Errorf("0.1: %v, %v", got, err)
	}
	if got, err := GaussianRho(big.NewRat(1, 1), big.NewRat(3, 1)); err != nil || got != 166_666_666_666_667 {
		t.Errorf("1/6 rounded up: %v, %v", got, err)
	}
	if _, err := GaussianRho(one, new(big.Rat)); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	// Between the exact curve of Gaussian noise, for which rho is 1/(2 sigma^2),
	// and the simple conversion of Bun and Steinke.
	for _, test := range []struct {
		sigma float64
		delta int64
	}{{1, 1e12}, {4.22468, 1e12}, {36.3, 1e12}, {100, 1e9}, {0.5, 1e15}} {
		rho, err := GaussianRho(one, new(big.Rat).SetFloat64(test.sigma*test.sigma))
		if err != nil {
			t.Fatal(err)
		}
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
	if c, err := Rho(0).Cost(5); err != nil || c != (Cost{0, 5}) {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := Rho(1).Cost(0); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

func TestRhoWithin(t *testing.T) {
	for _, c := range []Cost{{1_000_000_000, 1e12}, {100_000_000, 1e9}, {10_000_000_000, 1e6}, {1_000_000, 1e9}} {
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
	for _, c := range []Cost{{1, 0}, {0, 1}, {1, DeltaUnits}} {
		if _, err := RhoWithin(c); noren.KindOf(err) != noren.Usage {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestFilter(t *testing.T) {
	f := Filter{Cap: Cost{10, 5}}
	for _, c := range []Cost{{4, 0}, {6, 5}} {
		if err := f.Spend(c); err != nil {
			t.Error(err)
		}
	}
	if err := f.Spend(Cost{1, 0}); noren.KindOf(err) != noren.Refused || f.Spent() != (Cost{10, 5}) {
		t.Errorf("%v, spent %v", err, f.Spent())
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := Filter{Cap: Cost{rapid.Int64Range(0, 50).Draw(rt, "cap"), 20}}
		for range 20 {
			c := Cost{rapid.Int64Range(-2, 20).Draw(rt, "e"), rapid.Int64Range(-2, 9).Draw(rt, "d")}
			before := f.Spent()
			err := f.Spend(c)
			if fits := c.Validate() == nil && c.Within(Cost{f.Cap.Epsilon - before.Epsilon, f.Cap.Delta - before.Delta}); fits != (err == nil) {
				rt.Fatalf("%v of %v: %v", c, f.Cap, err)
			}
			if !f.Spent().Within(f.Cap) || f.Spent().Epsilon < before.Epsilon {
				rt.Fatalf("spent %v of %v", f.Spent(), f.Cap)
			}
		}
	})
	r := RhoFilter{Cap: 10}
	if err := errors.Join(r.Spend(3), r.Spend(7)); err != nil || r.Spent() != 10 {
		t.Error(err)
	}
	if err := r.Spend(1); noren.KindOf(err) != noren.Refused {
		t.Error(err)
	}
	if err := r.Spend(-1); noren.KindOf(err) != noren.Usage {
		t.Error(err)
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
