package ldp

import (
	"math"
	"math/bits"
)

// words is a stream of uniform 64-bit words: [noren/noise.Source] for all that
// is drawn afresh, [prf] for answers that must come out the same again.
type words interface {
	Uint64() (uint64, error)
}

// prob is a probability that can be drawn exactly: t / 2^64, or 1.
type prob struct {
	t   uint64
	one bool
}

// down is the largest prob that is not above p, up the smallest not below;
// 0 <= p <= 1.
func down(p float64) prob {
	if p >= 1 {
		return prob{one: true}
	}
	return prob{t: uint64(math.Ldexp(p, 64))} // exact but for the cut
}

func up(p float64) prob {
	d := down(p)
	// Where something was cut, d.t has fewer bits than p and is exact as a float.
	if d.one || float64(d.t) == math.Ldexp(p, 64) {
		return d
	}
	if d.t == math.MaxUint64 {
		return prob{one: true}
	}
	return prob{t: d.t + 1}
}

// share is a/(a+b), rounded down, a, b > 0. The smaller of it and its
// complement is what is computed, so that the ratio of the two has a relative
// error of a few parts in 2^53 whichever it is.
func share(a, b float64) prob {
	if a < b {
		return down(a / (a + b))
	}
	return up(b / (a + b)).not()
}

// float is p, within one part in 2^53.
func (p prob) float() float64 {
	if p.one {
		return 1
	}
	return math.Ldexp(float64(p.t), -64)
}

// not is 1 - p, exactly.
func (p prob) not() prob {
	switch {
	case p.one:
		return prob{}
	case p.t == 0:
		return prob{one: true}
	}
	return prob{t: -p.t}
}

// draw is true with probability p.
func (p prob) draw(src words) (bool, error) {
	if p.one {
		return true, nil
	}
	w, err := src.Uint64()
	return w < p.t, err
}

// drawAlways is draw, but draws a word for p = 1, too: for probabilities that depend
// on a value, which the number of words must not tell.
func (p prob) drawAlways(src words) (bool, error) {
	w, err := src.Uint64()
	return p.one || w < p.t, err
}

// uniform draws an integer uniform on [0, n), n >= 1, by multiplying and
// rejecting (Lemire 2019).
func uniform(src words, n uint64) (uint64, error) {
	for {
		w, err := src.Uint64()
		if err != nil {
			return 0, err
		}
		hi, lo := bits.Mul64(w, n)
		if lo >= n || lo >= -n%n {
			return hi, nil
		}
	}
}

// lanes draws 64 independent bits at once: bit i is 1 with probability b where
// bit i of which is 1, else with probability a.
//
// A bit of probability t/2^64 is U < t for a uniform U of 64 bits. The lanes
// compare from the highest bit of U down, all together: one word of randomness
// holds the same bit of every lane's U. A lane is decided at the first bit in
// which U and t differ; all 64 are after 7.3 words in the mean instead of 64. How
// many words it takes depends on the randomness and on which lanes have which
// probability not at all: every bit of U differs from any bit of t with
// probability 1/2.
func lanes(src words, a, b prob, which uint64) (uint64, error) {
	var out uint64
	open := ^uint64(0)
	if a.one {
		out |= ^which
		open &= which
	}
	if b.one {
		out |= which
		open &= ^which
	}
	for j := 63; j >= 0 && open != 0; j-- {
		// All lanes' bit j of t: from a where which is 0, from b where it is 1.
		ta := -(a.t >> j & 1)
		tb := -(b.t >> j & 1)
		t := ta&^which | tb&which
		r, err := src.Uint64()
		if err != nil {
			return 0, err
		}
		out |= open & t &^ r
		open &^= r ^ t
	}
	return out, nil
}

// The loss of a mechanism is rounded by the slack of its probabilities: they are
// computed for an epsilon that is smaller by safety, which covers the errors of
// exp and of the divisions (a few parts in 2^53 of a ratio, thus that much of
// epsilon) with a margin.
const safety = 1e-13

// safeExp is e^epsilon, not above.
func safeExp(epsilon float64) float64 { return math.Exp(epsilon - safety) }
