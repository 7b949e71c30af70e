package ldp

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// bruteAnswers is the loss of n reports of a longitudinal GRR by all sequences, in rationals.
func bruteAnswers(p1, p2 *big.Rat, k, n int) float64 {
	others := big.NewRat(int64(k-1), 1)
	q1, q2 := new(big.Rat).Quo(not(p1), others), new(big.Rat).Quo(not(p2), others)
	most := big.NewRat(1, 1)
	sequence := make([]int, n)
	var walk func(at int)
	walk = func(at int) {
		if at < n {
			for sequence[at] = 0; sequence[at] < k; sequence[at]++ {
				walk(at + 1)
			}
			return
		}
		of := make([]*big.Rat, 2) // of values 0 and 1; the others are like them
		for v := range of {
			of[v] = new(big.Rat)
			for z := range k {
				p := q1
				if z == v {
					p = p1
				}
				for _, x := range sequence {
					if x == z {
						p = product(p, p2)
					} else {
						p = product(p, q2)
					}
				}
				of[v].Add(of[v], p)
			}
		}
		for v := range of {
			for w := range of {
				if r := new(big.Rat).Quo(of[v], of[w]); r.Cmp(most) > 0 {
					most = r
				}
			}
		}
	}
	walk(0)
	return logOf(most)
}

// bruteBits is the loss of n reports of the bits of v and w of a mechanism of bits, by all
// sequences, in rationals.
func bruteBits(on, off, high, low *big.Rat, n int) float64 {
	least, most := (*big.Rat)(nil), (*big.Rat)(nil)
	for pattern := range 1 << n {
		of := func(set *big.Rat) *big.Rat {
			total := new(big.Rat)
			for _, answer := range []bool{true, false} {
				p, one := set, high
				if !answer {
					p, one = not(set), low
				}
				for i := range n {
					if pattern>>i&1 == 1 {
						p = product(p, one)
					} else {
						p = product(p, not(one))
					}
				}
				total.Add(total, p)
			}
			return total
		}
		if of(off).Sign() == 0 && of(on).Sign() == 0 {
			continue // no device sends it
		}
		r := new(big.Rat).Quo(of(on), of(off))
		if most == nil || r.Cmp(most) > 0 {
			most = r
		}
		if least == nil || r.Cmp(least) < 0 {
			least = r
		}
	}
	return logOf(new(big.Rat).Quo(most, least))
}

// exactly reports whether a loss is no less than the true one, and above it by rounding alone.
func exactly(got, want float64) bool { return got >= want && got <= want+1e-9*(1+want) }

// The loss of n reports is that of all sequences of reports, for every mechanism with memory.
func TestLossOfReports(t *testing.T) {
	for _, k := range []int{2, 3, 4, 6} {
		for _, e := range [][2]float64{{4, .5}, {2, 1.9}, {8, .01}, {12, 6}, {1e-3, 1e-5}} {
			for n := 1; n <= 4; n++ {
				grr, err := NewLongitudinalGRR(k, e[0], e[1])
				if err != nil {
					t.Fatal(err)
				}
				want := min(bruteAnswers(grr.on1.rat(), grr.on2.rat(), k, n), grr.loss.Lifetime)
				if got := grr.After(n); n == 1 && got < want || n > 1 && !exactly(got, want) {
					t.Errorf("GRR, %d labels, lifetime %g, report %g: %d reports cost %.12f, stated %.12f", k, e[0], e[1], n, want, got)
				}
				oue, err := NewLongitudinalOUE(k, e[0], e[1])
				if err != nil {
					t.Fatal(err)
				}
				want = min(bruteBits(oue.on1.rat(), oue.off1.rat(), oue.on2.rat(), oue.off2.rat(), n), oue.loss.Lifetime)
				if got := oue.After(n); n == 1 && got < want || n > 1 && !exactly(got, want) {
					t.Errorf("OUE, %d labels, lifetime %g, report %g: %d reports cost %.12f, stated %.12f", k, e[0], e[1], n, want, got)
				}
			}
		}
	}
	for _, p := range []Params{
		{K: 8, H: 2, M: 4, P: .25, Q: .75, F: .5},
		{K: 8, H: 1, M: 1, P: .1, Q: .9, F: .3},
		{K: 8, H: 1, M: 1, P: 0, Q: 1, F: .25},
		{K: 32, H: 4, M: 8, P: .5, Q: .51, F: 1. / 128},
		{K: 8, H: 1, M: 1, P: .25, Q: 1, F: .1},
	} {
		r, err := NewRappor(p)
		if err != nil {
			t.Fatal(err)
		}
		half := big.NewRat(int64(r.f128), 256)
		for n := 1; n <= 4; n++ {
			want := min(float64(p.H)*bruteBits(not(half), half, r.q.rat(), r.p.rat(), n), r.Loss().Lifetime)
			if got := r.After(n); !exactly(got, want) {
				t.Errorf("RAPPOR %+v: %d reports cost %.12f, stated %.12f", p, n, want, got)
			}
		}
	}
}

// More labels, longer sequences: the counts that are tried hold the largest loss.
func TestLossOfManyReports(t *testing.T) {
	compositions := func(n, k int, each func([]int)) {
		counts := make([]int, k)
		var walk func(at, left int)
		walk = func(at, left int) {
			if at == k-1 {
				counts[at] = left
				each(counts)
				return
			}
			for c := 0; c <= left; c++ {
				counts[at] = c
				walk(at+1, left-c)
			}
		}
		walk(0, n)
	}
	for _, c := range []struct {
		k, n   int
		e1, e2 float64
	}{{3, 12, 4, .5}, {3, 9, 9, 8}, {4, 10, 2, .05}, {5, 8, 6, 2}, {6, 7, 3, 1}, {2, 20, 3, .2}} {
		grr, err := NewLongitudinalGRR(c.k, c.e1, c.e2)
		if err != nil {
			t.Fatal(err)
		}
		p1, p2 := grr.on1.float(), grr.on2.float()
		q1, r := (1-p1)/float64(c.k-1), p2*float64(c.k-1)/(1-p2)
		most := 0.0
		compositions(c.n, c.k, func(counts []int) {
			s := 0.0
			for _, n := range counts {
				s += math.Pow(r, float64(n))
			}
			for _, a := range counts {
				for _, b := range counts {
					most = max(most, math.Log((q1*s+(p1-q1)*math.Pow(r, float64(a)))/(q1*s+(p1-q1)*math.Pow(r, float64(b)))))
				}
			}
		})
		if got := grr.After(c.n); math.Abs(got-min(most, grr.loss.Lifetime)) > 1e-9*(1+most) {
			t.Errorf("%+v: %d reports cost %.12f, stated %.12f", c, c.n, most, got)
		}
	}
}

// The settings in which n times the loss of a report was stated and is too little.
func TestLossOfReportsIsNoMultiple(t *testing.T) {
	for _, c := range []struct {
		k              int
		lifetime, each float64
		want           float64
	}{{1000, 4, .5, 2.2276}, {16, 2, .5, 1.1516}} {
		m, err := NewLongitudinalGRR(c.k, c.lifetime, c.each)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.After(2); math.Abs(got-c.want) > 5e-5 {
			t.Errorf("%d labels: two reports cost %.4f, want %.4f", c.k, got, c.want)
		}
		last := 0.0
		for _, n := range []int{1, 2, 3, 5, 10, 100, 1000, 4096, 5000} {
			got := m.After(n)
			if got < last || got > c.lifetime {
				t.Errorf("%d labels: %d reports cost %.6f, fewer cost %.6f", c.k, n, got, last)
			}
			last = got
		}
	}
	a, err := Advise(Question{Domain: 1000, Epsilon: .5, Lifetime: 4, Repeats: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range a.Options {
		switch o.Mechanism {
		case "longitudinal-grr":
			if math.Abs(o.AllReports-2.2276) > 5e-5 {
				t.Errorf("design states %.4f for two reports of %s", o.AllReports, o.Mechanism)
			}
		case "grr", "olh", "subset":
			if math.Abs(o.AllReports-1) > 1e-6 {
				t.Errorf("design states %.4f for two reports of %s", o.AllReports, o.Mechanism)
			}
		}
	}
}

// Losses of RAPPOR are those of the thresholds that run: p and q near 1, where the formulas
// in floating point lose all digits.
func TestRapporLossIsExact(t *testing.T) {
	for _, c := range []struct {
		p    Params
		want string
	}{
		{Params{K: 8, H: 1, M: 1, P: 1 - 3*0x1p-53, Q: 1 - 0x1p-53, F: 1. / 128}, ""},
		{Params{K: 8, H: 2, M: 1, P: 1 - 0x1p-40, Q: 1 - 0x1p-53, F: 2. / 128}, ""},
		{Params{K: 8, H: 1, M: 1, P: 0x1p-60, Q: 0x1p-53, F: 2. / 128}, ""},
		{Params{K: 8, H: 2, M: 4, P: .25, Q: .75, F: .5}, "1.0743"},
	} {
		r, err := NewRappor(c.p)
		if err != nil {
			t.Fatal(err)
		}
		f := big.NewRat(int64(r.f128), 128)
		mean := product(big.NewRat(1, 2), sum(r.p.rat(), r.q.rat()))
		one, zero := sum(product(f, mean), product(not(f), r.q.rat())), sum(product(f, mean), product(not(f), r.p.rat()))
		ratio := new(big.Rat).Quo(product(one, not(zero)), product(zero, not(one)))
		want := min(float64(c.p.H)*logOf(ratio), r.Loss().Lifetime)
		if got := r.Loss().Report; !exactly(got, want) {
			t.Errorf("%+v: one report costs %.12f, stated %.12f", c.p, want, got)
		}
		if c.want != "" && fmt.Sprintf("%.4f", r.Loss().Report) != c.want {
			t.Logf("%+v: %.4f", c.p, r.Loss().Report)
		}
	}
}

func BenchmarkLossOfReports(b *testing.B) {
	for _, k := range []int{3, 1000} {
		m, err := NewLongitudinalGRR(k, 4, .5)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			for b.Loop() {
				m.After(365)
			}
		})
	}
}
