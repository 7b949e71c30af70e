package privacy

import (
	"math"
	"slices"
)

// Pair says how many records of a class have the value of that code.
type Pair struct {
	Code  uint32
	Count int64
}

// Histogram counts the values of one sensitive column in one class. It holds
// the values that occur, in order of their codes: 16 bytes a distinct value.
// The zero Histogram is empty and ready to use.
type Histogram struct {
	pairs []Pair
	total int64
}

// Add counts one record with that code. It costs O(log m), and O(m) where the
// code is new, for m distinct values in the class.
func (h *Histogram) Add(code uint32) { h.AddN(code, 1) }

// AddN counts n records with that code; n below 1 changes nothing.
func (h *Histogram) AddN(code uint32, n int64) {
	if n <= 0 {
		return
	}
	h.total += n
	// Codes that come in order, and the few of a small class, need no search.
	at := len(h.pairs)
	if at > 0 && code <= h.pairs[at-1].Code {
		at, _ = slices.BinarySearchFunc(h.pairs, code, func(p Pair, c uint32) int {
			switch {
			case p.Code < c:
				return -1
			case p.Code > c:
				return 1
			}
			return 0
		})
		if h.pairs[at].Code == code {
			h.pairs[at].Count += n
			return
		}
	}
	h.pairs = slices.Insert(h.pairs, at, Pair{Code: code, Count: n})
}

// Merge adds all records of other, which is left as it is. It costs O(m) for m
// distinct values in both.
func (h *Histogram) Merge(other *Histogram) {
	if len(other.pairs) == 0 {
		return
	}
	h.total += other.total
	a, b := h.pairs, other.pairs
	if len(a) == 0 || a[len(a)-1].Code < b[0].Code {
		h.pairs = append(a, b...)
		return
	}
	if h == other {
		for i := range a {
			a[i].Count *= 2
		}
		return
	}
	// From the back into the space behind a: a pair is never overwritten before
	// it was read, as what is written lies at or behind what is unread.
	fresh := 0
	for i, j := 0, 0; j < len(b); j++ {
		for i < len(a) && a[i].Code < b[j].Code {
			i++
		}
		if i == len(a) || a[i].Code != b[j].Code {
			fresh++
		}
	}
	a = slices.Grow(a, fresh)[:len(a)+fresh]
	i, j := len(h.pairs)-1, len(b)-1
	for to := len(a) - 1; j >= 0; to-- {
		switch {
		case i >= 0 && a[i].Code > b[j].Code:
			a[to] = a[i]
			i--
		case i >= 0 && a[i].Code == b[j].Code:
			a[to] = Pair{Code: b[j].Code, Count: a[i].Count + b[j].Count}
			i--
			j--
		default:
			a[to] = b[j]
			j--
		}
	}
	h.pairs = a
}

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() { h.pairs, h.total = h.pairs[:0], 0 }

// Total is the number of records counted.
func (h *Histogram) Total() int64 { return h.total }

// Pairs are the values that occur, by ascending code. They belong to h and must
// not be changed.
func (h *Histogram) Pairs() []Pair { return h.pairs }

// DistinctL is the largest l for which distinct l-diversity holds: the number
// of distinct values; 0 for an empty class.
func (h *Histogram) DistinctL() int { return len(h.pairs) }

// EntropyTolerance is the relative error that is allowed for where entropy is
// compared: an effective number of values of at least L (1 - EntropyTolerance)
// counts as L.
const EntropyTolerance = 1e-12

// EntropyL is the largest l for which entropy l-diversity holds, exp of the
// entropy: the effective number of values (0 for an empty class). A result
// within EntropyTolerance of a whole number is that number; l values that occur
// equally often give l exactly.
//
// With counts n_i of n records, -sum (n_i/n) ln(n_i/n) = ln n - (sum n_i ln n_i)/n.
// The sum is compensated (Neumaier), so that its error does not grow with the
// number of values: the entropy is within about 4 * 2^-53 * ln n of the true
// one, and so is, relatively, its exponential.
func (h *Histogram) EntropyL() float64 {
	if len(h.pairs) == 0 {
		return 0
	}
	equal := true
	sum, rest := 0.0, 0.0
	for _, p := range h.pairs {
		equal = equal && p.Count == h.pairs[0].Count
		if p.Count == 1 {
			continue
		}
		n := float64(p.Count)
		term := n * math.Log(n)
		next := sum + term
		if sum >= term {
			rest += (sum - next) + term
		} else {
			rest += (term - next) + sum
		}
		sum = next
	}
	if equal {
		return float64(len(h.pairs))
	}
	n := float64(h.total)
	l := math.Exp(math.Log(n) - (sum+rest)/n)
	if whole := math.Round(l); math.Abs(l-whole) <= EntropyTolerance*whole {
		return whole
	}
	return l
}

// RecursiveL is the largest l for which recursive (c,l)-diversity holds, 0
// where it holds for none: c below 1 asks that the commonest value be a
// minority. It costs O(m log m) for m distinct values in the class.
func (h *Histogram) RecursiveL(c float64) int {
	var few [32]int64
	counts := h.descending(few[:0])
	tail := int64(0)
	for l := len(counts); l >= 1; l-- {
		tail += counts[l-1]
		if below(counts[0], c, tail) {
			return l
		}
	}
	return 0
}

// recursive reports whether recursive (c,l)-diversity holds. The tail from l on
// only grows as l shrinks, so it holds for all l up to RecursiveL and no other.
func (h *Histogram) recursive(l, c float64) bool {
	if l > float64(len(h.pairs)) {
		return false
	}
	var few [32]int64
	counts := h.descending(few[:0])
	tail := int64(0)
	for i := max(1, int(math.Ceil(l))); i <= len(counts); i++ {
		tail += counts[i-1]
	}
	return below(counts[0], c, tail)
}

// descending appends the counts to dst, largest first.
func (h *Histogram) descending(dst []int64) []int64 {
	for _, p := range h.pairs {
		dst = append(dst, p.Count)
	}
	slices.Sort(dst)
	slices.Reverse(dst)
	return dst
}
