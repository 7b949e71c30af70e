package correlated

import (
	"math"
	"slices"
)

// evaluator finds the largest log ratio between the densities of an answer
// under the states of one record: Theorem 1, the ratio of two Laplace mixtures
// is largest and smallest at an atom of either, so only atoms are looked at;
// with several coordinates, at the grid of coordinate atoms (Theorem 1').
//
// Densities are computed by a pass in either direction,
//
//	L_j = L_{j-1} e^{-gap/b} + p_j,   R_j = (R_{j+1} + p_{j+1}) e^{-gap/b},
//
// whose terms are all positive: no digits are lost. It is done on plain
// numbers first, and on logarithms where a density falls below [guard].
type evaluator struct {
	space *space
	rates []float64 // unit/b, by coordinate
	rho   []float64 // exp(-rates)
	dims  []dim

	keys []int64
	den  [][]float64
	tmp  []float64
	gaps []float64
	// work counts points of grids; failed is set when a grid is too large.
	work   int
	failed error
}

func newEvaluator(s *space, q *boundQuery, rates []float64) *evaluator {
	e := &evaluator{space: s, rates: rates, rho: make([]float64, len(rates)), dims: q.dims, den: make([][]float64, maxStates)}
	for i, r := range rates {
		e.rho[i] = math.Exp(-r)
	}
	return e
}

// extreme is the largest log ratio for one ordered pair of states, and the
// packed key of the atom where it is reached.
type extreme struct {
	log float64
	at  int64
}

// ratios fills out[a*k+a'] with sup log p_a/p_a' over all pairs of the states
// whose distributions are not nil; shift[a] moves the distribution of state a. Entries of other
// pairs are left as they are.
func (e *evaluator) ratios(dists []*dist, shift []int64, out []extreme) {
	if len(e.dims) > 1 {
		e.gridRatios(dists, shift, out)
		return
	}
	if e.space.dense {
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		for a, l := range dists {
			if l != nil {
				lo, hi = min(lo, l.lo+shift[a]), max(hi, l.lo+shift[a]+int64(l.len()))
			}
		}
		if lo >= hi {
			return
		}
		for a, l := range dists {
			if l != nil {
				copy(e.clear(a, int(hi-lo))[l.lo+shift[a]-lo:], l.lin)
			}
		}
		e.finishDense(len(dists), lo, func(a int) bool { return dists[a] != nil }, func(a int) *dist { return dists[a] }, shift, out)
		return
	}
	e.union(dists, shift)
	ok := true
	for a, l := range dists {
		if l == nil {
			continue
		}
		p := e.clear(a, len(e.keys))
		j := 0
		for i, k := range l.key {
			for e.keys[j] != k+shift[a] {
				j++
			}
			p[j] = l.lin[i]
		}
		ok = e.smoothGaps(p) && ok
	}
	if ok {
		e.compare(len(dists), func(a int) bool { return dists[a] != nil }, func(j int) int64 { return e.keys[j] }, out)
		return
	}
	for a, l := range dists {
		if l == nil {
			continue
		}
		p := e.clear(a, len(e.keys))
		for j := range p {
			p[j] = negInf
		}
		j := 0
		for i, k := range l.key {
			for e.keys[j] != k+shift[a] {
				j++
			}
			p[j] = l.log[i]
		}
		e.smoothLog(p, func(j int) float64 { return float64(e.keys[j+1]-e.keys[j]) * e.rates[0] })
	}
	e.compareLog(len(dists), func(a int) bool { return dists[a] != nil }, func(j int) int64 { return e.keys[j] }, out)
}

// clear returns the zeroed work row of state a.
func (e *evaluator) clear(a, n int) []float64 {
	if cap(e.den[a]) < n {
		e.den[a] = make([]float64, n, n+n/2)
	}
	e.den[a] = e.den[a][:n]
	clear(e.den[a])
	return e.den[a]
}

// finishDense turns the masses in the work rows into densities and compares
// them; full gives the distribution of a state with its logarithms, asked for only
// where plain numbers do not reach.
func (e *evaluator) finishDense(k int, lo int64, live func(int) bool, full func(int) *dist, shift []int64, out []extreme) {
	ok := true
	for a := range k {
		if live(a) {
			ok = e.smooth(e.den[a]) && ok
		}
	}
	key := func(j int) int64 { return lo + int64(j) }
	if ok {
		e.compare(k, live, key, out)
		return
	}
	for a := range k {
		if !live(a) {
			continue
		}
		p := e.den[a]
		for j := range p {
			p[j] = negInf
		}
		l := full(a)
		copy(p[l.lo+shift[a]-lo:], l.log)
		e.smoothLog(p, func(int) float64 { return e.rates[0] })
	}
	e.compareLog(k, live, key, out)
}

// smooth replaces masses one step apart by densities (without the factor
// 1/2b); false when one is below the guard.
func (e *evaluator) smooth(p []float64) bool {
	if cap(e.tmp) < len(p) {
		e.tmp = make([]float64, len(p), 2*len(p))
	}
	left, rho := e.tmp[:len(p)], e.rho[0]
	sum := 0.0
	for j, v := range p {
		sum = sum*rho + v
		left[j] = sum
	}
	sum = 0
	least := math.Inf(1)
	for j := len(p) - 1; j >= 0; j-- {
		v := p[j]
		p[j] = left[j] + sum
		least = min(least, p[j])
		sum = (sum + v) * rho
	}
	return least >= guard
}

// smoothGaps is smooth for atoms at e.keys.
func (e *evaluator) smoothGaps(p []float64) bool {
	if cap(e.tmp) < len(p) {
		e.tmp = make([]float64, len(p), 2*len(p))
	}
	left := e.tmp[:len(p)]
	sum := 0.0
	for j, v := range p {
		if j > 0 {
			sum *= e.gaps[j-1]
		}
		sum += v
		left[j] = sum
	}
	sum = 0
	least := math.Inf(1)
	for j := len(p) - 1; j >= 0; j-- {
		if j < len(p)-1 {
			sum *= e.gaps[j]
		}
		v := p[j]
		p[j] = left[j] + sum
		least = min(least, p[j])
		sum += v
	}
	return least >= guard
}

// smoothLog is smooth on logarithms; rate(j) is the gap between atoms j and
// j+1 over b.
func (e *evaluator) smoothLog(p []float64, rate func(int) float64) {
	if cap(e.tmp) < len(p) {
		e.tmp = make([]float64, len(p), 2*len(p))
	}
	left := e.tmp[:len(p)]
	sum := negInf
	for j, v := range p {
		if j > 0 {
			sum -= rate(j - 1)
		}
		sum = logAdd(sum, v)
		left[j] = sum
	}
	sum = negInf
	for j := len(p) - 1; j >= 0; j-- {
		if j < len(p)-1 {
			sum -= rate(j)
		}
		v := p[j]
		p[j] = logAdd(left[j], sum)
		sum = logAdd(sum, v)
	}
}

// union sets e.keys to all atoms of the moved distributions, and e.gaps to the decay
// between neighbours.
func (e *evaluator) union(dists []*dist, shift []int64) {
	e.keys = e.keys[:0]
	for a, l := range dists {
		if l == nil {
			continue
		}
		for _, k := range l.key {
			e.keys = append(e.keys, k+shift[a])
		}
	}
	slices.Sort(e.keys)
	e.keys = slices.Compact(e.keys)
	e.gaps = e.gaps[:0]
	for j := 1; j < len(e.keys); j++ {
		e.gaps = append(e.gaps, math.Exp(-float64(e.keys[j]-e.keys[j-1])*e.rates[0]))
	}
}

func (e *evaluator) compare(k int, live func(int) bool, key func(int) int64, out []extreme) {
	for a := range k {
		if !live(a) {
			continue
		}
		for c := range a {
			if !live(c) {
				continue
			}
			p, q := e.den[a], e.den[c]
			q = q[:len(p)]
			most, least, up, down := 0.0, math.Inf(1), 0, 0
			for j, v := range p {
				r := v / q[j]
				if r > most {
					most, up = r, j
				}
				if r < least {
					least, down = r, j
				}
			}
			out[a*k+c] = extreme{math.Log(most), key(up)}
			out[c*k+a] = extreme{-math.Log(least), key(down)}
		}
	}
}

func (e *evaluator) compareLog(k int, live func(int) bool, key func(int) int64, out []extreme) {
	for a := range k {
		if !live(a) {
			continue
		}
		for c := range a {
			if !live(c) {
				continue
			}
			p, q := e.den[a], e.den[c]
			most, least := extreme{negInf, 0}, extreme{negInf, 0}
			for j, v := range p {
				if v == negInf || q[j] == negInf {
					continue // a point of the grid that neither distribution comes near
				}
				r := v - q[j]
				if r > most.log {
					most = extreme{r, key(j)}
				}
				if -r > least.log {
					least = extreme{-r, key(j)}
				}
			}
			out[a*k+c], out[c*k+a] = most, least
		}
	}
}
