package account

import (
	"math"
	"math/big"
	"testing"

	"github.com/noren-privacy/noren"

	"pgregory.net/rapid"
)

// The table of docs/differential-privacy.md, section 3.1. The conversions of Canonne,
// Kamath and Steinke were computed apart, by a search over 400,000 values of alpha.
func TestStatementFigures(t *testing.T) {
	const delta = 1_000_000_000_000 // 1e-6
	for _, test := range []struct {
		answers, epsilon   int64
		rho                Rho
		simple, conversion float64 // BS: rho + 2 sqrt(rho ln(1/delta)); CKS
		stated             float64
		statedDelta        int64
	}{
		{10, 100_000_000, 50_000_000_000_000, 1.7122581, 1.4715948, 1, 0},
		{100, 10_000_000, 5_000_000_000_000, 0.5306522, 0.4299415, 0.4299415, delta},
		{100, 100_000_000, 500_000_000_000_000, 5.7565218, 5.2215344, 5.2215344, delta},
	} {
		var l Loss
		one, err := PureLoss(test.epsilon)
		for range test.answers {
			if err == nil {
				l, err = l.Add(one)
			}
		}
		if err != nil || l != (Loss{Rho: test.rho, Pure: test.answers * test.epsilon}) || l.Validate() != nil {
			t.Errorf("%+v, %v, %v", l, l.Validate(), err)
		}
		rho := l.Rho.Float()
		if simple := rho + 2*math.Sqrt(rho*math.Log(1e6)); math.Abs(simple-test.simple) > 1e-7 {
			t.Errorf("rho %g: the simple conversion is %.7f", rho, simple)
		}
		c, err := l.Rho.Cost(delta)
		if e, _ := c.Float(); err != nil || math.Abs(e-test.conversion) > 1e-7 {
			t.Errorf("rho %g: the conversion is %.7f, %v", rho, e, err)
		}
		s, err := l.Statement(delta)
		if e, _ := s.Float(); err != nil || math.Abs(e-test.stated) > 1e-7 || s.Delta != test.statedDelta {
			t.Errorf("rho %g: stated %v, %v", rho, s, err)
		}
	}
}

// exactDelta is the least delta at which answers by randomised response of epsilon and
// one with continuous Gaussian noise of rho are together private for epsilon e: the mean
// of max(0, 1 - e^(e - L)) for their privacy loss L.
func exactDelta(e float64, answers int, epsilon, rho float64) float64 {
	tail := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	gaussian := func(e float64) float64 {
		if rho == 0 {
			return max(0, -math.Expm1(e))
		}
		s := math.Sqrt(2 * rho)
		return tail(e/s-s/2) - math.Exp(e)*tail(e/s+s/2)
	}
	p := 1 / (1 + math.Exp(-epsilon)) // of the answer that its own table favours
	sum := 0.0
	for i := range answers + 1 {
		logChoose, _ := math.Lgamma(float64(answers + 1))
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(answers - i + 1))
		weight := math.Exp(logChoose - a - b + float64(i)*math.Log(p) + float64(answers-i)*math.Log(1-p))
		sum += weight * gaussian(e-float64(2*i-answers)*epsilon)
	}
	return sum
}

// No statement is below what is exactly true of randomised response, which attains its
// epsilon, together with Gaussian noise. Dropping the pure answers from the statement is
// caught.
func TestStatementHolds(t *testing.T) {
	short := 0
	rapid.Check(t, func(rt *rapid.T) {
		answers := rapid.IntRange(0, 60).Draw(rt, "answers")
		epsilon := rapid.Int64Range(1_000_000, 400_000_000).Draw(rt, "epsilon")
		delta := rapid.SampledFrom([]int64{1e9, 1e12, 1e14}).Draw(rt, "delta")
		rho := rapid.Int64Range(0, RhoUnits/4).Draw(rt, "rho")
		if answers == 0 && rho == 0 {
			return
		}
		l := GaussianLoss(Rho(rho))
		for range answers {
			one, err := PureLoss(epsilon)
			if err != nil {
				rt.Fatal(err)
			}
			if l, err = l.Add(one); err != nil {
				rt.Fatal(err)
			}
		}
		s, err := l.Statement(delta)
		if err != nil {
			rt.Fatal(err)
		}
		e, d := s.Float()
		exact := exactDelta(e, answers, float64(epsilon)/1e9, Rho(rho).Float())
		if exact > d*(1+1e-6)+1e-13 {
			rt.Fatalf("%v of %+v: the exact delta is %g", s, l, exact)
		}
		if wrong, err := GaussianLoss(Rho(rho)).Statement(delta); err == nil && answers > 0 && rho > 0 {
			e, d := wrong.Float()
			if exactDelta(e, answers, float64(epsilon)/1e9, Rho(rho).Float()) > d {
				short++
			}
		}
	})
	if short == 0 {
		t.Error("no case tells a statement without the pure answers from one with them")
	}
}

func TestLoss(t *testing.T) {
	for epsilon, want := range map[int64]Rho{0: 0, 1: 1, 44: 1, 45: 2, 1_000_000_000: 500_000_000_000_000, 100_000_001: 5_000_000_100_001} {
		if l, err := PureLoss(epsilon); err != nil || l.Rho != want || l.Pure != epsilon || l.Gaussian != 0 {
			t.Errorf("epsilon %d: %+v, %v", epsilon, l, err)
		}
	}
	for _, epsilon := range []int64{-1, math.MaxInt64} {
		if _, err := PureLoss(epsilon); noren.KindOf(err) != noren.Usage {
			t.Errorf("epsilon %d: %v", epsilon, err)
		}
	}
	for _, l := range []Loss{
		{},
		{Rho: -1},
		{Rho: 1},
		{Rho: 2, Gaussian: 1},
		{Rho: 1, Gaussian: 2},
		{Rho: 1, Pure: 1, Gaussian: 1},
		{Pure: 1},
	} {
		if noren.KindOf(l.Validate()) != noren.Usage {
			t.Errorf("%+v is taken", l)
		}
	}
	for _, l := range []Loss{GaussianLoss(1), {Rho: 1, Pure: 5}, {Rho: 3, Pure: 5, Gaussian: 2}} {
		if err := l.Validate(); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
	big := Loss{Rho: math.MaxInt64, Pure: 1}
	if _, err := big.Add(big); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := (Loss{Rho: -1}).Add(Loss{}); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := big.Group(2); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := big.Group(0); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if _, err := (Loss{Rho: 1, Gaussian: 1}).Statement(0); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

// A replacement is two steps: epsilon doubles, rho is four times as large.
func TestChargeLoss(t *testing.T) {
	l := Loss{Rho: 7, Pure: 5, Gaussian: 2}
	for _, n := range []Neighbours{AddRemove, ReplaceOne} {
		if got, err := ChargeLoss(l, n, n); err != nil || got != l {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if got, err := ChargeLoss(l, AddRemove, ReplaceOne); err != nil || got != (Loss{Rho: 28, Pure: 10, Gaussian: 8}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := ChargeLoss(l, ReplaceOne, AddRemove); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	// A pure answer in another relation: the same by way of its epsilon, up to a unit of
	// rounding in each.
	rapid.Check(t, func(rt *rapid.T) {
		epsilon := rapid.Int64Range(1, 1_000_000_000).Draw(rt, "epsilon")
		one, _ := PureLoss(epsilon)
		a, err := ChargeLoss(one, AddRemove, ReplaceOne)
		if err != nil {
			rt.Fatal(err)
		}
		b, _ := PureLoss(2 * epsilon)
		if a.Pure != b.Pure || a.Rho < b.Rho || a.Rho > b.Rho+3 {
			rt.Fatalf("%+v and %+v", a, b)
		}
	})
}

func TestParseRhoAndAccounting(t *testing.T) {
	for text, want := range map[string]Rho{"0.5": 500_000_000_000_000, "1e-15": 1, "1e-16": 1, "9223": 9_223_000_000_000_000_000} {
		if got, err := ParseRho(text); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "9224", "NaN"} {
		if _, err := ParseRho(text); noren.KindOf(err) != noren.Usage {
			t.Errorf("%q: %v", text, err)
		}
	}
	if got := Rho(5_000_000_000_000).String(); got != "0.005" {
		t.Error(got)
	}
	for text, want := range map[string]Accounting{"": Basic, "epsilon": Basic, "zcdp": ZCDP} {
		if got, err := ParseAccounting(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := ParseAccounting("rdp"); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
	if r, err := RhoUp(big.NewRat(1, 3)); err != nil || r != 333_333_333_333_334 {
		t.Error(r, err)
	}
	if got := (Cost{Rho: 5_000_000_000_000}).String(); got != "rho 0.005" {
		t.Error(got)
	}
	if (Cost{Rho: 2}).Within(Cost{Rho: 1}) {
		t.Error("a rho of 2 is within 1")
	}
}
