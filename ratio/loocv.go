package ratio

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/cputime"
)

// LOOCV returns the leave-one-out score of uLSIF with the positive part on alpha,
// one for each lambda; the least is best. It looks at the private records x without
// any protection: it is for data that are not private, for tests, and for the
// non-private reference.
//
// Pairs i = 1..m, m = min(n, N): e_i and x_i are left out and J is evaluated on
// them. With B = H + lambda (N-1)/N I, Y_i = phi(e_i), X_i = phi(x_i), V_i = B^-1 Y_i
// and den_i = N - Y_i.V_i, Sherman and Morrison on N/(N-1) (B - Y_i Y_i^T / N) and
// h_(i) = (n h - X_i)/(n-1) give
//
//	alpha_(i) = max(0, (N-1)/(N(n-1)) (n B0_i - B1_i)),
//	B0_i = B^-1 h + V_i (h.V_i)/den_i,   B1_i = B^-1 X_i + V_i (X_i.V_i)/den_i,
//	score = (1/m) sum_i (Y_i.alpha_(i))^2 / 2 - X_i.alpha_(i).
//
// Implementations that are often copied leave den_i out of B1, which is not the
// score of any fit (docs/density-ratio.md). Here n B0_i - B1_i is gathered into
//
//	n B^-1 h + B^-1 (u_i Y_i - X_i),   u_i = (n h.V_i - X_i.V_i)/den_i,
//
// so that in the eigenvectors of H, which are the same for all lambda, a score is one
// product of a b x b and a b x m matrix. Records enter in the order given: shuffle
// them where the order has a meaning. Errors: [noren.Usage], or the context's.
func LOOCV(ctx context.Context, k *Kernel, x, e *Points, lambdas []float64) ([]float64, error) {
	n, nE := x.Rows, e.Rows
	if n < 2 {
		return nil, noren.Usagef("records", "at least two records are needed to leave one out")
	}
	for _, lambda := range lambdas {
		if !(lambda > 0) || math.IsInf(lambda, 1) {
			return nil, noren.Usagef("lambda", "lambda must be a number above 0")
		}
	}
	h, err := k.Mean(ctx, x)
	if err != nil {
		return nil, err
	}
	f, err := NewFeatures(ctx, k, e)
	if err != nil {
		return nil, err
	}
	b, m := k.Size(), min(n, nE)
	var eig mat.EigenSym
	if !eig.Factorize(f.H, true) {
		return nil, broken("LOOCV", "the eigenvalues of H could not be found")
	}
	l := &leaveOut{n: float64(n), nE: float64(nE), b: b, m: m, values: eig.Values(nil), vectors: new(mat.Dense), hq: make([]float64, b)}
	eig.VectorsTo(l.vectors)
	px := mat.NewDense(m, b, nil)
	for i := range m {
		k.Phi(px.RawRowView(i), x.Row(i))
	}
	l.x, l.y = px, f.Phi.Slice(0, m, 0, b).(*mat.Dense)
	l.xq, l.yq = new(mat.Dense), new(mat.Dense)
	l.xq.Mul(l.x, l.vectors)
	l.yq.Mul(l.y, l.vectors)
	mat.NewVecDense(b, l.hq).MulVec(l.vectors.T(), mat.NewVecDense(b, h))

	scores := make([]float64, len(lambdas))
	var next atomic.Int64
	var wg sync.WaitGroup
	worker := func() {
		for ctx.Err() == nil {
			i := int(next.Add(1)) - 1
			if i >= len(lambdas) {
				return
			}
			scores[i] = l.score(lambdas[i])
		}
	}
	for range min(cputime.Workers(ctx), len(lambdas)) - 1 {
		wg.Go(worker)
	}
	worker()
	wg.Wait()
	return scores, ctx.Err()
}

// leaveOut is what the scores of all lambda share: kernels of the m pairs (m x b), and
// the same in the eigenvectors of H.
type leaveOut struct {
	n, nE        float64
	b, m         int
	values, hq   []float64
	vectors      *mat.Dense
	x, y, xq, yq *mat.Dense
}

func (l *leaveOut) score(lambda float64) float64 {
	inv, bh := make([]float64, l.b), make([]float64, l.b)
	for j, v := range l.values {
		inv[j] = 1 / (v + lambda*(l.nE-1)/l.nE)
		bh[j] = inv[j] * l.hq[j]
	}
	factor := (l.nE - 1) / (l.nE * (l.n - 1))
	sum := 0.0
	block := mat.NewDense(min(l.m, blockRows), l.b, nil)
	fits := mat.NewDense(min(l.m, blockRows), l.b, nil)
	for lo := 0; lo < l.m; lo += blockRows {
		rows := min(blockRows, l.m-lo)
		z := block.Slice(0, rows, 0, l.b).(*mat.Dense)
		for i := range rows {
			xq, yq, zi := l.xq.RawRowView(lo+i), l.yq.RawRowView(lo+i), z.RawRowView(i)
			var yvy, xvy, hvy float64
			for j, v := range yq {
				w := inv[j] * v
				yvy += w * v
				xvy += w * xq[j]
				hvy += w * l.hq[j]
			}
			u := (l.n*hvy - xvy) / (l.nE - yvy)
			for j, v := range yq {
				zi[j] = factor * (l.n*bh[j] + inv[j]*(u*v-xq[j]))
			}
		}
		a := fits.Slice(0, rows, 0, l.b).(*mat.Dense)
		a.Mul(z, l.vectors.T())
		for i := range rows {
			x, y := l.x.RawRowView(lo+i), l.y.RawRowView(lo+i)
			var ya, xa float64
			for j, v := range a.RawRowView(i) {
				if v > 0 {
					ya += y[j] * v
					xa += x[j] * v
				}
			}
			sum += ya*ya/2 - xa
		}
	}
	return sum / float64(l.m)
}
