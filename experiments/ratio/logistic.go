package ratio

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren/internal/entropy"
	core "github.com/noren-privacy/noren/ratio"
)

// logistic is the baseline of Ji and Elkan with linear features. Its ratio is the
// exponential of an affine function, which is read off the weights of the public records
// for the points between them.
func logistic(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error) {
	l, err := newBaseline(t.public, epsilon, 0.01, false)
	if err != nil {
		return nil, err
	}
	beta, err := l.release(ctx, t.private, entropy.Seeded(t.rng(stream).Uint64()))
	if err != nil {
		return nil, err
	}
	w := l.weights(beta)
	d := t.public.Dim
	x, y := mat.NewDense(t.public.Rows, d+1, nil), mat.NewVecDense(t.public.Rows, nil)
	for i, v := range w {
		x.Set(i, 0, 1)
		for j, u := range t.public.Row(i) {
			x.Set(i, j+1, u)
		}
		y.SetVec(i, math.Log(v))
	}
	var affine mat.VecDense
	if err := affine.SolveVec(x, y); err != nil {
		return nil, err
	}
	return &fitted{weights: w, at: func(p *core.Points) ([]float64, error) {
		out := make([]float64, p.Rows)
		for i := range out {
			s := affine.AtVec(0)
			for j, v := range p.Row(i) {
				s += affine.AtVec(j+1) * v
			}
			out[i] = math.Exp(s)
		}
		return out, nil
	}}, nil
}
