package ratio

import "math"

// exp2Bits: the table of expDown has 2^exp2Bits values.
const exp2Bits = 6

// exp2s are 2^(j/64), each good to one unit in the last place. It is not written to.
var exp2s = func() (t [1 << exp2Bits]float64) {
	for j := range t {
		t[j] = math.Exp2(float64(j) / (1 << exp2Bits))
	}
	return t
}()

const (
	perStep  = (1 << exp2Bits) / math.Ln2
	stepHigh = 0x1.62e42fef00000p-7 // ln 2/64 in 33 bits: its products with steps are exact
	stepLow  = math.Ln2/(1<<exp2Bits) - stepHigh
)

// expDown is e^v for v of at most 0, with a relative error below 2^-51: with k the whole
// number nearest to v 64/ln 2 and r = v - k ln 2/64, |r| <= .00542, it is 2^(k/64) e^r. The
// series of e^r - 1 to r^5 is off by less than r^6/700 < 2^-54, its rounding counts for
// .006 of itself, and the table and the last sum are each off by at most 2^-52 and 2^-53
// (Tang 1989). It is two to three times as fast as [math.Exp], which it leaves to what is
// below e^-700, to infinity and to what is no number.
func expDown(v float64) float64 {
	if !(v >= -700) {
		return math.Exp(v)
	}
	k := int(v*perStep - 0.5)
	r := v - float64(k)*stepHigh - float64(k)*stepLow
	p := r + r*r*(0.5+r*(1.0/6+r*(1.0/24+r*(1.0/120))))
	t := exp2s[k&(1<<exp2Bits-1)]
	return math.Float64frombits(math.Float64bits(t+t*p) + uint64(k>>exp2Bits)<<52)
}
