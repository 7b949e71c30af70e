package ratio

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// Lambdas is the grid that lambda is chosen from: 16 values from 1e-4 to 10, equally
// spaced in the logarithm.
func Lambdas() []float64 {
	out := make([]float64, 16)
	for i := range out {
		out[i] = math.Pow(10, -4+5*float64(i)/15)
	}
	return out
}

// scores rates lambdas on released means alone, the least best: an estimate of the error
// of the weights up to a constant, which is the same for all bandwidths too. h is the
// noisy mean, s the covariance of its noise. Leaving out each public record in turn,
// with h held,
//
//	score = (1/N) sum_i (phi_i.alpha_(i))^2 / 2 - h.mean alpha_(i) + tr(A S) + sqrt(2 tr(A S A S)),
//	A = (H + lambda I)^-1.
//
// tr(A S) is what noise adds to h.alpha in expectation (docs/density-ratio.md, theorem
// 4), the root one standard deviation of that. Every term is a square in the size of h,
// so that the choice does not change when h and the noise are scaled together.
func (f *Features) scores(h []float64, s *mat.SymDense, lambdas []float64) ([]float64, error) {
	b := f.Kernel.Size()
	var eig mat.EigenSym
	if !eig.Factorize(f.H, true) {
		return nil, broken(noren.Phrase("lambda"), "the eigenvalues of H could not be found")
	}
	var q, yq, sq mat.Dense
	eig.VectorsTo(&q)
	values := eig.Values(nil)
	yq.Mul(f.Phi, &q)
	sq.Product(q.T(), s, &q)
	hq := mat.NewVecDense(b, nil)
	hq.MulVec(q.T(), mat.NewVecDense(b, h))
	n := float64(f.Rows())
	out := make([]float64, len(lambdas))
	inv, beta := make([]float64, b), make([]float64, b)
	for i, lambda := range lambdas {
		hb := 0.0
		for j, v := range values {
			inv[j] = 1 / (v + lambda*(n-1)/n)
			beta[j] = inv[j] * hq.AtVec(j)
			hb += beta[j] * hq.AtVec(j)
		}
		square, linear := 0.0, 0.0
		for r := range f.Rows() {
			y := yq.RawRowView(r)
			yb, yvy := 0.0, 0.0
			for j, v := range y {
				yb += v * beta[j]
				yvy += v * v * inv[j]
			}
			// alpha_(i) = (N-1)/N (beta + V_i (h.V_i)/den_i), with h.V_i = y.beta.
			den := n - yvy
			g := (n - 1) * yb / den
			square += g * g / 2
			linear += (n - 1) / n * (hb + yb*yb/den)
		}
		trace, twice := 0.0, 0.0
		for j := range b {
			a := 1 / (values[j] + lambda)
			trace += a * sq.At(j, j)
			for l := range b {
				v := sq.At(j, l)
				twice += a * v * v / (values[l] + lambda)
			}
		}
		out[i] = (square-linear)/n + trace + math.Sqrt(2*twice)
	}
	return out, nil
}

// spreadOf estimates the covariance of phi over the private records from the weighted
// public ones, b x b.
func (f *Features) spreadOf(w []float64) *mat.SymDense {
	b := f.Kernel.Size()
	sum, mean := 0.0, make([]float64, b)
	scaled := mat.NewDense(f.Rows(), b, nil)
	for i, v := range w {
		sum += v
		root := math.Sqrt(v)
		row := scaled.RawRowView(i)
		for l, p := range f.Phi.RawRowView(i) {
			row[l] = root * p
			mean[l] += v * p
		}
	}
	out := mat.NewSymDense(b, nil)
	if sum <= 0 {
		return out
	}
	out.SymOuterK(1/sum, scaled.T())
	m := mat.NewVecDense(b, mean)
	m.ScaleVec(1/sum, m)
	out.SymRankOne(out, -1, m)
	return out
}
