package ratio

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"noren"
	"noren/account"
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
	features *Features
	ridge    *mat.Cholesky // of H + lambda I
	mean     []float64     // h~, the noisy mean of kernels
	noise    *mat.SymDense // covariance of its noise
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
	kernels, law := m.kernels, m.laws
	if o.Mechanism == NoisyCentres {
		c := NewPoints(o.Centres, o.Public.Dim)
		for l, row := range r.Centres {
			copy(c.Row(l), row)
		}
		k, err := NewKernel(c, o.Sigmas[0])
		if err != nil {
			return nil, err
		}
		if law, err = m.noisyCentresLaw(k); err != nil {
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
		w, score, err := m.fit(f, law, r, r.Sums[i])
		if err != nil {
			return nil, err
		}
		if best == nil || score < bestScore {
			best, bestScore = w, score
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
func (m *Mechanism) fit(f *Features, law *Law, r *Released, sums []float64) (*Weights, float64, error) {
	o := &m.options
	epsilon, delta := o.Cost.Float()
	meta := &Meta{
		Format: metaFormat, Mechanism: o.Mechanism, Epsilon: epsilon, Delta: delta, Neighbours: o.Neighbours.String(),
		PublicRecords: o.Public.Rows, Centres: rowsOf(f.Kernel.Centres), Sigma: f.Kernel.Sigma, Sigmas: o.Sigmas,
		Law: *law, Sums: sums, Post: o.Post, Raw: o.Raw,
	}
	if o.Frame != nil {
		meta.Axes = axesMeta(o.Frame)
	}
	lambdas := Lambdas()
	if o.Lambda != 0 {
		lambdas = []float64{o.Lambda}
	}
	cov := law.Covariance(f.Kernel)
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
		d, err := m.countNoise()
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
	s, err := score(meta.Records)
	return &Weights{Meta: meta, features: f}, s, err
}

// finish makes the weights that the meta data describe, and checks the fit.
func (w *Weights) finish() error {
	m := w.Meta
	w.mean = scaled(m.Sums, 1/m.Records)
	w.noise = scaledSym(m.Law.Covariance(w.features.Kernel), 1/(m.Records*m.Records))
	var err error
	if w.ridge, err = w.features.ridge(m.Lambda); err != nil {
		return err
	}
	alpha, err := w.alpha(w.mean)
	if err != nil {
		return err
	}
	raw := w.features.At(alpha)
	if size := dot(raw, raw); math.IsNaN(size) || math.IsInf(size, 0) {
		return badMeta("the released sums are beyond all noise: no weights can be made of them")
	}
	w.W = clipped(raw)
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
	w.check(raw, alpha, flat)
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
	if public.Rows != meta.PublicRecords || public.Dim != len(meta.Centres[0]) {
		return nil, badMeta("the public table is not the one that the weights were made for: it has another number of records or columns")
	}
	c := NewPoints(len(meta.Centres), public.Dim)
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
	w := &Weights{Meta: &again, features: f}
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
	k := w.features.Kernel
	if x.Dim != k.Centres.Dim {
		return nil, usage("points", "points and centres have another number of coordinates", "")
	}
	alpha, err := w.alpha(w.mean)
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
