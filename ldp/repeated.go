package ldp

import (
	"math"
	"math/big"

	"github.com/noren-privacy/noren"
)

// Repeated is a mechanism with memory: all reports of a person whose value stays go back
// to one permanent answer.
type Repeated interface {
	// After is the loss of n reports of one attribute whose value stays, rounded up: the
	// largest |ln P(reports | v) / P(reports | w)| over all sequences of n reports and all
	// values v and w. It is 0 for n = 0, and no more than the lifetime.
	After(n int) float64
}

var (
	_ Repeated = (*Longitudinal)(nil)
	_ Repeated = (*Rappor)(nil)
)

// LossAfter is the loss of n reports of a value that stays, by a mechanism that loses l by a
// report: that of [Repeated.After] where m has memory, else n times that of a record.
//
// For a mechanism with memory, n times the loss of one report is no bound: its reports are
// independent given the permanent answer, and not given the value. Several equal reports
// of a longitudinal GRR show the permanent answer nearly for certain, where one shows
// little of it.
func LossAfter(m any, l Loss, n int) float64 {
	if r, ok := m.(Repeated); ok {
		return r.After(n)
	}
	return noren.ComposedLoss(n, l.Record)
}

// mostExact is the number of reports up to which [Repeated.After] is exact but for rounding;
// beyond, it is the loss of a lifetime, which bounds that of every number of reports.
const mostExact = 4096

// After implements [Repeated]. The proofs are in docs/local-privacy.md, section 3.
func (m *Longitudinal) After(n int) float64 {
	switch {
	case n <= 0:
		return 0
	case n == 1:
		return m.loss.Record
	case n > mostExact:
		return m.loss.Lifetime
	case m.bits:
		return min(bitsAfter(m.on1.rat(), m.off1.rat(), m.on2.rat(), m.off2.rat(), n), m.loss.Lifetime)
	}
	return min(answersAfter(m.on1.rat(), m.on2.rat(), m.Domain(), n), m.loss.Lifetime)
}

// After implements [Repeated]: h times the loss of one Bloom bit that a word sets and of one
// that another sets.
func (r *Rappor) After(n int) float64 {
	l := r.Loss()
	switch {
	case n <= 0:
		return 0
	case n == 1:
		return l.Report
	case n > mostExact:
		return l.Lifetime
	}
	half := big.NewRat(int64(r.f128), 256)
	return min(float64(r.H)*bitsAfter(not(half), half, r.q.rat(), r.p.rat(), n)*(1+0x1p-50), l.Lifetime)
}

// bitsAfter is the loss of n reports of two bits, of which one value sets the one and another
// value the other, rounded up. A bit's permanent answer is 1 with probability on where it
// is set and off where it is not, and each report of it is 1 with probability high or low
// where the answer is 1 or 0, by itself given the answer.
//
// c reports of 1 among n have the likelihood ratio
//
//	R(c) = (on L + 1-on) / (off L + 1-off),  L = (high/low)^c ((1-high)/(1-low))^(n-c),
//
// which ascends with c as on > off and high > low. The bits are independent, so that the
// loss is ln R(n) - ln R(0), reached by n ones of the one bit and n zeros of the other. All
// is computed in rationals, but for the logarithm.
func bitsAfter(on, off, high, low *big.Rat, n int) float64 {
	ratio := func(high, low *big.Rat) *big.Rat {
		h, l := power(high, n), power(low, n)
		return new(big.Rat).Quo(sum(product(on, h), product(not(on), l)), sum(product(off, h), product(not(off), l)))
	}
	return logUp(new(big.Rat).Quo(ratio(high, low), ratio(not(high), not(low))))
}

// power is r^n, exactly.
func power(r *big.Rat, n int) *big.Rat {
	e := big.NewInt(int64(n))
	return new(big.Rat).SetFrac(new(big.Int).Exp(r.Num(), e, nil), new(big.Int).Exp(r.Denom(), e, nil))
}

// answersAfter is the loss of n reports of a longitudinal GRR on k labels, rounded up. The
// permanent answer is the label with probability p1, each other one with q1 = (1-p1)/(k-1);
// each report is the permanent answer with p2, each other label with q2.
//
// With r = p2/q2 > 1, a sequence in which label z occurs c_z times has
//
//	P(sequence | v) = q2^n (q1 S + (p1-q1) r^c_v),  S = sum_z r^c_z,
//
// so that ln P(.|v)/P(.|w) = ln (1 + (p1-q1)(r^a - r^b) / (q1 S + (p1-q1) r^b)) with a = c_v and
// b = c_w. For given a and b it is largest where S is least: where the other n-a-b reports
// are as even as possible over the other k-2 labels, as r^c is convex in c. And a may be
// taken as the largest count and b as the least: exchanging the counts of two labels leaves
// S and does not lower the ratio. So the pairs (a, b) with b at most the even share of the
// others are all that has to be tried.
//
// Rounding: all terms are positive, and each is exp(-d ln r) with an exponent of at most
// 745 or 0, so that the fraction has a relative error below 1e-12, which the result exceeds.
func answersAfter(p1, p2 *big.Rat, k, n int) float64 {
	others := big.NewRat(int64(k-1), 1)
	q1, q2 := new(big.Rat).Quo(not(p1), others), new(big.Rat).Quo(not(p2), others)
	if q2.Sign() == 0 {
		return math.Inf(1)
	}
	gain, _ := new(big.Rat).Sub(p1, q1).Float64()
	miss, _ := q1.Float64()
	rate := logOf(new(big.Rat).Quo(p2, q2))
	below := make([]float64, n+1) // r^-d
	for d := range below {
		below[d] = math.Exp(-float64(d) * rate)
	}
	most := 0.0
	try := func(a, b int) {
		s := 1 + below[a-b] // S, and all else, divided by r^a
		if k > 2 {
			even, more := (n-a-b)/(k-2), (n-a-b)%(k-2)
			if even+min(more, 1) > a {
				return // a is not the largest count
			}
			s += float64(k-2-more) * below[a-even]
			if more > 0 {
				s += float64(more) * below[a-even-1]
			}
		}
		x := gain * -math.Expm1(-float64(a-b)*rate) / (miss*s + gain*below[a-b])
		most = max(most, x)
	}
	for a := 1; a <= n; a++ {
		if k == 2 {
			if b := n - a; b <= a {
				try(a, b)
			}
			continue
		}
		for b := 0; a+b <= n && b <= a && b*(k-1) <= n-a; b++ {
			try(a, b)
		}
	}
	return math.Log1p(most*(1+1e-11)) * (1 + 1e-12)
}

// logOf is ln r for r > 0, within a part in 2^50 of it: by r-1 where r is near 1.
func logOf(r *big.Rat) float64 {
	x, _ := new(big.Rat).Sub(r, big.NewRat(1, 1)).Float64()
	if math.Abs(x) < 0.5 {
		return math.Log1p(x)
	}
	f, _ := r.Float64()
	return math.Log(f)
}
