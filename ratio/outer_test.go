package ratio

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// A covariance by tiles is the plain one of two passes but for rounding, whatever the
// numbers of rows and columns.
func TestCovariance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, p := rapid.IntRange(1, 3*outerRows+5).Draw(t, "n"), rapid.IntRange(1, 14).Draw(t, "p")
		seed := rapid.IntRange(0, 1000).Draw(t, "seed")
		psi, w, total := mat.NewDense(n, p, nil), make([]float64, n), 0.0
		for i := range n {
			for l := range p {
				psi.Set(i, l, math.Sin(float64(seed+7*i+13*l*l)))
			}
			w[i] = max(0, math.Cos(float64(seed+i)))
			total += w[i]
		}
		if total == 0 {
			return
		}
		got, mean := covariance(psi, w, total)
		for a := range p {
			var m float64
			for i, v := range w {
				m += v * psi.At(i, a) / total
			}
			if math.Abs(mean[a]-m) > 1e-12 {
				t.Fatalf("mean %d is %v, want %v", a, mean[a], m)
			}
			for b := range p {
				var want, other float64
				for i, v := range w {
					want += v * psi.At(i, a) * psi.At(i, b) / total
					other += v * psi.At(i, b) / total
				}
				want -= m * other
				if math.Abs(got.At(a, b)-want) > 1e-12 {
					t.Fatalf("covariance %d, %d is %v, want %v", a, b, got.At(a, b), want)
				}
			}
		}
	})
}
