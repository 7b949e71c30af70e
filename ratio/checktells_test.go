package ratio

import (
	"context"
	"math"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
)

// A check with much epsilon tells good weights from none.
func TestCheckTells(t *testing.T) {
	ctx := context.Background()
	x, e, _ := settingOne(6, 5000, 1000)
	w := fitOne(t, 2, e, x, Options{Cost: milli(2000)})
	compare := func(w *Weights) *CheckResult {
		t.Helper()
		c, err := NewCheck(CheckOptions{Weights: w, Public: e, Cost: milli(2000), Neighbours: account.ReplaceOne, Records: 5000})
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Release(ctx, x, entropy.Seeded(3))
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.Compare(s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	good := compare(w)
	if !good.Nearer {
		t.Errorf("good weights: %+v", good)
	}
	// Weights for other private records.
	other := fitOne(t, 2, e, gaussian(9, 5000, 1, 0, 0.5), Options{Cost: milli(2000)})
	if bad := compare(other); bad.Nearer || bad.Off == 0 || len(bad.Warnings) != 2 {
		t.Errorf("weights for others: %+v", bad)
	}
	if _, err := NewCheck(CheckOptions{Weights: w, Public: e}); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}

// Where private records are in two narrow clouds, a list of bandwidths finds a narrower
// one on the released means.
func TestBandwidthFromSeveral(t *testing.T) {
	x := gaussian(1, 20_000, 1, 0, 0.3)
	for i := range x.Rows / 2 {
		x.Data[i] = 2 + x.Data[i]*4/3
	}
	e := gaussian(2, 400, 1, 1, 1.5)
	s := MedianDistance(e)
	w := fitOne(t, 1, e, x, Options{Cost: milli(4000), Centres: 20, Sigmas: []float64{s, s / 2, s / 4}})
	if w.Meta.Sigma >= s {
		t.Errorf("the bandwidth taken is %g of %v", w.Meta.Sigma, w.Meta.Sigmas)
	}
	truth := make([]float64, e.Rows)
	for i, v := range e.Data {
		d := (math.Exp(-v*v/0.18)/0.3 + math.Exp(-(v-2)*(v-2)/0.32)/0.4) / 2
		truth[i] = d / (math.Exp(-(v-1)*(v-1)/4.5) / 1.5)
	}
	wide := fitOne(t, 1, e, x, Options{Cost: milli(4000), Centres: 20, Sigmas: []float64{s}})
	if a, b := meanSquare(w.W, truth), meanSquare(wide.W, truth); a > b {
		t.Errorf("mean squared error %g with a choice of bandwidths, %g without", a, b)
	}
	near(t, "what the fit is at public points", func() float64 {
		r, err := w.Ratio(e)
		if err != nil {
			t.Fatal(err)
		}
		return meanSquare(r, w.W)
	}(), 0, 1e-20)
}
