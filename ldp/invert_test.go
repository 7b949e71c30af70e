package ldp

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The inverse times the matrix is 1, and matrices that are not positive definite are
// refused.
func TestInvert(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 32).Draw(t, "k")
		entries := rapid.SliceOfN(rapid.Float64Range(-1, 1), k*k, k*k).Draw(t, "entries")
		v := make([]float64, k*k)
		for i := range k {
			for j := range k {
				for l := range k {
					v[i*k+j] += entries[i*k+l] * entries[j*k+l]
				}
			}
			v[i*k+i] += 0.1
		}
		inverse := append([]float64(nil), v...)
		for i := range k {
			for j := i + 1; j < k; j++ {
				inverse[i*k+j] = math.NaN() // the upper triangle is not read
			}
		}
		if !invert(inverse, k) {
			t.Fatal("refused")
		}
		for i := range k {
			for j := range k {
				s := 0.0
				for l := range k {
					s += v[i*k+l] * inverse[l*k+j]
				}
				want := 0.0
				if i == j {
					want = 1
				}
				if math.Abs(s-want) > 1e-9 || inverse[i*k+j] != inverse[j*k+i] {
					t.Fatalf("entry %d, %d of the product is %g", i, j, s)
				}
			}
		}
	})
	for _, bad := range [][]float64{{0}, {-1}, {math.NaN()}, {1, 0, 2, 1}, {1, 0, 1, 1}} {
		if invert(append([]float64(nil), bad...), int(math.Sqrt(float64(len(bad))))) {
			t.Errorf("%v was inverted", bad)
		}
	}
}
