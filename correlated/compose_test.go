package correlated

import (
	"context"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"noren/internal/randtest"
)

// Leakages do not add up, and the rules that are used hold.
func TestComposition(t *testing.T) {
	ctx := context.Background()
	rapid.Check(t, func(t *rapid.T) {
		chain := drawChain(t, 4)
		q1, q2 := Count(0), WeightedCount(rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 2}), chain.Records(), chain.Records()).Draw(t, "weights"), 0)
		b1, b2 := drawScale(t), drawScale(t)
		both := []Release{{Query: q1, Scale: b1}, {Query: q2, Scale: b2}}
		joint, err := Compose(ctx, chain, both, Options{})
		if err != nil {
			t.Fatal(err)
		}
		tanh, err := Compose(ctx, chain, both, Options{Method: Tanh})
		if err != nil {
			t.Fatal(err)
		}
		c1, err := Charge(ctx, chain, q1, b1)
		if err != nil {
			t.Fatal(err)
		}
		c2, err := Charge(ctx, chain, q2, b2)
		if err != nil {
			t.Fatal(err)
		}
		one := exactly(t, chain, q1, b1, Options{})
		const slack = 1 + 1e-10
		if !joint.Exact || joint.Upper > tanh.Upper*slack+1e-10 || tanh.Upper > (c1+c2)*slack+1e-10 || one.Upper > joint.Upper*slack+1e-10 {
			t.Fatalf("one %.12g <= joint %.12g <= tanh %.12g <= charges %.12g does not hold", one.Upper, joint.Upper, tanh.Upper, c1+c2)
		}
		// A mechanism of epsilon 0.3 counts as one more loss in every record.
		more, err := Compose(ctx, chain, append(both, Release{Epsilon: 0.3}), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if more.Upper < joint.Upper-1e-10 || more.Exact {
			t.Fatalf("with another mechanism %g, without %g", more.Upper, joint.Upper)
		}
	})
}

// Any mechanism of epsilon is bounded by the tanh rule: as a group where all
// records are equal, as one where they are independent.
func TestAnyMechanism(t *testing.T) {
	equal, err := NewHomogeneousChain([]float64{.5, .5}, [][]float64{{1, 0}, {0, 1}}, 7)
	if err != nil {
		t.Fatal(err)
	}
	independent, err := NewHomogeneousChain([]float64{.5, .5}, [][]float64{{.5, .5}, {.5, .5}}, 7)
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[*Chain]float64{equal: 7 * (0.3 + 0.2), independent: 0.5} {
		for _, who := range []Adversaries{AllAdversaries(), EmptyAdversaries(), ListedAdversaries(Adversary{0, nil})} {
			l, err := Compose(context.Background(), m, []Release{{Epsilon: 0.3}, {Epsilon: 0.2}}, Options{Adversaries: who})
			if err != nil {
				t.Fatal(err)
			}
			if !agree(l.Upper, want) {
				t.Errorf("%s: %.12g, want %g", who, l.Upper, want)
			}
		}
	}
	l, err := Compose(context.Background(), independent, []Release{{Epsilon: 0.3}, {Query: Count(1), Scale: 2}}, Options{Adversaries: FullAdversaries()})
	if err != nil {
		t.Fatal(err)
	}
	if !agree(l.Upper, 0.8) {
		t.Errorf("who knows all others learns %.12g, want 0.8", l.Upper)
	}
}

// An example where two releases leak more together than each alone added up.
func TestLeakagesDoNotAddUp(t *testing.T) {
	// A noisy xor: f sums the first two, then the third is asked for.
	m := mustTable(t, []int{2, 2, 2}, []float64{.2375, .0125, .0125, .2375, .0125, .2375, .2375, .0125})
	q1, q2 := Values([][]float64{{0, 1}, {0, 1}, {0, 0}}), Values([][]float64{{0, 0}, {0, 0}, {0, 1}})
	one := leak(t, m, q1, 2, EmptyAdversaries()).Upper
	two := leak(t, m, q2, .05, EmptyAdversaries()).Upper
	both, err := Compose(context.Background(), m, []Release{{Query: q1, Scale: 2}, {Query: q2, Scale: .05}}, Options{Adversaries: EmptyAdversaries()})
	if err != nil {
		t.Fatal(err)
	}
	// About the first record the second release alone tells nothing.
	target := leak(t, m, q2, .05, ListedAdversaries(Adversary{0, nil})).Upper
	if target > 1e-12 || both.Upper < math.Max(one, two) {
		t.Errorf("alone %g (about record 0: %g), together %g", two, target, both.Upper)
	}
	joint, err := Compose(context.Background(), m, []Release{{Query: q1, Scale: 2}, {Query: q2, Scale: .05}}, Options{Adversaries: ListedAdversaries(Adversary{0, nil})})
	if err != nil {
		t.Fatal(err)
	}
	alone := leak(t, m, q1, 2, ListedAdversaries(Adversary{0, nil})).Upper
	if joint.Upper <= alone+target+0.1 {
		t.Errorf("about record 0: %g and %g alone, %g together", alone, target, joint.Upper)
	}
}

// The coarse answer's noise has its law, and the fine one's too.
func TestGradualNoise(t *testing.T) {
	g, err := NewGradual(big.NewRat(3, 2), big.NewRat(4, 1), big.NewRat(11, 2))
	if err != nil {
		t.Fatal(err)
	}
	src := randtest.Source(7)
	const runs = 60000
	counts := make([]map[int64]int, 3)
	for j := range counts {
		counts[j] = map[int64]int{}
	}
	same := 0
	for range runs {
		z, err := g.Draw(src)
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range z {
			counts[j][v]++
		}
		if z[0] == z[1] {
			same++
		}
	}
	for j, l := range g.laws {
		for x := int64(-6); x <= 6; x++ {
			p := math.Exp(l.LogP(x))
			if d := math.Abs(float64(counts[j][x])/runs - p); d > 6*math.Sqrt(p/runs) {
				t.Errorf("scale %d: P(%d) is %g, drawn %g", j, x, p, float64(counts[j][x])/runs)
			}
		}
	}
	c := UnchangedDiscrete(1.5, 4)
	zero := c + (1-c)*math.Exp(g.laws[1].LogP(0))
	if d := math.Abs(float64(same)/runs - zero); d > 6*math.Sqrt(zero/runs) {
		t.Errorf("unchanged %g of the time, want %g", float64(same)/runs, zero)
	}
	if v := UnchangedDiscrete(1500, 4000); math.Abs(v-Unchanged(1500, 4000)) > 1e-3 {
		t.Errorf("for small steps %g, want %g", v, Unchanged(1500, 4000))
	}
	for _, bad := range [][]*big.Rat{{}, {big.NewRat(1, 1), big.NewRat(1, 1)}, {big.NewRat(2, 1), big.NewRat(1, 1)}} {
		if _, err := NewGradual(bad...); err == nil {
			t.Errorf("scales %v were taken", bad)
		}
	}
}

// The generating functions agree: phi_2 = phi_1 (c + (1-c) phi_2).
func TestGradualIdentity(t *testing.T) {
	phi := func(b, u float64) float64 {
		q := math.Exp(-1 / b)
		return (1 - q) * (1 - q) / (1 - 2*q*math.Cos(u) + q*q)
	}
	for _, b := range [][2]float64{{.3, .5}, {1, 7}, {2, 2.5}} {
		c := UnchangedDiscrete(b[0], b[1])
		for u := 0.0; u < 3.2; u += 0.1 {
			if got, want := phi(b[0], u)*(c+(1-c)*phi(b[1], u)), phi(b[1], u); math.Abs(got-want) > 1e-13 {
				t.Fatalf("b=%v u=%g: %g, want %g", b, u, got, want)
			}
		}
	}
}
