package ratio

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// straighten takes out of the coordinates and their squares what the released features
// follow of them.
func (r *rich) straighten() error {
	n, q := r.straight.Dims()
	_, p := r.y.Dims()
	_, mean := weightedCovariance(r.straight, r.shares)
	cov := mat.NewDense(p, q, nil)
	weighted := mat.NewDense(n, q, nil)
	for k, v := range r.shares {
		row, to := r.straight.RawRowView(k), weighted.RawRowView(k)
		for l := range row {
			row[l] -= mean[l]
			to[l] = v * row[l]
		}
	}
	cov.Mul(r.y.T(), weighted)
	var beta, followed mat.Dense
	if err := r.gram.SolveTo(&beta, cov); err != nil && !isCondition(err) {
		return broken(noren.Phrase("the public model"), "the released features could not be told apart")
	}
	followed.Mul(r.y, &beta)
	r.straight.Sub(r.straight, &followed)
	m, _ := weightedCovariance(r.straight, r.shares)
	for l := range q {
		m.SetSym(l, l, m.At(l, l)+1e-6)
	}
	var ok bool
	r.bent, ok = factorised(m)
	if !ok {
		return broken(noren.Phrase("the public model"), "the columns could not be told apart")
	}
	return nil
}

// less is v, one number for each row, less its regression on x, whose columns have the
// weighted covariance of gram.
func (r *rich) less(v []float64, x *mat.Dense, gram *mat.Cholesky) ([]float64, error) {
	_, p := x.Dims()
	mean, cov := 0.0, make([]float64, p)
	for k, s := range r.shares {
		mean += s * v[k]
	}
	for k, s := range r.shares {
		for l, y := range x.RawRowView(k) {
			cov[l] += s * (v[k] - mean) * y
		}
	}
	beta, err := solve(gram, cov)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(v))
	for k := range out {
		out[k] = v[k] - mean - dot(beta, x.RawRowView(k))
	}
	return out, nil
}

// variance is that of v, whose weighted mean is 0.
func (r *rich) variance(v []float64) (out float64) {
	for k, s := range r.shares {
		out += s * v[k] * v[k]
	}
	return out
}

// beyond is what of u, which the model fits by fitted, the released features do not follow: the weighted variance of what
// the model finds of it; the weighted variance of what of u its columns tell and neither
// the features nor coordinates and squares follow, by the model or by neighbours, whichever
// is more; and the mean of the first by the log-linear weights, where the weights
// themselves have 0.
func (r *rich) beyond(u, fitted []float64) (outside, curved, other float64) {
	wide := math.Inf(1)
	found, err := r.less(fitted, r.y, r.gram)
	if err != nil {
		return wide, wide, 0
	}
	for k, d := range found {
		other += r.other[k] * d
	}
	outside = r.variance(found)
	own := make([]float64, len(r.rows))
	for k, i := range r.rows {
		own[k] = u[i]
	}
	if own, err = r.less(own, r.y, r.gram); err != nil {
		return wide, wide, 0
	}
	for _, v := range []*[]float64{&found, &own} {
		if *v, err = r.less(*v, r.straight, r.bent); err != nil {
			return wide, wide, 0
		}
	}
	if told := r.near.told(own, r.shares); told > 0 {
		curved = max(r.variance(found), told*r.variance(own))
	}
	return outside, curved, other / math.Sqrt(r.fit)
}
