package ldp

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestEqualFrequencyIsThePapers(t *testing.T) {
	// s = 1..10, l = 5: edges s[0], s[2], s[4], s[6], s[8], s[9].
	v := []float64{10, 3, 1, 2, 4, 9, 8, 7, 6, 5}
	b, err := FitEqualFrequency(v, 5)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{1, 3, 5, 7, 9, 10}; !slices.Equal(b.Edges(), want) {
		t.Errorf("edges %v, want %v", b.Edges(), want)
	}
	labels, err := b.Labels([]float64{-5, 1, 3, 3.1, 5, 9, 9.5, 10, 99})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 0, 0, 1, 1, 3, 4, 4, 4}; !slices.Equal(labels, want) {
		t.Errorf("labels %v, want %v", labels, want)
	}
	if b.Midpoint(0) != 2 || b.Midpoint(4) != 9.5 || b.Origin() != Fitted || !math.IsInf(b.PaidEpsilon(), 1) {
		t.Error("midpoints or origin")
	}
}

func TestEdgesThatRepeat(t *testing.T) {
	for _, c := range []struct {
		values []float64
		l      int
		edges  []float64
	}{
		{[]float64{0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, 5, []float64{0, 0, 1, 3, 4}}, // zeros have a bin of their own
		{[]float64{7, 7, 7}, 5, []float64{7, 7}},
		{[]float64{1, 2}, 5, []float64{1, 1, 2}},
		{[]float64{3}, 1, []float64{3, 3}},
	} {
		b, err := FitEqualFrequency(c.values, c.l)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(b.Edges(), c.edges) {
			t.Errorf("edges of %v are %v, want %v", c.values, b.Edges(), c.edges)
		}
	}
}

func TestBinsHoldTheirLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 60).Draw(t, "values")
		l := rapid.IntRange(1, 9).Draw(t, "l")
		for _, fit := range []func([]float64, int) (*Bins, error){FitEqualFrequency, FitEqualWidth} {
			b, err := fit(values, l)
			if err != nil {
				t.Fatal(err)
			}
			e := b.Edges()
			if b.Len() > l || !slices.IsSorted(e) || e[0] != slices.Min(values) || e[len(e)-1] != slices.Max(values) {
				t.Fatalf("edges %v", e)
			}
			for _, v := range values {
				j, err := b.Label(v)
				if err != nil {
					t.Fatal(err)
				}
				if v > e[j+1] || j > 0 && v <= e[j] || j == 0 && v < e[0] {
					t.Fatalf("%g is not in bin %d of %v", v, j, e)
				}
				if k, err := b.Label(b.Midpoint(j)); err != nil || k != j && e[j+1] > math.Nextafter(math.Nextafter(e[j], math.Inf(1)), math.Inf(1)) {
					t.Fatalf("the midpoint of bin %d is in bin %d", j, k)
				}
			}
		}
	})
}

func TestBinsRefuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for name, construct := range map[string]func() (*Bins, error){
		"one edge":         func() (*Bins, error) { return NewBins([]float64{1}) },
		"descending":       func() (*Bins, error) { return NewBins([]float64{2, 1}) },
		"equal":            func() (*Bins, error) { return NewBins([]float64{1, 1}) },
		"NaN edge":         func() (*Bins, error) { return NewBins([]float64{1, nan}) },
		"infinite edge":    func() (*Bins, error) { return NewBins([]float64{1, inf}) },
		"empty range":      func() (*Bins, error) { return EqualWidth(1, 1, 3) },
		"range overflows":  func() (*Bins, error) { return EqualWidth(-1e308, 1e308, 3) },
		"no bins":          func() (*Bins, error) { return EqualWidth(0, 1, 0) },
		"bins too fine":    func() (*Bins, error) { return EqualWidth(1, math.Nextafter(1, 2), 4) },
		"no values":        func() (*Bins, error) { return FitEqualFrequency(nil, 3) },
		"NaN value":        func() (*Bins, error) { return FitEqualFrequency([]float64{1, nan}, 3) },
		"infinite value":   func() (*Bins, error) { return FitEqualWidth([]float64{1, inf}, 3) },
		"edges for nought": func() (*Bins, error) { return PaidBins([]float64{1, 2}, 0) },
	} {
		if _, err := construct(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	b, err := PaidBins([]float64{3, 1, 3, 2}, 0.5)
	if err != nil || b.Len() != 2 || b.Origin() != Paid || b.PaidEpsilon() != 0.5 {
		t.Error("paid edges", err)
	}
	if _, err := b.Label(nan); err == nil {
		t.Error("not a number has a label")
	}
}
