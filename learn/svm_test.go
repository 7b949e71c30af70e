package learn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func checkSVM(t *testing.T, x *Matrix, y []int, want []svmFigure, tolerance float64) {
	t.Helper()
	for _, f := range want {
		t.Run(fmt.Sprintf("C=%g,B=%g", f.C, f.B), func(t *testing.T) {
			m, err := SVM{C: f.C, Intercept: f.B, Tolerance: 1e-9, MaxPasses: 1_000_000}.Fit(t.Context(), x, y, 3)
			if err != nil {
				t.Fatal(err)
			}
			if !m.Converged {
				t.Error("did not converge")
			}
			for k := range f.Weights {
				for j, w := range f.Weights[k] {
					near(t, fmt.Sprintf("weight %d of machine %d", j, k), m.Weights[k][j], w, tolerance)
				}
				near(t, fmt.Sprintf("intercept of machine %d", k), m.Intercepts[k], f.Intercepts[k], tolerance)
			}
		})
	}
}

func TestSVMWeightsAreLiblinears(t *testing.T) {
	var f struct {
		X          [][]float64
		Y2, Y3     []int
		SVM2, SVM3 []svmFigure
	}
	figures(t, "sklearn.json", &f)
	z := zscored(t, fromRows(f.X))
	checkSVM(t, z, f.Y2, f.SVM2, 1e-6)
	checkSVM(t, z, f.Y3, f.SVM3, 1e-6)
}

func TestSVMOnBreastCancer(t *testing.T) {
	x, y := wdbc(t)
	var f struct {
		SVM []svmFigure
		CV  map[string]cvFigure
	}
	figures(t, "wdbc.json", &f)
	z := zscored(t, x)
	checkSVM(t, z, y, f.SVM, 1e-6)
	want := f.CV["SVC(linear, C=1)"]
	mean, sd := repeated(t, SVM{}, z, y, want.Repeats)
	// Two means of repeats, each with its own error; and libsvm does not count the
	// intercept in |w|, which moves a record or so in 569.
	near(t, "accuracy in %", mean, want.Mean, 4*math.Hypot(sd, want.SD)/math.Sqrt(float64(want.Repeats))+100./569)
}

// repeated is the mean accuracy in % and its deviation over repeats of 10 folds.
func repeated(t testing.TB, l Learner, x *Matrix, y []int, repeats int) (mean, sd float64) {
	t.Helper()
	var means []float64
	for r := range repeats {
		folds, err := KFold(x.Rows, 10, uint64(r))
		if err != nil {
			t.Fatal(err)
		}
		rates, err := CrossValidate(t.Context(), l, x, y, CV{Folds: folds, Seed: uint64(r), Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := meanAndSD(rates[0])
		means = append(means, 100*m)
	}
	return meanAndSD(means)
}

// The loose default is good enough to be near the optimum: the dual objective
// bounds the primal from below (weak duality), and the gap is small.
func TestSVMDualityGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 60).Draw(t, "n")
		d := rapid.IntRange(1, 5).Draw(t, "d")
		c := rapid.Float64Range(0.01, 10).Draw(t, "C")
		x := NewMatrix(n, d)
		for i := range x.Data {
			x.Data[i] = rapid.Float64Range(-3, 3).Draw(t, "x")
		}
		y := make([]int, n)
		y[0] = 1
		for i := 2; i < n; i++ {
			y[i] = rapid.IntRange(0, 1).Draw(t, "y")
		}
		o, err := SVM{C: c, Tolerance: 1e-8, MaxPasses: 200_000}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		p := newProblem(x, o)
		for i := range y {
			p.sign(i, y[i] == 1)
		}
		if _, ok, err := p.descend(context.Background(), o, 1, 0); err != nil {
			t.Fatal(err)
		} else if !ok {
			t.Skip("not settled in 200,000 passes")
		}
		w2 := dot(p.w, p.w)
		primal, dual := w2/2, -w2/2
		for i := range n {
			primal += c * max(0, 1-dot(p.w, p.row(i)))
			dual += p.a[i]
		}
		if primal < dual-1e-9*(1+primal) || primal-dual > 1e-4*(1+primal) {
			t.Fatalf("primal %g, dual %g", primal, dual)
		}
	})
}

// A product after a move is that of the moved weights, to the last bit, and a product by
// lanes is a plain one but for rounding.
func TestProductsByLanes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := lanes * rapid.IntRange(1, 5).Draw(t, "lanes")
		draw := func(name string) []float64 {
			return rapid.SliceOfN(rapid.Float64Range(-10, 10), n, n).Draw(t, name)
		}
		x, a, b, f := draw("x"), draw("a"), draw("b"), rapid.Float64Range(-2, 2).Draw(t, "f")
		moved := append([]float64(nil), a...)
		axpy(f, x, moved)
		got := moveAndDot(f, x, a, b)
		if !slices.Equal(a, moved) || got != dotLanes(moved, b) {
			t.Fatalf("%v, %v, want %v, %v", a, got, moved, dotLanes(moved, b))
		}
		var plain, size float64
		for i := range b {
			plain += moved[i] * b[i]
			size += math.Abs(moved[i] * b[i])
		}
		if math.Abs(got-plain) > 1e-14*size {
			t.Fatalf("%v, want %v", got, plain)
		}
	})
}

// A row that changes its side and comes back is the same.
func TestSigns(t *testing.T) {
	x := &Matrix{Rows: 2, Cols: 2, Data: []float64{1, -2, 0, 4}}
	p := newProblem(x, SVM{Intercept: 3})
	before := append([]float64(nil), p.x...)
	p.sign(1, false)
	if got := p.row(1); got[0] != 0 || got[1] != -4 || got[2] != -3 || !slices.Equal(p.row(0), before[:p.d]) {
		t.Fatalf("rows %v", p.x)
	}
	p.sign(1, false)
	p.sign(1, true)
	if !slices.Equal(p.x, before) {
		t.Fatalf("rows %v, want %v", p.x, before)
	}
}

func TestSVMRefuses(t *testing.T) {
	x := NewMatrix(3, 2)
	for name, run := range map[string]func() error{
		"one class":      func() error { _, err := SVM{}.Fit(t.Context(), x, []int{1, 1, 1}, 0); return err },
		"negative C":     func() error { _, err := SVM{C: -1}.Fit(t.Context(), x, []int{0, 1, 1}, 0); return err },
		"NaN tolerance":  func() error { _, err := SVM{Tolerance: math.NaN()}.Fit(t.Context(), x, []int{0, 1, 1}, 0); return err },
		"short y":        func() error { _, err := SVM{}.Fit(t.Context(), x, []int{0, 1}, 0); return err },
		"negative class": func() error { _, err := SVM{}.Fit(t.Context(), x, []int{0, -1, 1}, 0); return err },
		"not a number": func() error {
			y := NewMatrix(2, 1)
			y.Data[1] = math.NaN()
			_, err := SVM{}.Fit(t.Context(), y, []int{0, 1}, 0)
			return err
		},
		"cancelled": func() error {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := SVM{}.Fit(ctx, x, []int{0, 1, 1}, 0)
			return err
		},
	} {
		if run() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
