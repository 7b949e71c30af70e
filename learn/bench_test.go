package learn

import "testing"

// table is as large as a training part of the breast-cancer table: 512 x 30.
// Rounded to five values a feature, it is as what comes back from randomised
// labels.
func table(rounded bool) (*Matrix, []int) {
	rng := stream(6, 6)
	x, y := NewMatrix(512, 30), make([]int, 512)
	for i := range x.Rows {
		y[i] = rng.IntN(2)
		for j := range x.Cols {
			v := rng.NormFloat64() + 0.4*float64(y[i])
			if rounded {
				v = float64(int(v*1.2+2.5)) - 2
				if rng.IntN(3) == 0 {
					v = float64(rng.IntN(5) - 2)
				}
			}
			x.Set(i, j, v)
		}
	}
	return x, y
}

func BenchmarkTrain(b *testing.B) {
	for _, data := range []string{"continuous", "five values"} {
		x, y := table(data == "five values")
		for name, l := range map[string]Learner{
			"svm": SVM{}, "svm to 1e-4": SVM{Tolerance: 1e-4}, "forest 20 of depth 5": Forest{Trees: 20, Depth: 5},
		} {
			b.Run(name+"/"+data, func(b *testing.B) {
				for b.Loop() {
					if _, err := l.Train(b.Context(), x, y, 1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkTrainWdbc trains on the breast-cancer table itself, 569 x 30, whose features go
// together.
func BenchmarkTrainWdbc(b *testing.B) {
	x, y := wdbc(b)
	z := zscored(b, x)
	for b.Loop() {
		if _, err := (SVM{}).Fit(b.Context(), z, y, 1); err != nil {
			b.Fatal(err)
		}
	}
}
