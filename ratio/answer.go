package ratio

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ratio/redraw"
)

// Answer is an estimate about the private records. It costs nothing further.
type Answer struct {
	Value float64 `json:"value"`
	// SE is the standard error, the root of the squares of its parts. It excludes
	// the bias of the model: how far private records differ from public ones that have
	// the same place among the kernels.
	SE    float64 `json:"standard_error"`
	Parts Parts   `json:"parts"`
	// Carried is how much of the variation of the question among the weighted public
	// records the kernels follow, from 0 to 1: what they do not follow is taken to be
	// distributed among private records as among the public ones beside them.
	Carried  float64      `json:"carried"`
	Warnings []noren.Text `json:"warnings,omitempty"`

	followed, heavy, untold bool // see corrected
}

// Parts are standard errors.
type Parts struct {
	Public  float64 `json:"public"`  // the public records are a sample
	Privacy float64 `json:"privacy"` // noise was added: redrawn from its public distribution
	Private float64 `json:"private"` // the private records are a sample themselves
	// Model is the bias that is to be expected of what the question has in it and the
	// released features do not follow, and of private records outside of the public ones.
	Model float64 `json:"model"`
}

func (p Parts) total() float64 {
	return math.Hypot(math.Hypot(p.Public, p.Privacy), math.Hypot(p.Private, p.Model))
}

func (p Parts) times(by float64) Parts {
	by = math.Abs(by)
	return Parts{p.Public * by, p.Privacy * by, p.Private * by, p.Model * by}
}

// redraws is how often noise is drawn again for its standard error.
const redraws = 200

// redrawn calls visit with weights as they might have been: the released means with
// fresh noise of the public distribution, fitted again with the same lambda. It repeats.
func (w *Weights) redrawn(visit func(weights, noise []float64)) error {
	k, dist := w.features.Kernel, &w.Meta.Distribution
	b := k.Size()
	var root *mat.TriDense
	if dist.Noise == RKHSPure || dist.Noise == RKHSGaussian {
		var err error
		if root, _, err = k.root(); err != nil {
			return err
		}
	}
	s := redraw.New(1)
	z, h, moved := make([]float64, max(b, dist.Shape)), make([]float64, b), make([]float64, b)
	for range redraws {
		norm := 0.0
		for l := range z {
			if root == nil {
				z[l] = s.Laplace() * math.Ldexp(dist.Scale, -gridBits)
				continue
			}
			z[l] = s.Normal() * dist.Scale
			norm += z[l] * z[l]
		}
		if dist.Noise == RKHSPure {
			// The direction is that of all candidates; these sums are b of its coordinates.
			by := s.Gamma(dist.Shape) * dist.Scale / math.Sqrt(norm)
			for l := range z {
				z[l] *= by
			}
		}
		noise := mat.NewVecDense(b, slices.Clone(z[:b]))
		if root != nil {
			noise.MulVec(root, mat.NewVecDense(b, slices.Clone(z[:b])))
		}
		for l := range h {
			moved[l] = noise.AtVec(l) / w.Meta.Records
			h[l] = w.mean[l] + moved[l]
		}
		alpha, err := w.alpha(h)
		if err != nil {
			return err
		}
		visit(clipped(w.features.At(alpha)), moved)
	}
	return nil
}

// deviation gathers the spread of a figure over redraws.
type deviation struct{ n, sum, square float64 }

func (d *deviation) add(v float64) {
	if !math.IsNaN(v) {
		d.n++
		d.sum += v
		d.square += v * v
	}
}

func (d *deviation) sd() float64 {
	if d.n < 2 {
		return math.Inf(1)
	}
	return math.Sqrt(max(0, (d.square-d.sum*d.sum/d.n)/(d.n-1)))
}

// average is sum w f / sum w over the records that have f; NaN where there is none.
func average(w, f []float64) float64 {
	var s, sw float64
	for i, v := range f {
		if !math.IsNaN(v) {
			s += w[i] * v
			sw += w[i]
		}
	}
	return s / sw
}

// Mean estimates the mean over the private records of f, which has one value for each
// public record, NaN where there is none. Error: [noren.Usage].
func (w *Weights) Mean(f []float64) (*Answer, error) {
	all, err := w.means([][]float64{w.asked(f)}, 1)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// means answers several. Warnings state values times a number: that of the private
// records, where the answers become counts.
func (w *Weights) means(fs [][]float64, times float64) ([]*Answer, error) {
	out := make([]*Answer, len(fs))
	for i, f := range fs {
		if err := w.fits(f); err != nil {
			return nil, err
		}
		var err error
		if out[i], err = w.point(f); err != nil {
			return nil, err
		}
		w.compare(out[i], f, times)
		w.warn(out[i])
	}
	return out, nil
}

func (w *Weights) fits(f []float64) error {
	if len(f) != len(w.W) {
		return noren.Usagef("question", "one value for each public record is needed")
	}
	some := 0.0
	for i, v := range f {
		if math.IsInf(v, 0) {
			return noren.Usagef("question", "a value is not a finite number")
		}
		if !math.IsNaN(v) {
			some += w.W[i]
		}
	}
	if some <= 0 {
		return noren.Usagef("question", "no public record with a weight has a value: the public data cannot answer")
	}
	return nil
}

// point is an answer: the quotient of the corrected means of f and of having a value.
// Its errors are those of the mean of (f - q)/(share that has a value), its derivative.
func (w *Weights) point(f []float64) (*Answer, error) {
	c, err := w.calibration()
	if err != nil {
		return nil, err
	}
	filled, has := make([]float64, len(f)), make([]float64, len(f))
	gaps := false
	var missing, all float64
	for i, v := range f {
		all += w.W[i]
		if !math.IsNaN(v) {
			filled[i], has[i] = v, 1
			continue
		}
		gaps = true
		if w.among == nil || w.among[i] {
			missing += w.W[i]
		}
	}
	share := 1.0
	if gaps {
		// A share that noise makes too small, or less than 0, is that of the weights.
		plain := average(w.W, has)
		share = c.total(has)
		if share < plain/4 {
			share = plain
		}
	}
	q := average(w.W, f)
	u := make([]float64, len(f))
	for i := range u {
		u[i] = has[i] * (filled[i] - q) / share
	}
	r, err := w.correct(u)
	if err != nil {
		return nil, err
	}
	a := &Answer{Value: q + r.value, Parts: r.parts, Carried: r.carried, followed: r.followed, heavy: r.heavy, untold: r.untold}
	a.SE = a.Parts.total()
	if missing > 0.05*(all-missing) {
		a.Warnings = append(a.Warnings, noren.Textf("%.0f%% of the weight lies on public records without a value: they were left out",
			100*missing/all))
	}
	return a, nil
}

// compare says so where the answer is not seen to be better than the unweighted one: where
// its squared error is above what that one's is estimated to be, its own sampling and the
// difference of the two.
func (w *Weights) compare(a *Answer, f []float64, times float64) {
	n, mean, square := 0.0, 0.0, 0.0
	for i, v := range f {
		if !math.IsNaN(v) && w.whole[i] {
			n++
			mean += v
			square += v * v
		}
	}
	if n < 2 {
		return
	}
	mean /= n
	w.notBetter(a, mean, max(0, square/n-mean*mean)/n, times)
}

// notBetter warns where a is not seen to be better than the unweighted answer plain, whose
// sampling variance is given. The warning states plain times a number.
func (w *Weights) notBetter(a *Answer, plain, sampling, times float64) {
	difference := a.Value - plain
	if own := a.SE*a.SE - a.Parts.Private*a.Parts.Private; own > sampling+max(0, difference*difference-own) {
		a.Warnings = append(a.Warnings,
			noren.Textf("the weighted answer is not seen to be better than the unweighted one, %.6g: its error is as large as their difference",
				plain*times))
	}
}

// findings are those of the fit check that concern an answer.
func (w *Weights) findings(followed bool) []noren.Text {
	return slices.DeleteFunc(slices.Clone(w.Meta.Check.Findings), func(text noren.Text) bool {
		return followed && text.Equal(w.unexplained) || slices.ContainsFunc(w.allowed, text.Equal)
	})
}

// doubts are the warnings that the interval may be too narrow.
func doubts(heavy, untold bool) (out []noren.Text) {
	if heavy {
		out = append(out, noren.Textf("a few public records with large values decide this answer, and larger ones may be missing: the "+
			"interval may be too narrow; a share, a quantile or the mean of values with an upper bound would be safer"))
	}
	if untold {
		out = append(out, noren.Textf("the columns of the weights tell something of this question that the released features do not follow, "+
			"such as an interaction of columns: if the tables differ in that, the answer may be off by more than the interval says; more "+
			"centres, or histograms of pairs of columns, would help"))
	}
	return out
}

// warn adds what must be said with an answer.
func (w *Weights) warn(a *Answer) {
	a.Warnings = append(a.Warnings, w.findings(a.followed)...)
	a.Warnings = append(a.Warnings, doubts(a.heavy, a.untold)...)
	if a.Carried < 0.1 && a.Parts.Private > 0 {
		a.Warnings = append(a.Warnings, noren.Textf("the columns of the weights tell little of this question (%.0f%% of its variation): the "+
			"answer holds only if private records are in this like the public ones with the same values", 100*a.Carried))
	}
	if a.Parts.Model > 1.5*math.Hypot(math.Hypot(a.Parts.Public, a.Parts.Private), a.Parts.Privacy) &&
		a.Parts.Model > 0.15*a.Parts.Private*math.Sqrt(w.Meta.Records) {
		a.Warnings = append(a.Warnings, noren.Textf("most of the error is possible bias: the released means do not follow this question (more "+
			"centres, or its columns among those of the weights, would help)"))
	}
	if a.Parts.Privacy > 2*math.Hypot(a.Parts.Public, a.Parts.Private) {
		a.Warnings = append(a.Warnings,
			noren.Textf("most of the error is the noise of privacy: more private records or a larger epsilon would help"))
	}
}

// indicator is 1 where in holds.
func indicator(in []bool) []float64 {
	f := make([]float64, len(in))
	for i, v := range in {
		if v {
			f[i] = 1
		}
	}
	return f
}

// Count estimates how many private records in holds of; in has one entry for each public
// record. Where the number of private records is not declared, its own error counts, or,
// where it was not paid for either, a warning says so. Error: [noren.Usage].
func (w *Weights) Count(in []bool) (*Answer, error) {
	f := indicator(in)
	for i := range f {
		if w.among != nil && !w.among[i] {
			f[i] = 0
		}
	}
	all, err := w.means([][]float64{f}, w.Meta.Records)
	if err != nil {
		return nil, err
	}
	w.toCount(all[0])
	return all[0], nil
}

// toCount makes a share a count.
func (w *Weights) toCount(a *Answer) {
	n, share := w.Meta.Records, a.Value
	a.Value *= n
	a.Parts = a.Parts.times(n)
	a.Parts.Privacy = math.Hypot(a.Parts.Privacy, share*w.Meta.RecordsSD)
	a.SE = a.Parts.total()
	if w.Meta.RecordsFrom == Estimated {
		a.Warnings = append(a.Warnings,
			noren.Textf("the number of private records is an estimate from the weights, whose error is not counted: trust shares, not counts"))
	}
}

// Histogram estimates how many private records are in each of bins bins; bin has the
// number of each public record's bin, from 0, or -1 for none. Error: [noren.Usage].
func (w *Weights) Histogram(bin []int, bins int) ([]*Answer, error) {
	if bins < 1 || bins > 10_000 {
		return nil, noren.Usagef("histogram", "between 1 and 10,000 bins are possible")
	}
	fs := make([][]float64, bins)
	for j := range fs {
		fs[j] = make([]float64, len(bin))
	}
	for i, j := range bin {
		if j >= bins || j < -1 {
			return nil, noren.Usagef("histogram", "a record's bin is not one of the bins")
		}
		if j >= 0 && (w.among == nil || w.among[i]) {
			fs[j][i] = 1
		}
	}
	out, err := w.means(fs, w.Meta.Records)
	for _, a := range out {
		w.toCount(a)
	}
	return out, err
}
