package ratio

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// calibration corrects answers by what was released (docs/density-ratio.md, section 7).
// With psi the features, w the weights (they add up to 1), S the covariance of the noise
// in the released means h, M the weighted covariance of psi and delta = h - psi(w), the
// estimate of the private mean of u is
//
//	C(u) = u(w) + beta.delta,   beta = (M + P)^-1 Cov_w(psi, u),
//
// the regression estimator of survey sampling (Deville and Sarndal 1992) with a ridge P
// where noise rules. All of it is kept in the basis V with V^T S V = I and
// V^T M V = diag(values), where the ridge is diagonal: a coordinate is corrected by the
// share of delta that is taken to be signal.
type calibration struct {
	w      []float64
	centre []float64  // psi(w)
	y      *mat.Dense // (psi - centre) V, N x p
	v      *mat.Dense // V, p x p
	values []float64
	delta  []float64 // V^T delta
	first  []float64 // V^T (h - the mean of psi over all public records)
	slack  []float64 // how much of a shift in a coordinate the weights leave
	share  []float64 // of delta that is taken to be signal, for each coordinate
	shrink []float64 // share/values: beta is that by Cov_w(psi, u)
	// shift is the variance of the shift that was seen, for a direction of variance 1:
	// what directions that were not released are taken to shift by.
	shift float64
	ess   float64
	floor float64 // of values, where directions can no longer be told apart
	noise *mat.SymDense
	rich  *rich
}

// calibration is made once for some weights, when the first answer needs it.
func (w *Weights) calibration() (*calibration, error) {
	w.cal.once.Do(func() { w.cal.made, w.cal.err = w.newCalibration() })
	return w.cal.made, w.cal.err
}

func (w *Weights) newCalibration() (*calibration, error) {
	c := &calibration{w: make([]float64, len(w.W)), noise: w.noise}
	sum := 0.0
	for _, v := range w.W {
		sum += v
	}
	square := 0.0
	for i, v := range w.W {
		c.w[i] = v / sum
		square += c.w[i] * c.w[i]
	}
	c.ess = 1 / square
	psi := w.psi
	n, p := psi.Dims()
	m, centre := weightedCovariance(psi, c.w)
	c.centre = centre
	var err error
	if c.v, c.values, err = generalised(m, w.noise); err != nil {
		return nil, err
	}
	d := make([]float64, p)
	for l := range d {
		d[l] = w.mean[l] - centre[l]
	}
	c.delta = transposed(c.v, d)
	equal, count := w.equal()
	_, plain := weightedCovariance(psi, equal)
	for l := range d {
		d[l] = w.mean[l] - plain[l]
	}
	c.first = transposed(c.v, d)
	c.slack = make([]float64, p)
	sampling := 1/count + 1/max(1, w.Meta.Records)
	for k, v := range c.values {
		c.slack[k] = 1
		if w.tilt != nil {
			error := w.tilt.alpha * (1 + sampling*v)
			c.slack[k] = error / (v + error)
		}
	}
	if c.shift, err = w.seenShift(); err != nil {
		return nil, err
	}
	// The weights have taken 1 - slack of what they saw. The best linear estimate of a
	// shift of variance shift*values under noise of variance 1 takes best of it: delta,
	// which is slack of it, makes up the difference. Sampling alone asks for the rest.
	least := 1/c.ess + 1/max(1, w.Meta.Records)
	c.floor = 1e-9*slices.Max(c.values) + 1e-3/max(least, c.shift)
	c.share, c.shrink = make([]float64, p), make([]float64, p)
	for k, v := range c.values {
		best := c.shift * v / (1 + c.shift*v)
		v = max(v, 1e-12)
		c.share[k] = max(least*v/(1+least*v), (best-1+c.slack[k])/c.slack[k])
		c.shrink[k] = c.share[k] / v
	}
	centred := mat.NewDense(n, p, nil)
	for i := range n {
		if c.w[i] == 0 && !w.whole[i] {
			continue
		}
		row, from := centred.RawRowView(i), psi.RawRowView(i)
		for l, x := range from {
			row[l] = x - centre[l]
		}
	}
	c.y = mat.NewDense(n, p, nil)
	c.y.Mul(centred, c.v)
	if c.rich, err = newRich(w, c); err != nil {
		return nil, err
	}
	return c, nil
}

// generalised returns V and values with V^T S V = I and V^T M V = diag(values).
func generalised(m, s *mat.SymDense) (*mat.Dense, []float64, error) {
	p := m.SymmetricDim()
	chol, ok := factorised(s)
	if !ok {
		return nil, nil, broken(noren.Phrase("calibration"), "the covariance of the noise could not be factorised")
	}
	var l mat.TriDense
	chol.LTo(&l)
	var half, both mat.Dense
	if err := half.Solve(&l, m); err != nil {
		if _, near := err.(mat.Condition); !near {
			return nil, nil, broken(noren.Phrase("calibration"), "the covariance of the noise could not be inverted")
		}
	}
	if err := both.Solve(&l, half.T()); err != nil {
		if _, near := err.(mat.Condition); !near {
			return nil, nil, broken(noren.Phrase("calibration"), "the covariance of the noise could not be inverted")
		}
	}
	b := mat.NewSymDense(p, nil)
	for i := range p {
		for j := i; j < p; j++ {
			b.SetSym(i, j, (both.At(i, j)+both.At(j, i))/2)
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(b, true) {
		return nil, nil, broken(noren.Phrase("calibration"), "the eigenvalues of the features could not be found")
	}
	var u, v mat.Dense
	eig.VectorsTo(&u)
	if err := v.Solve(l.T(), &u); err != nil {
		if _, near := err.(mat.Condition); !near {
			return nil, nil, broken(noren.Phrase("calibration"), "the covariance of the noise could not be inverted")
		}
	}
	values := eig.Values(nil)
	for k := range values {
		values[k] = max(0, values[k])
	}
	return &v, values, nil
}

// transposed is V^T x.
func transposed(v *mat.Dense, x []float64) []float64 {
	_, p := v.Dims()
	out := mat.NewVecDense(p, nil)
	out.MulVec(v.T(), mat.NewVecDense(len(x), x))
	return out.RawVector().Data
}

// likeliest is the t at least 0 that is likeliest for independent z_k ~ N(0, 1 + t
// values_k), on a grid of factors of 1.25.
func likeliest(values, z []float64) float64 {
	score := func(t float64) float64 {
		s := 0.0
		for k, v := range values {
			s -= (math.Log1p(t*v) + z[k]*z[k]/(1+t*v)) / 2
		}
		return s
	}
	best, at := score(0), 0.0
	for t := 1e-6; t < 1e3; t *= 1.25 {
		if s := score(t); s > best {
			best, at = s, t
		}
	}
	return at
}

// seenShift is the variance of a shift of features of variance 1, among all public
// records, that is likeliest for the released means.
func (w *Weights) seenShift() (float64, error) {
	psi := w.psi
	_, p := psi.Dims()
	equal, count := w.equal()
	m, centre := weightedCovariance(psi, equal)
	s := mat.NewSymDense(p, nil)
	sampling := 1/count + 1/max(1, w.Meta.Records)
	for i := range p {
		for j := i; j < p; j++ {
			s.SetSym(i, j, w.noise.At(i, j)+sampling*m.At(i, j))
		}
	}
	v, values, err := generalised(m, s)
	if err != nil {
		return 0, err
	}
	d := make([]float64, p)
	for l := range d {
		d[l] = w.mean[l] - centre[l]
	}
	return likeliest(values, transposed(v, d)), nil
}

// corrected is what the calibration makes of values u of the public records: 0 where a
// record has none.
type corrected struct {
	value, weighted float64
	parts           Parts
	carried         float64
	// followed says that what the weights leave of the released differences does not
	// matter for u: the correction brings the released means within noise, and what of u
	// lies outside of the features has hardly a part in its error.
	followed bool
	heavy    bool // a few large values decide, and larger ones may be missing
	untold   bool // what columns tell and features do not follow may be off by more than the interval
}

// project returns Cov_w(psi, u) in the basis V, and u(w).
func (c *calibration) project(u []float64) (cov []float64, mean float64) {
	_, p := c.y.Dims()
	cov = make([]float64, p)
	for i, v := range c.w {
		if v != 0 && u[i] != 0 {
			mean += v * u[i]
			f := v * u[i]
			for k, y := range c.y.RawRowView(i) {
				cov[k] += f * y
			}
		}
	}
	return cov, mean
}

// total is C(u).
func (c *calibration) total(u []float64) float64 {
	cov, out := c.project(u)
	for k, v := range cov {
		out += v * c.shrink[k] * c.delta[k]
	}
	return out
}

// correct returns C(u) and its errors.
func (w *Weights) correct(u []float64) (*corrected, error) {
	c, err := w.calibration()
	if err != nil {
		return nil, err
	}
	cov, mean := c.project(u)
	out := &corrected{value: mean, weighted: mean}
	p := len(cov)
	beta := make([]float64, p)
	var within, spread, moved, bent, noisy, left float64
	for k, v := range cov {
		off := c.delta[k] * (1 - c.share[k])
		left += off * off
		beta[k] = v * c.shrink[k]
		out.value += beta[k] * c.delta[k]
		moved += beta[k] * c.first[k]
		bent += beta[k] * c.rich.left[k]
		spread += beta[k] * beta[k] * c.values[k]
		noisy += beta[k] * beta[k]
		if c.values[k] > 1e-12 {
			hidden := v * (1 - c.share[k]) * c.slack[k]
			within += hidden * hidden / c.values[k]
		}
	}
	inner, outer, full := c.shift, c.shift, c.shift
	if spread > 0 {
		inner += alikeInside * alikeInside * (moved*moved + noisy) / spread
		outer += alikeStraight * alikeStraight * max(0, (moved*moved-noisy)/spread)
		full += (bent*bent + noisy) / spread / 2
	}
	var all, unfit float64
	var from singles
	residual := make([]float64, len(u))
	for i, wi := range c.w {
		if wi == 0 {
			continue
		}
		row := c.y.RawRowView(i)
		r, lever, tilt := u[i]-mean, 1.0, 1.0
		for k, y := range row {
			r -= beta[k] * y
			lever += y * y * c.shrink[k]
			tilt += y * c.shrink[k] * c.delta[k]
		}
		residual[i] = r
		all += wi * (u[i] - mean) * (u[i] - mean)
		unfit += wi * r * r
		g := max(wi, math.Abs(wi*tilt))
		from.add(g, r/(1-min(mostLeverage, wi*lever)))
	}
	from.shape(c.w, u, mean)
	out.heavy = from.heavy(c.ess)
	public := from.square * from.enlarged(c.ess)
	out.carried = 1
	if all > 0 {
		out.carried = min(1, max(0, 1-unfit/all))
	}
	out.parts.Public = math.Sqrt(public)
	out.parts.Private = math.Sqrt(all / max(1, w.Meta.Records))
	if out.parts.Privacy, err = w.privacy(c, beta, cov, residual); err != nil {
		return nil, err
	}
	fitted := c.rich.fitted(u)
	outside, curved, other := c.rich.beyond(u, fitted)
	// Records outside of the public ones may differ from those that are weighted instead by
	// a standard deviation of the question.
	lost, _ := w.uncovered()
	if share, found := w.outside(); found {
		lost = max(lost, share)
	}
	beyond := outer*outside + full*curved + other*other
	out.parts.Model = math.Sqrt(inner*within + beyond + lost*lost*all)
	if from.spread >= twoValued {
		out.parts = out.parts.withEdge(c.rich.edge(u, fitted), w.public.Dim)
	}
	if spread > 0 {
		// A table that differs along the question shifts parts of it by their variances.
		out.untold = math.Sqrt(bent*bent+noisy)*curved/spread > z95*out.parts.total()
	}
	out.followed = left <= float64(p) && math.Sqrt(beyond) <= hardly*out.parts.total()
	return out, nil
}

// privacy is the standard deviation, over the noise z in h, of beta.z and of what z does
// to the weights. Of the calibrated weights and of plain ones it is the derivative
// (docs/density-ratio.md, section 7); of others it is drawn.
func (w *Weights) privacy(c *calibration, beta, cov, residual []float64) (float64, error) {
	p := len(beta)
	move := mat.NewVecDense(p, nil) // beta, in the original basis
	move.MulVec(c.v, mat.NewVecDense(p, beta))
	switch w.Meta.Post {
	case Entropy:
		if w.tilt.alpha >= tiltMost {
			break
		}
		left := make([]float64, p)
		for k, v := range cov {
			left[k] = v * (1 - c.share[k])
		}
		// Cov_w(psi, r) in the original basis is V^-T left = S V left.
		a, b := mat.NewVecDense(p, nil), mat.NewVecDense(p, nil)
		a.MulVec(c.v, mat.NewVecDense(p, left))
		b.MulVec(c.noise, a)
		more, err := solve(w.tilt.hessian, b.RawVector().Data)
		if err != nil {
			return 0, err
		}
		move.AddVec(move, mat.NewVecDense(p, more))
	case Plain:
		if w.Meta.MeanWeight <= 0 {
			break
		}
		sums := make([]float64, w.features.Size())
		for i, v := range w.W {
			if v > 0 {
				for l, x := range w.features.Phi.RawRowView(i) {
					sums[l] += x * residual[i]
				}
			}
		}
		more, err := solve(w.ridge, sums)
		if err != nil {
			return 0, err
		}
		for l, v := range more {
			move.SetVec(l, move.AtVec(l)+v/(float64(len(w.W))*w.Meta.MeanWeight))
		}
	default:
		var d deviation
		err := w.redrawn(func(weights, noise []float64) {
			z := 0.0
			for l, v := range noise {
				z += move.AtVec(l) * v
			}
			d.add(average(weights, residual) + z)
		})
		return d.sd(), err
	}
	return math.Sqrt(max(0, mat.Inner(move, c.noise, move))), nil
}

// equal are weights alike for all whole public records, and how many those are.
func (w *Weights) equal() ([]float64, float64) {
	out, count := make([]float64, len(w.whole)), 0.0
	for _, is := range w.whole {
		if is {
			count++
		}
	}
	for i, is := range w.whole {
		if is {
			out[i] = 1 / count
		}
	}
	return out, count
}

// Of what the seen part of a question shifts by, for its standard deviation, the part
// that noise hides is taken to shift by alikeInside. Of the part that the features do not
// follow, what is straight or square in the columns is taken to shift by alikeStraight, as a
// log-linear model of the weights estimates it besides, and all else, such as interactions of
// columns, by the whole (docs/density-ratio.md, section 7).
const (
	alikeInside   = 0.75
	alikeStraight = 0.25
)

// z95 makes a standard error half of a 95 % interval.
const z95 = 1.96

// mostLeverage is the leverage up to which the residual of a public record is that of a fit
// without the record. Above it the residual tells little, and the quotient would rest on
// the one record.
const mostLeverage = 0.4

// hardly is how much of an answer's error the part of the question outside of the features
// may have where a warning that the weights leave differences unexplained is left out.
const hardly = 0.1

// student is the square of the 97.5 % quantile of Student's distribution by that of the
// normal one, for degrees of freedom (Cornish and Fisher's expansion): what an estimated
// variance must be enlarged by.
func student(df float64) float64 {
	const z = 1.959964
	df = max(df, 3)
	t := z + (z*z*z+z)/(4*df) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*df*df)
	return t * t / (z * z)
}

// factorised is the Cholesky factor of a covariance, whose diagonal is enlarged where
// features can hardly be told apart.
func factorised(s *mat.SymDense) (*mat.Cholesky, bool) {
	var c mat.Cholesky
	for by := 1e-10; by < 1e-3; by *= 100 {
		if c.Factorize(s) {
			return &c, true
		}
		n := s.SymmetricDim()
		more := mat.NewSymDense(n, nil)
		more.CopySym(s)
		for l := range n {
			more.SetSym(l, l, more.At(l, l)*(1+by)+1e-300)
		}
		s = more
	}
	return &c, c.Factorize(s)
}
