package query

import (
	"math/big"
)

// powers holds bounds of e^(-g), e^(-2g), e^(-4g), ... in units of 2^-prec, for a
// rational g > 0, and from them those of e^(-g d) for whole d: lo <= 2^prec e^(-g d) <=
// hi. Every product is rounded down for lo and up for hi.
type powers struct {
	prec   uint
	g      *big.Rat
	lo, hi []*big.Int // of e^(-g 2^i)
	unit   *big.Int   // 1
}

func newPowers(g *big.Rat, prec uint) *powers {
	p := &powers{prec: prec, g: g, unit: big.NewInt(1)}
	lo, hi := expBounds(g, prec)
	// e^-g = 1/e^g.
	square := new(big.Int).Lsh(big.NewInt(1), 2*prec)
	p.lo = append(p.lo, new(big.Int).Quo(square, hi))
	up := new(big.Int).Quo(square, lo)
	p.hi = append(p.hi, up.Add(up, big.NewInt(1)))
	for i := 0; i < 62 && p.hi[i].BitLen() > 1; i++ {
		p.lo = append(p.lo, p.mulDown(p.lo[i], p.lo[i]))
		p.hi = append(p.hi, p.mulUp(p.hi[i], p.hi[i]))
	}
	return p
}

// of bounds 2^prec e^(-g d), d >= 0.
func (p *powers) of(d int64) (lo, hi *big.Int) {
	lo, hi = new(big.Int), new(big.Int)
	p.bound(d, lo, hi, new(big.Int))
	return lo, hi
}

// bound sets lo and hi to the bounds of 2^prec e^(-g d), d >= 0. It uses their memory and that
// of product.
func (p *powers) bound(d int64, lo, hi, product *big.Int) {
	lo.Lsh(lo.SetInt64(1), p.prec)
	hi.Set(lo)
	for i := 0; d>>i > 0; i++ {
		if i == len(p.lo) { // e^(-g 2^(i-1)) is at most one unit
			lo.SetInt64(0)
			hi.SetInt64(1)
			return
		}
		if d>>i&1 == 1 {
			lo.Rsh(product.Mul(lo, p.lo[i]), p.prec)
			hi.Add(hi.Rsh(product.Mul(hi, p.hi[i]), p.prec), p.unit)
		}
		if hi.BitLen() <= 1 { // at most one unit, and more factors only lessen it
			lo.SetInt64(0)
			hi.SetInt64(1)
			return
		}
	}
}

func (p *powers) mulDown(x, y *big.Int) *big.Int {
	z := new(big.Int).Mul(x, y)
	return z.Rsh(z, p.prec)
}

func (p *powers) mulUp(x, y *big.Int) *big.Int {
	z := p.mulDown(x, y)
	return z.Add(z, p.unit)
}

// expBounds returns lo <= 2^prec e^x <= hi for rational x >= 0, of relative width
// 2^-prec times a few thousand: x is halved s times to at most 1/2, the series taken,
// and squared s times. Guard bits are carried for the squaring.
//
// All terms of the series are positive; lo rounds each down and stops early, hi
// rounds each up and adds, for the rest, the last term again: each term is at most
// half the one before.
func expBounds(x *big.Rat, prec uint) (lo, hi *big.Int) {
	s := uint(max(0, x.Num().BitLen()-x.Denom().BitLen()+2)) // x < 2^(s-1)
	work := prec + 3*s + 16
	num, den := x.Num(), new(big.Int).Lsh(x.Denom(), s)
	one := new(big.Int).Lsh(big.NewInt(1), work)
	lo, hi = new(big.Int).Set(one), new(big.Int).Set(one)
	low, high := new(big.Int).Set(one), new(big.Int).Set(one)
	div := new(big.Int)
	for n := int64(1); ; n++ {
		div.Mul(den, big.NewInt(n))
		low.Quo(low.Mul(low, num), div)
		high.Add(high.Quo(high.Mul(high, num), div), big.NewInt(1))
		lo.Add(lo, low)
		hi.Add(hi, high)
		if low.Sign() == 0 {
			hi.Add(hi, high)
			break
		}
	}
	for range s {
		lo.Rsh(lo.Mul(lo, lo), work)
		hi.Rsh(hi.Mul(hi, hi), work)
		hi.Add(hi, big.NewInt(1))
	}
	lo.Rsh(lo, work-prec)
	hi.Rsh(hi, work-prec)
	return lo, hi.Add(hi, big.NewInt(1))
}
