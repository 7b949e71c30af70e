package learn

import "testing"

// On the same folds the machine is as accurate as scikit-learn's two, with its defaults.
// testdata/folds.json is made by experiments/peers/svm.py: ten times ten folds, a line of
// digits for each repeat that tells the fold of each record, and the mean accuracies.
func TestSVMOnTheFoldsOfScikitLearn(t *testing.T) {
	x, y := wdbc(t)
	z := zscored(t, x)
	var f struct {
		Folds          []string
		SVC, LinearSVC float64
	}
	figures(t, "folds.json", &f)
	if len(f.Folds) != 10 || !(f.SVC > 0.9) || !(f.LinearSVC > 0.9) {
		t.Fatalf("%d repeats, accuracies %g and %g", len(f.Folds), f.SVC, f.LinearSVC)
	}
	total, count := 0.0, 0
	for r, digits := range f.Folds {
		if len(digits) != x.Rows {
			t.Fatalf("repeat %d has folds of %d records, not of %d", r, len(digits), x.Rows)
		}
		part := make([]int, x.Rows)
		for i, d := range []byte(digits) {
			part[i] = int(d - '0')
		}
		rates, err := CrossValidate(t.Context(), SVM{}, z, y, CV{Folds: folds(part, 10), Seed: uint64(r), Workers: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, rate := range rates[0] {
			total += rate
			count++
		}
	}
	accuracy := total / float64(count)
	if best := max(f.SVC, f.LinearSVC); accuracy < best-0.002 {
		t.Errorf("accuracy %.5f, scikit-learn has %.5f", accuracy, best)
	}
	t.Logf("accuracy %.5f, SVC %.5f, LinearSVC %.5f", accuracy, f.SVC, f.LinearSVC)
}
