package noise

import (
	"math"
	"testing"
)

// FuzzQuantise holds that whatever the bounds and the value, a result lies within
// the bounds and next to the clamped value, and nothing that is not finite passes.
func FuzzQuantise(f *testing.F) {
	inf, nan := math.Inf(1), math.NaN()
	for _, x := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0x1p53, -0x1p53, math.MaxInt64, math.MinInt64, math.MaxFloat64, 5e-324, inf,
		-inf, nan,
	} {
		f.Add(0, -10.0, 10.0, x)
		f.Add(20, x, 1e6, 3.25)
		f.Add(-7, -1e6, x, -3.25)
	}
	f.Fuzz(func(t *testing.T, j int, lo, hi, x float64) {
		g, err := NewGrid(j)
		if err != nil {
			if j >= -maxGridBits && j <= maxGridBits {
				t.Fatal(err)
			}
			return
		}
		r, err := g.Range(lo, hi)
		if err != nil {
			return
		}
		if !finite(lo) || !finite(hi) || lo > hi {
			t.Fatalf("the bounds %v, %v were taken", lo, hi)
		}
		if g.Value(r.Lo()) < lo || g.Value(r.Hi()) > hi || r.Lo() > r.Hi() {
			t.Fatalf("%d..%d of 2^-%d is not within %v..%v", r.Lo(), r.Hi(), j, lo, hi)
		}
		k, err := r.Quantise(x)
		if finite(x) != (err == nil) {
			t.Fatalf("%v gave %v", x, err)
		}
		if err != nil {
			return
		}
		if k < r.Lo() || k > r.Hi() {
			t.Fatalf("%v gave %d, outside %d..%d", x, k, r.Lo(), r.Hi())
		}
		clamped := min(max(x, g.Value(r.Lo())), g.Value(r.Hi()))
		if off := math.Abs(clamped - g.Value(k)); off > math.Ldexp(0.5, -j) {
			t.Fatalf("%v gave the point %v, %v away", x, g.Value(k), off)
		}
	})
}
