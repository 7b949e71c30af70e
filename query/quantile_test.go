package query

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/table"
)

func ratOf(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func TestExpBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		x := big.NewRat(rapid.Int64Range(0, 1e12).Draw(rt, "n"), rapid.Int64Range(1e9, 1e12).Draw(rt, "d"))
		f, _ := x.Float64()
		if f > 300 {
			return
		}
		lo, hi := expBounds(x, 128)
		unit := new(big.Int).Lsh(big.NewInt(1), 128)
		l, _ := new(big.Rat).SetFrac(lo, unit).Float64()
		h, _ := new(big.Rat).SetFrac(hi, unit).Float64()
		if lo.Cmp(hi) > 0 || math.Abs(l/math.Exp(f)-1) > 1e-12 || math.Abs(h/math.Exp(f)-1) > 1e-12 {
			rt.Fatalf("e^%g in [%g, %g]", f, l, h)
		}
		d := rapid.Int64Range(0, 200).Draw(rt, "times")
		lo, hi = newPowers(new(big.Rat).Add(x, big.NewRat(1, 1000)), 128).of(d)
		want := math.Exp(-(f + 0.001) * float64(d))
		l, _ = new(big.Rat).SetFrac(lo, unit).Float64()
		h, _ = new(big.Rat).SetFrac(hi, unit).Float64()
		if l > want*(1+1e-11) || h < want*(1-1e-11) || h-l > 1e-30+1e-12*want {
			rt.Fatalf("e^(-%g*%d) = %g in [%g, %g]", f+0.001, d, want, l, h)
		}
	})
}

// quantileQuery is over whole numbers lo..hi.
func quantileQuery(t testing.TB, o Options, lo, hi float64) *Query {
	t.Helper()
	o.Kind, o.Column, o.Bounds, o.Fields = Quantile, "x", &Bounds{lo, hi}, []table.Field{{Name: "x", Type: table.Integer}}
	if o.Cost == (account.Cost{}) {
		o.Cost.Epsilon = one
	}
	return mustNew(t, o)
}

// lossByDefinition is by how far y misses being an a/b-quantile, times b.
func lossByDefinition(values []int64, y, a, b int64) int64 {
	var below, same int64
	for _, v := range values {
		switch {
		case v < y:
			below++
		case v == y:
			same++
		}
	}
	n := int64(len(values))
	// The least |b r - a n| over ranks r in [below, below+same].
	least := int64(math.MaxInt64)
	for r := below; r <= below+same; r++ {
		least = min(least, max(b*r-a*n, a*n-b*r))
	}
	if b*below <= a*n && a*n <= b*(below+same) {
		return 0
	}
	return least
}

func TestSegmentsAreTheLoss(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rank := rapid.SampledFrom([]string{"0.5", "0.25", "0.9", "0.333333"}).Draw(rt, "rank")
		k := quantileQuery(t, Options{Rank: rank}, -4, 9).kernel.(*quantile)
		values := rapid.SliceOfN(rapid.Int64Range(-4, 9), 0, 12).Draw(rt, "values")
		slices.Sort(values)
		next := int64(-4)
		for _, s := range k.segments(runsOf(values)) {
			if s.from != next || s.size < 1 {
				rt.Fatalf("segment from %d of %d, expected from %d", s.from, s.size, next)
			}
			for y := s.from; y < s.from+s.size; y++ {
				if want := lossByDefinition(values, y, k.a, k.b); s.loss != want {
					rt.Fatalf("%v: loss of %d is %d, want %d", values, y, s.loss, want)
				}
			}
			next += s.size
		}
		if next != 10 {
			rt.Fatalf("the candidates end before %d", next)
		}
	})
}

// The loss changes by at most D, exactly, for units of one record.
func TestLossSensitivity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rank := rapid.SampledFrom([]string{"0.5", "0.2", "0.9"}).Draw(rt, "rank")
		n := rapid.SampledFrom([]account.Neighbours{account.AddRemove, account.ReplaceOne}).Draw(rt, "n")
		k := quantileQuery(t, Options{Rank: rank, Neighbours: n}, 0, 6).kernel.(*quantile)
		x := rapid.SliceOfN(rapid.Int64Range(0, 6), 1, 9).Draw(rt, "values")
		y := slices.Clone(x)
		if n == account.AddRemove || rapid.Bool().Draw(rt, "leaves") {
			y = y[1:]
		} else {
			y[0] = rapid.Int64Range(0, 6).Draw(rt, "other")
		}
		for c := int64(0); c <= 6; c++ {
			d := lossByDefinition(x, c, k.a, k.b) - lossByDefinition(y, c, k.a, k.b)
			if max(d, -d) > k.most.Int64() {
				rt.Fatalf("%v, %v: the loss of %d changes by %d of %v", x, y, c, d, k.most)
			}
		}
	})
}

// The draw has exactly the probabilities of the exponential mechanism; the test would
// notice another epsilon.
func TestChooseIsExact(t *testing.T) {
	randtest.SkipShort(t)
	values := []int64{2, 2, 3, 7, 7, 7, 8}
	probabilities := func(g float64, segments []segment) []float64 {
		var p []float64
		total := 0.0
		for _, s := range segments {
			for range s.size {
				p = append(p, math.Exp(-g*float64(s.loss)))
				total += p[len(p)-1]
			}
		}
		for i := range p {
			p[i] /= total
		}
		return p
	}
	k := quantileQuery(t, Options{}, 0, 11).kernel.(*quantile)
	segments := k.segments(runsOf(values))
	counts := make([]int64, 12)
	src := randtest.Source(2)
	for range 100_000 {
		y, err := choose(t.Context(), segments, k.powers, src)
		if err != nil {
			t.Fatal(err)
		}
		counts[y]++
	}
	g, _ := k.weight.Float64()
	if fit, err := randtest.ChiSquared(counts, probabilities(g, segments)); err != nil || fit.P < randtest.FitLevel {
		t.Errorf("%+v, %v", fit, err)
	}
	for _, factor := range []float64{0.9, 1.1} {
		if fit, err := randtest.ChiSquared(counts, probabilities(g*factor, segments)); err != nil || fit.P > randtest.RejectLevel {
			t.Errorf("epsilon times %g was not noticed: %+v, %v", factor, fit, err)
		}
	}
}

// More bits never change a decision, and enough bits always bring one.
func TestDecideIsConsistent(t *testing.T) {
	segments := []segment{{0, 5, 3}, {5, 1, 0}, {6, 1000, 7}, {1006, 3, 900}}
	g := big.NewRat(1, 7)
	rapid.Check(t, func(rt *rapid.T) {
		u := big.NewInt(rapid.Int64Range(0, 1<<16-1).Draw(rt, "u"))
		decided := -1
		for prec := uint(16); prec <= 160; prec += 48 {
			at, err := decide(t.Context(), segments, 0, newPowers(g, prec), u)
			if err != nil {
				rt.Fatal(err)
			}
			if decided >= 0 && at != decided {
				rt.Fatalf("decided for %d and then for %d", decided, at)
			}
			decided = at
			u.Lsh(u, 48)
			u.Add(u, big.NewInt(rapid.Int64Range(0, 1<<48-1).Draw(rt, "more")))
		}
		u.Rsh(u, 48) // the 160 bits that were looked at
		if toEnd := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), u); decided < 0 && toEnd.BitLen() > 16 {
			rt.Fatal("160 bits did not decide") // ones alone are the end of the last segment, which no number of bits decides
		}
	})
}

// multisets visits every multiset of at most n of 0..top, in order.
func multisets(n int, top int64, visit func([]int64)) {
	var rec func(prefix []int64)
	rec = func(prefix []int64) {
		visit(prefix)
		if len(prefix) == n {
			return
		}
		from := int64(0)
		if len(prefix) > 0 {
			from = prefix[len(prefix)-1]
		}
		for v := from; v <= top; v++ {
			rec(append(slices.Clone(prefix), v))
		}
	}
	rec(nil)
}

// For all small tables and all their neighbours, S is at least what the median changes
// by, and smooth: the two conditions of the theorem on Lomax noise.
func TestSmoothSensitivityIsSmooth(t *testing.T) {
	const top, most = 4, 6
	for _, n := range []account.Neighbours{account.AddRemove, account.ReplaceOne} {
		for _, epsilon := range []int64{one / 2, 4 * one} {
			s := quantileQuery(t, Options{Noise: Smooth, Neighbours: n, Cost: account.Cost{Epsilon: epsilon}}, 0, top).kernel.(*smooth)
			beta, _ := s.beta.Float64()
			type figures struct{ s, median float64 }
			known := map[string]figures{}
			key := func(v []int64) string {
				b := make([]byte, len(v))
				for i := range v {
					b[i] = byte(v[i])
				}
				return string(b)
			}
			multisets(most+1, top, func(v []int64) {
				x := ordered{v, 0, top}
				sens, err := s.sensitivity(t.Context(), x)
				if err != nil {
					t.Fatal(err)
				}
				f, _ := sens.Float64()
				known[key(v)] = figures{f, float64(x.at(x.middle()))}
			})
			compare := func(v, w []int64) {
				a, b := known[key(v)], known[key(w)]
				if change := math.Abs(a.median - b.median); change > min(a.s, b.s)*(1+1e-12) {
					t.Fatalf("%v %v, %v: the median changes by %g, S is %g and %g", n, v, w, change, a.s, b.s)
				}
				if ratio := max(a.s/b.s, b.s/a.s); ratio > math.Exp(beta)*(1+1e-12) {
					t.Fatalf("%v %v, %v: S is %g and %g, a ratio of %g above e^beta = %g", n, v, w, a.s, b.s, ratio, math.Exp(beta))
				}
			}
			multisets(most, top, func(v []int64) {
				for z := int64(0); z <= top; z++ {
					w := append(slices.Clone(v), z)
					slices.Sort(w)
					compare(v, w) // an addition, and a removal
					if n == account.AddRemove {
						continue
					}
					for i := range v {
						w := slices.Clone(v)
						w[i] = z
						slices.Sort(w)
						compare(v, w)
					}
				}
			})
		}
	}
}

// Divide and conquer finds what looking at all windows finds.
func TestWidest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, 50), 0, 40).Draw(rt, "values")
		slices.Sort(values)
		x := ordered{values, 0, 50}
		beta := big.NewRat(rapid.Int64Range(1, 3000).Draw(rt, "beta"), 1000)
		b, _ := beta.Float64()
		value := func(i, j int) float64 { return float64(x.at(j)-x.at(i)) * math.Exp(-b*float64(j-i-1)) }
		found, err := widest(t.Context(), x, newPowers(beta, 64), 1000)
		if err != nil {
			rt.Fatal(err)
		}
		got, want := 0.0, 0.0
		for _, w := range found {
			got = max(got, value(w.from, w.to))
		}
		m := x.middle()
		for i := 0; i <= m; i++ {
			for j := max(i+1, m); j <= len(values)+1; j++ {
				want = max(want, value(i, j))
			}
		}
		if math.Abs(got-want) > 1e-12*want {
			rt.Fatalf("%v: %g, want %g", values, got, want)
		}
	})
}

// The figures are those of docs/outliers.md: standard deviation
// a unit of S at the default beta = eps/5, p = 6.
func TestLomaxScale(t *testing.T) {
	for _, test := range []struct {
		epsilon int64
		want    float64
	}{{one / 10, 29.81}, {one / 2, 5.358}, {one, 2.343}, {2 * one, 1.032}} {
		s := quantileQuery(t, Options{Noise: Smooth, Cost: account.Cost{Epsilon: test.epsilon}}, 0, 10).kernel.(*smooth)
		a, _ := s.a.Float64()
		if got := math.Sqrt(s.lomax.Variance()) / a; math.Abs(got/test.want-1) > 5e-4 {
			t.Errorf("epsilon %d: %g, want %g", test.epsilon, got, test.want)
		}
		e := float64(test.epsilon) / one
		beta := e / 5
		if 6*math.Log1p(a) > e || beta+6*math.Log1p(a*math.Exp(-beta)) > e*(1+1e-12) {
			t.Errorf("epsilon %g: a = %g breaks the conditions of the theorem", e, a)
		}
	}
}

// The rank is off by at most what was guaranteed.
func TestRankWithin(t *testing.T) {
	randtest.SkipShort(t)
	values := make([]int64, 0, 1000)
	for i := range int64(1000) {
		values = append(values, i*i%997)
	}
	slices.Sort(values)
	q := quantileQuery(t, Options{Rank: "0.9", Level: 0.9, Cost: account.Cost{Epsilon: one / 2}}, 0, 1000)
	k := q.kernel.(*quantile)
	within, src, kept := k.rankWithin(0.9), randtest.Source(4), 0
	for range 500 {
		y, err := choose(t.Context(), k.segments(runsOf(values)), k.powers, src)
		if err != nil {
			t.Fatal(err)
		}
		if float64(lossByDefinition(values, y, k.a, k.b))/float64(k.b) <= within {
			kept++
		}
	}
	if kept < 440 || within > 100 {
		t.Errorf("%d of 500 within %g records", kept, within)
	}
}
