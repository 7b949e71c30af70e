package query

import (
	"context"
	"math/big"

	"github.com/noren-privacy/noren/noise"
)

// segment is a run of size neighbouring candidates of the same loss.
type segment struct {
	from, size int64
	loss       int64 // at least 0
}

// choose draws a candidate y with probability proportional to e^(-g loss(y)), g that
// of p, whose precision is a multiple of 64: exactly, given uniform bits.
//
// The usual ways are not exact. Weights in floating point, and sums of them, are off
// by rounding that depends on the data; candidates whose weight underflows are never
// drawn, and which they are depends on the data (Ilvento 2020). Here a uniform U is a
// stream of bits and the weights are intervals of integers (powers). With c_i the sum
// of the weights up to segment i and T of all, segment i is drawn for
//
//	c_(i-1) <= U T < c_i;
//
// when the bits drawn so far and the intervals leave open which it is, both get more
// digits. As U has all its bits at random, one segment is decided sooner or later with
// probability 1, and every segment has exactly its probability: there is no candidate
// that cannot be drawn. Within a segment the draw is uniform.
func choose(ctx context.Context, segments []segment, p *powers, src *noise.Source) (int64, error) {
	least := segments[0].loss
	for _, s := range segments {
		least = min(least, s.loss) // e^(g least) is a factor of all
	}
	u := new(big.Int)
	for drawn := uint(0); ; p = newPowers(p.g, 2*p.prec) {
		for ; drawn < p.prec; drawn += 64 {
			w, err := src.Uint64()
			if err != nil {
				return 0, err
			}
			u.Lsh(u, 64)
			u.Or(u, new(big.Int).SetUint64(w))
		}
		at, err := decide(ctx, segments, least, p, u)
		if err != nil {
			return 0, err
		}
		if at >= 0 {
			within, err := src.Uint64n(uint64(segments[at].size))
			return segments[at].from + int64(within), err
		}
	}
}

// decide returns the segment that U in [u, u+1] / 2^prec falls into, or -1 where that
// is open.
func decide(ctx context.Context, segments []segment, least int64, p *powers, u *big.Int) (int, error) {
	// weight bounds the weight of s, reusing the bounds of the loss before it where
	// that was the same.
	lastLoss, lastLo, lastHi := int64(-1), new(big.Int), new(big.Int)
	size, product := new(big.Int), new(big.Int)
	weight := func(s segment, lo, hi *big.Int) {
		if d := s.loss - least; d != lastLoss {
			lastLoss = d
			p.bound(d, lastLo, lastHi, product)
		}
		size.SetInt64(s.size)
		lo.Mul(lastLo, size)
		hi.Mul(lastHi, size)
	}
	lo, hi := new(big.Int), new(big.Int)
	totalLo, totalHi := new(big.Int), new(big.Int)
	for i, s := range segments {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		weight(s, lo, hi)
		totalLo.Add(totalLo, lo)
		totalHi.Add(totalHi, hi)
	}
	// U T lies in [from, to] / 2^prec.
	from := new(big.Int).Mul(u, totalLo)
	to := new(big.Int).Mul(new(big.Int).Add(u, big.NewInt(1)), totalHi)
	sumLo, sumHi, shifted := new(big.Int), new(big.Int), new(big.Int)
	for i, s := range segments {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if shifted.Lsh(sumHi, p.prec).Cmp(from) > 0 {
			return -1, nil // it might begin below here, and the last was not certain
		}
		weight(s, lo, hi)
		sumLo.Add(sumLo, lo)
		sumHi.Add(sumHi, hi)
		if to.Cmp(shifted.Lsh(sumLo, p.prec)) <= 0 {
			return i, nil
		}
	}
	return -1, nil
}
