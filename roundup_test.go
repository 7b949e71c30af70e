package noren_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren"
)

// A loss that is printed is never below the loss, and above it by less than one unit of its
// last digit.
func TestLossText(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rat := func(s string) *big.Rat {
		r, ok := new(big.Rat).SetString(s)
		if !ok {
			t.Fatalf("%q is no number", s)
		}
		return r
	}
	for range 20000 {
		x := math.Exp(rng.Float64()*40 - 30)
		if rng.IntN(3) == 0 {
			x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'g', 1+rng.IntN(6), 64), 64) // what people write
		}
		want, digits := rat(strconv.FormatFloat(x, 'e', -1, 64)), 1+rng.IntN(6)
		for s, unit := range map[string]float64{
			noren.LossText(x, digits):   math.Pow10(-digits),
			noren.LossFigure(x, digits): math.Pow10(int(math.Floor(math.Log10(x))) - digits + 2), // two of them, where the rounding adds a digit
		} {
			got := rat(s)
			if above := new(big.Rat).Sub(got, want); got.Cmp(want) < 0 || above.Cmp(new(big.Rat).SetFloat64(unit)) >= 0 {
				t.Fatalf("a loss of %v is printed as %s with %d digits", x, s, digits)
			}
		}
	}
	for x, want := range map[float64]string{
		1: "1.0000", .1: "0.1000", 0: "0.0000", 1.00001: "1.0001", 9.99999: "10.0000",
		math.Inf(1): "+Inf",
	} {
		if got := noren.LossText(x, 4); got != want {
			t.Errorf("%v is printed as %s, not %s", x, got, want)
		}
	}
	for x, want := range map[float64]string{1: "1", .1: "0.1", 0: "0", 2.00001: "2.001", 9.99999: "10", 12345.5: "1.235e+04"} {
		if got := noren.LossFigure(x, 4); got != want {
			t.Errorf("%v is printed as %s, not %s", x, got, want)
		}
	}
}
