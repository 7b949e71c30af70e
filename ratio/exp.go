package ratio

import "math"

// exp2Bits: the table of expDown has 2^exp2Bits values.
const exp2Bits = 11

// exp2s are 2^(j/2048), each good to one unit in the last place. It is not written to.
var exp2s = func() (t [1 << exp2Bits]float64) {
	for j := range t {
		t[j] = math.Exp2(float64(j) / (1 << exp2Bits))
	}
	return t
}()

// expLeast is the least exponent that expDown does not leave to [math.Exp].
const expLeast = -700

const (
	perStep  = (1 << exp2Bits) / math.Ln2
	stepHigh = 0x1.62e42feep-12 // ln 2/2048 in 32 bits: its products with steps, of 21 bits, are exact
	stepLow  = math.Ln2/(1<<exp2Bits) - stepHigh
)

// expDown is e^v for v of at most 0, with a relative error below 2^-51: with k the whole
// number nearest to v 2048/ln 2 and r = v - k ln 2/2048, |r| <= .00017, it is 2^(k/2048) e^r. The
// series of e^r - 1 to r^3 is off by less than r^4/23 < 2^-54, its rounding counts for
// .0002 of itself, and the table and the last sum are each off by at most 2^-52 and 2^-53
// (Tang 1989). It is two to three times as fast as [math.Exp], which it leaves to what is
// below e^-700, to infinity and to what is no number.
func expDown(v float64) float64 {
	if !(v >= expLeast) {
		return math.Exp(v)
	}
	k := int(v*perStep - 0.5)
	r := v - float64(k)*stepHigh - float64(k)*stepLow
	p := r + r*r*(0.5+r*(1.0/6))
	t := exp2s[k&(1<<exp2Bits-1)]
	return math.Float64frombits(math.Float64bits(t+t*p) + uint64(k>>exp2Bits)<<52)
}

// expDown4 is expDown of four numbers of at least expLeast, to the bit: side by side the
// processor works on them at once.
func expDown4(v0, v1, v2, v3 float64) (e0, e1, e2, e3 float64) {
	k0, k1, k2, k3 := int(v0*perStep-0.5), int(v1*perStep-0.5), int(v2*perStep-0.5), int(v3*perStep-0.5)
	r0 := v0 - float64(k0)*stepHigh - float64(k0)*stepLow
	r1 := v1 - float64(k1)*stepHigh - float64(k1)*stepLow
	r2 := v2 - float64(k2)*stepHigh - float64(k2)*stepLow
	r3 := v3 - float64(k3)*stepHigh - float64(k3)*stepLow
	p0 := r0 + r0*r0*(0.5+r0*(1.0/6))
	p1 := r1 + r1*r1*(0.5+r1*(1.0/6))
	p2 := r2 + r2*r2*(0.5+r2*(1.0/6))
	p3 := r3 + r3*r3*(0.5+r3*(1.0/6))
	const mask = 1<<exp2Bits - 1
	t0, t1, t2, t3 := exp2s[k0&mask], exp2s[k1&mask], exp2s[k2&mask], exp2s[k3&mask]
	return math.Float64frombits(math.Float64bits(t0+t0*p0) + uint64(k0>>exp2Bits)<<52),
		math.Float64frombits(math.Float64bits(t1+t1*p1) + uint64(k1>>exp2Bits)<<52),
		math.Float64frombits(math.Float64bits(t2+t2*p2) + uint64(k2>>exp2Bits)<<52),
		math.Float64frombits(math.Float64bits(t3+t3*p3) + uint64(k3>>exp2Bits)<<52)
}
