package ratio

import (
	"encoding/binary"
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

// newTilt calibrates psi (N x p), of whose rows base[i] records are alike, to h (p numbers)
// whose error has the covariance v. The weights are those of all records of a row.
func newTilt(psi *mat.Dense, base, h []float64, v *mat.SymDense) *tilt {
	n, p := psi.Dims()
	t := &tilt{theta: make([]float64, p), w: make([]float64, n), v: v}
	most := float64(p)
	best := &tilt{}
	found := false
	start := make([]float64, p)
	for alpha := tiltMost; alpha >= tiltLeast; alpha /= 4 {
		copy(t.theta, start)
		t.alpha = alpha
		if !t.solve(psi, base, h) {
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
		return t.flat(base)
	}
	return best
}

// flat is equal weights.
func (t *tilt) flat(base []float64) *tilt {
	clear(t.theta)
	t.alpha = tiltMost
	sum := 0.0
	for i, v := range base {
		t.w[i] = v
		sum += v
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
func (t *tilt) value(psi *mat.Dense, base, h, theta []float64) float64 {
	n, p := psi.Dims()
	s := mat.NewVecDense(n, t.w)
	s.MulVec(psi, mat.NewVecDense(p, theta))
	most := math.Inf(-1)
	for i, v := range t.w {
		if base[i] > 0 {
			most = max(most, v)
		}
	}
	sum, count := 0.0, 0.0
	for i, v := range t.w {
		if base[i] <= 0 {
			t.w[i] = 0
			continue
		}
		t.w[i] = base[i] * math.Exp(v-most)
		sum += t.w[i]
		count += base[i]
	}
	for i := range t.w {
		t.w[i] /= sum
	}
	return math.Log(sum/count) + most - dot(theta, h) + t.alpha/2*quadratic(t.v, theta)
}

// solve is Newton's method with halved steps, from theta as it stands.
func (t *tilt) solve(psi *mat.Dense, base, h []float64) bool {
	p := len(t.theta)
	f := t.value(psi, base, h, t.theta)
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
			if v := t.value(psi, base, h, trial); v < f-1e-4*size*gain {
				f, moved = v, true
				copy(t.theta, trial)
				break
			}
			size /= 2
		}
		if !moved {
			t.value(psi, base, h, t.theta)
			return true
		}
	}
	return true
}

// weightedCovariance is that of the rows of psi under weights that add up to 1, and
// their mean.
func weightedCovariance(psi *mat.Dense, w []float64) (*mat.SymDense, []float64) {
	n, p := psi.Dims()
	if sparse(psi) {
		return sparseCovariance(psi, w)
	}
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

// sparse reports whether fewer than a quarter of the numbers of the first rows are not 0.
func sparse(psi *mat.Dense) bool {
	n, p := psi.Dims()
	rows, some := min(n, 32), 0
	for i := range rows {
		for _, x := range psi.RawRowView(i) {
			if x != 0 {
				some++
			}
		}
	}
	return 4*some < rows*p
}

// sparseCovariance is weightedCovariance by the numbers that are not 0.
func sparseCovariance(psi *mat.Dense, w []float64) (*mat.SymDense, []float64) {
	_, p := psi.Dims()
	mean, out := make([]float64, p), mat.NewSymDense(p, nil)
	raw := out.RawSymmetric()
	at := make([]int, 0, p)
	for i, v := range w {
		if v == 0 {
			continue
		}
		row := psi.RawRowView(i)
		at = at[:0]
		for l, x := range row {
			if x != 0 {
				at = append(at, l)
				mean[l] += v * x
			}
		}
		for k, l := range at {
			to, x := raw.Data[l*raw.Stride:], v*row[l]
			for _, m := range at[k:] {
				to[m] += x * row[m]
			}
		}
	}
	out.SymRankOne(out, -1, mat.NewVecDense(p, mean))
	return out, mean
}

// tiltRows is how many different rows a calibration is solved on at most.
const tiltRows = 4000

// distinct are the rows of psi that differ, evenly through it where they are too many, and
// how many records each stands for.
func distinct(psi *mat.Dense, whole []bool) (*mat.Dense, []float64) {
	_, p := psi.Dims()
	place, count := map[string]int{}, []float64{}
	var rows []int
	key := make([]byte, 0, 8*p)
	for i, is := range whole {
		if !is {
			continue
		}
		key = key[:0]
		for l, x := range psi.RawRowView(i) {
			if x != 0 {
				key = binary.LittleEndian.AppendUint16(key, uint16(l))
				key = binary.LittleEndian.AppendUint64(key, math.Float64bits(x))
			}
		}
		k, seen := place[string(key)]
		if !seen {
			k = len(rows)
			place[string(key)] = k
			rows, count = append(rows, i), append(count, 0)
		}
		count[k]++
	}
	n := min(len(rows), tiltRows)
	out, base := mat.NewDense(n, p, nil), make([]float64, n)
	for k := range n {
		from, to := k*len(rows)/n, (k+1)*len(rows)/n
		copy(out.RawRowView(k), psi.RawRowView(rows[from]))
		for _, c := range count[from:to] {
			base[k] += c
		}
	}
	return out, base
}
