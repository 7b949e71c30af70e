package ratio

import (
	"context"
	"math"
	"testing"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
)

// A replace-one budget is charged sqrt(2) times the epsilon of an add-remove fit for the sums
// of kernels, once that of the records outside, and nothing for the number of records: and
// the density of the noise bears it out, over pairs of records.
func TestReplacedCost(t *testing.T) {
	randtest.SkipShort(t)
	ctx := context.Background()
	e := gaussian(1, 200, 2, 0, 1)
	m, err := New(ctx, Options{Public: e, Cost: milli(1000), CountShare: 0.1, OutsideShare: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	same, err := m.Cost(account.AddRemove, account.Record)
	if err != nil || same.Epsilon != account.EpsilonUnits {
		t.Errorf("add-remove: %+v, %v", same, err)
	}
	c, err := m.Cost(account.ReplaceOne, account.Record)
	if err != nil {
		t.Fatal(err)
	}
	want := math.Sqrt2*0.8 + 0.1
	if got, _ := c.Float(); got < want || got > want+1e-8 {
		t.Errorf("replace-one: %.12g, want %.12g", got, want)
	}
	g, err := m.Guarantee(account.ReplaceOne, account.Record)
	if err != nil || math.Abs(g.Epsilon-want) > 1e-8 || g.Neighbours != "replace-one" {
		t.Errorf("%+v, %v", g, err)
	}
	// log density of the noise: -|L^-1 z| / scale; moving z by a difference of records
	// changes it by at most |L^-1 difference| / scale.
	k := m.Kernels()[0]
	root, _, err := k.root()
	if err != nil {
		t.Fatal(err)
	}
	largest := 0.0
	x := gaussian(3, 200, 2, 0, 1.5)
	for i := range x.Rows - 1 {
		a, b := make([]float64, k.Size()), make([]float64, k.Size())
		k.Phi(a, x.Row(i))
		k.Phi(b, x.Row(i+1))
		for l := range a {
			a[l] -= b[l]
			for j := range l {
				a[l] -= root.At(l, j) * a[j]
			}
			a[l] /= root.At(l, l)
		}
		largest = max(largest, math.Sqrt(dot(a, a))/m.Distribution().Scale)
	}
	if bound := math.Sqrt2 * 0.8; largest > bound || largest < 0.5*bound {
		t.Errorf("a replaced record moves the log density by %g, the bound is %g", largest, bound)
	}

	// Other noise costs twice, as before; Gaussian noise between once and twice.
	l, err := New(ctx, Options{Public: e, Cost: milli(1000), Noise: Laplace})
	if err != nil {
		t.Fatal(err)
	}
	if c, err = l.Cost(account.ReplaceOne, account.Record); err != nil || c.Epsilon != 2*account.EpsilonUnits {
		t.Errorf("laplace: %+v, %v", c, err)
	}
	cost := milli(1000)
	cost.Delta = account.DeltaUnits / 1_000_000
	n, err := New(ctx, Options{Public: e, Cost: cost, Noise: RKHSGaussian})
	if err != nil {
		t.Fatal(err)
	}
	c, err = n.Cost(account.ReplaceOne, account.Record)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := c.Float(); got < 1.3 || got > 1.6 || c.Delta != cost.Delta {
		t.Errorf("gaussian: %+v", c)
	}
	if _, err := n.Cost(account.ReplaceOne, "person"); err == nil {
		t.Error("another unit was priced")
	}
}
