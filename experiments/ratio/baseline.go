package ratio

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren/noise"
	core "github.com/noren-privacy/noren/ratio"
)

// baseline is importance weighting by logistic regression (Ji and Elkan, Machine
// Learning 93, 2013): beta minimises
//
//	(1/n) sum over private of ln(1 + e^(-beta.psi)) + (1/N) sum over public of ln(1 + e^(beta.psi)) + (Lambda/2) |beta|^2
//
// for features psi of norm at most 1, and e^(beta.psi) is the density ratio, as each table is
// averaged separately. Released is beta + z, the density of z proportional to
// e^(-|z| eps/D).
//
// Guarantee: pure eps. Neighbours: replace-one. Proof: one record changes the gradient by
// at most 2/n, the objective is Lambda-strongly convex, so that beta changes by at most 2/(n
// Lambda); D adds twice the error of the solver, its last gradient over Lambda, so
// that the computed beta is covered (docs/density-ratio.md, section 3, the logistic
// baseline). Assumptions: n and the scaling of features are public; real-valued noise,
// which floating point approximates.
type baseline struct {
	public    *core.Points
	epsilon   float64
	penalty   float64   // Lambda
	quadratic bool      // adds the squares and products of the coordinates
	centre    []float64 // of the public records
	by        float64   // divides features so that the public ones have a norm of at most 1
	dim       int       // of psi
}

// gradientTolerance bounds |gradient| where Newton's method stops.
const gradientTolerance = 1e-10

// newBaseline takes the scaling from the public records, which must have all coordinates.
func newBaseline(public *core.Points, epsilon, penalty float64, quadratic bool) (*baseline, error) {
	if public.Rows < 1 || !(epsilon > 0) || !(penalty >= 1e-9) {
		return nil, fmt.Errorf("logistic baseline: expected public records, an epsilon above 0 and a penalty of at least 1e-9")
	}
	d := public.Dim
	l := &baseline{public: public, epsilon: epsilon, penalty: penalty, quadratic: quadratic, centre: make([]float64, d), by: 1, dim: d + 1}
	if quadratic {
		l.dim += d * (d + 1) / 2
	}
	for i := range public.Rows {
		for j, v := range public.Row(i) {
			l.centre[j] += v / float64(public.Rows)
		}
	}
	psi, radius := make([]float64, l.dim), 0.0
	for i := range public.Rows {
		l.features(psi, public.Row(i), false)
		radius = max(radius, floats.Norm(psi, 2))
	}
	l.by = radius * (1 + 1e-12)
	if math.IsNaN(l.by) || math.IsInf(l.by, 0) {
		return nil, errors.New("logistic baseline: a public record lacks a coordinate")
	}
	return l, nil
}

// features fills psi (1, coordinates, products) at x, with a norm of at most 1: what is
// longer is shortened, if clip. A record without a value has none.
func (l *baseline) features(psi, x []float64, clip bool) {
	clear(psi)
	if floats.HasNaN(x) {
		return
	}
	d := len(l.centre)
	psi[0] = 1 / l.by
	at := d + 1
	for i, v := range x {
		u := v - l.centre[i]
		psi[1+i] = u / l.by
		if l.quadratic {
			for j := i; j < d; j++ {
				psi[at] = u * (x[j] - l.centre[j]) / l.by
				at++
			}
		}
	}
	if norm := math.Sqrt(floats.Dot(psi, psi)); clip && !(norm <= 1) {
		if math.IsInf(norm, 1) || math.IsNaN(norm) {
			clear(psi)
			return
		}
		for i := range psi {
			psi[i] /= norm * (1 + 1e-15)
		}
	}
}

// release returns beta with noise from src for private points, n x d.
func (l *baseline) release(ctx context.Context, x *core.Points, src *noise.Source) ([]float64, error) {
	beta, err := l.fit(ctx, x)
	if err != nil {
		return nil, err
	}
	d := 2/float64(x.Rows) + 2*gradientTolerance
	z := make([]float64, l.dim)
	if err := noise.L2Laplace(src, z, d/(l.penalty*l.epsilon)*(1+1e-12)); err != nil {
		return nil, err
	}
	floats.Add(beta, z)
	return beta, nil
}

// fit is Newton's method with halved steps. The objective is strongly convex and has
// one minimum. A fit that does not reach it is an error: the sensitivity of the theorem
// would not hold.
func (l *baseline) fit(ctx context.Context, x *core.Points) ([]float64, error) {
	beta, psi := make([]float64, l.dim), make([]float64, l.dim)
	value := func(b []float64) float64 {
		v := l.penalty / 2 * floats.Dot(b, b)
		for _, part := range []struct {
			p    *core.Points
			sign float64
		}{{x, -1}, {l.public, 1}} {
			s := 0.0
			for i := range part.p.Rows {
				l.features(psi, part.p.Row(i), true)
				s += softplus(part.sign * floats.Dot(b, psi))
			}
			v += s / float64(part.p.Rows)
		}
		return v
	}
	for range 200 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		gradient, hessian := floats.ScaleTo(make([]float64, l.dim), l.penalty, beta), mat.NewSymDense(l.dim, nil)
		for i := range l.dim {
			hessian.SetSym(i, i, l.penalty)
		}
		for _, part := range []struct {
			p    *core.Points
			sign float64
		}{{x, -1}, {l.public, 1}} {
			n := float64(part.p.Rows)
			row := mat.NewVecDense(l.dim, psi)
			for i := range part.p.Rows {
				l.features(psi, part.p.Row(i), true)
				s := 1 / (1 + math.Exp(-part.sign*floats.Dot(beta, psi)))
				for j, v := range psi {
					gradient[j] += part.sign * s * v / n
				}
				hessian.SymRankOne(hessian, s*(1-s)/n, row)
			}
		}
		if math.Sqrt(floats.Dot(gradient, gradient)) <= gradientTolerance/2 {
			return beta, nil
		}
		var c mat.Cholesky
		if !c.Factorize(hessian) {
			break
		}
		var solved mat.VecDense
		if err := c.SolveVecTo(&solved, mat.NewVecDense(l.dim, gradient)); err != nil {
			return nil, fmt.Errorf("logistic baseline: %w", err)
		}
		step := solved.RawVector().Data
		now, size := value(beta), 1.0
		next := make([]float64, l.dim)
		for range 40 {
			for j := range next {
				next[j] = beta[j] - size*step[j]
			}
			// Near the minimum values cannot be told apart: a full step is right there.
			if v := value(next); v <= now+1e-13*math.Abs(now) {
				break
			}
			size /= 2
		}
		beta = next
	}
	return nil, errors.New("logistic baseline: the fit did not converge")
}

func softplus(v float64) float64 {
	if v > 0 {
		return v + math.Log1p(math.Exp(-v))
	}
	return math.Log1p(math.Exp(v))
}

// weights are e^(beta.psi) at the N public records, divided by their mean.
func (l *baseline) weights(beta []float64) []float64 {
	w, psi := make([]float64, l.public.Rows), make([]float64, l.dim)
	for i := range w {
		l.features(psi, l.public.Row(i), true)
		w[i] = floats.Dot(beta, psi)
	}
	most := floats.Max(w)
	for i, v := range w {
		w[i] = math.Exp(v - most) // no overflow: the common factor cancels
	}
	floats.Scale(float64(len(w))/floats.Sum(w), w)
	return w
}
