package correlated

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
)

var onOffFit = FitOptions{Source: "last year's readings", States: []string{"off", "on"}, Length: 50}

func simulate(rng *rand.Rand, p [][]float64, n int) []int {
	seq := make([]int, n)
	for i := 1; i < n; i++ {
		u := rng.Float64()
		for y, v := range p[seq[i-1]] {
			if u < v {
				seq[i] = y
				break
			}
			u -= v
		}
	}
	return seq
}

// The box holds the true chain about as often as it says, or more.
func TestFitChainCovers(t *testing.T) {
	p := [][]float64{{.9, .1}, {.3, .7}}
	truth, err := NewHomogeneousChain([]float64{.5, .5}, p, 50)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	held, width := 0, 0.0
	const runs = 200
	for range runs {
		f, err := FitChain([][]int{simulate(rng, p, 400), simulate(rng, p, 300)}, onOffFit)
		if err != nil {
			t.Fatal(err)
		}
		box := f.File.Model.(*Box)
		if box.Contains(truth) {
			held++
		}
		b := box.bounds[box.tree.kernel[1]]
		width += b.high.at(0, 0) - b.low.at(0, 0)
	}
	if held < runs*95/100 {
		t.Errorf("the box held the chain %d times of %d", held, runs)
	}
	if width/runs > 0.2 {
		t.Errorf("the box is %g wide: of no use", width/runs)
	}
}

func TestFitChain(t *testing.T) {
	f, err := FitChain([][]int{{0, 0, 1, -1, 1, 1, 0, 0, 0}}, onOffFit)
	if err != nil {
		t.Fatal(err)
	}
	// Steps: 00 01, then after the gap 11 10 00 00.
	if f.Observations != 6 || f.File.Model.Records() != 50 || f.File.Model.Kind() != "box" ||
		!strings.Contains(f.File.Source, "last year's readings") {
		t.Errorf("%+v", f)
	}
	c := f.Centre.Model.(*Chain)
	if got, want := c.pool[0].at(0, 0), 3.5/5; math.Abs(got-want) > 1e-15 {
		t.Errorf("P(0,0) = %g, want %g", got, want)
	}
	sameAfterWriting(t, f.File)
	sameAfterWriting(t, f.Centre)
	box, err := ComputeLeakage(context.Background(), f.File.Model, Count(1), 5, LeakageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	centre, err := ComputeLeakage(context.Background(), f.Centre.Model, Count(1), 5, LeakageOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if box.Upper < centre.Upper || box.Lower != centre.Lower {
		t.Errorf("box %+v, centre %+v", box, centre)
	}
}

func TestFitTreeFindsTheTree(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	parent := []int{-1, 0, 0, 1, 1, 2}
	var samples [][]int
	for range 4000 {
		s := make([]int, len(parent))
		for i, p := range parent {
			on := 0.4
			if p >= 0 {
				on = 0.1
				if s[p] == 1 {
					on = 0.75
				}
			}
			if rng.Float64() < on {
				s[i] = 1
			}
		}
		samples = append(samples, s)
	}
	o := onOffFit
	o.Length = 0
	f, err := FitTree(context.Background(), samples, o)
	if err != nil {
		t.Fatal(err)
	}
	tree := f.Centre.Model.(*Tree)
	for i, p := range parent {
		if int(tree.parent[i]) != p {
			t.Errorf("record %d hangs on %d, not on %d", i, tree.parent[i], p)
		}
	}
	k := [][]float64{{.9, .1}, {.25, .75}}
	truth, err := NewTree(parent, []float64{.6, .4}, [][][]float64{nil, k, k, k, k, k})
	if err != nil {
		t.Fatal(err)
	}
	if !f.File.Model.(*Box).Contains(truth) {
		t.Error("the box does not hold the true tree")
	}
	if text, err := json.Marshal(f.File); err != nil || !strings.Contains(string(text), "Chow-Liu") {
		t.Errorf("%s, %v", text, err)
	}
	sameAfterWriting(t, f.File)
}

func TestClopperPearson(t *testing.T) {
	// Binomial tails at the bounds are the level.
	tail := func(n, total int, p float64) float64 { // P(X >= n)
		sum := 0.0
		for j := n; j <= total; j++ {
			lg := func(x int) float64 { v, _ := math.Lgamma(float64(x + 1)); return v }
			sum += math.Exp(lg(total) - lg(j) - lg(total-j) + float64(j)*math.Log(p) + float64(total-j)*math.Log1p(-p))
		}
		return sum
	}
	for _, c := range [][2]int{{3, 10}, {1, 50}, {49, 50}, {20, 40}} {
		lo, hi := clopperPearson(c[0], c[1], 0.01)
		if a, b := tail(c[0], c[1], lo), 1-tail(c[0]+1, c[1], hi); math.Abs(a-0.01) > 1e-9 || math.Abs(b-0.01) > 1e-9 {
			t.Errorf("%v: %g and %g at the bounds", c, a, b)
		}
	}
	if lo, hi := clopperPearson(0, 10, 0.01); lo != 0 || math.Abs(math.Pow(1-hi, 10)-0.01) > 1e-9 {
		t.Errorf("0 of 10: %g, %g", lo, hi)
	}
	if lo, hi := clopperPearson(0, 0, 0.01); lo != 0 || hi != 1 {
		t.Errorf("0 of 0: %g, %g", lo, hi)
	}
}

func TestFitRefuses(t *testing.T) {
	for name, run := range map[string]func() error{
		"no source": func() error {
			_, err := FitChain([][]int{{0, 1}}, FitOptions{States: []string{"a"}, Length: 3})
			return err
		},
		"no steps":     func() error { _, err := FitChain([][]int{{0, -1, 1}}, onOffFit); return err },
		"out of range": func() error { _, err := FitChain([][]int{{0, 2}}, onOffFit); return err },
		"ragged": func() error {
			o := onOffFit
			o.Length = 0
			_, err := FitTree(context.Background(), [][]int{{0, 1}, {0}}, o)
			return err
		},
		"missing": func() error {
			o := onOffFit
			o.Length = 0
			_, err := FitTree(context.Background(), [][]int{{0, -1}}, o)
			return err
		},
	} {
		if err := run(); err == nil || noren.KindOf(err) == noren.Internal {
			t.Errorf("%s: %v", name, err)
		}
	}
}
