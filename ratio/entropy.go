package ratio

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// tilt is the entropy calibration of the public records: weights
// w_i = exp(theta . psi_i) / sum_k exp(theta . psi_k), theta the minimiser of
//
//	F(theta) = log mean_i exp(theta.psi_i) - theta.h + (alpha/2) theta^T V theta,
//
// that is, the weights nearest to equal ones (in Kullback and Leibler's sense) whose
// means differ from the released ones h by a penalty, V the covariance of the error of
// h - psi(w): noise, and the sampling of both tables. At the minimum
// h - psi(w) = alpha V theta, so that the misfit in the metric of V is
// alpha^2 theta^T V theta. alpha is the largest of a grid at which that misfit is not
// above its expectation, the number of features: calibration stops where the noise
// begins (Morozov's discrepancy principle; docs/density-ratio.md, section 7).
type tilt struct {
	theta []float64
	alpha float64
	w     []float64 // they add up to 1; 0 where whole is false
	v     *mat.SymDense
	// hessian is the Cholesky factor of M + alpha V at the minimum.
	hessian *mat.Cholesky
}

const (
	tiltSteps = 60   // Newton steps at one alpha, at most
	tiltLeast = 1e-6 // the least alpha of the grid
	tiltMost  = 1e4
)

// newTilt calibrates psi (N x p) to h (p numbers) whose error has the covariance v.
func newTilt(psi *mat.Dense, whole []bool, h []float64, v *mat.SymDense) *tilt {
	n, p := psi.Dims()
	t := &tilt{theta: make([]float64, p), w: make([]float64, n), v: v}
	most := float64(p)
	best := &tilt{}
	found := false
	start := make([]float64, p)
	for alpha := tiltMost; alpha >= tiltLeast; alpha /= 4 {
		copy(t.theta, start)
		t.alpha = alpha
		if !t.solve(psi, whole, h) {
			break
		}
		copy(start, t.theta)
		best = &tilt{theta: slices.Clone(t.theta), alpha: alpha, w: slices.Clone(t.w), v: v}
		found = true
		if alpha*alpha*quadratic(v, t.theta) <= most {
			break
		}
	}
	if !found {
		return t.flat(whole)
	}
	return best
}

// flat is equal weights.
func (t *tilt) flat(whole []bool) *tilt {
	clear(t.theta)
	t.alpha = tiltMost
	sum := 0.0
	for i, is := range whole {
		if t.w[i] = 0; is {
			t.w[i] = 1
			sum++
		}
	}
	for i := range t.w {
		t.w[i] /= sum
	}
	return t
}

func quadratic(v *mat.SymDense, x []float64) float64 {
	u := mat.NewVecDense(len(x), x)
	return mat.Inner(u, v, u)
}

// value is F at theta, and fills the weights.
func (t *tilt) value(psi *mat.Dense, whole []bool, h, theta []float64) float64 {
	n, p := psi.Dims()
	s := mat.NewVecDense(n, t.w)
	s.MulVec(psi, mat.NewVecDense(p, theta))
	most := math.Inf(-1)
	for i, v := range t.w {
		if whole[i] {
			most = max(most, v)
		}
	}
	sum, count := 0.0, 0.0
	for i, v := range t.w {
		if !whole[i] {
			t.w[i] = 0
			continue
		}
		t.w[i] = math.Exp(v - most)
		sum += t.w[i]
		count++
	}
	for i := range t.w {
		t.w[i] /= sum
	}
	return math.Log(sum/count) + most - dot(theta, h) + t.alpha/2*quadratic(t.v, theta)
}

// solve is Newton's method with halved steps, from theta as it stands.
func (t *tilt) solve(psi *mat.Dense, whole []bool, h []float64) bool {
	p := len(t.theta)
	f := t.value(psi, whole, h, t.theta)
	trial := make([]float64, p)
	for range tiltSteps {
		m, centre := weightedCovariance(psi, t.w)
		g := make([]float64, p)
		vt := mat.NewVecDense(p, nil)
		vt.MulVec(t.v, mat.NewVecDense(p, t.theta))
		for l := range g {
			g[l] = h[l] - centre[l] - t.alpha*vt.AtVec(l)
		}
		for i := range p {
			for j := i; j < p; j++ {
				m.SetSym(i, j, m.At(i, j)+t.alpha*t.v.At(i, j))
			}
			m.SetSym(i, i, m.At(i, i)*(1+1e-10)+1e-300)
		}
		var c mat.Cholesky
		if !c.Factorize(m) {
			return false
		}
		step, err := solve(&c, g)
		if err != nil {
			return false
		}
		gain := dot(step, g)
		if !(gain > 1e-10) {
			return !math.IsNaN(gain)
		}
		size, moved := 1.0, false
		for range 40 {
			for l := range trial {
				trial[l] = t.theta[l] + size*step[l]
			}
			if v := t.value(psi, whole, h, trial); v < f-1e-4*size*gain {
				f, moved = v, true
				copy(t.theta, trial)
				break
			}
			size /= 2
		}
		if !moved {
			t.value(psi, whole, h, t.theta)
			return true
		}
	}
	return true
}

// weightedCovariance is that of the rows of psi under weights that add up to 1, and
// their mean.
func weightedCovariance(psi *mat.Dense, w []float64) (*mat.SymDense, []float64) {
	n, p := psi.Dims()
	mean := make([]float64, p)
	scaled := mat.NewDense(n, p, nil)
	for i, v := range w {
		if v == 0 {
			continue
		}
		root := math.Sqrt(v)
		row, from := scaled.RawRowView(i), psi.RawRowView(i)
		for l, x := range from {
			row[l] = root * x
			mean[l] += v * x
		}
	}
	out := mat.NewSymDense(p, nil)
	out.SymOuterK(1, scaled.T())
	out.SymRankOne(out, -1, mat.NewVecDense(p, mean))
	return out, mean
}
