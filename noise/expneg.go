package noise

import (
	"math/big"
	"math/bits"
)

// The exponential function in two precisions, both with proven bounds: in one
// word for the draws that it can decide, and in as many bits as are asked for
// the few others.

// expSlack bounds the error of expNeg, in units of 2^-64.
const expSlack = 8

// expNeg returns p with |p - 2^64 e^-x| <= expSlack for x = k + f/2^64.
//
// Let f/2^64 = i/32 + j/1024 + r with r < 2^-10. Then
//
//	e^-x = e^-k e^(-i/32) e^(-j/1024) q(r),
//	q(r) = 1 - r(1 - r/2(1 - r/3(1 - r/4(1 - r/5)))) + theta r^6/720, 0 <= theta <= 1,
//
// and r^6/720 < 2^-69. Errors in units of 2^-64, every product truncated (less
// than 1): inside the Horner scheme each step truncates a division and a
// product (2) and carries the error of the step before times r < 2^-10, so that
// r(1 - ...) is off by less than 2 and q, for which 2^64-1 is used in place of 2^64,
// by less than 3.1. The table entries are rounded down, off by at most 1 each
// (e^0 as 2^64-1), so their product is off by less than 3, and the product with
// q by less than 3 + 3.1 + 1 < 8. Multiplying by e^-k, k >= 1, brings the error
// to less than 7.1/e + 2 < 8. For k >= 45 the value is under 0.6 and p = 0.
func expNeg(k, f uint64) uint64 {
	i, j, r := f>>59, f>>54&31, f&(1<<54-1)
	h, _ := bits.Mul64(r, 0x3333333333333333) // r/5
	c, _ := bits.Mul64(r>>2, h)
	h = r>>2 - c                              // r/4 (1 - r/5)
	d, _ := bits.Mul64(r, 0x5555555555555555) // r/3
	c, _ = bits.Mul64(d, h)
	h = d - c
	c, _ = bits.Mul64(r>>1, h)
	h = r>>1 - c
	c, _ = bits.Mul64(r, h)
	q := ^(r - c)
	p, _ := bits.Mul64(expTable32[i], expTable1024[j])
	p, _ = bits.Mul64(p, q)
	switch {
	case k == 0:
		return p
	case k < uint64(len(expTableInt)):
		p, _ = bits.Mul64(p, expTableInt[k])
		return p
	default:
		return 0
	}
}

// expNegBounds returns lo <= 2^prec e^-x <= hi for rational x >= 0. The bounds
// differ by at most a few units, so that growing precision decides every
// comparison with a number that is not e^-x itself.
func expNegBounds(x *big.Rat, prec uint) (lo, hi *big.Int) {
	k, f := new(big.Int), new(big.Int)
	k.QuoRem(x.Num(), x.Denom(), f)
	// e^-k <= 2^-k: from k = prec on, the value is at most one unit.
	if k.CmpAbs(big.NewInt(int64(prec))) >= 0 {
		return new(big.Int), big.NewInt(1)
	}
	// Guard bits: k < prec factors, each with the error of a product.
	work := prec + 32 + 2*uint(bits.Len(prec))
	// fixed is f in units of 2^-work, rounded down.
	fixed := f.Quo(f.Lsh(f, work), x.Denom())
	lo, hi = expNegUnit(fixed, work)
	if k.Sign() > 0 {
		one := new(big.Int).Lsh(big.NewInt(1), work)
		elo, ehi := expNegUnit(one, work)
		for n := k.Uint64(); n > 0; n >>= 1 {
			if n&1 == 1 {
				lo = mulDown(lo, elo, work)
				hi = mulUp(hi, ehi, work)
			}
			elo, ehi = mulDown(elo, elo, work), mulUp(ehi, ehi, work)
		}
	}
	lo.Rsh(lo, work-prec)
	hi.Add(hi.Rsh(hi, work-prec), big.NewInt(1))
	return lo, hi
}

// expNegUnit returns lo <= 2^work e^-x <= hi for every x in
// [fixed, fixed+1] / 2^work with 0 <= fixed <= 2^work.
//
// The terms of the series are T_n = floor(floor(T_(n-1) fixed / 2^work) / n),
// T_0 = 2^work. T_n is at most its true value at fixed, and short of it by
// e_n <= e_(n-1)/n + 2, so by less than 4 (e_0 = 0, e_1 <= 2, e_2 <= 3,
// e_3 <= 3, ...). The series stops at the first T_n = 0, whose true value is
// under 4; what is left out alternates and falls, so it is less than 4 as well.
// x may be one unit above fixed, and e^-x is 1-Lipschitz. Over N terms:
// |sum - 2^work e^-x| < 4N + 4 + 1.
func expNegUnit(fixed *big.Int, work uint) (lo, hi *big.Int) {
	term := new(big.Int).Lsh(big.NewInt(1), work)
	sum := new(big.Int).Set(term)
	n := int64(1)
	div := new(big.Int)
	for ; ; n++ {
		term.Mul(term, fixed)
		term.Rsh(term, work)
		term.Quo(term, div.SetInt64(n))
		if term.Sign() == 0 {
			break
		}
		if n&1 == 1 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	slack := big.NewInt(4*n + 5)
	lo = new(big.Int).Sub(sum, slack)
	hi = sum.Add(sum, slack)
	if lo.Sign() < 0 {
		lo.SetInt64(0)
	}
	return lo, hi
}

// mulDown is floor(a b / 2^shift), mulUp an integer no less than a b / 2^shift
// and at most one above it; a, b >= 0.
func mulDown(a, b *big.Int, shift uint) *big.Int {
	p := new(big.Int).Mul(a, b)
	return p.Rsh(p, shift)
}

func mulUp(a, b *big.Int, shift uint) *big.Int {
	p := mulDown(a, b, shift)
	return p.Add(p, big.NewInt(1))
}
