package ldp

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/randtest"
)

// Reports of every mechanism fit it, whatever the values, and those of others do
// not.
func TestFitAcceptsTheMechanismAndRefusesOthers(t *testing.T) {
	src := randtest.Source(9)
	const n = 3000
	worst := 1.0
	for _, name := range append(Names(), "longitudinal-grr", "longitudinal-oue") {
		for _, epsilon := range []float64{0.5, 2, 8} {
			make := func(e float64) Oracle {
				var o Oracle
				var err error
				switch name {
				case "longitudinal-grr":
					o, err = NewLongitudinalGRR(6, 2*e, e)
				case "longitudinal-oue":
					o, err = NewLongitudinalOUE(6, 2*e, e)
				default:
					o, err = NewOracle(name, 6, e)
				}
				if err != nil {
					t.Fatal(err)
				}
				return o
			}
			collect := func(of, as Oracle, label func(i int) int) Fit {
				c := NewCollector(as)
				for i := range n {
					r, err := of.Randomise(src, label(i))
					if err != nil {
						t.Fatal(err)
					}
					_ = c.Add(r)
				}
				return c.Fit()
			}
			o := make(epsilon)
			one, spread := func(int) int { return 2 }, func(i int) int { return i % 6 }
			for _, values := range []func(int) int{one, spread} {
				f := collect(o, o, values)
				if f.Err() != nil {
					t.Errorf("%s at %g: its own reports are refused: %+v", name, epsilon, f)
				}
				worst = min(worst, f.P)
			}
			if epsilon < 8 {
				if strings.HasPrefix(name, "subset") || name == "olh" { // other sizes of reports
					continue
				}
				f := collect(make(8), o, one)
				if f.Err() == nil || noren.KindOf(f.Err()) != noren.BadData {
					t.Errorf("%s: reports at epsilon 8 are taken for %g: %+v", name, epsilon, f)
				}
			}
		}
	}
	if worst < 1e-3 {
		t.Errorf("a mechanism's own reports have p = %g", worst)
	}
}

func TestFitOfRappor(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	r, err := NewRappor(Params{K: 32, H: 2, M: 16, P: 0, Q: 1, F: 0.25})
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"a", "b", "c"}
	own := drawCounts(r, words, []float64{0.5, 0.3, 0.2}, 4000, g)
	if f := own.Fit(); f.Err() != nil || !f.Warning().IsZero() {
		t.Errorf("its own reports: %+v", f)
	}
	random, first, uneven := newRapporCounts(r), newRapporCounts(r), newRapporCounts(r)
	for i := range random.N {
		random.N[i] = 100
		for b := range r.K {
			random.Bits[i*r.K+b] = int64(40 + g.IntN(21))
		}
	}
	if f := random.Fit(); f.Err() == nil || !strings.Contains(f.What.String(), "set bits on average") {
		t.Errorf("random bits: %+v", f)
	}
	for i := range 8 { // made with 8 cohorts
		first.N[i] = own.N[i]
		copy(first.Cohort(i), own.Cohort(i))
	}
	if f := first.Fit(); f.Err() == nil || !strings.Contains(f.What.String(), "cohorts from 8 on") {
		t.Errorf("half the cohorts: %+v", f)
	}
	for i := range uneven.N { // the last cohort alone is large
		uneven.N[i] = own.N[i] / 4
		for b := range r.K {
			uneven.Bits[i*r.K+b] = own.Bits[i*r.K+b] / 4
		}
	}
	uneven.N[15] = own.N[15]
	copy(uneven.Cohort(15), own.Cohort(15))
	if f := uneven.Fit(); f.Err() != nil || !strings.Contains(f.Warning().String(), "cohorts are not uniform") {
		t.Errorf("an uneven cohort: %+v", f)
	}
}

func TestFitOfNumbers(t *testing.T) {
	src := randtest.Source(10)
	for _, epsilon := range []float64{0.5, 2} {
		for _, make := range []func(lo, hi, epsilon float64) (*Mean, error){NewDuchi, NewPiecewise, NewHybrid} {
			m, err := make(0, 10, epsilon)
			if err != nil {
				t.Fatal(err)
			}
			loud, err := make(0, 10, 8)
			if err != nil {
				t.Fatal(err)
			}
			own, other := NewMeanCollector(m), NewMeanCollector(m)
			for range 3000 {
				a, err1 := m.Randomise(src, 10)
				b, err2 := loud.Randomise(src, 10)
				if err1 != nil || err2 != nil {
					t.Fatal(err1, err2)
				}
				if err := own.Add(a); err != nil {
					t.Fatal(err)
				}
				_ = other.Add(b)
			}
			if f := own.Fit(); f.P < 1e-3 {
				t.Errorf("%s at %g: %+v", m.Name(), epsilon, f)
			}
			if f := other.Fit(); other.N() > 100 && f.Err() == nil {
				t.Errorf("%s at %g, reports at 8: %+v", m.Name(), epsilon, f)
			}
		}
		w, err := NewSquareWave(0, 1, 64, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		own, raw := NewWaveCollector(w), NewWaveCollector(w)
		for i := range 3000 {
			cell, err := w.Randomise(src, 0.9)
			if err != nil || own.Add(cell) != nil || raw.Add(uint32(20+i%10)) != nil {
				t.Fatal(err)
			}
		}
		if f := own.Fit(); f.P < 1e-3 {
			t.Errorf("square wave: %+v", f)
		}
		if raw.Fit().Err() == nil {
			t.Errorf("square wave, raw buckets: %+v", raw.Fit())
		}
	}
}

// The intervals of means hold for few reports and large epsilons, with people who
// are all alike and people who differ.
func TestMeanIntervalsCover(t *testing.T) {
	src := randtest.Source(11)
	g := rand.New(rand.NewPCG(3, 4))
	repeats := 400
	if testing.Short() {
		repeats = 150
	}
	for _, make := range []func(lo, hi, epsilon float64) (*Mean, error){NewDuchi, NewPiecewise, NewHybrid} {
		for _, epsilon := range []float64{0.5, 8} {
			for _, n := range []int{5, 30, 300} {
				for _, spread := range []float64{0, 1} {
					m, err := make(-2, 2, epsilon)
					if err != nil {
						t.Fatal(err)
					}
					hit, normal := 0, 0
					for range repeats {
						c := NewMeanCollector(m)
						for range n {
							s, err := m.Randomise(src, 1.8-spread*3*g.Float64())
							if err != nil || c.Add(s) != nil {
								t.Fatal(err)
							}
						}
						e, err := c.Estimate(0.95)
						if err != nil {
							t.Fatal(err)
						}
						truth := 1.8 - spread*1.5
						if e.Low <= truth && truth <= e.High {
							hit++
						}
						if se := max(1e-300, e.StdErr); e.Value-1.96*se <= truth && truth <= e.Value+1.96*se {
							normal++
						}
						if !(e.StdErr > 0) || e.Basis == "" {
							t.Fatalf("no error is stated: %+v", e)
						}
					}
					// 0.95 of 150 falls below 130 with probability 2e-5.
					if hit < repeats*130/150 {
						t.Errorf("%s at %g, n = %d, spread %g: %d of %d intervals held", m.Name(), epsilon, n, spread, hit, repeats)
					}
					// What was there before must fail here, or the test could not.
					if m.Name() == "duchi" && epsilon == 8 && n == 5 && spread == 0 && normal > repeats*130/150 {
						t.Errorf("the normal interval held in %d of %d: the test sees nothing", normal, repeats)
					}
				}
			}
		}
	}
}

// countedWords counts the words that are drawn.
type countedWords struct {
	words
	n int
}

func (c *countedWords) Uint64() (uint64, error) {
	c.n++
	return c.words.Uint64()
}

func TestDrawAlwaysTakesAWord(t *testing.T) {
	for _, p := range []prob{{}, {t: 1}, {one: true}} {
		c := &countedWords{words: randtest.Source(1)}
		got, err := p.drawAlways(c)
		if err != nil || c.n != 1 || got != p.one && p.t == 0 {
			t.Errorf("%+v: %v after %d words (%v)", p, got, c.n, err)
		}
	}
	// The words that follow a report are the same whatever was reported, where reports
	// take as many words.
	for _, k := range []int{3, 10, 40} {
		m, err := NewSubset(k, 1)
		if err != nil {
			t.Fatal(err)
		}
		next := map[string]bool{}
		for seed := range uint64(40) {
			var after []uint64
			for label := range k {
				src := randtest.Source(seed)
				if _, err := m.Randomise(src, label); err != nil {
					t.Fatal(err)
				}
				w, err := src.Uint64()
				if err != nil {
					t.Fatal(err)
				}
				after = append(after, w)
			}
			for _, w := range after {
				if w != after[0] {
					t.Fatalf("k = %d: a report takes another number of words for another label", k)
				}
			}
			// With and without the label, as many: the position in the stream is the same.
			src, position := randtest.Source(seed), 0
			for ; position < 100; position++ {
				if w, err := src.Uint64(); err != nil {
					t.Fatal(err)
				} else if w == after[0] {
					break
				}
			}
			next[fmt.Sprint(position)] = true
		}
		if len(next) != 1 {
			t.Errorf("k = %d: reports take different numbers of words: %v", k, next)
		}
	}
	d, err := NewDuchi(0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(10) {
		var after [2]uint64
		for i, x := range []float64{0.3, 1} {
			src := randtest.Source(seed)
			if _, err := d.Randomise(src, x); err != nil {
				t.Fatal(err)
			}
			if after[i], err = src.Uint64(); err != nil {
				t.Fatal(err)
			}
		}
		if after[0] != after[1] {
			t.Error("Duchi's report of the upper end takes another number of words")
		}
	}
}
