package ratio

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Hill's estimate of a Pareto tail is its index, and that of values with a bound is near 0.
func TestHill(t *testing.T) {
	const n = 100_000
	for _, index := range []float64{0.25, 0.5, 1} {
		sorted := make([]float64, n)
		for k := range sorted {
			sorted[k] = math.Pow(1-(float64(k)+0.5)/n, -index)
		}
		if got := hill(sorted, n/20); math.Abs(got-index) > 0.01 {
			t.Errorf("index %g: %g", index, got)
		}
	}
	sorted := make([]float64, n)
	for k := range sorted {
		sorted[k] = 1 + float64(k)/n
	}
	if got := hill(sorted, n/20); got > bounded/2 {
		t.Errorf("values with a bound: %g", got)
	}
	for _, few := range [][]float64{nil, {1}, {0, 0, 1}} {
		if got := hill(few, 2); got != 0 {
			t.Errorf("%v: %g", few, got)
		}
	}
}

// The columns are of mean 0, variance 1 and covariance 0, and those that others tell are left
// out.
func TestIndependent(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	const n = 200
	z, more := mat.NewDense(n, 4, nil), make([]float64, n)
	for k := range n {
		x, y := r.Float64(), r.NormFloat64()
		z.SetRow(k, []float64{x, y, 3*x - 2*y + 7, 5}) // the last two say nothing new
		more[k] = x * y
	}
	out := independent(z, more)
	if _, q := out.Dims(); q != 3 {
		t.Fatalf("%d columns, want 3", q)
	}
	var g mat.Dense
	g.Mul(out.T(), out)
	for i := range 3 {
		for j := range 3 {
			want := 0.0
			if i == j {
				want = n
			}
			if math.Abs(g.At(i, j)-want) > 1e-6 {
				t.Errorf("%d, %d: %g, want %g", i, j, g.At(i, j), want)
			}
		}
	}
	if independent(mat.NewDense(n, 1, nil), make([]float64, n)) != nil {
		t.Error("columns of one value are kept")
	}
}

// The part of the edge replaces a smaller public part, leaves the others, and enlarges the
// standard error by no more than its bound.
func TestWithEdge(t *testing.T) {
	p := Parts{Public: 3, Privacy: 1, Private: 1, Model: 2}
	if got := p.withEdge(2, 2); got != p {
		t.Errorf("a smaller edge: %+v", got)
	}
	if got := p.withEdge(5, 2); got != (Parts{Public: 5, Privacy: 1, Private: 1, Model: 2}) {
		t.Errorf("a larger edge: %+v", got)
	}
	if got := p.withEdge(math.Inf(1), 2).total(); math.Abs(got-mostEdge*p.total()) > 1e-12 {
		t.Errorf("no bound: %g, want %g", got, mostEdge*p.total())
	}
}
