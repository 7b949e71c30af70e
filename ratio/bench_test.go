package ratio

import (
	"context"
	"strconv"
	"testing"

	"github.com/noren-privacy/noren/noise"
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

// n = 1,000,000 private records, N = 10,000 public ones, d = 10, b = 100: kernels, h, H,
// the grid of lambdas and the weights.
func BenchmarkFitMillion(b *testing.B) {
	ctx := context.Background()
	x, e := gaussian(1, 1_000_000, 10, 0.3, 0.8), gaussian(2, 10_000, 10, 0, 1)
	b.ReportAllocs()
	for b.Loop() {
		m, err := New(ctx, Options{Public: e, Centres: 100, Cost: milli(1000)})
		if err != nil {
			b.Fatal(err)
		}
		r, err := m.Release(ctx, x, noise.NewSource())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Weights(ctx, r); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSum(b *testing.B) {
	x := gaussian(1, 100_000, 10, 0, 1)
	k, err := NewKernel(gaussian(2, 100, 10, 0, 1), 3)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(x.Rows * x.Dim * 8))
	for b.Loop() {
		if _, err := k.Sum(context.Background(), x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMean(b *testing.B) {
	x, e, _ := settingOne(1, 2000, 5000)
	w := fitOne(b, 1, e, x, Options{Cost: milli(1000)})
	for b.Loop() {
		if _, err := w.Mean(e.Data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBounds(b *testing.B) {
	for _, size := range []int{12, 100} {
		k, err := NewKernel(gaussian(1, size, 1, 0, 1), 0.5)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			for b.Loop() {
				k.Bounds()
			}
		})
	}
}
