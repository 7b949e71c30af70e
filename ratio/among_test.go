package ratio

import (
	"math"
	"testing"

	"github.com/noren-privacy/noren"
)

// Questions about some of the records: D ~ N(2, 1/4), of whom about half are above 2.
func TestAmong(t *testing.T) {
	x, e, _ := settingOne(3, 20_000, 2000)
	w := fitOne(t, 1, e, x, Options{Cost: milli(1000)})
	f := e.Data
	in, y := make([]bool, len(f)), make([]float64, len(f))
	for i, v := range f {
		in[i] = v > 2
		y[i] = math.Abs(v - 2) // another slope below 2
	}
	some, err := w.Among(in)
	if err != nil {
		t.Fatal(err)
	}
	a, err := some.Mean(f)
	if err != nil {
		t.Fatal(err)
	}
	var sw, sum, square, all float64
	for i, v := range f {
		all += w.W[i]
		if in[i] {
			sw += w.W[i]
			sum += w.W[i] * v
			square += w.W[i] * v * v
		}
	}
	// The quotient of corrected means is that of corrected weights.
	c, err := w.calibration()
	if err != nil {
		t.Fatal(err)
	}
	share, corrected := 0.0, 0.0
	for i, v := range f {
		if in[i] {
			share += c.weight(i)
			corrected += c.weight(i) * v
		}
	}
	near(t, "mean", a.Value, corrected/share, 1e-9)
	// The standard deviation by the root of how many private records are above 2.
	near(t, "private part", a.Parts.Private, math.Sqrt((square/sw-sum/sw*sum/sw)/20_000*sw/all)/share, 1e-9)
	for _, s := range a.Warnings {
		t.Errorf("warned of records that were not asked about: %s", s)
	}
	whole, err := w.Count(in)
	if err != nil {
		t.Fatal(err)
	}
	part, err := some.Count(make([]bool, len(f)))
	if err != nil || part.Value != 0 {
		t.Errorf("none among some: %+v, %v", part, err)
	}
	everyone := make([]bool, len(f))
	for i := range everyone {
		everyone[i] = true
	}
	if part, err = some.Count(everyone); err != nil {
		t.Fatal(err)
	}
	near(t, "count", part.Value, whole.Value, 1e-12)
	h, err := some.Histogram(make([]int, len(f)), 1)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "histogram", h[0].Value, whole.Value, 1e-12)
	q, err := some.Quantile(f, 0.001)
	if err != nil || q.Value <= 2 {
		t.Errorf("quantile: %+v, %v", q, err)
	}
	r, err := some.Regression(e, y)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope above 2", r.Coefficients[1].Value, 1, 1e-9)
	if _, err := w.Among(in[1:]); noren.KindOf(err) != noren.Usage {
		t.Errorf("too few: %v", err)
	}
	if none, err := w.Among(make([]bool, len(f))); err != nil {
		t.Fatal(err)
	} else if _, err := none.Mean(f); noren.KindOf(err) != noren.Usage {
		t.Errorf("a mean of none: %v", err)
	}
}
