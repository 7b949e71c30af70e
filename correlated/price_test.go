package correlated

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
)

// Charges add up: what two answers leak together is at most the sum of theirs.
func TestChargesAddUp(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 4)
		q1, q2 := Count(0), WeightedCount(rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2}), chain.Records(), chain.Records()).
			Draw(t, "weights"), 0)
		b := drawScale(t)
		joint := exactly(t, chain, Joint(q1, q2), b, LeakageOptions{})
		c1, err := Charge(ctx, chain, q1, b)
		if err != nil {
			t.Fatal(err)
		}
		c2, err := Charge(ctx, chain, q2, b)
		if err != nil {
			t.Fatal(err)
		}
		one := exactly(t, chain, q1, b, LeakageOptions{})
		const slack = 1 + 1e-10
		if joint.Upper > (c1+c2)*slack+1e-10 || one.Upper > joint.Upper*slack+1e-10 || one.Upper > c1*slack+1e-10 {
			t.Fatalf("one %.12g <= joint %.12g <= charges %.12g does not hold", one.Upper, joint.Upper, c1+c2)
		}
	})
}

func priceOf(t rapid.TB, m Model, epsilon float64) float64 {
	t.Helper()
	cost, err := Price(context.Background(), m, account.Cost{Epsilon: int64(math.Round(epsilon * account.EpsilonUnits))})
	if err != nil {
		t.Fatal(err)
	}
	if cost.Delta != 0 {
		t.Fatalf("a price with delta: %v", cost)
	}
	return epsilonOf(cost.Epsilon)
}

// Any mechanism costs what a group of all records costs where all are equal, and
// its own epsilon where they are independent.
func TestPriceOfAnyMechanism(t *testing.T) {
	chain := func(p [][]float64) *Chain {
		c, err := NewHomogeneousChain([]float64{.5, .5}, p, 7)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	equal, independent := chain([][]float64{{1, 0}, {0, 1}}), chain([][]float64{{.5, .5}, {.5, .5}})
	sticky := chain([][]float64{{.9, .1}, {.1, .9}})
	class, err := NewClass(independent, sticky, equal)
	if err != nil {
		t.Fatal(err)
	}
	box, err := NewBox(sticky, [][][]float64{{{.85, .05}, {.05, .85}}}, [][][]float64{{{.95, .15}, {.15, .95}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		model     Model
		low, high float64
	}{
		"equal":       {equal, 3.5, 3.5 + 2e-9},
		"independent": {independent, 0.5, 0.5 + 2e-9},
		"a class":     {class, 3.5, 3.5 + 2e-9},
		"a table":     {mustJointTable(t, []int{2, 2, 2}, []float64{.2, .1, .1, .1, .1, .1, .1, .2}), 1.5, 1.5},
		"a box":       {box, priceOf(t, sticky, 0.5), 3.5},
	} {
		if got := priceOf(t, c.model, 0.5); got < c.low || got > c.high {
			t.Errorf("%s: %.12g, want %g..%g", name, got, c.low, c.high)
		}
	}
	// The smallest charge is not rounded below the epsilon itself.
	if cost, err := Price(context.Background(), independent, account.Cost{Epsilon: 1}); err != nil || cost.Epsilon < 1 || cost.Epsilon > 2 {
		t.Errorf("%v, %v", cost, err)
	}
	for _, bad := range []account.Cost{{Epsilon: 1, Delta: 1}, {}, {Epsilon: -1}} {
		if _, err := Price(context.Background(), sticky, bad); noren.KindOf(err) != noren.Usage || bad.Delta > 0 && noren.CodeOf(err) != "model" {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := Price(context.Background(), nil, account.Cost{Epsilon: 1}); noren.KindOf(err) != noren.Usage {
		t.Errorf("no model: %v", err)
	}
}

// A sequence is a transcript of several answers: for each the logarithm of its
// likelihood on every state of all records, and what it is charged.
type sequence struct {
	log    []float64 // by joint state, as in NewJointTable
	charge float64
}

// ask adds one answer to a sequence, chosen by what was answered before: Laplace
// noise on a query, charged by [Charge], or any mechanism that is private for one
// replaced record, charged by [Price]. Of the latter, one output's log likelihood
// is any function of the records that one record moves by at most epsilon: here the
// largest function below random values that has this property.
func (s *sequence) ask(t *rapid.T, c *Chain, states [][]int, before int) (answered int) {
	scale := []float64{0.3, 1, 4}[before%3]
	if rapid.Bool().Draw(t, "laplace") {
		q := []*Query{Count(0), WeightedCount([]float64{2, 1, 0, 1, 3, 1}[:c.Records()], 0)}[before%2]
		charge, err := Charge(context.Background(), c, q, scale)
		if err != nil {
			t.Fatal(err)
		}
		bound, err := q.bind(c)
		if err != nil {
			t.Fatal(err)
		}
		r := rapid.IntRange(-1, 9).Draw(t, "answer")
		for at, x := range states {
			f := 0.0
			for i, v := range x {
				f += bound.rows[bound.row[i]].value[0][v]
			}
			s.log[at] -= math.Abs(float64(r)-f) / scale
		}
		s.charge += charge
		return r + 1
	}
	epsilon := scale / 2
	s.charge += priceOf(t, c, epsilon)
	random := make([]float64, len(states))
	for at := range random {
		random[at] = float64(rapid.IntRange(0, 2*c.Records()).Draw(t, "likelihood")) / 2
	}
	for at, x := range states {
		least := math.Inf(1)
		for other, y := range states {
			d := random[other]
			for i := range x {
				if x[i] != y[i] {
					d++
				}
			}
			least = min(least, d)
		}
		s.log[at] += epsilon * least
	}
	return int(random[0])
}

// leaks is the largest log likelihood ratio of the sequence for two states of a
// record, over all adversaries: every target, every set of known records and all
// their values.
func (s *sequence) leaks(dist *JointTable, states [][]int) float64 {
	n, worst := len(dist.shape), 0.0
	for i := range n {
		for known := range 1 << n {
			if known>>i&1 == 1 {
				continue
			}
			type view struct{ mass, likelihood []float64 }
			views := map[int]*view{}
			for at, x := range states {
				if dist.p[at] == 0 {
					continue
				}
				key := 0
				for j, v := range x {
					key *= 4
					if known>>j&1 == 1 {
						key += v + 1
					}
				}
				w := views[key]
				if w == nil {
					w = &view{make([]float64, dist.shape[i]), make([]float64, dist.shape[i])}
					views[key] = w
				}
				w.mass[x[i]] += dist.p[at]
				w.likelihood[x[i]] += dist.p[at] * math.Exp(s.log[at])
			}
			for _, w := range views {
				for a := range w.mass {
					for b := range w.mass {
						if w.mass[a] > 0 && w.mass[b] > 0 {
							worst = max(worst, math.Log(w.likelihood[a]/w.mass[a])-math.Log(w.likelihood[b]/w.mass[b]))
						}
					}
				}
			}
		}
	}
	return worst
}

// Theorem D on chains of at most 6 records: what random adaptive sequences of
// answers leak together is at most the sum of their charges.
func TestSequencesLeakAtMostTheirCharges(t *testing.T) {
	tightest := 0.0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "records")
		k := 2
		if n <= 4 {
			k = rapid.IntRange(2, 3).Draw(t, "states")
		}
		c, err := NewHomogeneousChain(drawDistribution(t, k, "init"), drawMatrix(t, k, k, "P"), n)
		if err != nil {
			t.Fatal(err)
		}
		dist := tableOf(t, c.tree())
		states := make([][]int, len(dist.p))
		for at := range states {
			x, rest := make([]int, n), at
			for i := n - 1; i >= 0; i-- {
				x[i] = rest % k
				rest /= k
			}
			states[at] = x
		}
		s := sequence{log: make([]float64, len(states))}
		answered := 0
		for range rapid.IntRange(1, 4).Draw(t, "answers") {
			answered = s.ask(t, c, states, answered)
		}
		if leaked := s.leaks(dist, states); leaked > s.charge+1e-9 {
			t.Fatalf("%.12g leaked, %.12g charged", leaked, s.charge)
		} else if s.charge > 0 {
			tightest = max(tightest, leaked/s.charge)
		}
	})
	if tightest < 0.5 && !testing.Short() { // too few sequences are drawn with -short
		t.Errorf("no sequence leaked more than %g of its charge: the test could not fail", tightest)
	}
}

// A data set of a day of power use answers a correlated query at epsilon 0.5 and
// then a count with the noise of epsilon 1 for independent records. Under the first
// model, of examples/dependence, the count alone leaks 6.55, and under the second,
// which is stickier, more than 6.56: its price must be at least that.
func TestTheCountAfterACorrelatedAnswer(t *testing.T) {
	for _, c := range []struct{ stay, at float64 }{{0.9, 6.55}, {0.95, 6.56}} {
		m, err := NewHomogeneousChain([]float64{0.667, 0.333}, [][]float64{{0.95, 0.05}, {1 - c.stay, c.stay}}, 1440)
		if err != nil {
			t.Fatal(err)
		}
		leaked, err := ComputeLeakage(context.Background(), m, Count(1), 1, LeakageOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if leaked.Lower < c.at {
			t.Fatalf("the count leaks %g: not the example", leaked.Lower)
		}
		if got := priceOf(t, m, 1); got < leaked.Upper {
			t.Errorf("the count is priced at %g and leaks up to %g", got, leaked.Upper)
		}
	}
}

// An example where two releases leak more together than each alone added up.
func TestLeakagesDoNotAddUp(t *testing.T) {
	// A noisy xor: q1 sums the first two, then q2 asks for the third, 40 times as
	// large, with the same noise.
	m := mustJointTable(t, []int{2, 2, 2}, []float64{.2375, .0125, .0125, .2375, .0125, .2375, .2375, .0125})
	q1, q2 := Values([][]float64{{0, 1}, {0, 1}, {0, 0}}), Values([][]float64{{0, 0}, {0, 0}, {0, 40}})
	one := leak(t, m, q1, 2, EmptyAdversaries()).Upper
	two := leak(t, m, q2, 2, EmptyAdversaries()).Upper
	both := leak(t, m, Joint(q1, q2), 2, EmptyAdversaries()).Upper
	// About the first record the second answer alone tells nothing.
	first := ListedAdversaries(Adversary{0, nil})
	target := leak(t, m, q2, 2, first).Upper
	if target > 1e-12 || both < math.Max(one, two) {
		t.Errorf("alone %g (about record 0: %g), together %g", two, target, both)
	}
	alone, joint := leak(t, m, q1, 2, first).Upper, leak(t, m, Joint(q1, q2), 2, first).Upper
	if joint <= alone+target+0.1 {
		t.Errorf("about record 0: %g and %g alone, %g together", alone, target, joint)
	}
}
