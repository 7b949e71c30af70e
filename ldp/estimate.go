package ldp

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/noren-privacy/noren"
)

// Frequencies are estimated shares of labels.
type Frequencies struct {
	N        int64     // reports that the estimate is from
	Value    []float64 // unbiased; may lie below 0 or above 1
	StdErr   []float64 // of Value about the share in the population the people come from
	Low      []float64 // of the interval, within [0, 1]
	High     []float64
	Level    float64 // least probability that all intervals hold their shares at once
	Rejected Rejected
}

// Variance is n times the variance of the estimated share of a label whose true
// share is f: with r = O + f (T - O) the probability that a report supports it,
// r (1-r)/(T-O)^2. At f = 0 these are the standard results (Wang et al. 2017).
func (c Channel) Variance(f float64) float64 {
	r := c.Other + f*(c.True-c.Other)
	return r * (1 - r) / ((c.True - c.Other) * (c.True - c.Other))
}

// Estimate turns counts of support among n reports into shares:
// f = (count/n - O)/(T - O), of standard error sqrt(r (1-r)/n)/(T-O) with r the
// probability of support, taken at f within [0, 1].
//
// The intervals are those of Clopper and Pearson for r, each at
// 1 - (1-level)/labels (Bonferroni), turned into shares: they all hold with
// probability at least level, whatever n and however small the share, where
// people are drawn from a population. For shares among the very people who
// reported they hold as well or better: their counts spread less (Hoeffding 1956).
func (c Channel) Estimate(n int64, counts []int64, level float64) (*Frequencies, error) {
	if !(level > 0 && level < 1) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "level", What: "must lie between 0 and 1", Hint: "0.95 is usual"}
	}
	if n < 1 {
		return nil, &noren.Error{Kind: noren.BadData, What: "no report was counted, so nothing can be estimated"}
	}
	if !(c.True > c.Other) {
		return nil, &noren.Error{
			Kind: noren.Usage, What: "reports that do not depend on labels tell nothing of them",
			Hint: "see the mechanism's parameters",
		}
	}
	k := len(counts)
	f := &Frequencies{
		N: n, Level: level,
		Value: make([]float64, k), StdErr: make([]float64, k), Low: make([]float64, k), High: make([]float64, k),
	}
	gap := c.True - c.Other
	for l, count := range counts {
		if count < 0 || count > n {
			return nil, &noren.Error{Kind: noren.BadData, Where: noren.Textf("label %d", l), What: "a count below 0 or above the number of reports"}
		}
		f.Value[l] = (float64(count)/float64(n) - c.Other) / gap
		f.StdErr[l] = math.Sqrt(c.Variance(min(max(f.Value[l], 0), 1)) / float64(n))
		lo, hi := binomialInterval(count, n, (1-level)/float64(k))
		f.Low[l] = min(max((lo-c.Other)/gap, 0), 1)
		f.High[l] = min(max((hi-c.Other)/gap, 0), 1)
	}
	return f, nil
}

// binomialInterval is the interval of Clopper and Pearson (1934) for a
// probability seen k times in n: it misses with probability at most miss.
func binomialInterval(k, n int64, miss float64) (lo, hi float64) {
	lo, hi = 0, 1
	if k > 0 { // P(X >= k) = I_p(k, n-k+1) rises with p
		lo, _ = bisect(func(p float64) bool { return mathext.RegIncBeta(float64(k), float64(n-k+1), p) < miss/2 })
	}
	if k < n { // P(X <= k) = I_{1-p}(n-k, k+1) falls with p
		_, hi = bisect(func(p float64) bool { return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p) > miss/2 })
	}
	return lo, hi
}

// bisect returns numbers of [0, 1], 2^-50 apart, between which below turns from
// true to false.
func bisect(below func(p float64) bool) (from, to float64) {
	from, to = 0, 1
	for to-from > 0x1p-50 {
		if mid := from + (to-from)/2; below(mid) {
			from = mid
		} else {
			to = mid
		}
	}
	return from, to
}

// Projected returns the shares nearest to the estimates, in the sense of least
// squares, that are not negative and add up to 1. They are no longer unbiased,
// and their error is no larger in sum.
func (f *Frequencies) Projected() []float64 { return ProjectSimplex(f.Value) }

// ProjectSimplex returns the point of the simplex nearest to v (Held, Wolfe and
// Crowder 1974): all are reduced by one number, and cut at 0.
func ProjectSimplex(v []float64) []float64 {
	if len(v) == 0 {
		return nil
	}
	s := slices.Clone(v)
	slices.SortFunc(s, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	sum, shift := 0.0, 0.0
	for i, x := range s {
		sum += x
		if t := (sum - 1) / float64(i+1); x > t {
			shift = t
		}
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = max(x-shift, 0)
	}
	return out
}

// quantile of the standard normal distribution that is exceeded with probability
// tail, 0 < tail < 1.
func quantile(tail float64) float64 { return -mathext.NormalQuantile(tail) }

// tailOf is the probability that a standard normal exceeds z.
func tailOf(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
