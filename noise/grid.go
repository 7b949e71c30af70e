package noise

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/noren-privacy/noren"
)

// Grid is the set of the multiples of a step 2^-j: what values are brought to
// before they are added and what answers lie on. The step must be public and
// must not depend on data. A grid's points are known by their index, the integer
// k for k 2^-j. The zero value is the grid of the integers.
type Grid struct{ j int }

// maxGridBits bounds |j|: 2^-j and its square are then normal float64 numbers.
const maxGridBits = 500

// NewGrid returns the grid of step 2^-j, -500 <= j <= 500. Error: [noren.Usage].
func NewGrid(j int) (Grid, error) {
	if j < -maxGridBits || j > maxGridBits {
		return Grid{}, &noren.Error{Kind: noren.Usage, What: "the step of a grid must be between 2^-500 and 2^500"}
	}
	return Grid{j}, nil
}

// J returns j, where the step is 2^-j.
func (g Grid) J() int { return g.j }

// Step returns 2^-j.
func (g Grid) Step() *big.Rat { return powerOfTwo(-g.j) }

// Rat returns the point of index k, exactly.
func (g Grid) Rat(k int64) *big.Rat {
	return new(big.Rat).Mul(new(big.Rat).SetInt64(k), g.Step())
}

// Value returns the float64 nearest to the point of index k. It is exact for
// |k| <= 2^53; beyond, it rounds what is already public.
func (g Grid) Value(k int64) float64 { return math.Ldexp(float64(k), -g.j) }

// Steps returns a public length x >= 0 in steps, rounded up to a whole number:
// for a sensitivity, which must not be rounded down. Error: [noren.Usage].
func (g Grid) Steps(x *big.Rat) (int64, error) {
	if x == nil || x.Sign() < 0 {
		return 0, &noren.Error{Kind: noren.Usage, What: "a length must not be negative"}
	}
	s := new(big.Rat).Quo(x, g.Step())
	n, rest := new(big.Int).QuoRem(s.Num(), s.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	if !n.IsInt64() {
		return 0, errGrid()
	}
	return n.Int64(), nil
}

func errGrid() error {
	return &noren.Error{
		Kind: noren.Usage,
		What: "the bounds are too many steps of the grid for 64-bit integers",
		Hint: "use a coarser grid",
	}
}

// Range is a grid with public bounds, between which values are clamped. Make one
// with [Grid.Range]; the zero value clamps everything to 0.
type Range struct {
	Grid
	lo, hi   int64
	flo, fhi float64 // the points lo and hi, exactly
}

// maxIndex bounds the indices of a range, so that every one is a float64.
const maxIndex = 1 << 53

// Range returns the points of g between the public bounds lo <= hi; bounds that
// are no grid points move inwards. There must be such a point, and at most 2^53
// steps from 0 to either bound. Error: [noren.Usage].
func (g Grid) Range(lo, hi float64) (Range, error) {
	if !finite(lo) || !finite(hi) {
		return Range{}, &noren.Error{Kind: noren.Usage, What: "bounds must be finite numbers"}
	}
	if lo > hi {
		return Range{}, &noren.Error{Kind: noren.Usage, What: "the lower bound is above the upper"}
	}
	// Scaling by a power of two is exact, or overflows, or falls below the
	// smallest float64, where it keeps its sign unless it is zero: a bound of
	// less than 2^-1074 steps moves inwards to 0 either way.
	l, h := math.Ceil(math.Ldexp(lo, g.j)), math.Floor(math.Ldexp(hi, g.j))
	if lo > 0 && l == 0 {
		l = 1
	}
	if hi < 0 && h == 0 {
		h = -1
	}
	if !(math.Abs(l) <= maxIndex && math.Abs(h) <= maxIndex) {
		return Range{}, errGrid()
	}
	if l > h {
		return Range{}, &noren.Error{
			Kind: noren.Usage,
			What: "no point of the grid lies between the bounds",
			Hint: "use a finer grid or wider bounds",
		}
	}
	r := Range{Grid: g, lo: int64(l), hi: int64(h)}
	r.flo, r.fhi = g.Value(r.lo), g.Value(r.hi)
	return r, nil
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Lo returns the index of the lower bound.
func (r Range) Lo() int64 { return r.lo }

// Hi returns the index of the upper bound.
func (r Range) Hi() int64 { return r.hi }

// Quantise returns the index of the grid point nearest to x (the even one of
// two), clamped to the bounds: |result 2^-j - clamp(x)| <= 2^-j / 2. NaN and the
// infinities are refused, with an error that does not hold x: [noren.BadData].
func (r Range) Quantise(x float64) (int64, error) {
	if !finite(x) {
		return 0, &noren.Error{
			Kind: noren.BadData,
			What: "a value is not a finite number",
			Hint: "say how missing values are written, or leave the record out by a public rule",
		}
	}
	switch {
	case x <= r.flo:
		return r.lo, nil
	case x >= r.fhi:
		return r.hi, nil
	default:
		// Between two bounds of at most 2^53 steps: exact, but for values that
		// fall below the smallest float64 and round to 0 as they should.
		return int64(math.RoundToEven(math.Ldexp(x, r.j))), nil
	}
}

// Sum adds int64 values in 128 bits: the result does not depend on the order,
// and an overflow on the way that the end takes back is none. The zero value is
// an empty sum.
type Sum struct {
	hi int64
	lo uint64
}

// Add adds v. Up to 2^63 values may be added.
func (s *Sum) Add(v int64) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, uint64(v), 0)
	s.hi += v>>63 + int64(carry) // v>>63 extends the sign
}

// AddSum adds the sum t, for sums that were taken in parts.
func (s *Sum) AddSum(t Sum) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, t.lo, 0)
	s.hi += t.hi + int64(carry)
}

// Words are the two words of the sum, in two's complement, for sums that are taken in
// parts elsewhere; [SumOf] makes the sum of them again.
func (s Sum) Words() (hi int64, lo uint64) { return s.hi, s.lo }

// SumOf is the sum of these words.
func SumOf(hi int64, lo uint64) Sum { return Sum{hi, lo} }

// Int64 returns the sum, or an error where it does not fit. Whether it fits
// depends on data, and so does the error: for a sum that is released with noise
// take [Sum.Saturated].
func (s *Sum) Int64() (int64, error) {
	if s.hi != int64(s.lo)>>63 {
		return 0, &noren.Error{
			Kind: noren.BadData,
			What: "a sum does not fit 64 bits",
			Hint: "use a coarser grid or narrower bounds",
		}
	}
	return int64(s.lo), nil
}

// Saturated returns the sum, or the end of int64 that it passes. It never fails, and
// its sensitivity is no larger than the sum's: clamping brings no two numbers
// further apart.
func (s *Sum) Saturated() int64 {
	switch {
	case s.hi == int64(s.lo)>>63:
		return int64(s.lo)
	case s.hi < 0:
		return math.MinInt64
	default:
		return math.MaxInt64
	}
}

// AddSaturating returns value + noise, or the end of int64 that it would pass.
// Clamping what is already noisy is post-processing and costs no privacy.
func AddSaturating(value, noise int64) int64 {
	sum := value + noise
	switch {
	case noise > 0 && sum < value:
		return math.MaxInt64
	case noise < 0 && sum > value:
		return math.MinInt64
	default:
		return sum
	}
}
