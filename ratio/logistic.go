package ratio

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/table"
)

// LogisticOptions make a [Logistic]. All of them are public.
type LogisticOptions struct {
	// Public are the public records, N x d. Required.
	Public *Points
	// Frame brought them there; for tables. Optional.
	Frame *Frame
	// Cost is its epsilon. Required.
	Cost account.Cost
	// Records is n, the public number of private records. Required.
	Records int
	// Penalty is Lambda > 0, the factor of |beta|^2/2. Small ones ask for much noise.
	// Defaults to 0.01.
	Penalty float64
	// Quadratic adds the squares and products of the coordinates.
	Quadratic bool
}

// Logistic is importance weighting by logistic regression (Ji and Elkan, Machine
// Learning 93, 2013), the baseline: beta minimises
//
//	(1/n) sum over private of ln(1 + e^(-beta.psi)) + (1/N) sum over public of ln(1 + e^(beta.psi)) + (Lambda/2) |beta|^2
//
// for features psi of norm at most 1, and e^(beta.psi) is the ratio, as each sort is
// averaged on its own. Released is beta + z, the density of z proportional to
// e^(-|z| eps/D).
//
// Guarantee: pure eps. Neighbours: replace-one. Proof: one record changes the gradient by
// 2/n at the most, the objective is Lambda-strongly convex, so that beta changes by 2/(n
// Lambda); D adds twice what the solver may be off, its last gradient over Lambda, so
// that the beta that is computed is covered (docs/density-ratio.md, section on the
// baseline). Assumptions: the scaling of features is public; real-valued noise, of
// which floating point is an approximation.
type Logistic struct {
	options LogisticOptions
	centre  []float64 // of the public records
	by      float64   // divides features so that most of the public ones have a norm of at most 1
	dim     int       // of psi
}

// gradientTolerance is where Newton's method may stop: |gradient| is at most this.
const gradientTolerance = 1e-10

// maxFeatures is how many features a logistic fit may have.
const maxFeatures = 1024

// NewLogistic checks the options and takes the scaling from the public records. Error:
// [noren.Usage].
func NewLogistic(o LogisticOptions) (*Logistic, error) {
	var bad faults
	if o.Penalty == 0 {
		o.Penalty = 0.01
	}
	if !(o.Penalty >= 1e-9) || math.IsInf(o.Penalty, 1) {
		bad.add("penalty", "the penalty must be a number of at least 1e-9")
	}
	if o.Records < 1 {
		bad.add("records", "the number of private records is public here: give it")
	}
	if err := o.Cost.Validate(); err != nil {
		bad = append(bad, err.Error())
	}
	if o.Cost.Epsilon == 0 || o.Cost.Delta != 0 {
		bad.add("cost", "this mechanism needs an epsilon and no delta")
	}
	if o.Public == nil || o.Public.Rows < 2 || o.Public.Dim < 1 || o.Frame != nil && o.Frame.Dim() != o.Public.Dim {
		bad.add("public records", "at least two public records are needed, with the coordinates of the frame")
		return nil, bad.err()
	}
	l := &Logistic{options: o, centre: make([]float64, o.Public.Dim), by: 1}
	d := o.Public.Dim
	if l.dim = d + 1; o.Quadratic {
		l.dim += d * (d + 1) / 2
	}
	if l.dim > maxFeatures {
		bad.add("public records", "more than 1024 features")
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	p, radius := thin(o.Public, o.Public.Rows), 0.0
	if p.Rows == 0 {
		return nil, usage("public records", "there is no public record that has a value in every column", "")
	}
	for i := range p.Rows {
		for j, v := range p.Row(i) {
			l.centre[j] += v / float64(p.Rows)
		}
	}
	psi := make([]float64, l.dim)
	for i := range p.Rows {
		l.features(psi, p.Row(i), false)
		radius = max(radius, math.Sqrt(dot(psi, psi)))
	}
	l.by = radius * (1 + 1e-12)
	return l, nil
}

// features fills psi (1, coordinates, products) at x, with a norm of at most 1: what is
// longer is shortened, if clip. A record without a value has none.
func (l *Logistic) features(psi, x []float64, clip bool) {
	clear(psi)
	if !isWhole(x) {
		return
	}
	d := len(l.centre)
	psi[0] = 1 / l.by
	at := d + 1
	for i, v := range x {
		u := v - l.centre[i]
		psi[1+i] = u / l.by
		if l.options.Quadratic {
			for j := i; j < d; j++ {
				psi[at] = u * (x[j] - l.centre[j]) / l.by
				at++
			}
		}
	}
	if norm := math.Sqrt(dot(psi, psi)); clip && !(norm <= 1) {
		if math.IsInf(norm, 1) || math.IsNaN(norm) {
			clear(psi)
			return
		}
		for i := range psi {
			psi[i] /= norm * (1 + 1e-15)
		}
	}
}

// Name is "ratio.logistic".
func (l *Logistic) Name() string { return "ratio.logistic" }

// Columns describes the columns that are read; none without a frame.
func (l *Logistic) Columns() []table.Field {
	if l.options.Frame == nil {
		return nil
	}
	return l.options.Frame.Columns()
}

// Parameters are all public parameters, for the certificate.
func (l *Logistic) Parameters() any {
	p := struct {
		Axes      []axisMeta `json:"axes,omitempty"`
		Records   int        `json:"records"`
		Penalty   float64    `json:"penalty"`
		Quadratic bool       `json:"quadratic"`
		Centre    []float64  `json:"centre"`
		Scale     float64    `json:"scale"`
	}{nil, l.options.Records, l.options.Penalty, l.options.Quadratic, l.centre, l.by}
	if l.options.Frame != nil {
		p.Axes = axesMeta(l.options.Frame)
	}
	return p
}

// Cost is the price for neighbours of the relation and unit of a book.
func (l *Logistic) Cost(n account.Neighbours, unit string) (account.Cost, error) {
	return recordCost(l.options.Cost, account.ReplaceOne, n, unit)
}

// Guarantee states what Cost pays for.
func (l *Logistic) Guarantee(n account.Neighbours, unit string) (noren.Guarantee, error) {
	cost, err := l.Cost(n, unit)
	if err != nil {
		return noren.Guarantee{}, err
	}
	g := noren.Guarantee{Model: "differential privacy", Neighbours: n.String(), Unit: unit}
	g.Epsilon, g.Delta = cost.Float()
	g.Assumptions = []string{
		"The public records, columns, scaling and penalty are public and were not chosen by looking at the private records.",
		"The number of private records is public.",
		"The noise is continuous and was drawn in floating point, and so was the fit that it was added to: the theorem is about real numbers.",
	}
	return g, nil
}

// Coefficients are what [Logistic] releases.
type Coefficients struct {
	Beta []float64 `json:"beta"`
}

// Answer computes on a private table and adds noise from src.
func (l *Logistic) Answer(ctx context.Context, t *table.Table, src *noise.Source) (any, error) {
	if l.options.Frame == nil {
		return nil, usage("frame", "the mechanism was made without a frame for tables", "")
	}
	x, err := l.options.Frame.Points(t)
	if err != nil {
		return nil, err
	}
	return l.Release(ctx, x, src)
}

// Release is Answer on private points, n x d.
func (l *Logistic) Release(ctx context.Context, x *Points, src *noise.Source) (*Coefficients, error) {
	if x.Rows != l.options.Records {
		return nil, &noren.Error{Kind: noren.BadData, What: "the table has another number of records than was declared"}
	}
	beta, err := l.fit(ctx, x)
	if err != nil {
		return nil, err
	}
	epsilon, _ := l.options.Cost.Float()
	d := 2/float64(x.Rows) + 2*gradientTolerance
	z := make([]float64, l.dim)
	if err := noise.L2Laplace(src, z, d/(l.options.Penalty*epsilon)*(1+1e-12)); err != nil {
		return nil, err
	}
	for i := range beta {
		beta[i] += z[i]
	}
	return &Coefficients{beta}, nil
}

// fit is Newton's method with halved steps. The objective is strongly convex: it comes to
// the one minimum, and an end without it is an error, as the sensitivity would not be
// that of the theorem.
func (l *Logistic) fit(ctx context.Context, x *Points) ([]float64, error) {
	if x.Dim != len(l.centre) {
		return nil, usage("records", "private and public records have another number of coordinates", "")
	}
	beta, psi := make([]float64, l.dim), make([]float64, l.dim)
	value := func(b []float64) float64 {
		v := l.options.Penalty / 2 * dot(b, b)
		for _, part := range []struct {
			p    *Points
			sign float64
		}{{x, -1}, {l.options.Public, 1}} {
			s := 0.0
			for i := range part.p.Rows {
				l.features(psi, part.p.Row(i), true)
				s += softplus(part.sign * dot(b, psi))
			}
			v += s / float64(part.p.Rows)
		}
		return v
	}
	for range 200 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		gradient, hessian := scaled(beta, l.options.Penalty), mat.NewSymDense(l.dim, nil)
		for i := range l.dim {
			hessian.SetSym(i, i, l.options.Penalty)
		}
		for _, part := range []struct {
			p    *Points
			sign float64
		}{{x, -1}, {l.options.Public, 1}} {
			n := float64(part.p.Rows)
			row := mat.NewVecDense(l.dim, psi)
			for i := range part.p.Rows {
				l.features(psi, part.p.Row(i), true)
				s := 1 / (1 + math.Exp(-part.sign*dot(beta, psi)))
				for j, v := range psi {
					gradient[j] += part.sign * s * v / n
				}
				hessian.SymRankOne(hessian, s*(1-s)/n, row)
			}
		}
		if math.Sqrt(dot(gradient, gradient)) <= gradientTolerance/2 {
			return beta, nil
		}
		var c mat.Cholesky
		if !c.Factorize(hessian) {
			break
		}
		step, err := solve(&c, gradient)
		if err != nil {
			return nil, err
		}
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
	return nil, broken("logistic weights", "the fit did not come to its minimum")
}

func softplus(v float64) float64 {
	if v > 0 {
		return v + math.Log1p(math.Exp(-v))
	}
	return math.Log1p(math.Exp(v))
}

// Decode reads what Release returned from its JSON. Error: [noren.BadData].
func (l *Logistic) Decode(payload []byte) (*Coefficients, error) {
	var c Coefficients
	if err := json.Unmarshal(payload, &c); err != nil || len(c.Beta) != l.dim || !isWhole(c.Beta) {
		return nil, badMeta(fmt.Sprintf("the released coefficients are not JSON of %d numbers", l.dim))
	}
	return &c, nil
}

// Weights are e^(beta.psi) at the N public records, divided by their mean.
func (l *Logistic) Weights(c *Coefficients) ([]float64, error) {
	if len(c.Beta) != l.dim {
		return nil, badMeta("the released coefficients are those of other columns")
	}
	p := l.options.Public
	w, psi := make([]float64, p.Rows), make([]float64, l.dim)
	most := math.Inf(-1)
	for i := range w {
		l.features(psi, p.Row(i), true)
		w[i] = dot(c.Beta, psi)
		most = max(most, w[i])
	}
	for i, v := range w {
		w[i] = math.Exp(v - most) // no overflow: what is common to all cancels
	}
	average := mean(w)
	for i := range w {
		w[i] /= average
	}
	return w, nil
}
