package service_test

import (
	"fmt"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/kinds"
	"github.com/noren-privacy/noren/service"
)

// atSmallerStep is the error that a question has at the next smaller step of the grid of
// prices; nil where that is no price.
func atSmallerStep(t testing.TB, s *service.Service, q api.Question) *float64 {
	t.Helper()
	step := big.NewRat(1, 1000)
	text, rho := q.Pay.Epsilon, q.Pay.Rho != ""
	if rho {
		step, text = big.NewRat(1, 1_000_000), q.Pay.Rho
	}
	price, ok := new(big.Rat).SetString(text)
	if !ok || new(big.Rat).Quo(price, step).IsInt() == false {
		t.Fatalf("price %s is not on the grid", text)
	}
	if price.Sub(price, step); price.Sign() == 0 {
		return nil
	}
	pay := &api.Amount{Epsilon: price.FloatString(3)}
	if rho {
		pay = &api.Amount{Rho: price.FloatString(6)}
	}
	q.Pay = pay
	quote, err := s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{q}})
	if err != nil {
		return nil // no noise of that size
	}
	return quote.Questions[0].Accuracy.Within
}

// checkPrice fails unless the error at the price is within the margin, and at the next
// smaller step it is not.
func checkPrice(t testing.TB, s *service.Service, q api.Question) {
	t.Helper()
	quote, err := s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{q}})
	if err != nil {
		t.Fatalf("%+v, margin %+v: %v", q, *q.Margin, err)
	}
	one := quote.Questions[0]
	if one.Accuracy.Within == nil || *one.Accuracy.Within > q.Margin.Within {
		t.Errorf("%s: at %+v the error is %v, the margin %g", q.Name(), one.Question.Pay, one.Accuracy.Within, q.Margin.Within)
	}
	if less := atSmallerStep(t, s, one.Question); less != nil && *less <= q.Margin.Within {
		t.Errorf("%s: at %+v the price is not the least: one step less has %g, the margin is %g", q.Name(), one.Question.Pay, *less,
			q.Margin.Within)
	}
}

func TestPriceOfAMarginIsTheLeast(t *testing.T) {
	randtest.SkipShort(t)
	s, _, questions := everyKind(t)
	kept(t, s)
	for i := range questions {
		checkPrice(t, s, questions[i])
	}
	z := grantedZCDP(t)
	kept(t, z)
	for _, q := range questions {
		if k, ok := q.Query(); !ok || k.Column == "seen" {
			continue
		}
		checkPrice(t, z, q)
		if q.Name() != "quantile" {
			checkPrice(t, z, q.WithNoise("gaussian"))
		}
	}
	gaussian := api.Question{Of: kinds.Count{Noise: "gaussian"}, Margin: &api.Margin{Within: 25, Delta: "1e-6"}}
	checkGaussian(t, s, gaussian)
}

// checkGaussian is checkPrice for Gaussian noise in a budget of epsilon, whose payment has
// a delta.
func checkGaussian(t *testing.T, s *service.Service, q api.Question) {
	quote, err := s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{q}})
	must(t, err)
	one := quote.Questions[0]
	if one.Cost.Delta != "0.000001" || *one.Accuracy.Within > 25 {
		t.Errorf("%+v: %+v", one.Cost, one.Accuracy)
	}
	epsilon, err := strconv.ParseFloat(one.Question.Pay.Epsilon, 64)
	must(t, err)
	less := one.Question
	less.Pay = &api.Amount{Epsilon: fmt.Sprintf("%.3f", epsilon-0.001), Delta: "1e-6"}
	quote, err = s.AskPrice(t.Context(), &api.AskRequest{Dataset: "people", Questions: []api.Question{less}})
	must(t, err)
	if *quote.Questions[0].Accuracy.Within <= 25 {
		t.Errorf("epsilon %s would do, the price is %s", less.Pay.Epsilon, one.Question.Pay.Epsilon)
	}
}

func TestPriceOfAnyMarginIsTheLeast(t *testing.T) {
	randtest.Fewer(t, randtest.Size(10, 2))
	s, _, _ := everyKind(t)
	kept(t, s)
	rapid.Check(t, func(r *rapid.T) {
		kind := rapid.SampledFrom([]string{"count", "sum", "mean", "variance", "quantile"}).Draw(r, "kind")
		m := &api.Margin{At: rapid.SampledFrom([]string{"0.9", "0.95", "0.99"}).Draw(r, "at"), About: rapid.Int64Range(200, 100_000).
			Draw(r, "about")}
		share := rapid.Float64Range(0.001, 0.2).Draw(r, "share")
		q := api.Question{Margin: m}
		switch kind {
		case "count":
			q.Of = kinds.Count{}
			m.Within = float64(rapid.IntRange(1, 5000).Draw(r, "within"))
		case "sum":
			q.Of, m.Within = kinds.Sum{Column: "age"}, 110*float64(rapid.IntRange(2, 5000).Draw(r, "within"))
		case "variance":
			q.Of, m.Within = kinds.Variance{Column: "age"}, 110+3000*(share+0.1)
		case "mean":
			q.Of, m.Within = kinds.Mean{Column: "age"}, 1+110*share
		case "quantile":
			q.Of, m.Within = kinds.Quantile{Column: "age"}, float64(rapid.IntRange(2, 5000).Draw(r, "within"))
		}
		checkPrice(t, s, q)
	})
}
