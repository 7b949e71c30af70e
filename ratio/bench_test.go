package ratio

import (
	"context"
	"testing"
)

// 81 settings, n = N = 2,000, b = 100: the grid of the issue.
func BenchmarkLOOCVGrid(b *testing.B) {
	ctx := context.Background()
	x, e, c := gaussian(1, 2000, 2, 0.5, 0.7), gaussian(2, 2000, 2, 0, 1), gaussian(3, 100, 2, 0, 1)
	lambdas := []float64{1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10}
	for b.Loop() {
		for _, sigma := range []float64{0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3} {
			k, err := NewKernel(c, sigma)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := LOOCV(ctx, k, x, e, lambdas); err != nil {
				b.Fatal(err)
			}
		}
	}
}
