package ldp

import (
	"fmt"
	"math"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// Rounds of the same people: the standard error is that over repetitions, the
// intervals hold, and more rounds help. Pooling all reports as if they were of
// different people states too small an error.
func TestRounds(t *testing.T) {
	randtest.SkipShort(t)
	src := randtest.Source(21)
	m, err := NewLongitudinalOUE(4, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	const people, repeats = 300, 150
	shares := []float64{0.5, 0.3, 0.2, 0}
	errorOf := func(rounds int) (spread, stated, pooled float64, held int) {
		for rep := range repeats {
			c, pool := NewRounds(m), NewCollector(m)
			for i := range people {
				d, err := m.Device(fmt.Appendf(nil, "device %05d of repetition %05d", i, rep), "q")
				if err != nil {
					t.Fatal(err)
				}
				label := []int{0, 0, 0, 0, 0, 1, 1, 1, 2, 2}[i%10]
				for r := range rounds {
					if r > 0 && i%3 == 0 {
						continue // not everybody answers each time
					}
					report, err := d.Report(src, label)
					if err != nil || c.Add(fmt.Sprint(i), report) != nil || pool.Add(report) != nil {
						t.Fatal(err)
					}
				}
			}
			f, err := c.Frequencies(0.95)
			if err != nil {
				t.Fatal(err)
			}
			p, err := pool.Frequencies(0.95)
			if err != nil {
				t.Fatal(err)
			}
			all := true
			for l, s := range shares {
				spread += (f.Value[l] - s) * (f.Value[l] - s)
				stated += f.StdErr[l] * f.StdErr[l]
				pooled += p.StdErr[l] * p.StdErr[l]
				all = all && f.Low[l] <= s && s <= f.High[l]
			}
			if all {
				held++
			}
		}
		return math.Sqrt(spread), math.Sqrt(stated), math.Sqrt(pooled), held
	}
	one, _, _, _ := errorOf(1)
	spread, stated, pooled, held := errorOf(6)
	// The people are fixed here, so the spread is a little below what is stated.
	if stated < 0.97*spread || stated > 1.25*spread {
		t.Errorf("over repetitions %.4f, stated %.4f", spread, stated)
	}
	if pooled > 0.9*spread {
		t.Errorf("pooled reports state %.4f, the truth is %.4f: this test would not see their dependence", pooled, spread)
	}
	if spread > 0.85*one {
		t.Errorf("six rounds have an error of %.4f, one of %.4f", spread, one)
	}
	if held < repeats*95/100 {
		t.Errorf("%d of %d intervals held", held, repeats)
	}
	if _, err := NewRounds(m).Frequencies(0.95); err == nil {
		t.Error("an estimate from nothing")
	}
}
