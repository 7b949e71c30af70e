package ldp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"noren"
)

// Correction says how tests of many candidates are made strict enough that a
// word nobody has is found with probability Level at the most, whichever.
type Correction uint8

const (
	// Holm tests the clearest first, each against the number that is left.
	Holm Correction = iota
	// Bonferroni tests all against their number.
	Bonferroni
)

// DecodeOptions say how Bloom filters are decoded.
type DecodeOptions struct {
	// Level is the probability of any false discovery. Defaults to 0.05.
	Level float64
	// Correction defaults to Holm.
	Correction Correction
	// All keeps candidates in the result that were not found.
	All bool
}

// Found is a candidate word and its estimated share.
type Found struct {
	Word        string
	Value       float64 // estimated share of the reports' words
	StdErr      float64
	P           float64 // of seeing as much if nobody had it
	Significant bool
}

// DecodedWords is what Bloom filters were decoded to, the largest share first.
type DecodedWords struct {
	Words      []Found
	N          int64
	Candidates int
	// Share of all reports that the significant words explain.
	Explained float64
	Rejected  Rejected
}

// Decode estimates the shares of the candidates in m from counts.
//
// The expected share of bit b in cohort c is the sum of the shares of the words
// that set it: a linear model with cohorts x k equations. A non-negative LASSO,
// weighted by the standard errors of the bits, chooses words: the penalty of
// each is what the largest of all candidates' noise is expected to reach,
// sqrt(2 ln candidates) deviations. Those chosen are fitted again by weighted
// least squares without it; their errors take account of the bits of one cohort
// not being independent, as one word sets several. A one-sided z-test, corrected
// for the number of all candidates, says which are there at all.
//
// Words that nobody named as candidates are not found, and what they set is seen
// as noise or as a candidate that sets nearly the same bits.
func (c *RapporCounts) Decode(ctx context.Context, m *Map, o DecodeOptions) (*DecodedWords, error) {
	if o.Level == 0 {
		o.Level = 0.05
	}
	if !(o.Level > 0 && o.Level < 1) || o.Correction > Bonferroni {
		return nil, &noren.Error{Kind: noren.Usage, Where: "level", What: "must lie between 0 and 1, and the correction be Holm or Bonferroni"}
	}
	if m.r.K != c.r.K || m.r.M != c.r.M || m.r.H != c.r.H {
		return nil, &noren.Error{Kind: noren.Usage, What: "the map is of other parameters than the counts"}
	}
	if len(m.Words) == 0 || c.Reports() == 0 {
		return nil, &noren.Error{Kind: noren.BadData, What: "decoding needs one candidate and one report at the least"}
	}
	e, err := c.EstimateBits()
	if err != nil {
		return nil, err
	}
	l := newLasso(c, m, e)
	if err := l.descend(ctx, math.Sqrt(2*math.Log(max(2, float64(len(m.Words)))))); err != nil {
		return nil, err
	}
	support, se, err := l.refit(ctx)
	if err != nil {
		return nil, err
	}
	d := &DecodedWords{N: c.Reports(), Candidates: len(m.Words), Rejected: c.Rejected}
	for i, j := range support {
		f := Found{Word: m.Words[j], Value: l.beta[j], StdErr: se[i]}
		f.P = tailOf(f.Value / f.StdErr)
		d.Words = append(d.Words, f)
	}
	markSignificant(d.Words, len(m.Words), o)
	for _, w := range d.Words {
		if w.Significant {
			d.Explained += w.Value
		}
	}
	if o.All {
		chosen := make(map[int]bool, len(support))
		for _, j := range support {
			chosen[j] = true
		}
		for j, w := range m.Words {
			if !chosen[j] {
				d.Words = append(d.Words, Found{Word: w, StdErr: math.NaN(), P: 1})
			}
		}
	} else {
		d.Words = slices.DeleteFunc(d.Words, func(f Found) bool { return !f.Significant })
	}
	slices.SortStableFunc(d.Words, func(a, b Found) int {
		switch {
		case a.Value > b.Value:
			return -1
		case a.Value < b.Value:
			return 1
		}
		return 0
	})
	return d, nil
}

// markSignificant tests words among candidates, most of which are not in words
// and count with p = 1.
func markSignificant(words []Found, candidates int, o DecodeOptions) {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case words[a].P < words[b].P:
			return -1
		case words[a].P > words[b].P:
			return 1
		}
		return 0
	})
	for rank, i := range order {
		left := candidates
		if o.Correction == Holm {
			left -= rank
		}
		if words[i].P > o.Level/float64(left) {
			return
		}
		words[i].Significant = true
	}
}

// lasso is the weighted regression of bit shares on words, by coordinate descent
// with the residuals kept up to date.
type lasso struct {
	c        *RapporCounts
	rows     [][]uint32 // the equations that a word is in: cohort*k + bit, each once
	y        []float64
	weight   []float64 // 1/variance; 0 for cohorts without reports
	residual []float64
	norm     []float64 // sum of the weights of a word's equations
	beta     []float64
}

func newLasso(c *RapporCounts, m *Map, e *BitEstimates) *lasso {
	l := &lasso{c: c, y: make([]float64, len(c.Bits)), weight: make([]float64, len(c.Bits)), beta: make([]float64, len(m.Words))}
	for i, n := range c.N {
		for b := range c.r.K {
			if at := i*c.r.K + b; n > 0 {
				l.y[at], l.weight[at] = e.Value[i][b], 1/(e.StdErr[i][b]*e.StdErr[i][b])
			}
		}
	}
	l.residual = slices.Clone(l.y)
	for _, bits := range m.bits {
		rows := slices.Clone(bits)
		slices.Sort(rows)
		rows = slices.Compact(rows)
		norm := 0.0
		for _, at := range rows {
			norm += l.weight[at]
		}
		l.rows, l.norm = append(l.rows, rows), append(l.norm, norm)
	}
	return l
}

// step minimises over one word's share and returns how far it moved, in standard
// errors.
func (l *lasso) step(j int, penalty float64) float64 {
	if l.norm[j] == 0 {
		return 0
	}
	g := 0.0
	for _, at := range l.rows[j] {
		g += l.weight[at] * l.residual[at]
	}
	root := math.Sqrt(l.norm[j])
	was := l.beta[j]
	now := max(0, was+(g-penalty*root)/l.norm[j])
	if now == was {
		return 0
	}
	for _, at := range l.rows[j] {
		l.residual[at] -= now - was
	}
	l.beta[j] = now
	return math.Abs(now-was) * root
}

// settled is the largest move of a share, in standard errors, at which a descent
// has ended.
const settled = 1e-7

// descend runs the LASSO: passes over all words, and between them over those
// that are in.
func (l *lasso) descend(ctx context.Context, penalty float64) error {
	for {
		if l.pass(nil, penalty) < settled {
			return nil
		}
		var active []int
		for j, b := range l.beta {
			if b > 0 {
				active = append(active, j)
			}
		}
		for range 1000 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if l.pass(active, penalty) < settled {
				break
			}
		}
	}
}

// pass steps through some words, nil for all.
func (l *lasso) pass(words []int, penalty float64) float64 {
	moved := 0.0
	if words == nil {
		for j := range l.beta {
			moved = max(moved, l.step(j, penalty))
		}
	}
	for _, j := range words {
		moved = max(moved, l.step(j, penalty))
	}
	return moved
}

// refit fits the words that are in once more, without the penalty, and returns
// those that stay above 0 with their standard errors:
//
//	A = (X'WX)^-1,  Cov = A (sum_c X_c' W_c V_c W_c X_c) A
//
// where V_c is the covariance of cohort c's bit estimates: the variance of each
// on the diagonal, and (share of words that set both - product of shares)/N_c
// beside it. The randomisation of different bits is independent, so nothing else
// is there.
func (l *lasso) refit(ctx context.Context) ([]int, []float64, error) {
	var support []int
	for j, b := range l.beta {
		if b > 0 {
			support = append(support, j)
		}
	}
	for range 100_000 {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		if l.pass(support, 0) < settled {
			break
		}
	}
	support = slices.DeleteFunc(support, func(j int) bool { return l.beta[j] == 0 })
	if len(support) == 0 {
		return nil, nil, nil
	}
	p := len(support)
	gram, meat := mat.NewSymDense(p, nil), mat.NewSymDense(p, nil)
	k := l.c.r.K
	x := make([][]float64, k)   // of one cohort: bits x words
	v := make([][]float64, k)   // bits x bits, weighed on both sides
	wvx := make([][]float64, k) // bits x words
	for b := range k {
		x[b], v[b], wvx[b] = make([]float64, p), make([]float64, k), make([]float64, p)
	}
	at := make([]int, p) // where each word's equations go on
	for c, n := range l.c.N {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for b := range k {
			clear(x[b])
		}
		for i, j := range support {
			rows := l.rows[j]
			for ; at[i] < len(rows) && int(rows[at[i]]) < (c+1)*k; at[i]++ {
				x[int(rows[at[i]])-c*k][i] = 1
			}
		}
		if n == 0 {
			continue
		}
		l.covariance(v, x, support, c, float64(n))
		for b := range k {
			clear(wvx[b])
			for b2 := range k {
				if f := v[b][b2]; f != 0 {
					for i, xi := range x[b2] {
						wvx[b][i] += f * xi
					}
				}
			}
		}
		for b := range k {
			w := l.weight[c*k+b]
			for i, xi := range x[b] {
				if xi == 0 {
					continue
				}
				for i2 := i; i2 < p; i2++ {
					if x[b][i2] != 0 {
						gram.SetSym(i, i2, gram.At(i, i2)+w)
					}
				}
				for i2 := i; i2 < p; i2++ {
					meat.SetSym(i, i2, meat.At(i, i2)+wvx[b][i2])
				}
			}
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(gram) || chol.Cond() > 1e12 {
		return nil, nil, &noren.Error{
			Kind: noren.BadData, What: fmt.Sprintf("the %d words found set bits that do not tell them apart", p),
			Hint: "name fewer candidates, or collect with more cohorts or bits",
		}
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		return nil, nil, &noren.Error{What: "the errors of the words could not be computed", Err: err}
	}
	var half, cov mat.Dense
	half.Mul(&inverse, meat)
	cov.Mul(&half, &inverse)
	se := make([]float64, p)
	for i := range se {
		se[i] = math.Sqrt(max(cov.At(i, i), 0))
	}
	return support, se, nil
}

// covariance writes W V W of cohort c to v.
func (l *lasso) covariance(v, x [][]float64, support []int, c int, n float64) {
	k := len(v)
	w := l.weight[c*k : (c+1)*k]
	share := make([]float64, k)
	for b := range k {
		clear(v[b])
		for i, j := range support {
			share[b] += x[b][i] * l.beta[j]
		}
	}
	for b := range k {
		v[b][b] = w[b] // w * 1/w * w
		for b2 := range b {
			both := 0.0
			for i, j := range support {
				both += x[b][i] * x[b2][i] * l.beta[j]
			}
			cov := (both - share[b]*share[b2]) / n * w[b] * w[b2]
			v[b][b2], v[b2][b] = cov, cov
		}
	}
}
