package ratio

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren/internal/entropy"
	core "github.com/noren-privacy/noren/ratio"
)

// fineToCoarse releases at a quarter of the median about 24 centres, and has half the
// median about 12 of them for free: the coarse kernels are, but for a remainder that the
// fine centres leave, linear combinations of the fine ones (docs/density-ratio.md,
// theorem 2'), so that their means and the noise in them follow from what was released.
// The fine ones are taken only where their score is better by more than a standard
// error, of the public records and of the noise.
func fineToCoarse(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error) {
	median := core.MedianDistance(t.public)
	m, err := t.mechanism(ctx, core.Options{Centres: 24, Sigmas: []float64{median / 4}}, epsilon)
	if err != nil {
		return nil, err
	}
	r, err := m.Release(ctx, t.private, entropy.Seeded(t.rng(stream).Uint64()))
	if err != nil {
		return nil, err
	}
	n := float64(t.private.Rows)
	fine, err := newBasis(ctx, m, r, t.public, n)
	if err != nil {
		return nil, err
	}
	centres, err := core.ChooseCentres(ctx, t.public, 12)
	if err != nil {
		return nil, err
	}
	coarse, err := fine.coarsen(centres, median/2)
	if err != nil {
		return nil, err
	}
	for _, b := range []*basis{fine, coarse} {
		if err := b.fit(n); err != nil {
			return nil, err
		}
	}
	best, sigma := coarse, median/2
	if coarse.score-fine.score > coarse.doubt(fine) {
		best, sigma = fine, median/4
	}
	// The curve is a combination of the fine kernels either way.
	alpha := best.alpha
	if best.of != nil {
		v := mat.NewVecDense(fine.features.Kernel.Size(), nil)
		v.MulVec(best.of.T(), mat.NewVecDense(len(alpha), alpha))
		alpha = v.RawVector().Data
	}
	at := curveOf(fine.features.Kernel, alpha)
	weights, err := at(t.public)
	return &fitted{weights: weights, at: at, sigma: sigma}, err
}

// basis is a set of functions with their released means.
type basis struct {
	features *core.Features
	of       *mat.Dense // how it is made of the fine kernels; nil for these themselves
	h        []float64
	noise    *mat.SymDense

	lambda, score float64
	alpha         []float64
	each          []float64 // the score's part of each public record
}

func newBasis(ctx context.Context, m *core.Mechanism, r *core.Released, public *core.Points, n float64) (*basis, error) {
	k := m.Kernels()[0]
	f, err := core.NewFeatures(ctx, k, public)
	if err != nil {
		return nil, err
	}
	b := &basis{features: f, noise: m.Distribution().Covariance(k)}
	b.noise.ScaleSym(1/(n*n), b.noise)
	for _, v := range r.Sums[0] {
		b.h = append(b.h, v/n)
	}
	return b, nil
}

// coarsen makes kernels of a larger bandwidth about other centres, projected on the
// span of the fine ones: M = C (K + 1e-6 I)^-1, C_ml = K_s(c_m, c_l). The small ridge
// keeps combinations from growing, which would blow up the noise.
func (b *basis) coarsen(centres *core.Points, sigma float64) (*basis, error) {
	wide, err := core.NewKernel(centres, sigma)
	if err != nil {
		return nil, err
	}
	k := b.features.Kernel
	cross := mat.NewDense(k.Size(), wide.Size(), nil)
	for l := range k.Size() {
		wide.Phi(cross.RawRowView(l), k.Centres.Row(l))
	}
	gram := k.Gram()
	for l := range k.Size() {
		gram.SetSym(l, l, 1+1e-6)
	}
	var c mat.Cholesky
	c.Factorize(gram) // its least eigenvalue is 1e-6 or more
	var solved mat.Dense
	if err := c.SolveTo(&solved, cross); err != nil {
		if _, near := err.(mat.Condition); !near {
			return nil, err
		}
	}
	out := &basis{of: mat.DenseCopyOf(solved.T())}
	var phi, noise mat.Dense
	phi.Mul(b.features.Phi, &solved)
	out.features = &core.Features{Kernel: wide, Phi: &phi, H: mat.NewSymDense(wide.Size(), nil)}
	out.features.H.SymOuterK(1/float64(b.features.Rows()), phi.T())
	noise.Product(out.of, b.noise, &solved)
	out.noise = mat.NewSymDense(wide.Size(), nil)
	for i := range wide.Size() {
		for j := i; j < wide.Size(); j++ {
			out.noise.SetSym(i, j, (noise.At(i, j)+noise.At(j, i))/2)
		}
	}
	h := mat.NewVecDense(wide.Size(), nil)
	h.MulVec(out.of, mat.NewVecDense(len(b.h), b.h))
	out.h = h.RawVector().Data
	return out, nil
}

// fit chooses lambda as the package does: by the score of theorem 4, the sampling error
// of h, from a pilot fit, added to the noise.
func (b *basis) fit(n float64) error {
	pilot, err := b.features.Solve(b.h, 0.1)
	if err != nil {
		return err
	}
	weights := b.features.At(pilot)
	for i, v := range weights {
		weights[i] = max(0, v)
	}
	s := b.features.Spread(weights)
	s.ScaleSym(1/n, s)
	s.AddSym(s, b.noise)
	lambdas := core.Lambdas()
	scores, err := b.features.Scores(b.h, s, lambdas)
	if err != nil {
		return err
	}
	b.score = math.Inf(1)
	for i, v := range scores {
		if v < b.score {
			b.score, b.lambda = v, lambdas[i]
		}
	}
	if b.alpha, err = b.features.Solve(b.h, b.lambda); err != nil {
		return err
	}
	return b.leaveOut()
}

// leaveOut fills each: (phi_i.alpha_(i))^2/2 - h.alpha_(i).
func (b *basis) leaveOut() error {
	rows, size := b.features.Rows(), b.features.Kernel.Size()
	n := float64(rows)
	system := mat.NewSymDense(size, nil)
	system.CopySym(b.features.H)
	for l := range size {
		system.SetSym(l, l, system.At(l, l)+b.lambda*(n-1)/n)
	}
	var c mat.Cholesky
	c.Factorize(system) // lambda is above 0
	var v mat.Dense
	if err := c.SolveTo(&v, b.features.Phi.T()); err != nil {
		if _, near := err.(mat.Condition); !near {
			return err
		}
	}
	h, whole := mat.NewVecDense(size, b.h), mat.NewVecDense(size, nil)
	if err := c.SolveVecTo(whole, h); err != nil {
		if _, near := err.(mat.Condition); !near {
			return err
		}
	}
	b.each = make([]float64, rows)
	for i := range rows {
		y, vi := b.features.Phi.RowView(i), v.ColView(i)
		den, hv := n-mat.Dot(y, vi), mat.Dot(h, vi)
		w := (n - 1) * hv / den
		b.each[i] = w*w/2 - (n-1)/n*(mat.Dot(h, whole)+hv*hv/den)
	}
	return nil
}

// doubt is a standard error of the difference of two scores: over public records, and
// the noise in h.alpha.
func (b *basis) doubt(o *basis) float64 {
	n := float64(len(b.each))
	mean, square := 0.0, 0.0
	for i, v := range b.each {
		d := v - o.each[i]
		mean += d / n
		square += d * d / n
	}
	variance := max(0, square-mean*mean) / n
	for _, x := range []*basis{b, o} {
		a := mat.NewVecDense(len(x.alpha), x.alpha)
		variance += mat.Inner(a, x.noise, a)
	}
	return math.Sqrt(variance)
}
