package correlated

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestGoldenBaselines(t *testing.T) {
	ctx := context.Background()
	for _, row := range golden(t).Chain100 {
		c := namedChain100(t, row.Name, row.N)
		q, err := QuiltScale(ctx, c, Count(1), row.Eps, false)
		if err != nil {
			t.Fatal(err)
		}
		g, err := GroupScale(c, Count(1), row.Eps)
		if err != nil {
			t.Fatal(err)
		}
		if !closeTo(q, row.MQM, 1e-10) || !closeTo(g, row.Group, 1e-12) {
			t.Errorf("%s, eps=%g: quilt %.14g, want %.14g; group %g, want %g", row.Name, row.Eps, q, row.MQM, g, row.Group)
		}
		a, err := QuiltScale(ctx, c, Count(1), row.Eps, true)
		if err != nil {
			t.Fatal(err)
		}
		if a < q*(1-1e-12) {
			t.Errorf("%s, eps=%g: the approximate quilt asks for less noise, %g, than the exact one, %g", row.Name, row.Eps, a, q)
		}
	}
	for _, c := range golden(t).Cases {
		m := c.Model.model(t)
		for _, row := range c.Calibrated {
			b, err := Compare(ctx, m, Values(c.G), row.Eps, LeakageOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !closeTo(b.Plain, row.Independent, 1e-10) || !closeTo(b.Group, row.Group, 1e-10) || !closeTo(b.Range, row.Range, 1e-10) {
				t.Errorf("%s, eps=%g: %+v", c.Name, row.Eps, b)
			}
			if row.Tanh > 0 && !closeTo(b.Tanh, row.Tanh, 2e-9) {
				t.Errorf("%s, eps=%g: %+v", c.Name, row.Eps, b)
			}
			if b.Wasserstein < row.B*(1-1e-9) || b.Wasserstein > b.Range*(1+1e-12) {
				t.Errorf("%s, eps=%g: Wasserstein %g is not between the exact scale %g and the range's %g", c.Name, row.Eps, b.Wasserstein, row.B,
					b.Range)
			}
		}
	}
}

// Figures of docs/correlated-privacy.md (section 6): scores of single quilts, eps = 1.
func TestQuiltAnchors(t *testing.T) {
	score := func(c *Chain, i, al, be int) float64 {
		f := exactInfluence(c)
		inside := be + i
		left := make([]float64, 4)
		if al > 0 {
			left, inside = f.left(i, al), al+be-1
		}
		return float64(inside) / (1 - worstPair(2, left, f.right(i, be)))
	}
	theta1 := namedChain100(t, "theta1 [.9 .1;.4 .6] init(1,0)", 100)
	theta2 := namedChain100(t, "theta2 [.8 .2;.3 .7] init(.9,.1)", 100)
	for _, v := range []struct {
		name      string
		got, want float64
	}{
		{"X8 with {X3,X13}", score(theta1, 7, 5, 5), 13.0219},
		{"X8 with {X1,X13}", score(theta1, 7, 7, 5), 12.9341},
		{"X6 with {X10}", score(theta2, 5, 0, 4), 10.6402},
	} {
		if math.Abs(v.got-v.want) > 5e-5 {
			t.Errorf("%s: %.6g, want %.6g", v.name, v.got, v.want)
		}
	}
}

// The Wasserstein scale keeps the guarantee, against the exact leakage.
func TestWassersteinIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Model = drawTree(t, 5)
		if rapid.Bool().Draw(t, "chain") {
			m = drawChain(t, 5)
		}
		o := LeakageOptions{Adversaries: rapid.SampledFrom([]Adversaries{AllAdversaries(), EmptyAdversaries(), FullAdversaries()}).
			Draw(t, "adversaries")}
		e, err := newEngine(m, Count(0), o)
		if err != nil {
			t.Fatal(err)
		}
		w, err := e.wasserstein(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b := w / 0.7
		if b == 0 {
			b = 1e-3 // nothing is to be protected
		}
		if l := exactly(t, m, Count(0), b, o); l.Upper > 0.7*(1+1e-9) {
			t.Fatalf("at b=%g the leakage is %g", b, l.Upper)
		}
	})
}

func TestStationary(t *testing.T) {
	k, err := newKernel([][]float64{{.9, .1, 0}, {.2, .3, .5}, {0, .6, .4}}, "P")
	if err != nil {
		t.Fatal(err)
	}
	pi := k.stationary()
	next := k.next(pi)
	for i := range pi {
		if math.Abs(pi[i]-next[i]) > 1e-15 {
			t.Errorf("%v becomes %v", pi, next)
		}
	}
	if !k.primitive() {
		t.Error("this chain gets everywhere")
	}
	flip := &kernel{rows: 2, cols: 2, p: []float64{0, 1, 1, 0}}
	if flip.primitive() {
		t.Error("this chain is periodic")
	}
}
