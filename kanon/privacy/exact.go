package privacy

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// A bound comes as a float64 and is meant as the decimal number that a person
// wrote: of all numbers that read as this float64, the one with the fewest
// digits. decimal returns it exactly.
func decimal(x float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	if !ok { // NaN or infinite, which Validate refuses
		return new(big.Rat)
	}
	return r
}

// below reports, exactly, whether n < c s, for n, s >= 0 and c > 0.
//
// The fused c s - n is rounded once, and c differs from the decimal it stands
// for by at most 2^-53 c: where the result is further from zero than
// 2^-51 c s, its sign is the right one. Elsewhere rational arithmetic decides.
func below(n int64, c float64, s int64) bool {
	if s == 0 || !(c > 0) {
		return false
	}
	if n < 1<<53 && s < 1<<53 && c > 1e-300 && c < 1e280 {
		slack := math.FMA(c, float64(s), -float64(n))
		if doubt := 0x1p-51 * c * float64(s); slack > doubt || slack < -doubt {
			return slack > 0
		}
	}
	bound := new(big.Rat).SetInt64(s)
	bound.Mul(bound, decimal(c))
	return new(big.Rat).SetInt64(n).Cmp(bound) < 0
}

// wide is an unsigned integer of 128 bits.
type wide struct{ hi, lo uint64 }

func product(a, b uint64) wide {
	hi, lo := bits.Mul64(a, b)
	return wide{hi, lo}
}

func (a wide) plus(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return wide{hi, lo}
}

// minus is a - b for a >= b.
func (a wide) minus(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, borrow)
	return wide{hi, lo}
}

func (a wide) isZero() bool { return a.hi == 0 && a.lo == 0 }

func (a wide) float() float64 { return float64(a.hi)*0x1p64 + float64(a.lo) }

func (a wide) int() *big.Int {
	z := new(big.Int).SetUint64(a.hi)
	z.Lsh(z, 64)
	return z.Add(z, new(big.Int).SetUint64(a.lo))
}

// fraction is a non-negative rational number.
type fraction struct{ over, under wide }

func (f fraction) float() float64 {
	if f.over.isZero() {
		return 0
	}
	return f.over.float() / f.under.float()
}

func (f fraction) rat() *big.Rat {
	if f.over.isZero() {
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(f.over.int(), f.under.int())
}
