package learn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/noren-privacy/noren"
)

// SVM says how a linear support vector machine is trained: it minimises
//
//	|w|^2/2 + C sum_i max(0, 1 - y_i (w.x_i + b B))      (b counts in |w|, x has a last feature B)
//
// by coordinate descent on the dual, with shrinking (Hsieh et al. 2008,
// algorithm 3, as in liblinear) and steps that are longer than the best one
// (Mangasarian and Musicant 1999). With more than two classes one machine is
// trained for each class against the rest.
type SVM struct {
	// C weighs violations against the margin. Defaults to 1.
	C float64
	// Tolerance is the spread of projected gradients at which the descent ends.
	// Defaults to 0.1, liblinear's own; 1e-6 gives weights to five digits.
	Tolerance float64
	// MaxPasses over the records. Defaults to 1,000.
	MaxPasses int
	// Intercept is B, the constant feature that the intercept weighs. The larger,
	// the less the intercept itself is held back. Defaults to 1.
	Intercept float64
}

// withDefaults fills in and validates.
func (o SVM) withDefaults() (SVM, error) {
	for _, f := range []struct {
		value    *float64
		standard float64
	}{{&o.C, 1}, {&o.Tolerance, 0.1}, {&o.Intercept, 1}} {
		if *f.value == 0 {
			*f.value = f.standard
		}
		if !(*f.value > 0) || math.IsInf(*f.value, 0) {
			return o, &noren.Error{Kind: noren.Usage, What: "C, tolerance and intercept of a support vector machine are finite and above 0"}
		}
	}
	if o.MaxPasses == 0 {
		o.MaxPasses = 1000
	}
	if o.MaxPasses < 1 {
		return o, &noren.Error{Kind: noren.Usage, What: "a support vector machine needs at least one pass over the records"}
	}
	return o, nil
}

// LinearModel is a trained machine: one hyperplane for two classes, else one for
// each class against the rest.
type LinearModel struct {
	Weights    [][]float64 // machines x features
	Intercepts []float64   // one each machine
	Classes    int
	// Passes is the number of passes of the machine that took most, and Converged
	// whether all ended by the tolerance and not by MaxPasses.
	Passes    int
	Converged bool
}

// Train implements [Learner]. It refuses fewer than two classes in y.
func (o SVM) Train(ctx context.Context, x *Matrix, y []int, seed uint64) (Classifier, error) {
	m, err := o.Fit(ctx, x, y, seed)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// Fit trains on x, n records x d features, and the classes y.
func (o SVM) Fit(ctx context.Context, x *Matrix, y []int, seed uint64) (*LinearModel, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	classes, err := checkClasses(x, y)
	if err != nil {
		return nil, err
	}
	for _, c := range y {
		if c != y[0] {
			return o.fit(ctx, x, y, classes, seed)
		}
	}
	return nil, &noren.Error{
		Kind: noren.BadData, What: "all records are of one class: there is nothing to tell apart",
		Hint: "train on more records, or stratify the folds",
	}
}

func (o SVM) fit(ctx context.Context, x *Matrix, y []int, classes int, seed uint64) (*LinearModel, error) {
	m := &LinearModel{Classes: classes, Converged: true}
	machines := classes
	if classes == 2 {
		machines = 1
	}
	p := newProblem(x, o)
	for k := range machines {
		positive := k
		if classes == 2 {
			positive = 1
		}
		for i, c := range y {
			p.sign(i, c == positive)
		}
		passes, converged, err := p.descend(ctx, o, seed, uint64(k))
		if err != nil {
			return nil, err
		}
		m.Weights = append(m.Weights, append([]float64(nil), p.w[:x.Cols]...))
		m.Intercepts = append(m.Intercepts, p.w[x.Cols]*o.Intercept)
		m.Passes = max(m.Passes, passes)
		m.Converged = m.Converged && converged
	}
	return m, nil
}

// Decision is the side of machine k on which x lies, and how far out: w.x + b.
func (m *LinearModel) Decision(k int, x []float64) float64 {
	return dot(m.Weights[k], x) + m.Intercepts[k]
}

// Predict implements [Classifier]. On the hyperplane the answer is class 1, as
// in the paper (f(x) >= 0).
func (m *LinearModel) Predict(x []float64) int {
	if m.Classes == 2 {
		if m.Decision(0, x) >= 0 {
			return 1
		}
		return 0
	}
	best, bestValue := 0, math.Inf(-1)
	for k := range m.Weights {
		if v := m.Decision(k, x); v > bestValue {
			best, bestValue = k, v
		}
	}
	return best
}

// problem is the dual: minimise a'Qa/2 - sum(a) over 0 <= a <= C with
// Q_ij = y_i y_j x_i.x_j, and w = sum_i a_i y_i x_i.
type problem struct {
	n, d     int       // d numbers of a row: the features, the constant one, and zeros
	x        []float64 // the rows y_i x_i
	positive []bool    // whether y_i is 1
	norm     []float64 // Q_ii
	a, w     []float64
	order    []int32
}

// lanes is how many sums a product of rows has; rows are as long as some of them.
const lanes = 8

func newProblem(x *Matrix, o SVM) *problem {
	p := &problem{n: x.Rows, d: (x.Cols + lanes) / lanes * lanes}
	p.x, p.positive = make([]float64, p.n*p.d), make([]bool, p.n)
	p.norm, p.a = make([]float64, p.n), make([]float64, p.n)
	p.w, p.order = make([]float64, p.d), make([]int32, p.n)
	for i := range p.n {
		row := p.row(i)
		copy(row, x.Row(i))
		row[x.Cols] = o.Intercept
		p.norm[i] = dot(row, row) // at least Intercept^2, above 0
		p.positive[i] = true
	}
	return p
}

func (p *problem) row(i int) []float64 { return p.x[i*p.d : (i+1)*p.d : (i+1)*p.d] }

// sign makes y_i 1 or -1.
func (p *problem) sign(i int, positive bool) {
	if p.positive[i] == positive {
		return
	}
	p.positive[i] = positive
	for j, v := range p.row(i) {
		p.row(i)[j] = -v
	}
}

// relaxation is by how many times the best step of a coordinate alone it is moved. With any
// factor between 0 and 2 the descent converges (Mangasarian and Musicant 1999, Successive
// overrelaxation for support vector machines); features that go together make steps beyond
// the best one pay: on wdbc a third of the looks at records is saved.
const relaxation = 1.6

// descend runs the coordinate descent. A coordinate at a bound whose gradient
// points further out than any did in the last pass is left out (shrinking)
// until the others have settled; then all are looked at again.
func (p *problem) descend(ctx context.Context, o SVM, seed, unit uint64) (passes int, converged bool, err error) {
	clear(p.a)
	clear(p.w)
	for i := range p.order {
		p.order[i] = int32(i)
	}
	rng := stream(seed, unit)
	active := p.n
	oldMax, oldMin := math.Inf(1), math.Inf(-1)
	step, moved := 0.0, p.x[:p.d] // w is still to be moved by step times moved
	for passes = 1; passes <= o.MaxPasses; passes++ {
		if passes&15 == 1 && ctx.Err() != nil {
			return passes, false, ctx.Err()
		}
		shuffle(rng, p.order[:active])
		newMax, newMin := math.Inf(-1), math.Inf(1)
		for s := 0; s < active; {
			i := int(p.order[s])
			row := p.row(i)
			var g float64
			if step != 0 {
				g = moveAndDot(step, moved, p.w, row) - 1
				step = 0
			} else {
				g = dotLanes(p.w, row) - 1
			}
			projected := g
			switch a := p.a[i]; {
			case a == 0 && g > oldMax, a == o.C && g < oldMin:
				active--
				p.order[s], p.order[active] = p.order[active], p.order[s]
				continue
			case a == 0:
				projected = min(g, 0)
			case a == o.C:
				projected = max(g, 0)
			}
			s++
			newMax, newMin = max(newMax, projected), min(newMin, projected)
			if math.Abs(projected) > 1e-12 {
				was := p.a[i]
				p.a[i] = min(max(was-relaxation*g/p.norm[i], 0), o.C)
				step, moved = p.a[i]-was, row
			}
		}
		if step != 0 {
			axpy(step, moved, p.w)
			step = 0
		}
		// At the optimum all projected gradients are 0; liblinear looks at their
		// spread alone, which is small as well where all are equally off.
		if max(newMax, 0)-min(newMin, 0) <= o.Tolerance || active == 0 {
			if active == p.n {
				return passes, true, nil
			}
			active = p.n
			oldMax, oldMin = math.Inf(1), math.Inf(-1)
			continue
		}
		oldMax, oldMin = newMax, newMin
		if oldMax <= 0 {
			oldMax = math.Inf(1)
		}
		if oldMin >= 0 {
			oldMin = math.Inf(-1)
		}
	}
	return o.MaxPasses, false, nil
}

// dot is a.b; four sums at once, in a fixed order. The conversions keep a
// compiler from fusing product and sum, which would round differently from
// machine to machine.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += float64(a[i] * b[i])
		s1 += float64(a[i+1] * b[i+1])
		s2 += float64(a[i+2] * b[i+2])
		s3 += float64(a[i+3] * b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += float64(a[i] * b[i])
	}
	return s0 + s1 + (s2 + s3)
}

// dotLanes is a.b for rows of whole lanes: as many sums, in a fixed order.
func dotLanes(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for len(a) >= lanes && len(b) >= lanes {
		x, y := (*[lanes]float64)(a), (*[lanes]float64)(b)
		s0 += float64(x[0] * y[0])
		s1 += float64(x[1] * y[1])
		s2 += float64(x[2] * y[2])
		s3 += float64(x[3] * y[3])
		s4 += float64(x[4] * y[4])
		s5 += float64(x[5] * y[5])
		s6 += float64(x[6] * y[6])
		s7 += float64(x[7] * y[7])
		a, b = a[lanes:], b[lanes:]
	}
	return s0 + s1 + (s2 + s3) + (s4 + s5 + (s6 + s7))
}

// moveAndDot adds f*x to a and returns a.b, as [axpy] and then [dotLanes] do, in one go.
func moveAndDot(f float64, x, a, b []float64) float64 {
	x, b = x[:len(a)], b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float64
	for len(a) >= lanes && len(b) >= lanes && len(x) >= lanes {
		m, w, y := (*[lanes]float64)(x), (*[lanes]float64)(a), (*[lanes]float64)(b)
		w0, w1, w2, w3 := w[0]+float64(f*m[0]), w[1]+float64(f*m[1]), w[2]+float64(f*m[2]), w[3]+float64(f*m[3])
		w4, w5, w6, w7 := w[4]+float64(f*m[4]), w[5]+float64(f*m[5]), w[6]+float64(f*m[6]), w[7]+float64(f*m[7])
		w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7] = w0, w1, w2, w3, w4, w5, w6, w7
		s0 += float64(w0 * y[0])
		s1 += float64(w1 * y[1])
		s2 += float64(w2 * y[2])
		s3 += float64(w3 * y[3])
		s4 += float64(w4 * y[4])
		s5 += float64(w5 * y[5])
		s6 += float64(w6 * y[6])
		s7 += float64(w7 * y[7])
		a, b, x = a[lanes:], b[lanes:], x[lanes:]
	}
	return s0 + s1 + (s2 + s3) + (s4 + s5 + (s6 + s7))
}

// axpy adds f*x to y.
func axpy(f float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += float64(f * v)
	}
}

// shuffle puts order into a random one. An index is the upper half of a product
// of 32 bits, which favours some of n by n/2^32: nothing where nothing is secret.
func shuffle(rng *rand.Rand, order []int32) {
	for i := len(order) - 1; i > 0; i-- {
		j := uint64(rng.Uint32()) * uint64(i+1) >> 32
		order[i], order[j] = order[j], order[i]
	}
}

// String names the learner, for tables of results.
func (o SVM) String() string {
	if d, err := o.withDefaults(); err == nil {
		o = d
	}
	return fmt.Sprintf("linear SVM (C = %g)", o.C)
}
