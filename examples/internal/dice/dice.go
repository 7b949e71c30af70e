// Package dice makes synthetic tables repeatable to the byte. It draws whole
// numbers only: floating point may be fused on one processor and not on
// another, and a table that is compared byte for byte must not depend on that.
//
// The numbers follow from the seed and protect no data: randomness that protects data
// is in package noise.
package dice

import (
	"math/bits"
	"math/rand/v2"
)

// Dice is a stream of draws that its seed decides. It is not safe for
// concurrent use.
type Dice struct {
	pcg rand.PCG
}

// New returns the stream of a seed.
func New(seed uint64) *Dice {
	d := &Dice{}
	d.pcg.Seed(seed, 0x9e3779b97f4a7c15)
	return d
}

// Below returns a whole number in 0..n-1; n must be positive. The high word of
// a 64 by 64 bit product is uneven by less than n/2^64, which no example can
// show, and takes one draw always, so that streams stay in step.
func (d *Dice) Below(n int) int {
	hi, _ := bits.Mul64(d.pcg.Uint64(), uint64(n))
	return int(hi)
}

// Between returns a whole number in lo..hi, both included.
func (d *Dice) Between(lo, hi int) int { return lo + d.Below(hi-lo+1) }

// Chance is true with probability perMille/1000.
func (d *Dice) Chance(perMille int) bool { return d.Below(1000) < perMille }

// Bell returns a whole number around mean, nearly normal with standard
// deviation sd and never further than 6 sd away: one draw of 64 bits gives
// twelve five-bit numbers, which are summed. The variance of one is
// (32^2-1)/12, of the sum 1023, and 32 is its root to 0.05 %.
func (d *Dice) Bell(mean, sd int) int {
	x := d.pcg.Uint64()
	// twice the sum's distance from its mean of 186, in -372..372
	z := -372
	for range 12 {
		z += 2 * int(x&31)
		x >>= 5
	}
	return mean + (sd*z+32)>>6 // rounded, alike on both sides of the mean
}

// Pick returns an index of cumulative with the probability of its weight:
// cumulative holds the running sums of the weights, of which the last must be
// positive.
func (d *Dice) Pick(cumulative []int) int {
	x := d.Below(cumulative[len(cumulative)-1])
	lo, hi := 0, len(cumulative)-1
	for lo < hi {
		mid := (lo + hi) / 2
		if cumulative[mid] > x {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Cumulative returns the running sums of weights, for [Dice.Pick].
func Cumulative(weights ...int) []int {
	sums := make([]int, len(weights))
	total := 0
	for i, w := range weights {
		total += w
		sums[i] = total
	}
	return sums
}
