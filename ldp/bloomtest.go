package ldp

import (
	"context"
	"math"
	"math/bits"
	"math/cmplx"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"
)

// smallestP is the smallest p-value that is computed and told.
const smallestP = 1e-12

// test sets the p-values of all candidates, from the fit of those that stand out.
//
// A word without a share has hashes that are independent of the counts. Given the
// counts, its score sum_c sum_{b in its bits} score[c][b] is a sum of independent
// terms, one a cohort, each over the random bits of a cohort. For that the scores
// of bits must not depend on the word's hashes: they are of a fit that was chosen
// and weighed without the word. For words that the LASSO did not keep, that is the
// fit itself. For others the fit less the word comes first, and where its p-value
// is small, words are chosen and fitted again.
func (b *bloomModel) test(ctx context.Context, f *bloomFit, kept *lasso, level float64, words []Found) error {
	others := newHashTest(b, f.score, level)
	for w := range words {
		words[w].P = others.p(w)
	}
	for i, w := range f.words {
		words[w].P = newHashTest(b, b.scoreWithout(f, i), level).p(w)
	}
	for w := range words {
		if kept.beta[w] == 0 || words[w].P > level {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		chosen, err := kept.chooseWithout(ctx, w)
		if err != nil {
			return err
		}
		without, err := b.fit(ctx, chosen, f)
		if err != nil {
			return err
		}
		words[w].P = newHashTest(b, without.score, level).p(w)
	}
	return nil
}

// scoreWithout is the score of a fit without its i-th word, with the same weights:
// beta without the word is beta - inverse[.][i] beta_i / inverse[i][i].
func (b *bloomModel) scoreWithout(f *bloomFit, i int) []float64 {
	score := slices.Clone(f.score)
	scale := f.beta[i] / f.inverse.At(i, i)
	moved, residual, white := make([]float64, len(f.words)), make([]float64, b.k), make([]float64, b.k)
	sum := 0.0
	for j := range moved {
		moved[j] = scale * f.inverse.At(j, i)
		sum += moved[j]
	}
	for c, n := range b.counts.N {
		if n == 0 {
			continue
		}
		for bit := range residual {
			residual[bit] = -b.pi * sum
		}
		for j, w := range f.words {
			for mask := b.masks[w][c]; mask != 0; mask &= mask - 1 {
				residual[bits.TrailingZeros32(mask)] += moved[j]
			}
		}
		b.whiten(f, c, residual, white)
		for bit, v := range white {
			score[c*b.k+bit] += v
		}
	}
	return score
}

// hashTest is the distribution of a word's score over random hashes.
type hashTest struct {
	b        *bloomModel
	score    []float64
	level    float64 // that of the tests
	mean, sd float64
	// The scores of bits as whole numbers, from 0 in each cohort, and P(sum >= s).
	units []int
	tail  []float64
}

func newHashTest(b *bloomModel, score []float64, level float64) *hashTest {
	t := &hashTest{b: b, score: score, level: level}
	spread, common := b.hashVariance()
	variance := 0.0
	for c, n := range b.counts.N {
		if n == 0 {
			continue
		}
		sum, squares := 0.0, 0.0
		for _, s := range score[c*b.k : (c+1)*b.k] {
			sum += s
			squares += s * s
		}
		t.mean += b.pi * sum
		variance += spread*squares + common*sum*sum
	}
	t.sd = math.Sqrt(max(variance, 0))
	return t
}

func (t *hashTest) p(w int) float64 {
	score := 0.0
	for c, n := range t.b.counts.N {
		if n > 0 {
			score += sumOf(t.score[c*t.b.k:(c+1)*t.b.k], t.b.masks[w][c])
		}
	}
	if !(t.sd > 0) {
		return 1
	}
	// What is far from any level needs no more than the normal approximation.
	if z := (score - t.mean) / t.sd; t.level < 0.1 && z < 0.5 {
		return tailOf(z)
	}
	if score > t.mean+4*t.sd && t.bound(score) < math.Log(smallestP) {
		return smallestP
	}
	if t.tail == nil {
		t.distribution()
	}
	at := 0
	for c, n := range t.b.counts.N {
		if n > 0 {
			for mask := t.b.masks[w][c]; mask != 0; mask &= mask - 1 {
				at += t.units[c*t.b.k+bits.TrailingZeros32(mask)]
			}
		}
	}
	grid := len(t.tail)
	return min(max(t.tail[((at%grid)+grid)%grid], smallestP), 1)
}

// onto is, for j = 0..h, the probability that h draws of k bits set exactly a given
// set of j bits: the number of ways in which h draws cover j bits, over k^h.
func (b *bloomModel) onto() []float64 {
	h, k := b.counts.r.H, float64(b.k)
	p := make([]float64, h+1)
	p[0] = 1
	for range h { // a draw sets one of the j bits of the set, the other j-1 or j being set already
		for j := h; j >= 0; j-- {
			v := float64(j) / k * p[j]
			if j > 0 {
				v += float64(j) / k * p[j-1]
			}
			p[j] = v
		}
	}
	return p
}

// bound is a bound of the logarithm of the probability of a score as large, by
// Chernoff's method: min over theta of log E exp(theta (score' - score)).
func (t *hashTest) bound(score float64) float64 {
	onto := t.b.onto()
	best := 0.0
	e := make([]float64, len(onto))
	for theta := (score - t.mean) / (t.sd * t.sd); ; theta /= 2 {
		total := -theta * score
		for c, n := range t.b.counts.N {
			if n == 0 {
				continue
			}
			row := t.score[c*t.b.k : (c+1)*t.b.k]
			clear(e)
			e[0] = 1
			for _, s := range row {
				u := math.Exp(theta * s)
				for j := len(e) - 1; j > 0; j-- {
					e[j] += e[j-1] * u
				}
			}
			mean := 0.0
			for j, v := range e {
				mean += onto[j] * v
			}
			total += math.Log(mean)
		}
		if math.IsNaN(total) || math.IsInf(total, 0) {
			total = 0
		}
		if total > best && best < 0 || theta*t.sd < 0.5 {
			return min(best, total)
		}
		best = min(best, total)
	}
}

// hashGrid is the number of points at which the distribution is computed.
const hashGrid = 2048

// distribution computes the distribution of the sum, exactly but for rounding the
// scores of bits to whole units; the statistic is rounded alike, so the test is
// exact for it.
//
// The characteristic function of a cohort is sum_j onto[j] e_j(z^units), with e_j
// the elementary symmetric polynomials; the product over cohorts is inverted by a
// Fourier transform.
func (t *hashTest) distribution() {
	k, n := t.b.k, t.b.counts.N
	most := min(t.b.counts.r.H, k)
	// Words of one hash function set one bit in each cohort, so scores may be counted
	// from the smallest of the cohort; else a shift would depend on the bits set.
	low, width, active := make([]float64, len(n)), 0.0, 0
	for c := range n {
		if n[c] == 0 {
			continue
		}
		active++
		row := t.score[c*k : (c+1)*k]
		high := slices.Max(row)
		low[c] = slices.Min(row)
		if most > 1 {
			width += float64(most) * (max(high, 0) - min(low[c], 0))
			low[c] = 0
		} else {
			width += high - low[c]
		}
	}
	grid := hashGrid
	for grid < 8*most*active {
		grid *= 2
	}
	unit := width / float64(grid-1-most*active)
	if !(unit > 0) {
		unit = 1
	}
	t.units = make([]int, len(t.score))
	least := 0 // the smallest sum in units
	for c := range n {
		if n[c] == 0 {
			continue
		}
		smallest := 0
		for bit := range k {
			u := int(math.Round((t.score[c*k+bit] - low[c]) / unit))
			t.units[c*k+bit] = u
			smallest = min(smallest, u)
		}
		least += most * smallest
	}
	onto := t.b.onto()
	roots := make([]complex128, grid)
	for i := range roots {
		roots[i] = cmplx.Rect(1, -2*math.Pi*float64(i)/float64(grid))
	}
	coefficients := make([]complex128, grid/2+1)
	e := make([]complex128, len(onto))
	for i := range coefficients {
		product := complex(1, 0)
		for c := range n {
			if n[c] == 0 {
				continue
			}
			clear(e)
			e[0] = 1
			for _, u := range t.units[c*k : (c+1)*k] {
				z := roots[(i*u)&(grid-1)] // a power of two
				for j := len(e) - 1; j > 0; j-- {
					e[j] += e[j-1] * z
				}
			}
			mean := complex(0, 0)
			for j, v := range e {
				mean += complex(onto[j], 0) * v
			}
			product *= mean
			if product == 0 {
				break
			}
		}
		coefficients[i] = product
	}
	masses := fourier.NewFFT(grid).Sequence(nil, coefficients)
	// masses[s mod grid] is the probability of the sum s, times grid.
	t.tail = make([]float64, grid)
	sum := 0.0
	for s := least + grid - 1; s >= least; s-- {
		at := ((s % grid) + grid) % grid
		sum += max(masses[at], 0) / float64(grid)
		t.tail[at] = sum
	}
}
