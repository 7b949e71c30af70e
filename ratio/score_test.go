package ratio

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Scores returns the sum of section 6, with each public record left out by a
// fit without it.
func TestScoresLeaveOut(t *testing.T) {
	x, e := gaussian(5, 40, 1, 1, 0.5), gaussian(6, 9, 1, 0, 1)
	k, err := NewKernel(&Points{Rows: 4, Dim: 1, Data: []float64{-1, 0, 1, 2}}, 0.8)
	if err != nil {
		t.Fatal(err)
	}
	f, err := NewFeatures(t.Context(), k, e)
	if err != nil {
		t.Fatal(err)
	}
	h, err := k.Mean(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	noise := k.Gram()
	noise.ScaleSym(0.01, noise)
	lambdas := []float64{0.01, 0.5}
	got, err := f.Scores(h, noise, lambdas)
	if err != nil {
		t.Fatal(err)
	}
	for i, lambda := range lambdas {
		want := 0.0
		for r := range e.Rows {
			part, err := NewFeatures(t.Context(), k, without(e, r))
			if err != nil {
				t.Fatal(err)
			}
			alpha, err := part.Solve(h, lambda)
			if err != nil {
				t.Fatal(err)
			}
			v := dot(f.Phi.RawRowView(r), alpha)
			want += (v*v/2 - dot(h, alpha)) / float64(e.Rows)
		}
		a := mat.NewDense(4, 4, nil)
		for r := range 4 {
			for c := range 4 {
				a.Set(r, c, f.H.At(r, c))
			}
			a.Set(r, r, f.H.At(r, r)+lambda)
		}
		var inverse, as, square mat.Dense
		if err := inverse.Inverse(a); err != nil {
			t.Fatal(err)
		}
		as.Mul(&inverse, noise)
		square.Mul(&as, &as)
		want += mat.Trace(&as) + math.Sqrt(2*mat.Trace(&square))
		near(t, "score", got[i], want, 1e-9)
	}
	if _, err := f.Scores(h[:3], noise, lambdas); err == nil {
		t.Error("means of another length were taken")
	}
	if _, err := f.Scores(h, noise, []float64{0}); err == nil {
		t.Error("a lambda of 0 was taken")
	}
	spread := f.Spread(ones(9))
	for l := range 4 {
		mean, square := 0.0, 0.0
		for r := range 9 {
			v := f.Phi.At(r, l)
			mean += v / 9
			square += v * v / 9
		}
		near(t, "spread", spread.At(l, l), square-mean*mean, 1e-12)
	}
}
