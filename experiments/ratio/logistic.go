package ratio

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/entropy"
	core "github.com/noren-privacy/noren/ratio"
)

// logistic is the baseline of Ji and Elkan with linear features. Its ratio is the
// exponential of an affine function, which is read off the weights of the public records
// for the points between them.
func logistic(ctx context.Context, t *trial, epsilon float64, stream uint64) (*fitted, error) {
	l, err := core.NewLogistic(core.LogisticOptions{
		Public: t.public, Records: t.private.Rows, Penalty: 0.01,
		Cost: account.Cost{Epsilon: int64(math.Round(epsilon * account.EpsilonUnits))},
	})
	if err != nil {
		return nil, err
	}
	c, err := l.Release(ctx, t.private, entropy.Seeded(t.rng(stream).Uint64()))
	if err != nil {
		return nil, err
	}
	w, err := l.Weights(c)
	if err != nil {
		return nil, err
	}
	d := t.public.Dim
	x, y := mat.NewDense(t.public.Rows, d+1, nil), mat.NewVecDense(t.public.Rows, nil)
	for i, v := range w {
		x.Set(i, 0, 1)
		for j, u := range t.public.Row(i) {
			x.Set(i, j+1, u)
		}
		y.SetVec(i, math.Log(v))
	}
	var beta mat.VecDense
	if err := beta.SolveVec(x, y); err != nil {
		return nil, err
	}
	return &fitted{weights: w, at: func(p *core.Points) ([]float64, error) {
		out := make([]float64, p.Rows)
		for i := range out {
			s := beta.AtVec(0)
			for j, v := range p.Row(i) {
				s += beta.AtVec(j+1) * v
			}
			out[i] = math.Exp(s)
		}
		return out, nil
	}}, nil
}
