package ratio

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ratio/redraw"
)

// FitCheck is a check of the weights by the release and the public records, at no further
// cost. It can show that weights are bad. It cannot show that they are good: differences that
// the features do not measure are not seen.
type FitCheck struct {
	// Passed is true if no problem was found.
	Passed bool `json:"passed"`
	// MeanWeight is the mean of the weights before they were divided by it; near 1 where the
	// public records cover the private ones. It is 1 by construction, and has no meaning,
	// where the number of private records was neither declared nor released with noise.
	MeanWeight float64 `json:"mean_weight"`
	// ESS is the effective sample size (Kish), (sum w)^2 / sum w^2.
	ESS float64 `json:"ess"`
	// MaxShare is the largest weight of a record as a share of the total weight.
	MaxShare float64 `json:"max_share"`
	// Negative is the part of the fitted ratio that was below 0 before it was cut off, as a
	// share of the part above 0: a density ratio is never negative. A large share means that
	// the kernels are too wide for the private records, or that noise dominates.
	Negative float64 `json:"negative_share"`
	// Misfit is the squared distance of the released means from those of the weighted public
	// records, in the metric of its covariance (noise, and the sampling of both tables),
	// divided by its expectation: noise alone gives 1.
	Misfit float64 `json:"misfit"`
	// MisfitP is the probability that noise alone gives a misfit as large; below 0.001 is a
	// finding.
	MisfitP float64 `json:"misfit_p"`
	// Signal is the same distance as Misfit for the unweighted public records.
	Signal float64 `json:"signal"`
	// SignalP is the probability that noise alone gives a signal as large: above 0.05 the
	// tables cannot be distinguished.
	SignalP float64 `json:"signal_p"`
	// Outside is the share of private records outside of the public range, as released; absent
	// where no budget was spent on this share.
	Outside *float64 `json:"outside,omitempty"`
	// OutsideSD is the standard error of Outside.
	OutsideSD float64 `json:"outside_sd,omitempty"`
	// Findings are the problems that were found, as sentences.
	Findings []noren.Text `json:"findings,omitempty"`
}

// check fills the check of the fit. raw are the fitted ratios, with negative ones.
func (w *Weights) check(raw []float64, flat bool) error {
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
	// Of the weighted records the sampling error is that of a weighted mean.
	shares := scaled(w.W, 1/sum)
	inside, _ := weightedCovariance(w.psi, shares)
	weighted := scaledSym(inside, square/(sum*sum)+1/max(1, m.Records))
	weighted.AddSym(weighted, w.noise)
	var err error
	if c.Misfit, c.MisfitP, err = w.distance(weighted, shares); err != nil {
		return err
	}
	equal, _ := w.equal()
	if c.Signal, c.SignalP, err = w.distance(w.misfitCovariance(), equal); err != nil {
		return err
	}
	blind, misfit := c.SignalP > 0.05, c.MisfitP < 0.001
	find := func(bad bool, format noren.Format, args ...any) {
		if bad {
			c.Findings = append(c.Findings, noren.Textf(format, args...))
		}
	}
	find(flat, "no public record got a weight above 0: all were given the same")
	find(m.RecordsFrom != Estimated && (c.MeanWeight < 0.8 || c.MeanWeight > 1.25),
		"the mean weight before normalisation is %.2f and should be near 1: the public records do not cover the private ones, or noise rules",
		c.MeanWeight)
	find(c.ESS < 10, "the weighted records are worth only %.1f: few public records carry all answers", c.ESS)
	find(c.MaxShare > 0.25, "one public record carries %.0f%% of the weight", 100*c.MaxShare)
	find(c.Negative > 0.1, "the fitted ratio is below 0 in places, %.0f%% of what is above: the bandwidth is too wide for the private "+
		"records, or noise rules", 100*c.Negative)
	find(misfit, "the weighted records do not reproduce the released means: they are %.3g times as far from them as noise explains; the "+
		"public records do not cover the private ones, or the bandwidth is too wide for them", c.Misfit)
	// Beyond what noise and the sampling of private records explain, more than a tenth of
	// what there was to follow is left; or, with the sampling of public records allowed
	// for, more than a fifth.
	narrow := scaledSym(inside, 1/max(1, m.Records))
	narrow.AddSym(narrow, w.noise)
	left, _, err := w.misfitBy(narrow, shares)
	if err != nil {
		return err
	}
	first, _, err := w.misfitBy(narrow, equal)
	if err != nil {
		return err
	}
	unexplained := (left - 1) / max(first-1, 1e-9)
	large := left > 1.5 && unexplained > 0.1
	if share := (c.Misfit - 1) / max(c.Signal-1, 1e-9); c.Misfit > 1.1 && share > 0.2 {
		large, unexplained = true, max(unexplained, share)
	}
	if !misfit && !blind && large {
		w.unexplained = noren.Textf("the weights leave %.0f%% of how the released means differ from the public ones unexplained: the "+
			"bandwidth is too wide for the private records, or noise rules", 100*min(1, unexplained))
		c.Findings = append(c.Findings, w.unexplained)
	}
	find(blind && !misfit, "the released means cannot be told from those of the public records themselves: either both are alike, or "+
		"epsilon or n is too small to see how they differ")
	if o := m.Outside; o != nil {
		share, found := w.outside()
		c.Outside, c.OutsideSD = &share, o.SD/m.Records
		w.findOutside(share, found, "about %.0f%% of the private records are outside of the public ones: nothing can be said of them", 100*share)
	}
	if share, name := w.uncovered(); share > 0 {
		w.findOutside(share, true, "about %.0f%% of the private records have values of %s that no public record has: nothing can be said of them",
			100*share, name)
	}
	c.Passed = len(c.Findings) == 0
	return nil
}

// outside is the share of private records outside of the public ones, 0 where none was paid
// for, and whether it is above what noise explains.
func (w *Weights) outside() (share float64, found bool) {
	o := w.Meta.Outside
	if o == nil {
		return 0, false
	}
	share = min(1, max(0, o.Records/w.Meta.Records))
	return share, share > max(leastOutside, 3*o.SD/w.Meta.Records)
}

// findOutside adds a finding about a share of private records that nothing can be said of.
func (w *Weights) findOutside(share float64, found bool, format noren.Format, args ...any) {
	if !found {
		return
	}
	text := noren.Textf(format, args...)
	w.Meta.Check.Findings = append(w.Meta.Check.Findings, text)
	if share < mostAllowed {
		w.allowed = append(w.allowed, text)
	}
}

// leastOutside is the share of private records that nothing can be said of from which it is
// a finding; answers allow for it in their errors, and have a warning of it from mostAllowed
// on.
const (
	leastOutside = 0.02
	mostAllowed  = 0.05
)

// noiseDraws is how often the distribution of a misfit is drawn.
const noiseDraws = 2000

// distance is the squared distance of the released means from those of the public
// records with weights that add up to 1, in the metric of its covariance v, by its
// expectation, and the share of draws from its distribution (noise as released, and
// normal sampling) that are as large.
func (w *Weights) distance(v *mat.SymDense, weights []float64) (by, p float64, err error) {
	_, b := w.psi.Dims()
	by, chol, err := w.misfitBy(v, weights)
	if err != nil {
		return 0, 0, err
	}
	seen := by * float64(b)
	// In the axes in which v is 1 and the noise has the variances part, the difference is
	// sqrt(part) z + sqrt(1 - part) g, z as the noise was drawn and g normal.
	var l mat.TriDense
	chol.LTo(&l)
	var half, both mat.Dense
	if err := half.Solve(&l, w.noise); err != nil && !isCondition(err) {
		return 0, 0, broken(noren.Phrase("fit check"), "the covariance of the noise could not be brought to its axes")
	}
	if err := both.Solve(&l, half.T()); err != nil && !isCondition(err) {
		return 0, 0, broken(noren.Phrase("fit check"), "the covariance of the noise could not be brought to its axes")
	}
	sym := mat.NewSymDense(b, nil)
	for i := range b {
		for j := i; j < b; j++ {
			sym.SetSym(i, j, (both.At(i, j)+both.At(j, i))/2)
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(sym, false) {
		return 0, 0, broken(noren.Phrase("fit check"), "the eigenvalues of the noise could not be found")
	}
	part := eig.Values(nil)
	s := redraw.New(2)
	more := 0.0
	kernels := len(w.Meta.Sums)
	z := make([]float64, max(kernels, w.Meta.Distribution.Shape))
	all := make([]float64, b)
	for range noiseDraws {
		if kernels > 0 {
			w.Meta.Distribution.standard(s, z)
			copy(all, z[:kernels])
		}
		for k := kernels; k < b; k++ {
			all[k] = s.Laplace() / math.Sqrt2
		}
		sum := 0.0
		for k, v := range part {
			v = min(1, max(0, v))
			x := math.Sqrt(v)*all[k] + math.Sqrt(1-v)*s.Normal()
			sum += x * x
		}
		if sum >= seen {
			more++
		}
	}
	return by, more / noiseDraws, nil
}

// misfitBy is the squared distance of the released means from those of weighted public
// records in the metric of v, by the number of features, and the Cholesky factor of v.
func (w *Weights) misfitBy(v *mat.SymDense, weights []float64) (float64, *mat.Cholesky, error) {
	d := slices.Clone(w.mean)
	for i, x := range weights {
		if x != 0 {
			for l, phi := range w.psi.RawRowView(i) {
				d[l] -= x * phi
			}
		}
	}
	chol, ok := factorised(v)
	if !ok {
		return 0, nil, broken(noren.Phrase("fit check"), "the covariance of the released means could not be factorised")
	}
	x, err := solve(chol, d)
	if err != nil {
		return 0, nil, err
	}
	return dot(x, d) / float64(len(d)), chol, nil
}

func isCondition(err error) bool {
	_, is := err.(mat.Condition)
	return is
}
