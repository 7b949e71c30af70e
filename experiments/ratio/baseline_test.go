package ratio

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/table/axis"
)

// The baseline reaches the minimum of its objective; with little noise its weights are near
// the density ratio; one record moves it by no more than the sensitivity.
func TestBaseline(t *testing.T) {
	ctx := context.Background()
	s := Settings()[0]
	d := s.draw(7, 0, nil)
	x, e := d.private, d.public
	l, err := newBaseline(e, 1000, 1e-4, true)
	if err != nil {
		t.Fatal(err)
	}
	beta, err := l.release(ctx, x, entropy.Seeded(1))
	if err != nil {
		t.Fatal(err)
	}
	w := l.weights(beta)
	if mean := floats.Sum(w) / float64(len(w)); math.Abs(mean-1) > 1e-12 {
		t.Errorf("mean weight %g", mean)
	}
	var private, weighted float64
	for _, v := range x.Data {
		private += v / float64(x.Rows)
	}
	for i, v := range e.Data {
		weighted += w[i] * v / float64(e.Rows)
	}
	if math.Abs(private-weighted) > 0.1 {
		t.Errorf("weighted mean %g, private %g", weighted, private)
	}
	if l, err = newBaseline(e, 1, 0.01, true); err != nil {
		t.Fatal(err)
	}
	before, err := l.fit(ctx, x)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []float64{-50, 50, 1, math.NaN()} {
		y := axis.NewPoints[float64](x.Rows, 1)
		copy(y.Data, x.Data)
		y.Data[7] = v
		after, err := l.fit(ctx, y)
		if err != nil {
			t.Fatal(err)
		}
		if moved, limit := floats.Distance(after, before, 2), 2/(float64(x.Rows)*0.01); moved > limit {
			t.Errorf("a record moves beta by %g, more than %g", moved, limit)
		}
	}
	if _, err := newBaseline(e, 1, 0, false); err == nil {
		t.Error("a penalty of 0 was accepted")
	}
}
