package ldp

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
)

// Correction says how tests of many candidates are made strict enough that the
// probability of any false discovery is at most Level.
type Correction uint8

const (
	// Holm is the step-down procedure of Holm (1979).
	Holm Correction = iota
	// Bonferroni tests each candidate at Level divided by their number.
	Bonferroni
)

// DecodeOptions say how Bloom filters are decoded.
type DecodeOptions struct {
	// Level is the probability of any false discovery. Defaults to 0.05.
	Level float64
	// Correction defaults to Holm.
	Correction Correction
	// Confidence is the probability with which all intervals hold at once.
	// Defaults to 0.95.
	Confidence float64
	// All keeps candidates in the result that were not found.
	All bool
}

// Found is a candidate word and its estimated share.
type Found struct {
	Word   string
	Value  float64 // estimated share of the reports' words; may lie below 0 or above 1
	StdErr float64 // NaN where the candidate cannot be told from others
	// Low and High are the ends of the interval, within [0, 1]. The intervals of all
	// candidates and of the unnamed mass hold at once (Bonferroni).
	Low, High float64
	// P is the probability that a word that has no share is supported as well by
	// these counts, over the hashing of that word. Not below 1e-12.
	P           float64
	Significant bool
}

// Unnamed is the share of the reports' words that are not among the candidates.
type Unnamed struct {
	Value, StdErr float64
	Low, High     float64 // within [0, 1]
	// P is the one-sided p-value of the hypothesis that all words were named; NaN
	// where the candidates could not be fitted together.
	P float64
}

// DecodedWords is what Bloom filters were decoded to, the largest share first.
type DecodedWords struct {
	Words      []Found
	N          int64
	Candidates int
	// Confidence of all intervals together.
	Confidence float64
	// Share of all reports that the significant words explain.
	Explained float64
	// Unnamed is the mass of words that are no candidates. Where Joint is false, it
	// includes candidates that are too rare to be seen.
	Unnamed Unnamed
	// Joint is whether all candidates were fitted together. It is false where they are
	// too many for the number of cohorts and bits; then those that were found are
	// fitted together, each other candidate beside them, and the errors include
	// chance overlaps with the bits of all others.
	Joint    bool
	Rejected Rejected
}

// mostJoint is the largest number of candidates that are fitted together.
const mostJoint = 500

// Decode estimates the shares of the candidates in m from counts.
//
// The expected share of bit b in cohort c is the sum of the shares of the words
// that set it: a linear model with cohorts x k equations. Words that are no
// candidates set bits too. Their hashes are independent of the candidates'
// (MD5 seen as a random function), so their mass U = 1 - sum of the candidates'
// shares sets each bit with probability pi = 1-(1-1/k)^h, plus an error of
// variance tau^2 pi (1-pi), tau^2 the sum of their squared shares. That gives
//
//	share of bit - pi = sum over candidates of share (bit of candidate - pi) + error,
//
// which is fitted by generalised least squares. Weights are from the fitted
// model and not from the counts of single bits, which would bias the estimates;
// tau^2 is that for which the residuals are as large as expected (Paule and
// Mandel 1982). With given weights the estimates are unbiased over the reports and
// over the hashes of unnamed words. There are no constraints: an estimate may
// lie below 0. docs/local-privacy.md, section 5, has the coverage of the intervals.
//
// A test says which candidates are there at all. If a candidate has no share, its
// hashes are independent of the counts. The test compares its score (the weighted
// residuals of its bits, the other words that stand out fitted) with the
// exact distribution of the score over random hashes. So unnamed words, whatever
// their shares, do not make false discoveries more frequent than Level.
func (c *RapporCounts) Decode(ctx context.Context, m *Map, o DecodeOptions) (*DecodedWords, error) {
	if err := o.check(c, m); err != nil {
		return nil, err
	}
	b, err := newBloomModel(c, m)
	if err != nil {
		return nil, err
	}
	return b.decode(ctx, o)
}

// check sets defaults and refuses options and a map that are not for the counts.
func (o *DecodeOptions) check(c *RapporCounts, m *Map) error {
	if o.Level == 0 {
		o.Level = 0.05
	}
	if o.Confidence == 0 {
		o.Confidence = 0.95
	}
	if !(o.Level > 0 && o.Level < 1) || !(o.Confidence > 0 && o.Confidence < 1) || o.Correction > Bonferroni {
		return &noren.Error{Kind: noren.Usage, Where: "level", What: "must lie between 0 and 1, and the correction be Holm or Bonferroni"}
	}
	if m.r.K != c.r.K || m.r.M != c.r.M || m.r.H != c.r.H {
		return &noren.Error{Kind: noren.Usage, What: "the map is of other parameters than the counts"}
	}
	if len(m.Words) == 0 || c.Reports() == 0 {
		return &noren.Error{Kind: noren.BadData, What: "decoding needs at least one candidate and one report"}
	}
	return nil
}

// decode tests and estimates the words of the model.
func (b *bloomModel) decode(ctx context.Context, o DecodeOptions) (*DecodedWords, error) {
	chosen, kept, err := b.choose(ctx)
	if err != nil {
		return nil, err
	}
	screen, err := b.fit(ctx, chosen, nil)
	if err != nil {
		return nil, err
	}
	d := &DecodedWords{N: b.counts.Reports(), Candidates: len(b.words), Confidence: o.Confidence, Rejected: b.counts.Rejected}
	d.Words = make([]Found, len(b.words))
	for j, w := range b.words {
		d.Words[j].Word = w
	}
	if err := b.test(ctx, screen, kept, o.Level, d.Words); err != nil {
		return nil, err
	}
	markSignificant(d.Words, o)
	if err := b.checkTwins(d.Words); err != nil {
		return nil, err
	}
	fit, err := b.final(ctx, d)
	if err != nil {
		return nil, err
	}
	b.estimate(fit, d, o.All)
	for _, w := range d.Words {
		if w.Significant {
			d.Explained += w.Value
		}
	}
	if !o.All {
		d.Words = slices.DeleteFunc(d.Words, func(f Found) bool { return !f.Significant })
	}
	slices.SortStableFunc(d.Words, func(a, b Found) int { return cmp.Compare(b.Value, a.Value) })
	return d, nil
}

// markSignificant tests all candidates.
func markSignificant(words []Found, o DecodeOptions) {
	order := make([]int, len(words))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(words[a].P, words[b].P) })
	for rank, i := range order {
		left := len(words)
		if o.Correction == Holm {
			left -= rank
		}
		if words[i].P > o.Level/float64(left) {
			return
		}
		words[i].Significant = true
	}
}

// final is the fit that shares are estimated from: of all candidates, or, where they
// are too many or cannot be told apart, of those that were found. Those that a LASSO
// keeps would be more, but estimates after such a choice have larger errors than
// stated.
func (b *bloomModel) final(ctx context.Context, d *DecodedWords) (*bloomFit, error) {
	var every, found []int
	for j, w := range d.Words {
		every = append(every, j)
		if w.Significant {
			found = append(found, j)
		}
	}
	if len(every) <= mostJoint && 2*len(every) <= b.rows {
		f, err := b.fit(ctx, every, nil)
		d.Joint = err == nil
		if d.Joint || ctx.Err() != nil {
			return f, err
		}
	}
	return b.fit(ctx, found, nil)
}

// estimate sets the shares of the fit's candidates, and with all those of each other
// candidate added to it alone.
func (b *bloomModel) estimate(f *bloomFit, d *DecodedWords, all bool) {
	z := tQuantile((1-d.Confidence)/2/float64(len(d.Words)+1), f.df)
	set := func(j int, value, se float64) {
		w := &d.Words[j]
		w.Value, w.StdErr = value, se
		w.Low, w.High = min(max(value-z*se, 0), 1), min(max(value+z*se, 0), 1)
	}
	in := make([]bool, len(d.Words))
	for i, j := range f.words {
		in[j] = true
		set(j, f.beta[i], math.Sqrt(f.inverse.At(i, i)))
	}
	for j := range d.Words {
		if in[j] || !all {
			continue
		}
		if value, se, ok := b.alone(f, j); ok {
			set(j, value, se)
		} else {
			d.Words[j].StdErr, d.Words[j].High = math.NaN(), 1 // nothing is known of it
		}
	}
	d.Unnamed = f.unnamed(z)
	if !d.Joint {
		// Rare candidates are among it, so it bounds the unnamed mass from above only.
		d.Unnamed.Low, d.Unnamed.P = 0, math.NaN()
	}
}

// unnamed is the mass outside the words of the fit, z its quantile.
func (f *bloomFit) unnamed(z float64) Unnamed {
	u := Unnamed{Value: 1}
	variance := 0.0
	for i, v := range f.beta {
		u.Value -= v
		for i2 := range f.beta {
			variance += f.inverse.At(i, i2)
		}
	}
	if len(f.beta) == 0 {
		return Unnamed{Value: 1, StdErr: math.NaN(), Low: 0, High: 1, P: math.NaN()} // nothing stands out
	}
	u.StdErr = math.Sqrt(max(variance, 0))
	u.Low, u.High = min(max(u.Value-z*u.StdErr, 0), 1), min(max(u.Value+z*u.StdErr, 0), 1)
	u.P = tTail(u.Value/u.StdErr, f.df)
	return u
}

// checkTwins refuses a discovery that another candidate explains exactly as well.
func (b *bloomModel) checkTwins(words []Found) error {
	first := make(map[string]int, len(b.masks))
	twin := make([]int, len(b.masks))
	for j, masks := range b.masks {
		key := make([]byte, 0, 4*len(masks))
		for c, m := range masks {
			if b.counts.N[c] > 0 {
				key = append(key, byte(m), byte(m>>8), byte(m>>16), byte(m>>24))
			}
		}
		twin[j] = -1
		if i, ok := first[string(key)]; ok {
			twin[j] = i
		} else {
			first[string(key)] = j
		}
	}
	for j, i := range twin {
		if i >= 0 && (words[i].Significant || words[j].Significant) {
			return &noren.Error{
				Kind: noren.BadData,
				What: "two candidates that may have been found set the same bits in every cohort: the reports do not tell them apart",
				Hint: "name one of them, or collect with more cohorts or bits",
			}
		}
	}
	return nil
}
