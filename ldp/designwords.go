package ldp

import (
	"math"

	"github.com/noren-privacy/noren"
)

// WordAccuracy is what a collection of words by RAPPOR is expected to yield.
type WordAccuracy struct {
	// StdErr is the standard error of the share of a rare candidate, with all
	// candidates fitted together.
	StdErr float64
	// Detectable is the share of a word that is found with probability 0.8, with false
	// discoveries at 0.05 over all candidates.
	Detectable float64
	// Overlap is the standard error that an unnamed word of a tenth of all reports
	// adds: the chance overlap of its bits with a candidate's. Further reports do not
	// reduce it; further cohorts do.
	Overlap float64
	// Joint is whether the bits of all cohorts suffice to fit all candidates together.
	Joint bool
}

// WordAccuracy computes what n reports are expected to yield over candidates, where
// many rare words make up the reports.
//
// At a share t = pi of every bit the covariance of one report's bits is
// V = a I + g 11^T, g = pi2 - pi^2, a + g the variance of a bit; see
// [RapporCounts.Decode] for pi and pi2. A candidate's bits less pi have the
// covariance s I + g 11^T over its hashes, s = pi (1-pi) - g, so that a report has the
// information k (s/a) (1 - g/(a+kg)) + k g/(a+kg) about it on average. Fitting c
// candidates by k m equations divides it by 1 - c/(km).
func (r *Rappor) WordAccuracy(n int64, candidates int) (WordAccuracy, error) {
	if n < 1 || candidates < 1 {
		return WordAccuracy{}, &noren.Error{Kind: noren.Usage, What: "the numbers of people and of candidates must be 1 or more"}
	}
	b, err := newBloomModel(newRapporCounts(&Rappor{
		Params: Params{K: r.K, H: r.H, M: 1, P: r.P, Q: r.Q, F: r.F}, rule: r.rule, f128: r.f128,
		p: r.p, q: r.q,
	}), &Map{r: r})
	if err != nil {
		return WordAccuracy{}, err
	}
	spread, common := b.hashVariance()
	k := float64(r.K)
	a := b.channel.Variance(b.pi) - common
	information := k*spread/a*(1-common/(a+k*common)) + k*common/(a+k*common)
	rows := k * float64(r.M)
	left := 1 - float64(candidates)/rows
	out := WordAccuracy{Joint: candidates <= mostJoint && 2*float64(candidates) <= rows}
	if !out.Joint {
		left = 0.5
	}
	out.StdErr = 1 / math.Sqrt(float64(n)*information*left)
	out.Detectable = (quantile(0.05/float64(candidates)) + quantile(0.2)) * out.StdErr
	// Of the regression of one word's bits on another's, over m cohorts: the variance
	// of the product of two independent words' bits over the squared norm of one's.
	norm := k*spread + k*common
	cross := k*spread*spread + 2*k*spread*common + k*k*common*common
	out.Overlap = 0.1 * math.Sqrt(cross/float64(r.M)) / norm
	return out, nil
}
