package noise

import (
	"math/big"
	"math/bits"

	"github.com/noren-privacy/noren/internal/entropy"
)

// A Bernoulli draw of probability e^-x compares a uniform U in [0, 1) with
// e^-x. U is a stream of bits, and only as many are drawn as the comparison
// needs. After the first 64, U lies in [w, w+1) / 2^64; where e^-x lies clearly
// outside, by bounds that are proven, the answer is known. Otherwise U gets more
// bits and e^-x more digits. As e^-x is irrational for rational x > 0, the two
// part sooner or later: the draw is exact and ends with probability 1.

// verdict is what the first word of U says of the comparison.
type verdict uint8

const (
	no     verdict = iota // U >= e^-x
	yes                   // U < e^-x
	unsure                // too close for the bounds
)

// compareWord compares U in [w, w+1) / 2^64 with a number in
// [p-slack, p+slack] / 2^64.
func compareWord(w, p, slack uint64) verdict {
	// w+1 <= p-slack, without overflow.
	if w < p && p-w > slack {
		return yes
	}
	if w >= p && w-p >= slack {
		return no
	}
	return unsure
}

// decideExp is the comparison from the word w on: whether the U that begins
// with w is below e^-x, for rational x >= 0.
func decideExp(src *Source, w uint64, x *big.Rat) (bool, error) {
	if x.Sign() == 0 {
		return true, nil
	}
	return decide(src, w, func(prec uint) (lo, hi *big.Int, err error) {
		lo, hi = expNegBounds(x, prec)
		return lo, hi, nil
	})
}

// decide tells whether the U that begins with w is below a number y that bounds
// brackets, lo <= 2^prec y <= hi. It ends when the bounds part from U.
func decide(src *Source, w uint64, bounds func(prec uint) (lo, hi *big.Int, err error)) (bool, error) {
	u := new(big.Int).SetUint64(w)
	for n := uint(64); ; n += 64 {
		lo, hi, err := bounds(n)
		if err != nil {
			return false, err
		}
		// U is in [u, u+1) / 2^n.
		if u.Cmp(lo) < 0 {
			return true, nil
		}
		if u.Cmp(hi) >= 0 {
			return false, nil
		}
		next, err := src.Uint64()
		if err != nil {
			return false, err
		}
		u.Lsh(u, 64)
		u.Or(u, new(big.Int).SetUint64(next))
	}
}

// runLength is how far geometricE reads the integer table.
const runLength = 16

// geometricE draws V >= 0 with P(V >= v) = e^-v: the run of successes before the
// first failure in trials of probability e^-1. One U serves for runLength
// trials, P(V >= v) = P(U < e^-v); and beyond, as the run has no memory, a fresh
// one serves for the next.
func geometricE(src *Source) (uint64, error) {
	for v := uint64(0); ; v += runLength {
		w, err := src.Uint64()
		if err != nil {
			return 0, err
		}
		n := uint64(1)
		// expTableInt[n] is 2^64 e^-n rounded down.
		for n <= runLength && w < expTableInt[n] {
			n++
		}
		if n <= runLength && w == expTableInt[n] {
			// Only e^-n lies in this cell of width 2^-64: the next is far below.
			below, err := decideExp(src, w, new(big.Rat).SetFrac64(int64(n), 1))
			if err != nil {
				return 0, err
			}
			if below {
				n++
			}
		}
		if n <= runLength {
			return v + n - 1, nil
		}
	}
}

// uniformBig draws an integer uniform on [0, n), n > 0, by rejection: at most
// two tries are expected.
func uniformBig(src *entropy.Source, n *big.Int) (*big.Int, error) {
	top := new(big.Int).Sub(n, big.NewInt(1))
	words := (top.BitLen() + 63) / 64
	u := new(big.Int)
	word := new(big.Int)
	for {
		u.SetInt64(0)
		for i := range words {
			size := uint(64)
			if i == 0 && top.BitLen()%64 != 0 {
				size = uint(top.BitLen() % 64)
			}
			w, err := src.Bits(size)
			if err != nil {
				return nil, err
			}
			u.Lsh(u, size)
			u.Or(u, word.SetUint64(w))
		}
		if u.Cmp(n) < 0 {
			return u, nil
		}
	}
}

// fraction64 is floor(2^64 u/t), u < t.
func fraction64(u, t uint64) uint64 {
	f, _ := bits.Div64(u, 0, t)
	return f
}
