package ratio

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// expDown is within 2^-51 of e^v, by its own size, where that is computed with 200 bits.
func TestExpDown(t *testing.T) {
	exact := func(v float64) *big.Float {
		// e^v = (e^(v/2^20))^(2^20), the inner one by its series.
		x := new(big.Float).SetPrec(240).SetMantExp(big.NewFloat(v), -20)
		sum, term := big.NewFloat(1).SetPrec(240), big.NewFloat(1).SetPrec(240)
		for i := 1; i < 30; i++ {
			term.Mul(term, x)
			term.Quo(term, big.NewFloat(float64(i)))
			sum.Add(sum, term)
		}
		for range 20 {
			sum.Mul(sum, sum)
		}
		return sum
	}
	check := func(t interface{ Fatalf(string, ...any) }, v float64) {
		want := exact(v)
		d := new(big.Float).SetPrec(240).SetFloat64(expDown(v))
		d.Sub(d, want).Quo(d, want)
		if e, _ := d.Float64(); math.Abs(e) > 0x1p-51 {
			t.Fatalf("e^%v is off by %g of it", v, e)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		check(t, -40*rng.Float64())
	}
	for k := range 300 {
		// Where the nearest step changes.
		edge := -(float64(k) + 0.5) * math.Ln2 / (1 << exp2Bits)
		for _, v := range []float64{edge, math.Nextafter(edge, 0), math.Nextafter(edge, -1)} {
			check(t, v)
		}
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.Float64Range(-699, 0).Draw(t, "v")) })
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(expLeast, 0), 4, 4).Draw(t, "four")
		e0, e1, e2, e3 := expDown4(v[0], v[1], v[2], v[3])
		for i, e := range []float64{e0, e1, e2, e3} {
			if e != expDown(v[i]) {
				t.Fatalf("e^%v is %v of four and %v alone", v[i], e, expDown(v[i]))
			}
		}
	})
	for _, v := range []float64{0, math.Copysign(0, -1)} {
		if expDown(v) != 1 {
			t.Errorf("e^%g is %g", v, expDown(v))
		}
	}
	for v := -1e-3; v < 0; v += 1e-6 {
		if expDown(v) > 1 {
			t.Errorf("e^%g is above 1", v)
		}
	}
	for _, v := range []float64{-1e9, math.Inf(-1), -745.2, -701} {
		if expDown(v) != math.Exp(v) {
			t.Errorf("e^%g is %g", v, expDown(v))
		}
	}
	if !math.IsNaN(expDown(math.NaN())) {
		t.Error("what is no number has an exponential")
	}
}
