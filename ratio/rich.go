package ratio

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// rich is a public model of a question: a ridge regression on coordinates, their
// squares and many kernels, whose penalty is chosen by leaving public records out in
// turn. What it finds in a question that the released features do not follow can shift
// without being seen.
type rich struct {
	rows   []int      // of the public records
	count  float64    // of the public records with a value in each column
	z      *mat.Dense // features in their principal axes, rows x R
	values []float64  // eigenvalues of z^T z
	other  []float64  // weights of the log-linear model, for rows
	fit    float64    // its misfit, as a share of what noise explains; 1 at least
	shares []float64  // of rows in the weights
	y      *mat.Dense // released features of rows in the basis V, about their weighted means
	gram   *mat.Cholesky
	// straight are the coordinates and their squares, less what the released features
	// follow of them, and bent their Cholesky factor under the weights.
	straight *mat.Dense
	// left is what the log-linear weights leave of the released differences, in the basis V.
	left []float64
	bent *mat.Cholesky
	near *neighbours

	// Of the log-linear model: the standardised coordinates and squares, the released
	// features and means, and the covariance of their misfit.
	columns, psi *mat.Dense
	mean         []float64
	misfit       *mat.Cholesky
}

const (
	richRows    = 10_000
	richCentres = 60
)

func newRich(w *Weights, c *calibration) (*rich, error) {
	r := &rich{}
	var whole []int
	for i, is := range w.whole {
		if is {
			whole = append(whole, i)
		}
	}
	n := min(richRows, len(whole))
	r.count = float64(len(whole))
	for i := range n {
		r.rows = append(r.rows, whole[i*len(whole)/n])
	}
	d := w.public.Dim
	sigma := w.Meta.Sigma
	if w.features == nil {
		sigma = MedianDistance(w.public) / 2
	}
	centres := spread(thin(w.public, publicSample), min(richCentres, max(1, n/5)))
	kernel, err := NewKernel(centres, max(sigma, 1e-9))
	if err != nil {
		return nil, err
	}
	size := 2*d + kernel.Size()
	z := mat.NewDense(n, size, nil)
	for k, i := range r.rows {
		row, x := z.RawRowView(k), w.public.Row(i)
		for j, v := range x {
			row[j], row[d+j] = v, v*v
		}
		kernel.Phi(row[2*d:], x)
	}
	for j := range size {
		var sum, square float64
		for k := range n {
			v := z.At(k, j)
			sum += v
			square += v * v
		}
		m := sum / float64(n)
		sd := math.Sqrt(max(0, square/float64(n)-m*m))
		for k := range n {
			v := 0.0
			if sd > 1e-9 {
				v = (z.At(k, j) - m) / sd
			}
			z.Set(k, j, v)
		}
	}
	r.straight = mat.DenseCopyOf(z.Slice(0, n, 0, 2*d))
	if err := r.logLinear(w, r.straight); err != nil {
		return nil, err
	}
	g := mat.NewSymDense(size, nil)
	g.SymOuterK(1, z.T())
	var eig mat.EigenSym
	if !eig.Factorize(g, true) {
		return nil, broken(noren.Phrase("the public model"), "its eigenvalues could not be found")
	}
	var u mat.Dense
	eig.VectorsTo(&u)
	r.z = mat.NewDense(n, size, nil)
	r.z.Mul(z, &u)
	r.values = eig.Values(nil)
	r.near = newNeighbours(w.public, r.rows)
	return r, r.project(c)
}

// project prepares the regression of what the model finds on the released features.
func (r *rich) project(c *calibration) error {
	_, p := c.y.Dims()
	sum := 0.0
	r.shares = make([]float64, len(r.rows))
	for k, i := range r.rows {
		r.shares[k] = c.w[i]
		sum += c.w[i]
	}
	for k := range r.shares {
		r.shares[k] /= sum
		if sum <= 0 {
			r.shares[k] = 1 / float64(len(r.rows))
		}
	}
	r.y = mat.NewDense(len(r.rows), p, nil)
	r.left = slices.Clone(c.delta)
	for k, i := range r.rows {
		row := r.y.RawRowView(k)
		copy(row, c.y.RawRowView(i))
		for l, y := range row {
			r.left[l] -= r.other[k] * y
		}
	}
	m, mean := weightedCovariance(r.y, r.shares)
	for k := range r.rows {
		for l := range p {
			r.y.Set(k, l, r.y.At(k, l)-mean[l])
		}
	}
	for l := range p {
		m.SetSym(l, l, m.At(l, l)+c.floor)
	}
	var ok bool
	r.gram, ok = factorised(m)
	if !ok {
		return broken(noren.Phrase("the public model"), "the released features could not be told apart")
	}
	return r.straighten()
}

// fitted is the model's prediction of u for its rows.
func (r *rich) fitted(u []float64) []float64 {
	n, size := r.z.Dims()
	m := 0.0
	for _, i := range r.rows {
		m += u[i] / float64(n)
	}
	cov := make([]float64, size)
	for k, i := range r.rows {
		for j, z := range r.z.RawRowView(k) {
			cov[j] += z * (u[i] - m)
		}
	}
	best, out := math.Inf(1), make([]float64, n)
	now := make([]float64, n)
	inv := make([]float64, size)
	for t := -4.0; t <= 2; t += 0.5 {
		penalty := float64(n) * math.Pow(10, t)
		for j, v := range r.values {
			inv[j] = 1 / (max(0, v) + penalty)
		}
		loss := 0.0
		for k, i := range r.rows {
			fit, lever := m, 1/float64(n)
			for j, z := range r.z.RawRowView(k) {
				fit += z * inv[j] * cov[j]
				lever += z * z * inv[j]
			}
			now[k] = fit
			e := (u[i] - fit) / max(0.01, 1-lever)
			loss += e * e
		}
		if loss < best {
			best = loss
			copy(out, now)
		}
	}
	return out
}

// tame is the penalty of the log-linear model.
const tame = 0.25

// logLinear fits another model of the weights to what was released: exp(theta.z), z the
// standardised coordinates and their squares (the ratio of two normal densities is of
// that form), theta the minimiser of
//
//	(h - psi(theta))^T V^-1 (h - psi(theta)) + rho |theta|^2,   rho = 1/4,
//
// by Gauss and Newton's method. Where its answers differ from those of the weights, what
// was released does not decide between them.
func (r *rich) logLinear(w *Weights, z *mat.Dense) error {
	n, q := z.Dims()
	_, p := w.psi.Dims()
	r.psi = mat.NewDense(n, p, nil)
	for k, i := range r.rows {
		copy(r.psi.RawRowView(k), w.psi.RawRowView(i))
	}
	var ok bool
	r.misfit, ok = factorised(w.misfitCovariance())
	if !ok {
		return broken(noren.Phrase("the public model"), "the covariance of the released means could not be factorised")
	}
	r.mean, r.columns = w.mean, mat.DenseCopyOf(z)
	t := r.tilt(z, make([]float64, q), 30)
	r.other = t.weights
	r.fit = max(1, t.misfit/float64(p))
	return nil
}

// tilted is a fitted model of the weights.
type tilted struct {
	weights []float64
	misfit  float64 // without the penalty
}

// tilt fits exp(theta.z) from a start, in so many steps at most.
func (r *rich) tilt(z *mat.Dense, theta []float64, steps int) *tilted {
	n, q := z.Dims()
	_, p := r.psi.Dims()
	weigh := func(theta []float64) (weights, delta []float64, loss float64) {
		s := mat.NewVecDense(n, nil)
		s.MulVec(z, mat.NewVecDense(q, theta))
		most := mat.Max(s)
		weights = s.RawVector().Data
		sum := 0.0
		for k := range weights {
			weights[k] = math.Exp(weights[k] - most)
			sum += weights[k]
		}
		delta = slices.Clone(r.mean)
		for k := range weights {
			weights[k] /= sum
			for l, x := range r.psi.RawRowView(k) {
				delta[l] -= weights[k] * x
			}
		}
		x, err := solve(r.misfit, delta)
		if err != nil {
			return weights, delta, math.Inf(1)
		}
		return weights, delta, dot(x, delta) + tame*dot(theta, theta)
	}
	weights, delta, loss := weigh(theta)
	for range steps {
		// J = Cov(psi, z), p x q.
		j, mean := mat.NewDense(p, q, nil), make([]float64, q)
		scaledZ := mat.NewDense(n, q, nil)
		for k, v := range weights {
			for l, x := range z.RawRowView(k) {
				mean[l] += v * x
			}
		}
		for k, v := range weights {
			row := scaledZ.RawRowView(k)
			for l, x := range z.RawRowView(k) {
				row[l] = v * (x - mean[l])
			}
		}
		j.Mul(r.psi.T(), scaledZ)
		var half mat.Dense
		if err := r.misfit.SolveTo(&half, j); err != nil {
			if _, near := err.(mat.Condition); !near {
				break
			}
		}
		var a mat.Dense
		a.Mul(j.T(), &half)
		m := mat.NewSymDense(q, nil)
		for x := range q {
			for y := x; y < q; y++ {
				m.SetSym(x, y, (a.At(x, y)+a.At(y, x))/2)
			}
			m.SetSym(x, x, m.At(x, x)+tame)
		}
		g := mat.NewVecDense(q, nil)
		g.MulVec(half.T(), mat.NewVecDense(p, delta))
		for l := range q {
			g.SetVec(l, g.AtVec(l)-tame*theta[l])
		}
		var c mat.Cholesky
		if !c.Factorize(m) {
			break
		}
		step, err := solve(&c, g.RawVector().Data)
		if err != nil {
			break
		}
		size, moved := 1.0, false
		for range 12 {
			trial := make([]float64, q)
			for l := range trial {
				trial[l] = theta[l] + size*step[l]
			}
			if tw, td, tl := weigh(trial); tl < loss {
				moved = loss-tl > 1e-6*loss
				theta, weights, delta, loss = trial, tw, td, tl
				break
			}
			size /= 2
		}
		if !moved {
			break
		}
	}
	return &tilted{weights, loss - tame*dot(theta, theta)}
}
