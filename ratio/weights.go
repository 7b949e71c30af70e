package ratio

import (
	"context"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/table/axis"
)

// Weights are the weights of the public records and what is known of them. All of it is
// post-processing of a release.
type Weights struct {
	// W has one weight for each public record: divided by their mean, unless Raw.
	W []float64
	// Meta is what there is to know beside the public table: it makes the weights
	// again ([Open]).
	Meta *Meta

	among    []bool // the records that are asked about; nil for all
	public   *Points
	whole    []bool        // the public records that have all coordinates
	features *Features     // of kernels; nil where there are none
	ridge    *mat.Cholesky // of H + lambda I
	psi      *mat.Dense    // all features of the public records: kernels, then cells
	place    []int         // the columns of psi of the cells; see places
	mean     []float64     // h~, the noisy mean of the features
	noise    *mat.SymDense // covariance of its noise
	tilt     *tilt         // of the calibrated weights; nil for others
	cal      *lazily
	// unexplained is the finding of the fit check that answers leave out where their
	// correction makes up for it; empty where there is none.
	unexplained noren.Text
	// allowed are the findings about private records outside that answers leave out, as
	// their errors allow for so small a share.
	allowed []noren.Text
}

// lazily is a calibration that is made when the first answer needs it.
type lazily struct {
	once sync.Once
	made *calibration
	err  error
}

// pilotLambda is that of the first fit, which the spread of the private records is
// estimated from.
const pilotLambda = 0.1

// Weights makes the weights of a release: the best lambda, and the best bandwidth where
// several were released, by the score of theorem 4; then alpha, the weights, and the
// check of the fit. It reads public data and the release alone. Errors: [noren.BadData]
// for a release of another mechanism, else the context's.
func (m *Mechanism) Weights(ctx context.Context, r *Released) (*Weights, error) {
	if err := m.check(r); err != nil {
		return nil, err
	}
	o := &m.options
	kernels, dist := m.kernels, m.distribution
	if o.Noise == NoisyCentres {
		c := axis.NewPoints[float64](o.Centres, o.Public.Dim)
		for l, row := range r.Centres {
			copy(c.Row(l), row)
		}
		k, err := NewKernel(c, o.Sigmas[0])
		if err != nil {
			return nil, err
		}
		if dist, err = m.noisyCentresNoise(k); err != nil {
			return nil, err
		}
		kernels = []*Kernel{k}
	}
	var best *Weights
	bestScore := math.Inf(1)
	for i, k := range kernels {
		f, err := NewFeatures(ctx, k, o.Public)
		if err != nil {
			return nil, err
		}
		w, score, err := m.fit(f, dist, r, r.Sums[i])
		if err != nil {
			return nil, err
		}
		if best == nil || score < bestScore {
			best, bestScore = w, score
		}
	}
	if len(kernels) == 0 {
		if best, err := m.marginalFit(r); err != nil {
			return nil, err
		} else if err := best.finish(); err != nil {
			return nil, err
		} else {
			return best, nil
		}
	}
	if err := best.finish(); err != nil {
		return nil, err
	}
	best.Meta.note(best.Meta.edge(o.Lambda != 0))
	return best, nil
}

// fit chooses lambda for one bandwidth and returns weights that are not finished, and
// their score.
func (m *Mechanism) fit(f *Features, dist *Distribution, r *Released, sums []float64) (*Weights, float64, error) {
	o := &m.options
	epsilon, delta := o.Cost.Float()
	meta := &Meta{
		Format: metaFormat, Mechanism: o.Noise, Epsilon: epsilon, Delta: delta, Neighbours: o.Neighbours.String(),
		PublicRecords: o.Public.Rows, Centres: rowsOf(f.Kernel.Centres), Sigma: f.Kernel.Sigma, Sigmas: o.Sigmas,
		Distribution: *dist, Sums: sums, Post: o.Post, Raw: o.Raw,
	}
	m.noteMarginals(meta, r)
	if o.Frame != nil {
		meta.Axes = axesMeta(o.Frame)
	}
	lambdas := Lambdas()
	if o.Lambda != 0 {
		lambdas = []float64{o.Lambda}
	}
	cov := dist.Covariance(f.Kernel)
	score := func(n float64) (float64, error) {
		h, s := scaled(sums, 1/n), scaledSym(cov, 1/(n*n))
		pilot, err := f.Solve(h, pilotLambda)
		if err != nil {
			return 0, err
		}
		sampling := f.spreadOf(clipped(f.At(pilot)))
		s.AddSym(s, scaledSym(sampling, 1/max(1, n)))
		all, err := f.scores(h, s, lambdas)
		if err != nil {
			return 0, err
		}
		least := 0
		for i, v := range all {
			if v < all[least] {
				least = i
			}
		}
		meta.Lambda = lambdas[least]
		return all[least], nil
	}
	switch {
	case o.Neighbours == account.ReplaceOne:
		meta.Records, meta.RecordsFrom = float64(o.Records), Declared
	case r.Records != nil:
		d, err := countNoise(m.count)
		if err != nil {
			return nil, 0, err
		}
		meta.Records, meta.RecordsFrom, meta.RecordsSD = float64(max(1, *r.Records)), Paid, math.Sqrt(d.Variance())
	default:
		// The weights have a mean of 1: n is the mean weight when the sums themselves
		// are fitted. Lambda, which the estimate rests on, is chosen first with a guess.
		meta.Records, meta.RecordsFrom = 1, Estimated
		for _, lambda := range []float64{pilotLambda, 0, 0} {
			if lambda == 0 {
				if _, err := score(meta.Records); err != nil {
					return nil, 0, err
				}
				lambda = meta.Lambda
			}
			alpha, err := f.Solve(sums, lambda)
			if err != nil {
				return nil, 0, err
			}
			meta.Records = max(1, mean(clipped(f.At(alpha))))
		}
	}
	if err := m.noteOutside(meta, r); err != nil {
		return nil, 0, err
	}
	s, err := score(meta.Records)
	return &Weights{Meta: meta, features: f, public: o.Public}, s, err
}

// finish makes the weights that the meta data describe, and checks the fit.
func (w *Weights) finish() error {
	m := w.Meta
	w.whole = make([]bool, w.public.Rows)
	some := false
	for i := range w.whole {
		w.whole[i] = isWhole(w.public.Row(i))
		some = some || w.whole[i]
	}
	if !some {
		return badMeta("there is no public record that has a value in every column")
	}
	w.gather()
	if by := w.recordsError(); by > 0 {
		w.noise.SymRankOne(w.noise, by*by, mat.NewVecDense(len(w.mean), w.mean))
	}
	w.cal = &lazily{}
	if w.features == nil {
		if err := w.calibrated(); err != nil {
			return err
		}
		m.MeanWeight = w.meanCells()
		return w.check(w.W, false)
	}
	var err error
	if w.ridge, err = w.features.ridge(m.Lambda); err != nil {
		return err
	}
	alpha, err := w.alpha(w.mean[:len(m.Sums)])
	if err != nil {
		return err
	}
	raw := w.features.At(alpha)
	if size := dot(raw, raw); math.IsNaN(size) || math.IsInf(size, 0) {
		return badMeta("the released sums are beyond all noise: no weights can be made of them")
	}
	w.W = clipped(raw)
	if m.Post == Entropy {
		if err := w.calibrated(); err != nil {
			return err
		}
		raw = w.W
	}
	average := mean(w.W)
	m.MeanWeight = average
	flat := average <= 0
	if flat {
		for i := range w.W {
			w.W[i] = 1
		}
	} else if !m.Raw {
		for i := range w.W {
			w.W[i] /= average
		}
	}
	return w.check(raw, flat)
}

// recordsError is the relative standard deviation of the number of private records that
// the sums were divided by.
func (w *Weights) recordsError() float64 {
	switch w.Meta.RecordsFrom {
	case Paid:
		return w.Meta.RecordsSD / w.Meta.Records
	case Estimated:
		return estimatedError
	}
	return 0
}

// estimatedError stands for the error of a number of records that was not paid for: with
// it the shape of the released sums decides, and not their size.
const estimatedError = 0.25

// misfitCovariance is that of the difference of released means and those of the public
// records with the true ratios for weights: noise, and the sampling of both tables.
func (w *Weights) misfitCovariance() *mat.SymDense {
	equal, count := w.equal()
	v, _ := weightedCovariance(w.psi, equal)
	v.ScaleSym(1/count+1/max(1, w.Meta.Records), v)
	v.AddSym(v, w.noise)
	return v
}

// calibrated makes the weights of entropy calibration.
func (w *Weights) calibrated() error {
	n, p := w.psi.Dims()
	// Twice: the sampling error of a weighted mean is known when there are weights.
	v := w.misfitCovariance()
	rows, base := distinct(w.psi, w.whole)
	for range 2 {
		w.tilt = newTilt(rows, base, w.mean, v)
		square := 0.0
		for k, x := range w.tilt.w {
			square += x * x / base[k]
		}
		v, _ = weightedCovariance(rows, w.tilt.w)
		v.ScaleSym(square+1/max(1, w.Meta.Records), v)
		v.AddSym(v, w.noise)
	}
	v = w.tilt.v
	all := make([]float64, n)
	for i, is := range w.whole {
		if is {
			all[i] = 1
		}
	}
	w.tilt.w = make([]float64, n)
	w.tilt.value(w.psi, all, w.mean, w.tilt.theta)
	w.W = scaled(w.tilt.w, float64(n))
	hessian, _ := weightedCovariance(w.psi, w.tilt.w)
	for i := range p {
		for j := i; j < p; j++ {
			hessian.SetSym(i, j, hessian.At(i, j)+w.tilt.alpha*v.At(i, j))
		}
	}
	var ok bool
	w.tilt.hessian, ok = factorised(hessian)
	if !ok {
		return broken(noren.Phrase("calibration"), "the features could not be told apart")
	}
	return nil
}

// alpha is made of a noisy mean as the meta data say.
func (w *Weights) alpha(h []float64) ([]float64, error) {
	if w.Meta.Post == NonNegative {
		return w.features.NNLS(h, w.Meta.Lambda)
	}
	a, err := solve(w.ridge, h)
	if err == nil && w.Meta.Post == Clip {
		a = clipped(a)
	}
	return a, err
}

// Open makes the weights again from their meta data and the public records, N x d.
// Errors: [noren.BadData] where these are not the records the weights were made for, as
// far as their number tells (see [Weights.Same]), else the context's.
func Open(ctx context.Context, meta *Meta, public *Points) (*Weights, error) {
	if err := meta.validate(); err != nil {
		return nil, err
	}
	if public.Rows != meta.PublicRecords || public.Dim != meta.dim() {
		return nil, badMeta("the public table is not the one that the weights were made for: it has another number of records or columns")
	}
	if len(meta.Centres) == 0 {
		again := *meta
		w := &Weights{Meta: &again, public: public}
		return w, w.finish()
	}
	c := axis.NewPoints[float64](len(meta.Centres), public.Dim)
	for l, row := range meta.Centres {
		copy(c.Row(l), row)
	}
	k, err := NewKernel(c, meta.Sigma)
	if err != nil {
		return nil, err
	}
	f, err := NewFeatures(ctx, k, public)
	if err != nil {
		return nil, err
	}
	again := *meta
	w := &Weights{Meta: &again, features: f, public: public}
	return w, w.finish()
}

// Same reports whether the weights of a file are these, to a relative 1e-6: whether the
// file and its meta data belong together, record by record. Error: [noren.BadData].
func (w *Weights) Same(column []float64) error {
	if len(column) == len(w.W) {
		largest := 0.0
		for _, v := range w.W {
			largest = max(largest, v)
		}
		same := true
		for i, v := range column {
			same = same && math.Abs(v-w.W[i]) <= 1e-6*largest
		}
		if same {
			return nil
		}
	}
	return &noren.Error{
		Kind: noren.BadData, What: "the weights in the table are not those that its meta data make",
		Hint: "records or columns were changed or reordered after the fit, or the meta data are of another file",
	}
}

// Ratio is the fitted density ratio at points, d coordinates each: what the weight of a
// public record there would be. For curves and maps.
func (w *Weights) Ratio(x *Points) ([]float64, error) {
	if x.Dim != w.public.Dim {
		return nil, noren.Usagef("points", "points and centres have another number of coordinates")
	}
	if w.tilt != nil {
		return w.tilted(x), nil
	}
	k := w.features.Kernel
	alpha, err := w.alpha(w.mean[:len(w.Meta.Sums)])
	if err != nil {
		return nil, err
	}
	out, phi := make([]float64, x.Rows), make([]float64, k.Size())
	by := 1.0
	if !w.Meta.Raw && w.Meta.MeanWeight > 0 {
		by = w.Meta.MeanWeight
	}
	for i := range out {
		k.Phi(phi, x.Row(i))
		out[i] = max(0, dot(phi, alpha)) / by
		if w.Meta.MeanWeight <= 0 {
			out[i] = 1
		}
	}
	return out, nil
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

func scaled(v []float64, by float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x * by
	}
	return out
}

func scaledSym(s *mat.SymDense, by float64) *mat.SymDense {
	out := mat.NewSymDense(s.SymmetricDim(), nil)
	out.ScaleSym(by, s)
	return out
}
