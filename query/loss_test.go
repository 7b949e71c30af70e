package query

import (
	"math"
	"math/big"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// The loss in zCDP of Gaussian noise is L2^2/(2 sigma^2), of any other noise that of its
// epsilon; in a replace-one budget an add-remove query costs that of two units.
func TestLoss(t *testing.T) {
	cost := account.Cost{Epsilon: account.EpsilonUnits / 2, Delta: 1e12}
	for name, o := range map[string]Options{
		"one coordinate": {Kind: Count},
		"groups":         {Kind: Count, By: []string{"ward"}, Keys: [][]string{{"1"}, {"2"}}},
		"mean":           {Kind: Mean, Column: "cost", Bounds: &Bounds{0, 100}},
	} {
		o.Fields, o.Noise, o.Cost = visits, Gaussian, cost
		q := mustNew(t, o)
		p := q.kernel.(*sums).p
		sigma2, ok1 := new(big.Rat).SetString(p.Sigma2)
		square, ok2 := new(big.Rat).SetString(p.L2Square)
		if !ok1 || !ok2 {
			t.Fatal(p)
		}
		exact := new(big.Rat).Quo(square, sigma2.Add(sigma2, sigma2))
		l, err := q.Loss(account.AddRemove, account.Record)
		if err != nil || l.Pure != 0 || l.Rho != l.Gaussian {
			t.Fatalf("%s: %+v, %v", name, l, err)
		}
		if below := new(big.Rat).Sub(l.Rho.Rat(), exact); below.Sign() < 0 || below.Cmp(big.NewRat(1, account.RhoUnits)) >= 0 {
			t.Errorf("%s: rho %s, exactly %s", name, l.Rho, exact.FloatString(20))
		}
		// It stands for about the epsilon that it was calibrated for, and never less than
		// the exact account of its noise.
		c, err := l.Rho.Cost(cost.Delta)
		if ratio := float64(c.Epsilon) / float64(cost.Epsilon); err != nil || ratio < 1-1e-6 || ratio > 1.3 {
			t.Errorf("%s: the conversion of its rho is %v, %v", name, c, err)
		}
		two, err := q.Loss(account.ReplaceOne, account.Record)
		if err != nil || two.Rho != 4*l.Rho || two.Gaussian != two.Rho {
			t.Errorf("%s: in replace-one %+v, %v", name, two, err)
		}
	}
	q := mustNew(t, Options{Kind: Count, Fields: visits, Cost: account.Cost{Epsilon: account.EpsilonUnits / 10}})
	if l, err := q.Loss(account.AddRemove, account.Record); err != nil ||
		l != (account.Loss{Rho: account.RhoUnits / 200, Pure: account.EpsilonUnits / 10}) {
		t.Errorf("%+v, %v", l, err)
	}
	if l, err := q.Loss(account.ReplaceOne, account.Record); err != nil || math.Abs(l.Rho.Float()-0.02) > 1e-12 ||
		l.Pure != account.EpsilonUnits/5 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := q.Loss(account.AddRemove, "person"); noren.KindOf(err) != noren.Usage {
		t.Error(err)
	}
}
