package ratio

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// FitCheck is what the release and the public records say of the weights, at no further
// budget. It can find that weights are bad. That it finds nothing does not make them
// good: what the kernels cannot see, it cannot see either.
type FitCheck struct {
	// Passed says that nothing was found.
	Passed bool `json:"passed"`
	// MeanWeight is the mean of the weights before they were divided by it; near 1
	// where the public records cover the private ones. It is 1 by construction, and
	// tells nothing, where the number of private records was neither declared nor paid
	// for.
	MeanWeight float64 `json:"mean_weight"`
	// ESS is (sum w)^2 / sum w^2, how many records the weighted ones are worth, and
	// MaxShare the largest share of one of them.
	ESS      float64 `json:"ess"`
	MaxShare float64 `json:"max_share"`
	// Negative is how much of the fitted ratio lay below 0 before it was cut off, as a
	// share of what lay above: a density ratio has none. Much of it means that the
	// kernels are too wide for the private records, or that noise rules.
	Negative float64 `json:"negative_share"`
	// Misfit compares the kernel means of the weighted public records with those
	// released: the squared distance by noise and sampling error, over b. About 1 or
	// less is what noise explains. More than a tenth of Signal is a finding.
	Misfit float64 `json:"misfit"`
	// Signal is how far the released means are from those of the unweighted public
	// records, in the same measure: at about 1 nothing but noise was released.
	Signal float64 `json:"signal"`
	// Findings are what is wrong, in words.
	Findings []string `json:"findings,omitempty"`
}

// check fills the check of the fit. raw are the fitted ratios, with negative ones.
func (w *Weights) check(raw, alpha []float64, flat bool) {
	m := w.Meta
	var sum, square, most, above, below float64
	for i, v := range w.W {
		sum += v
		square += v * v
		most = max(most, v)
		above += max(0, raw[i])
		below += max(0, -raw[i])
	}
	c := &m.Check
	*c = FitCheck{MeanWeight: m.MeanWeight, ESS: sum * sum / square, MaxShare: most / sum}
	if above > 0 {
		c.Negative = below / above
	}
	m.ESS, m.MaxShare = c.ESS, c.MaxShare
	// Both distances are taken with means of kernels of all public records, for the
	// weights that are handed out.
	cov := scaledSym(w.features.spreadOf(w.W), 1/m.Records)
	cov.AddSym(cov, w.noise)
	b := w.features.Kernel.Size()
	for l := range b {
		cov.SetSym(l, l, cov.At(l, l)*(1+1e-9)+1e-14)
	}
	var chol mat.Cholesky
	if chol.Factorize(cov) {
		c.Misfit = w.distance(&chol, w.W)
		c.Signal = w.distance(&chol, nil)
	}
	find := func(bad bool, format string, args ...any) {
		if bad {
			c.Findings = append(c.Findings, fmt.Sprintf(format, args...))
		}
	}
	find(flat, "no public record got a weight above 0: all were given the same")
	find(m.RecordsFrom != Estimated && (c.MeanWeight < 0.8 || c.MeanWeight > 1.25), "the mean weight before normalisation is %.2f and should be near 1: the public records do not cover the private ones, or noise rules", c.MeanWeight)
	find(c.ESS < 10, "the weighted records are worth only %.1f: few public records carry all answers", c.ESS)
	find(c.MaxShare > 0.25, "one public record carries %.0f%% of the weight", 100*c.MaxShare)
	find(c.Negative > 0.1, "the fitted ratio is below 0 in places, %.0f%% of what is above: the bandwidth is too wide for the private records, or noise rules", 100*c.Negative)
	// What lambda smooths away is a misfit that little noise makes visible, however good
	// the fit: it is held against what there was to explain (section 8).
	blind := c.Signal < 1+2*math.Sqrt(2/float64(b))
	find(!blind && c.Misfit > 0.1*c.Signal, "the weights leave %.0f%% of how the released means differ from the public ones unexplained: the bandwidth is too wide for the private records, the public records do not cover them, or noise rules", 100*c.Misfit/c.Signal)
	find(blind, "the released means cannot be told from those of the public records themselves: either both are alike, or epsilon or n is too small to see how they differ")
	c.Passed = len(c.Findings) == 0
}

// distance is the squared distance, over b, of the released means from those of the
// public records with weights, or without.
func (w *Weights) distance(c *mat.Cholesky, weights []float64) float64 {
	b := w.features.Kernel.Size()
	d, sum := make([]float64, b), 0.0
	for i := range w.features.Rows() {
		v := 1.0
		if weights != nil {
			v = weights[i]
		}
		sum += v
		for l, p := range w.features.Phi.RawRowView(i) {
			d[l] += v * p
		}
	}
	for l := range d {
		d[l] = d[l]/sum - w.mean[l]
	}
	x, err := solve(c, d)
	if err != nil {
		return math.Inf(1)
	}
	return dot(x, d) / float64(b)
}
