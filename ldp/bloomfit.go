package ldp

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/noren-privacy/noren"
)

// bloomModel is the linear model of bit shares on words; see [RapporCounts.Decode]. Of
// several rounds ([WordRounds]) counts.N counts people, and counts.Bits is not used.
type bloomModel struct {
	counts  *RapporCounts
	words   []string
	masks   [][]uint32 // bits of a word in each cohort
	channel Channel
	k, rows int       // rows: cells of cohorts with reports
	y       []float64 // estimated shares of bits less pi, cohorts x k
	// again is, for each cohort, the mean over its people of 1/(number of reports); nil
	// where all have one.
	again []float64
	// A word sets a given bit with probability pi, and two given bits with pi2.
	pi, pi2 float64
}

// mostCovariances bounds the numbers that the covariances of all cohorts take.
const mostCovariances = 1 << 26

func newBloomModel(c *RapporCounts, m *Map) (*bloomModel, error) {
	e, err := c.EstimateBits()
	if err != nil {
		return nil, err
	}
	return bloomModelOf(c, m, e.Value)
}

// bloomModelOf is newBloomModel for estimated shares of bits, cohorts x k.
func bloomModelOf(c *RapporCounts, m *Map, shares [][]float64) (*bloomModel, error) {
	k, h := c.r.K, float64(c.r.H)
	if len(c.N)*k*k > mostCovariances {
		return nil, &noren.Error{
			Kind: noren.Usage, Where: noren.Phrase("RAPPOR parameters"),
			What: "too many cohorts for decoding: k^2 times m must not be above 2^26", Hint: "64 to 128 cohorts are usual",
		}
	}
	q := 1 - 1/float64(k)
	none, neither := math.Pow(q, h), math.Pow(1-2/float64(k), h)
	if k == 1 {
		none, neither = 0, 0
	}
	b := &bloomModel{
		counts: c, words: m.Words, channel: c.r.server(false), k: k,
		y: make([]float64, len(c.N)*k), pi: 1 - none, pi2: 1 - 2*none + neither,
	}
	for i, n := range c.N {
		if n == 0 {
			continue
		}
		b.rows += k
		for bit := range k {
			b.y[i*k+bit] = shares[i][bit] - b.pi
		}
	}
	for _, all := range m.bits {
		masks := make([]uint32, len(c.N))
		for _, at := range all {
			masks[int(at)/k] |= 1 << (int(at) % k)
		}
		b.masks = append(b.masks, masks)
	}
	return b, nil
}

// variance is that of one person's estimate of a bit that a share t of the people of
// cohort c has.
func (b *bloomModel) variance(c int, t float64) float64 {
	if b.again == nil {
		return b.channel.Variance(t)
	}
	return b.counts.r.roundsVariance(t, b.again[c])
}

// bloomFit is a generalised least-squares fit of some words.
type bloomFit struct {
	words   []int
	beta    []float64
	inverse *mat.SymDense // covariance of beta
	score   []float64     // V^-1 times the residuals, cohorts x k
	ones    []float64     // V^-1 times 1, cohorts x k; of alone
	a       []float64     // V^-1 of each cohort, k x k
	tau2    float64       // sum of the squared shares of all other words
	df      float64       // equations less words
}

// smallestDF is how many more equations than words a fit needs.
const smallestDF = 4

// fit fits words until weights and estimates agree. It starts at another fit's shares,
// where there is one: a fit of nearly the same words takes fewer steps then.
func (b *bloomModel) fit(ctx context.Context, words []int, from *bloomFit) (*bloomFit, error) {
	p := len(words)
	f := &bloomFit{words: words, beta: make([]float64, p), df: float64(b.rows - p)}
	if f.df < smallestDF {
		return nil, &noren.Error{
			Kind: noren.BadData, What: "%d {bit|bits} in all cohorts {1|is|are} too few to tell %d {word|words} apart", Args: []any{b.rows, p},
			Hint: "name fewer candidates, or collect with more cohorts or bits",
		}
	}
	f.a, f.score = make([]float64, len(b.counts.N)*b.k*b.k), make([]float64, len(b.y))
	if from != nil {
		f.tau2 = from.tau2
		for i, w := range words {
			if at := slices.Index(from.words, w); at >= 0 {
				f.beta[i] = from.beta[at]
			}
		}
	}
	for range 40 {
		if err := b.weigh(ctx, f); err != nil {
			return nil, err
		}
		moved, err := b.solve(ctx, f)
		if err != nil {
			return nil, err
		}
		excess, slope := b.residuals(f)
		// The sum of squared residuals falls with tau^2 and is convex: Newton's step.
		tau2 := max(0, f.tau2+excess/slope)
		change := math.Abs(tau2-f.tau2) * slope / f.df
		f.tau2 = tau2
		if moved < 1e-3 && change < 1e-4 {
			break
		}
	}
	return f, nil
}

// weigh computes V^-1 of every cohort at the fitted shares: shares below 0 count as
// 0, shares of a sum above 1 are scaled to 1, and what lacks to 1 is unnamed.
func (b *bloomModel) weigh(ctx context.Context, f *bloomFit) error {
	share := make([]float64, len(f.words))
	sum := 0.0
	for i, v := range f.beta {
		share[i] = max(v, 0)
		sum += share[i]
	}
	if sum > 1 {
		for i := range share {
			share[i] /= sum
		}
		sum = 1
	}
	k := b.k
	t := make([]float64, k)
	spread, common := b.hashVariance()
	for c, n := range b.counts.N {
		if n == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		v := f.a[c*k*k : (c+1)*k*k]
		for i := range k {
			t[i] = (1 - sum) * b.pi
			for j := range i {
				v[i*k+j] = (1 - sum) * b.pi2
			}
		}
		for i, w := range f.words {
			if share[i] == 0 {
				continue
			}
			for rest := b.masks[w][c]; rest != 0; rest &= rest - 1 {
				at := bits.TrailingZeros32(rest)
				t[at] += share[i]
				for more := rest & (rest - 1); more != 0; more &= more - 1 {
					to := bits.TrailingZeros32(more)
					v[to*k+at] += share[i]
				}
			}
		}
		for i := range k {
			for j := range i {
				v[i*k+j] = (v[i*k+j]-t[i]*t[j])/float64(n) + f.tau2*common
			}
			v[i*k+i] = b.variance(c, min(t[i], 1))/float64(n) + f.tau2*(spread+common)
		}
		if !invert(v, k) {
			return &noren.Error{What: "the covariance of a cohort's bits could not be inverted"}
		}
	}
	return nil
}

// hashVariance is the covariance of the bits of a random word's hashes,
// spread I + common 11^T.
func (b *bloomModel) hashVariance() (spread, common float64) {
	common = b.pi2 - b.pi*b.pi
	return b.pi*(1-b.pi) - common, common
}

// dots are the products of the rows of V^-1 in cohort c with the bits of a mask.
func (b *bloomModel) dots(f *bloomFit, c int, mask uint32, out []float64) {
	clear(out)
	for ; mask != 0; mask &= mask - 1 {
		row := f.a[(c*b.k+bits.TrailingZeros32(mask))*b.k:][:b.k]
		for i, v := range row {
			out[i] += v
		}
	}
}

func sumOf(v []float64, mask uint32) float64 {
	s := 0.0
	for ; mask != 0; mask &= mask - 1 {
		s += v[bits.TrailingZeros32(mask)]
	}
	return s
}

// solve computes the shares for the weights and returns the largest change of a
// share in standard errors.
func (b *bloomModel) solve(ctx context.Context, f *bloomFit) (float64, error) {
	p, k := len(f.words), b.k
	if p == 0 {
		b.score(f)
		return 0, nil
	}
	gram, right := mat.NewSymDense(p, nil), make([]float64, p)
	ones, ay, ax := make([]float64, k), make([]float64, k), make([]float64, k)
	along := make([]float64, p)
	raw := gram.RawSymmetric()
	for c, n := range b.counts.N {
		if n == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		b.dots(f, c, uint32(uint64(1)<<k-1), ones)
		clear(ay)
		all, ally := 0.0, 0.0
		for i := range k {
			for j, v := range f.a[(c*k+i)*k:][:k] {
				ay[i] += v * b.y[c*k+j]
			}
			all += ones[i]
			ally += ay[i]
		}
		for i, w := range f.words {
			along[i] = sumOf(ones, b.masks[w][c])
			right[i] += sumOf(ay, b.masks[w][c]) - b.pi*ally
		}
		for i, w := range f.words {
			b.dots(f, c, b.masks[w][c], ax)
			row := raw.Data[i*raw.Stride : i*raw.Stride+p]
			constant := b.pi*b.pi*all - b.pi*along[i]
			for i2 := i; i2 < p; i2++ {
				row[i2] += sumOf(ax, b.masks[f.words[i2]][c]) - b.pi*along[i2] + constant
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) || chol.Cond() > 1e10 {
		return 0, &noren.Error{
			Kind: noren.BadData, What: "the %d {word that stands out sets|words that stand out set} bits that do not tell {it|them} apart",
			Args: []any{p},
			Hint: "name fewer candidates, or collect with more cohorts or bits",
		}
	}
	var beta mat.VecDense
	f.inverse = mat.NewSymDense(p, nil)
	if err := chol.SolveVecTo(&beta, mat.NewVecDense(p, right)); err != nil {
		return 0, &noren.Error{What: "the shares of the words could not be computed", Err: err}
	}
	if err := chol.InverseTo(f.inverse); err != nil {
		return 0, &noren.Error{What: "the errors of the words could not be computed", Err: err}
	}
	moved := 0.0
	for i := range f.beta {
		moved = max(moved, math.Abs(beta.AtVec(i)-f.beta[i])/math.Sqrt(f.inverse.At(i, i)))
		f.beta[i] = beta.AtVec(i)
	}
	b.score(f)
	return moved, nil
}

// score computes V^-1 (y - X beta).
func (b *bloomModel) score(f *bloomFit) {
	sum := 0.0
	for _, v := range f.beta {
		sum += v
	}
	residual := make([]float64, b.k)
	for c, n := range b.counts.N {
		if n == 0 {
			continue
		}
		for i := range residual {
			residual[i] = b.y[c*b.k+i] + b.pi*sum
		}
		for i, w := range f.words {
			for mask := b.masks[w][c]; mask != 0; mask &= mask - 1 {
				residual[bits.TrailingZeros32(mask)] -= f.beta[i]
			}
		}
		b.whiten(f, c, residual, f.score[c*b.k:(c+1)*b.k])
	}
}

// whiten writes V^-1 v of cohort c to out.
func (b *bloomModel) whiten(f *bloomFit, c int, v, out []float64) {
	for i := range out {
		s := 0.0
		for j, a := range f.a[(c*b.k+i)*b.k:][:b.k] {
			s += a * v[j]
		}
		out[i] = s
	}
}

// residuals returns by how much the weighted sum of squared residuals is above its
// expectation, and how fast it falls with tau^2.
func (b *bloomModel) residuals(f *bloomFit) (excess, slope float64) {
	spread, common := b.hashVariance()
	sumShares := 0.0
	for _, v := range f.beta {
		sumShares += v
	}
	excess = -f.df
	for c, n := range b.counts.N {
		if n == 0 {
			continue
		}
		score := f.score[c*b.k : (c+1)*b.k]
		sum := 0.0
		for i, s := range score {
			excess += s * (b.y[c*b.k+i] + b.pi*sumShares)
			slope += spread * s * s
			sum += s
		}
		slope += common * sum * sum
		for i, w := range f.words {
			excess -= f.beta[i] * sumOf(score, b.masks[w][c])
		}
	}
	return excess, max(slope, math.SmallestNonzeroFloat64)
}

// alone is the estimate of a word that is added to a fit; false where the fit's
// words explain its bits.
func (b *bloomModel) alone(f *bloomFit, w int) (value, se float64, ok bool) {
	p := len(f.words)
	cross := make([]float64, p)
	ax := make([]float64, b.k)
	own, right := 0.0, 0.0
	if f.ones == nil {
		f.ones = make([]float64, len(b.y))
		for c := range b.counts.N {
			b.dots(f, c, uint32(uint64(1)<<b.k-1), f.ones[c*b.k:(c+1)*b.k])
		}
	}
	for c, n := range b.counts.N {
		if n == 0 {
			continue
		}
		mask := b.masks[w][c]
		ones := f.ones[c*b.k : (c+1)*b.k]
		b.dots(f, c, mask, ax)
		all, allScore := 0.0, 0.0
		for i := range b.k {
			all += ones[i]
			allScore += f.score[c*b.k+i]
		}
		along := sumOf(ones, mask)
		own += sumOf(ax, mask) - 2*b.pi*along + b.pi*b.pi*all
		right += sumOf(f.score[c*b.k:(c+1)*b.k], mask) - b.pi*allScore
		for i, j := range f.words {
			other := b.masks[j][c]
			cross[i] += sumOf(ax, other) - b.pi*(along+sumOf(ones, other)) + b.pi*b.pi*all
		}
	}
	left := own
	for i := range p {
		for i2 := range p {
			left -= cross[i] * f.inverse.At(i, i2) * cross[i2]
		}
	}
	if !(left > 1e-9*own) {
		return 0, 0, false
	}
	return right / left, 1 / math.Sqrt(left), true
}

// tQuantile is exceeded by Student's t with probability tail.
func tQuantile(tail, df float64) float64 {
	if df > 1e5 {
		return quantile(tail)
	}
	return -distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(tail)
}

// tTail is the probability that Student's t exceeds v.
func tTail(v, df float64) float64 {
	if df > 1e5 {
		return tailOf(v)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(-v)
}
