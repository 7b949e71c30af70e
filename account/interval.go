package account

import (
	"math"
	"math/big"
)

// interval is a pair of numbers lo <= hi between which the true value is proven
// to lie. Every operation rounds lo down and hi up.
type interval struct{ lo, hi *big.Float }

func (x interval) hiRat() *big.Rat { r, _ := x.hi.Rat(nil); return r }

// arith computes with intervals of prec bits.
type arith struct{ prec uint }

func (a arith) down() *big.Float { return new(big.Float).SetPrec(a.prec).SetMode(big.ToNegativeInf) }

func (a arith) up() *big.Float { return new(big.Float).SetPrec(a.prec).SetMode(big.ToPositiveInf) }

func (a arith) rat(r *big.Rat) interval { return interval{a.down().SetRat(r), a.up().SetRat(r)} }
func (a arith) int(n int64) interval {
	return interval{a.down().SetInt64(n), a.up().SetInt64(n)}
}

// float is the interval of f alone, which must be finite.
func (a arith) float(f float64) interval {
	return interval{a.down().SetFloat64(f), a.up().SetFloat64(f)}
}

func (a arith) add(x, y interval) interval {
	return interval{a.down().Add(x.lo, y.lo), a.up().Add(x.hi, y.hi)}
}

func (a arith) sub(x, y interval) interval {
	return interval{a.down().Sub(x.lo, y.hi), a.up().Sub(x.hi, y.lo)}
}

func (a arith) neg(x interval) interval { return interval{a.down().Neg(x.hi), a.up().Neg(x.lo)} }

func (a arith) mul(x, y interval) interval {
	if x.lo.Sign() >= 0 && y.lo.Sign() >= 0 {
		return interval{a.down().Mul(x.lo, y.lo), a.up().Mul(x.hi, y.hi)}
	}
	var z interval
	for _, p := range [...][2]*big.Float{{x.lo, y.lo}, {x.lo, y.hi}, {x.hi, y.lo}, {x.hi, y.hi}} {
		lo, hi := a.down().Mul(p[0], p[1]), a.up().Mul(p[0], p[1])
		if z.lo == nil || lo.Cmp(z.lo) < 0 {
			z.lo = lo
		}
		if z.hi == nil || hi.Cmp(z.hi) > 0 {
			z.hi = hi
		}
	}
	return z
}

// div is x/y for y that is surely above 0.
func (a arith) div(x, y interval) interval {
	below, above := y.hi, y.lo
	if x.lo.Sign() < 0 {
		below = y.lo
	}
	if x.hi.Sign() < 0 {
		above = y.hi
	}
	return interval{a.down().Quo(x.lo, below), a.up().Quo(x.hi, above)}
}

func (a arith) half(x interval) interval {
	return interval{a.down().SetMantExp(x.lo, -1), a.up().SetMantExp(x.hi, -1)}
}

// sqrt is the root of x, surely at least 0. The root of big.Float is good to its
// last bit or so; four units are taken off and added.
func (a arith) sqrt(x interval) interval {
	slack := func(sign int64) interval {
		u := a.down().SetMantExp(big.NewFloat(float64(sign)), 3-int(a.prec))
		return a.add(a.int(1), interval{u, u})
	}
	root := func(f *big.Float) interval {
		r := new(big.Float).SetPrec(a.prec).Sqrt(f)
		return interval{r, r}
	}
	return interval{a.mul(root(x.lo), slack(-1)).lo, a.mul(root(x.hi), slack(1)).hi}
}

// exp is e^x, x < 2^20. x is halved s times until |r| <= 2^-8, so that the series
//
//	e^r = sum_(n<N) r^n/n! + R,  |R| <= |r|^N/N! / (1 - |r|) <= 2 |r|^N/N!,
//
// needs few terms; then it is squared s times. The bits that squaring costs are
// carried as guard bits.
func (a arith) exp(x interval) interval {
	return interval{a.expPoint(x.lo).lo, a.expPoint(x.hi).hi}
}

func (a arith) expPoint(x *big.Float) interval {
	if x.Sign() == 0 {
		return a.int(1)
	}
	if x.Sign() < 0 && x.MantExp(nil) > 20 { // x <= -2^20, e^x < 2^-2^20
		return interval{a.int(0).lo, a.up().SetMantExp(big.NewFloat(1), -1<<20)}
	}
	s := max(0, x.MantExp(nil)+8) // |x| < 2^e, so |x| 2^-s < 2^-8
	b := arith{a.prec + uint(s) + 16}
	r := new(big.Float).SetMantExp(x, -s)
	ri := interval{r, r}
	size := r.MantExp(nil) // |r| < 2^size <= 2^-8
	sum, term, bits := b.int(1), b.int(1), 0
	for n := int64(1); ; n++ {
		term = b.div(b.mul(term, ri), b.int(n))
		bits += size
		// |term| <= 2^bits.
		if bits < -int(b.prec)-4 {
			rest := b.up().SetMantExp(big.NewFloat(1), bits+1)
			sum = b.add(sum, interval{b.down().Neg(rest), rest})
			break
		}
		sum = b.add(sum, term)
	}
	for range s {
		sum = b.mul(sum, sum)
	}
	return interval{a.down().Set(sum.lo), a.up().Set(sum.hi)}
}

// log is ln x for x surely above 0: with y near ln x from floating point, x e^-y =
// 1 + d with small d, and ln x = y + ln(1+d),
//
//	ln(1+d) = d - d^2/2 + d^3/3 - ... ,  |rest from n on| <= |d|^n / (n (1-|d|)) <= 2 |d|^n.
func (a arith) log(x interval) interval {
	return interval{a.logPoint(x.lo).lo, a.logPoint(x.hi).hi}
}

func (a arith) logPoint(x *big.Float) interval {
	mantissa := new(big.Float)
	e := x.MantExp(mantissa)
	m, _ := mantissa.Float64()
	y := math.Log(m) + float64(e)*math.Ln2
	b := arith{a.prec + 32}
	d := b.sub(b.mul(interval{x, x}, b.exp(b.float(-y))), b.int(1))
	size := max(d.lo.MantExp(nil), d.hi.MantExp(nil)) // |d| <= 2^size
	if d.lo.Sign() == 0 && d.hi.Sign() == 0 {
		return a.float(y)
	}
	sum, power, bits := b.float(y), b.int(1), 0
	for n := int64(1); ; n++ {
		power = b.mul(power, d)
		bits += size
		if bits < -int(b.prec)-64 || n > 1000 {
			rest := b.up().SetMantExp(big.NewFloat(1), bits+1)
			sum = b.add(sum, interval{b.down().Neg(rest), rest})
			break
		}
		term := b.div(power, b.int(n))
		if n%2 == 0 {
			term = b.neg(term)
		}
		sum = b.add(sum, term)
	}
	return interval{a.down().Set(sum.lo), a.up().Set(sum.hi)}
}

// pi is 16 arctan(1/5) - 4 arctan(1/239) (Machin), by the alternating series,
// whose rest is at most its first term left out.
func (a arith) pi() interval {
	arctan := func(inverse int64) interval {
		square := a.int(inverse * inverse)
		power := a.div(a.int(1), a.int(inverse))
		sum := a.int(0)
		for n := int64(0); ; n++ {
			term := a.div(power, a.int(2*n+1))
			if n%2 == 1 {
				term = a.neg(term)
			}
			if term.hi.MantExp(nil) < -int(a.prec)-4 {
				rest := a.up().SetMantExp(big.NewFloat(1), -int(a.prec)-3)
				return a.add(sum, interval{a.down().Neg(rest), rest})
			}
			sum = a.add(sum, term)
			power = a.div(power, square)
		}
	}
	return a.sub(a.mul(a.int(16), arctan(5)), a.mul(a.int(4), arctan(239)))
}

// tail is Q(x) = P(N(0,1) > x). For 0 <= x <= 60,
//
//	Q(x) = 1/2 - e^(-x^2/2)/sqrt(2 pi) * sum_(n>=0) x^(2n+1) / (1*3*...*(2n+1)),
//
// a series of positive terms, each x^2/(2n+1) times the one before; once that
// ratio is at most 1/2 what is left out is at most the last term. The difference
// loses about x^2/2 * log2(e) bits, which the precision makes up for. Beyond 60
// the interval is wide: nothing that small decides anything here.
func (a arith) tail(x interval) interval {
	return interval{a.tailPoint(x.hi).lo, a.tailPoint(x.lo).hi}
}

func (a arith) tailPoint(x *big.Float) interval {
	if x.Sign() < 0 {
		return a.sub(a.int(1), a.tailPoint(new(big.Float).Neg(x)))
	}
	f, _ := x.Float64()
	if f > 60 { // Q(x) <= e^(-x^2/2) <= e^-1800
		return interval{a.int(0).lo, a.exp(a.int(-1800)).hi}
	}
	b := arith{a.prec + uint(1.5*f*f) + 64}
	xi := interval{x, x}
	square := b.mul(xi, xi)
	sum, term := xi, xi
	for n := int64(1); ; n++ {
		term = b.div(b.mul(term, square), b.int(2*n+1))
		sum = b.add(sum, term)
		if term.hi.Sign() == 0 || float64(2*n+3) > 2.1*f*f && term.hi.MantExp(nil) < -int(b.prec) {
			sum.hi = b.up().Add(sum.hi, term.hi)
			break
		}
	}
	density := b.div(b.exp(b.neg(b.half(square))), b.sqrt(b.mul(b.int(2), b.pi())))
	q := b.sub(b.half(b.int(1)), b.mul(density, sum))
	lo, hi := a.down().Set(q.lo), a.up().Set(q.hi)
	if lo.Sign() < 0 {
		lo.SetInt64(0)
	}
	return interval{lo, hi}
}
