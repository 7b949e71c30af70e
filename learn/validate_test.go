package learn

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFoldsPartTheRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 200).Draw(t, "n")
		k := rapid.IntRange(2, min(n, 12)).Draw(t, "k")
		classes := rapid.IntRange(1, 4).Draw(t, "classes")
		seed := rapid.Uint64().Draw(t, "seed")
		y := make([]int, n)
		for i := range y {
			y[i] = rapid.IntRange(0, classes-1).Draw(t, "y")
		}
		plain, err1 := KFold(n, k, seed)
		stratified, err2 := StratifiedKFold(y, k, seed)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for _, folds := range [][]Fold{plain, stratified} {
			tested := make([]int, n)
			for _, f := range folds {
				if s := len(f.Test); s < n/k || s > (n+k-1)/k {
					t.Fatalf("a part of %d of %d records in %d folds", s, n, k)
				}
				all := slices.Concat(f.Train, f.Test)
				slices.Sort(all)
				for i, r := range all {
					if i != r {
						t.Fatal("a fold is no partition")
					}
				}
				for _, r := range f.Test {
					tested[r]++
				}
			}
			if slices.Min(tested) != 1 || slices.Max(tested) != 1 {
				t.Fatal("not every record is tested once")
			}
		}
		for c := range classes {
			var counts []int
			for _, f := range stratified {
				count := 0
				for _, r := range f.Test {
					if y[r] == c {
						count++
					}
				}
				counts = append(counts, count)
			}
			if slices.Max(counts)-slices.Min(counts) > 1 {
				t.Fatalf("class %d is dealt %v", c, counts)
			}
		}
	})
}

func TestScalersAndComponents(t *testing.T) {
	var f struct {
		X           [][]float64
		Mean, Scale []float64
		PCA         struct {
			Components      [][]float64
			Variance, Share []float64
		}
	}
	figures(t, "sklearn.json", &f)
	x := fromRows(f.X)
	s, err := FitScaler(x)
	if err != nil {
		t.Fatal(err)
	}
	for j := range f.Mean {
		near(t, "mean", s.Shift[j], f.Mean[j], 1e-12)
		near(t, "scale", s.Scale[j], f.Scale[j], 1e-12)
	}
	z := zscored(t, x)
	p, err := FitPCA(z, 3)
	if err != nil {
		t.Fatal(err)
	}
	for c := range f.PCA.Components {
		near(t, "variance", p.Variance[c], f.PCA.Variance[c], 1e-10)
		near(t, "share", p.Share[c], f.PCA.Share[c], 1e-10)
		sign := 1.0
		if dot(p.Components[c], f.PCA.Components[c]) < 0 {
			sign = -1 // the direction is a convention
		}
		for j := range f.PCA.Components[c] {
			near(t, "component", sign*p.Components[c][j], f.PCA.Components[c][j], 1e-9)
		}
	}
	scores, err := p.Apply(z)
	if err != nil {
		t.Fatal(err)
	}
	_, variance := moments(scores)
	for c := range variance {
		near(t, "variance of the scores", variance[c]*float64(z.Rows)/float64(z.Rows-1), p.Variance[c], 1e-10)
	}
}

func TestConstantFeatureScalesToZero(t *testing.T) {
	x := NewMatrix(7, 1)
	for i := range x.Data {
		x.Data[i] = 0.1 // whose sum of 7 is not 0.7
	}
	if z := zscored(t, x); slices.Max(z.Data) != 0 || slices.Min(z.Data) != 0 {
		t.Errorf("a constant scales to %v", z.Data)
	}
}

// The paper's section 5.4 names the five attributes: worst radius, mean and
// worst perimeter, mean and worst concave points.
func TestCovarianceSelectionIsThePapers(t *testing.T) {
	x, y := wdbc(t)
	got, err := SelectByCovariance(zscored(t, x), y, 5)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{2, 7, 20, 22, 27}; !slices.Equal(got, want) {
		t.Errorf("selected %v, want %v", got, want)
	}
}

func TestCovarianceOfTwoClasses(t *testing.T) {
	x := fromRows([][]float64{{1}, {2}, {4}, {9}})
	got, err := CovarianceWithClass(x, []int{0, 0, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "strength", got[0], math.Sqrt2*1.25, 1e-12) // cov = mean(xy) - mean(x) mean(y) = 3.25 - 2
}

func TestCrossValidateRefuses(t *testing.T) {
	x := NewMatrix(4, 1)
	y := []int{0, 1, 0, 1}
	for name, cv := range map[string]CV{
		"no folds":       {},
		"empty test":     {Folds: []Fold{{Train: []int{1}}}},
		"out of range":   {Folds: []Fold{{Train: []int{1}, Test: []int{4}}}},
		"other features": {Folds: []Fold{{Train: []int{0, 1}, Test: []int{2}}}, Tests: []*Matrix{NewMatrix(4, 2)}},
	} {
		if _, err := CrossValidate(t.Context(), SVM{}, x, y, cv); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, k := range []int{0, 1, 5} {
		if _, err := KFold(4, k, 0); err == nil {
			t.Errorf("%d folds of 4 records: no error", k)
		}
		if _, err := StratifiedKFold(y, k, 0); err == nil {
			t.Errorf("%d stratified folds of 4 records: no error", k)
		}
	}
}

// A sample has k different records, and every record is in it as often.
func TestSample(t *testing.T) {
	const n, k, seeds = 20, 7, 4000
	var counts [n]int
	for seed := range uint64(seeds) {
		s, err := Sample(n, k, seed)
		if err != nil || len(s) != k || !slices.IsSorted(s) || len(slices.Compact(slices.Clone(s))) != k {
			t.Fatal(s, err)
		}
		for _, r := range s {
			counts[r]++
		}
	}
	for r, c := range counts {
		want := float64(seeds) * k / n
		if math.Abs(float64(c)-want) > 5*math.Sqrt(want*(1-float64(k)/n)) {
			t.Errorf("record %d was drawn %d times, want about %.0f", r, c, want)
		}
	}
	for _, bad := range []int{0, n + 1} {
		if _, err := Sample(n, bad, 1); err == nil {
			t.Errorf("a sample of %d of %d", bad, n)
		}
	}
}
