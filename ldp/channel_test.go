package ldp

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"testing"

	"github.com/noren-privacy/noren/internal/entropy"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/noise"
)

// matrix is an exact channel: inputs x outputs, from the very thresholds that the
// samplers compare with.
type matrix [][]*big.Rat

// epsilon is the loss of a channel: the largest ln of a ratio in a column.
func (m matrix) epsilon(t *testing.T) float64 {
	t.Helper()
	worst := big.NewRat(1, 1)
	for x := range m {
		total := new(big.Rat)
		for y := range m[x] {
			total.Add(total, m[x][y])
			for x2 := range m {
				if m[x2][y].Sign() == 0 {
					if m[x][y].Sign() != 0 {
						t.Fatal("an output that only some inputs can have")
					}
					continue
				}
				if r := new(big.Rat).Quo(m[x][y], m[x2][y]); r.Cmp(worst) > 0 {
					worst = r
				}
			}
		}
		if total.Cmp(big.NewRat(1, 1)) != 0 {
			t.Fatalf("the probabilities of input %d add up to %s", x, total.FloatString(20))
		}
	}
	f, _ := worst.Float64()
	return math.Log(f)
}

func (m matrix) floats(x int) []float64 {
	out := make([]float64, len(m[x]))
	for y := range out {
		out[y], _ = m[x][y].Float64()
	}
	return out
}

// exact computes the matrix of an oracle whose reports can be listed, and the
// number of a report.
func exact(o Oracle) (matrix, func(Report) int) {
	k := o.Domain()
	m := make(matrix, k)
	switch o := o.(type) {
	case *GRR:
		rest := new(big.Rat).Quo(o.truth.not().rat(), big.NewRat(int64(k-1), 1))
		for x := range m {
			for y := range k {
				if x == y {
					m[x] = append(m[x], o.truth.rat())
				} else {
					m[x] = append(m[x], rest)
				}
			}
		}
		return m, func(r Report) int { return int(r.Value) }
	case *Unary:
		for x := range m {
			for y := range 1 << k {
				p := big.NewRat(1, 1)
				for l := range k {
					q := o.other
					if l == x {
						q = o.true
					}
					if y>>l&1 == 0 {
						q = q.not()
					}
					p.Mul(p, q.rat())
				}
				m[x] = append(m[x], p)
			}
		}
		return m, func(r Report) int { return int(r.Bits[0]) }
	case *Subset:
		with := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Binomial(int64(k-1), int64(o.w-1)))
		without := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Binomial(int64(k-1), int64(o.w)))
		for x := range m {
			for y := range 1 << k {
				p := new(big.Rat)
				if bits.OnesCount(uint(y)) == o.w {
					if y>>x&1 == 1 {
						p = product(with, o.truth.rat())
					} else {
						p = product(without, o.truth.not().rat())
					}
				}
				m[x] = append(m[x], p)
			}
		}
		return m, func(r Report) int { return int(r.Bits[0]) }
	case *Longitudinal:
		rows, number := exact(o.Oracle)
		if o.bits {
			one := sum(product(o.on1.rat(), o.on2.rat()), product(o.on1.not().rat(), o.off2.rat()))
			zero := sum(product(o.off1.rat(), o.on2.rat()), product(o.off1.not().rat(), o.off2.rat()))
			for x := range rows {
				for y := range rows[x] {
					p := big.NewRat(1, 1)
					for l := range k {
						q := zero
						if l == x {
							q = one
						}
						if y>>l&1 == 0 {
							q = not(q)
						}
						p.Mul(p, q)
					}
					rows[x][y] = p
				}
			}
			return rows, number
		}
		others := big.NewRat(int64(k-1), 1)
		stage := func(truth prob, x, y int) *big.Rat {
			if x == y {
				return truth.rat()
			}
			return new(big.Rat).Quo(truth.not().rat(), others)
		}
		for x := range rows {
			for y := range rows[x] {
				p := new(big.Rat)
				for z := range k {
					p.Add(p, product(stage(o.on1, x, z), stage(o.on2, z, y)))
				}
				rows[x][y] = p
			}
		}
		return rows, number
	}
	panic("not listed")
}

func oracles(t *testing.T, k int, epsilon float64) map[string]Oracle {
	t.Helper()
	all := make(map[string]Oracle)
	for _, name := range Names() {
		o, err := NewOracle(name, k, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = o
	}
	for _, construct := range []func(int, float64, float64) (*Longitudinal, error){NewLongitudinalGRR, NewLongitudinalOUE} {
		o, err := construct(k, min(2*epsilon, MaxEpsilon), epsilon)
		if err != nil {
			continue // epsilon at its end
		}
		all[o.Name()] = o
	}
	return all
}

// No channel loses more than it says, and none wastes more than rounding.
func TestExactLossOfOracles(t *testing.T) {
	randtest.SkipShort(t)
	for _, k := range []int{2, 3, 5, 7} {
		for _, epsilon := range []float64{MinEpsilon, 0.01, 0.5, 1, 2.0761, 3.6306, 8, 19.7, MaxEpsilon} {
			for name, o := range oracles(t, k, epsilon) {
				if name == "olh" {
					continue // below
				}
				m, _ := exact(o)
				got, stated := m.epsilon(t), o.Loss().Report
				if got > stated {
					t.Errorf("%s, k = %d: loses %.17g, says %.17g", name, k, got, stated)
				}
				if stated > epsilon+1e-6 {
					t.Errorf("%s, k = %d: costs %.17g where %.17g was asked for", name, k, stated, epsilon)
				}
				// The smallest probabilities are a few hundred steps of 2^-64 at epsilon 40.
				if waste := epsilon - got; waste > 1e-6*epsilon+3e-13 && epsilon <= 8 || waste > 0.1 {
					t.Errorf("%s, k = %d: loses %.17g of %.17g", name, k, got, epsilon)
				}
			}
		}
	}
}

// The longitudinal answers cost no more than their lifetime, however many: the
// permanent answer alone is what they are made from.
func TestExactLossOfPermanentAnswers(t *testing.T) {
	for _, k := range []int{2, 5} {
		for _, epsilon := range []float64{0.2, 1, 4, 20} {
			g, err := NewLongitudinalGRR(k, epsilon, epsilon/2)
			if err != nil {
				t.Fatal(err)
			}
			m, _ := exact(&GRR{k: k, truth: g.on1})
			if got := m.epsilon(t); got > g.Loss().Lifetime || got < epsilon-1e-6 {
				t.Errorf("GRR's permanent answer loses %.17g, says %g", got, g.Loss().Lifetime)
			}
			u, err := NewLongitudinalOUE(k, epsilon, epsilon/2)
			if err != nil {
				t.Fatal(err)
			}
			m, _ = exact(&Unary{k: k, true: u.on1, other: u.off1})
			if got := m.epsilon(t); got > u.Loss().Lifetime || got < epsilon-1e-6 {
				t.Errorf("OUE's permanent answer loses %.17g, says %g", got, u.Loss().Lifetime)
			}
		}
	}
}

// Given the hash function, OLH is GRR on the hashed labels.
func TestExactLossOfOLH(t *testing.T) {
	for _, epsilon := range []float64{MinEpsilon, 0.3, 1, 4, 12, MaxEpsilon} {
		o, err := NewOLH(100, epsilon)
		if err != nil {
			t.Fatal(err)
		}
		p := o.truth.rat()
		ratio, _ := new(big.Rat).Quo(product(p, big.NewRat(int64(o.g-1), 1)), not(p)).Float64()
		if got := math.Log(ratio); got > epsilon || got < epsilon-1e-6*epsilon-3e-13 && epsilon < 12 {
			t.Errorf("epsilon %g: loses %.17g", epsilon, got)
		}
	}
}

// The samplers have the distribution of the exact matrix.
func TestSamplersFollowTheirChannels(t *testing.T) {
	randtest.SkipShort(t)
	const n = 60_000
	for name, o := range oracles(t, 5, 1.2) {
		if name == "olh" {
			continue
		}
		m, number := exact(o)
		for _, label := range []int{0, 2, 4} {
			src := randtest.Source(uint64(label) + 17)
			counts := make([]int64, len(m[label]))
			for range n {
				r, err := o.Randomise(src, label)
				if err != nil {
					t.Fatal(err)
				}
				if err := o.Check(r); err != nil {
					t.Fatal(err)
				}
				counts[number(r)]++
			}
			fits(t, fmt.Sprintf("%s, label %d", name, label), counts, m.floats(label))
			fit, err := randtest.ChiSquared(counts, m.floats((label+1)%5))
			if err != nil || fit.P > randtest.RejectLevel {
				t.Errorf("%s: the test would not have noticed another label", name)
			}
		}
	}
}

func fits(t *testing.T, what string, counts []int64, probs []float64) {
	t.Helper()
	fit, err := randtest.ChiSquared(counts, probs)
	if err != nil {
		t.Fatal(err)
	}
	if fit.P < randtest.FitLevel {
		t.Errorf("%s: does not fit, p = %g", what, fit.P)
	}
}

// OLH: every label but the true one is supported with probability 1/g, the true
// one as GRR says, and pairs of others independently enough.
func TestOLHSupports(t *testing.T) {
	o, err := NewOLH(40, 1)
	if err != nil {
		t.Fatal(err)
	}
	src := randtest.Source(5)
	const n = 40_000
	c := NewCollector(o)
	for range n {
		r, err := o.Randomise(src, 7)
		if err != nil {
			t.Fatal(err)
		}
		before := c.Counts()
		if err := c.Add(r); err != nil {
			t.Fatal(err)
		}
		for l, v := range c.counts {
			if (v-before[l] == 1) != o.Supports(r, l) {
				t.Fatal("tally and Supports differ")
			}
		}
	}
	ch := o.Channel()
	for l, v := range c.Counts() {
		p := ch.Other
		if l == 7 {
			p = ch.True
		}
		fits(t, fmt.Sprintf("label %d", l), []int64{v, n - v}, []float64{p, 1 - p})
	}
}

// The window under Piecewise and Square Wave, exactly and as drawn.
func TestWindowChannel(t *testing.T) {
	for _, epsilon := range []float64{MinEpsilon, 0.3, 1, 5, 20, MaxEpsilon} {
		w := newWindow(12, 5, epsilon)
		m := make(matrix, w.positions())
		in := new(big.Rat).Quo(w.in.rat(), big.NewRat(int64(w.width), 1))
		out := new(big.Rat).Quo(w.in.not().rat(), big.NewRat(int64(w.cells-w.width), 1))
		for x := range m {
			for y := range w.cells {
				if y >= x && y < x+w.width {
					m[x] = append(m[x], in)
				} else {
					m[x] = append(m[x], out)
				}
			}
		}
		if got := m.epsilon(t); got > epsilon || got < epsilon-1e-6*epsilon-3e-13 && epsilon < 12 {
			t.Errorf("epsilon %g: loses %.17g", epsilon, got)
		}
		a, b := w.moments()
		for x := range m {
			mean := 0.0
			for y, p := range m.floats(x) {
				mean += float64(y) * p
			}
			if math.Abs(mean-a-b*float64(x)) > 1e-12 {
				t.Errorf("epsilon %g, position %d: mean %g, formula %g", epsilon, x, mean, a+b*float64(x))
			}
		}
		if epsilon != 1 {
			continue
		}
		for x := range m {
			src := randtest.Source(uint64(x))
			counts := make([]int64, w.cells)
			for range 20_000 {
				y, err := w.draw(src, x)
				if err != nil {
					t.Fatal(err)
				}
				counts[y]++
			}
			fits(t, fmt.Sprintf("position %d", x), counts, m.floats(x))
		}
	}
}

// 64 bits at once have the probabilities of 64 draws.
func TestLanes(t *testing.T) {
	const n = 30_000
	for _, c := range []struct{ a, b float64 }{{0.25, 0.75}, {0, 1}, {1, 0}, {0.1, 0.1}, {0x1p-3, 1}, {0.99, 0.5}} {
		src := randtest.Source(3)
		a, b := down(c.a), down(c.b)
		const which = 0xf0f0_1234_5678_9abc
		var counts [64]int64
		var pairs [4]int64 // bits 0 and 1 together: independent?
		for range n {
			w, err := lanes(src, a, b, which)
			if err != nil {
				t.Fatal(err)
			}
			pairs[w&3]++
			for i := range counts {
				counts[i] += int64(w >> i & 1)
			}
		}
		p := func(i int) float64 {
			if uint64(which)>>i&1 == 1 {
				return c.b
			}
			return c.a
		}
		for i, v := range counts {
			if p(i) == 0 || p(i) == 1 {
				if v != int64(p(i))*n {
					t.Errorf("%+v: bit %d was %d times 1", c, i, v)
				}
				continue
			}
			fits(t, fmt.Sprintf("%+v bit %d", c, i), []int64{n - v, v}, []float64{1 - p(i), p(i)})
		}
		if p(0) > 0 && p(0) < 1 && p(1) > 0 && p(1) < 1 {
			probs := make([]float64, 4)
			for j := range probs {
				probs[j] = 1
				for i := range 2 {
					if j>>i&1 == 1 {
						probs[j] *= p(i)
					} else {
						probs[j] *= 1 - p(i)
					}
				}
			}
			fits(t, "a pair of bits", pairs[:], probs)
		}
	}
}

func TestProbRoundsAsItSays(t *testing.T) {
	for _, p := range []float64{0, 1, 0.5, 0.1, 1. / 3, 1e-5, 3e-19, 5e-20, 1e-30, 1 - 0x1p-53} {
		exactly := new(big.Rat).SetFloat64(p)
		if d := down(p).rat(); d.Cmp(exactly) > 0 {
			t.Errorf("down(%g) is above", p)
		}
		if u := up(p).rat(); u.Cmp(exactly) < 0 {
			t.Errorf("up(%g) is below", p)
		}
		if gap := new(big.Rat).Sub(up(p).rat(), down(p).rat()); gap.Cmp(big.NewRat(1, math.MaxInt64)) > 0 {
			t.Errorf("up and down of %g are far apart", p)
		}
		if s := sum(down(p).rat(), down(p).not().rat()); s.Cmp(big.NewRat(1, 1)) != 0 {
			t.Errorf("%g and its complement do not add up to 1", p)
		}
	}
}

// An attack finds nearly all of the stated loss, and never more.
func TestAttackFindsNoMoreThanIsStated(t *testing.T) {
	randtest.SkipShort(t)
	const epsilon = 1.0
	for name, o := range oracles(t, 4, epsilon) {
		var number func(Report) int
		switch {
		case name == "olh":
			olh := o.(*OLH)
			// The best attack asks whether the answer fits one label and not the other.
			number = func(r Report) int {
				v := 0
				if olh.Supports(r, 0) {
					v++
				}
				if olh.Supports(r, 1) {
					v += 2
				}
				return v
			}
		default:
			_, number = exact(o)
			if name != "grr" && name != "longitudinal-grr" {
				n := number
				number = func(r Report) int { return n(r) & 3 } // the two labels' bits
			}
		}
		mechanism := func(label int) randtest.Mechanism {
			return func(src *entropy.Source) (int64, error) {
				r, err := o.Randomise(src, label)
				return int64(number(r)), err
			}
		}
		b, err := randtest.EpsilonLowerBound(t.Context(), randtest.Audit{Runs: 60_000, Seed: 1}, mechanism(0), mechanism(1))
		if err != nil {
			t.Fatal(err)
		}
		if b.Epsilon > o.Loss().Report {
			t.Errorf("%s: an attack shows %.4f at %v, stated is %.4f", name, b.Epsilon, b.Event, o.Loss().Report)
		}
		if b.Epsilon < 0.8*epsilon {
			t.Errorf("%s: the attack finds only %.4f: it, or the mechanism, is weak", name, b.Epsilon)
		}
	}
}

// A source that fails is an error and no report.
func TestFailingSource(t *testing.T) {
	var broken noise.Source // the zero value fails
	for name, o := range oracles(t, 5, 1) {
		if _, err := o.Randomise(&broken, 1); err == nil {
			t.Errorf("%s: a report without randomness", name)
		}
	}
	m, err := NewHybrid(0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Randomise(&broken, 0.5); err == nil {
		t.Error("hybrid: a report without randomness")
	}
}
