package ratio

import (
	"context"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/internal/randtest"
	"github.com/noren-privacy/noren/noise"
)

// The hardest neighbours there are: two centres that know nothing of each other, and one
// record that moves from one to the other, which reaches the bound of theorem 2. The
// attack sees the likelihood ratio, the best of all statistics.
func TestEmpiricalEpsilon(t *testing.T) {
	randtest.SkipShort(t)
	testEmpiricalEpsilon(t, []hardest{
		{RKHSPure, milli(1000), account.ReplaceOne, 100, 0.7},
		{RKHSGaussian, account.Cost{Epsilon: account.EpsilonUnits, Delta: account.DeltaUnits / 100}, account.ReplaceOne, 100, 0.6},
	})
}

// TestLongEmpiricalEpsilon attacks the other relations, and parametric weights.
func TestLongEmpiricalEpsilon(t *testing.T) {
	randtest.Long(t)
	testEmpiricalEpsilon(t, []hardest{
		{RKHSPure, milli(1000), account.AddRemove, 1e9, 0.7},
		{Laplace, milli(1000), account.AddRemove, 1e9, 0.7},
		{Laplace, milli(1000), account.ReplaceOne, 100, 0.7},
		{Parametric, milli(1000), account.ReplaceOne, 100, 0.7},
	})
}

// hardest is a mechanism and the neighbours that tell most of a record.
type hardest struct {
	noise Noise
	cost  account.Cost
	n     account.Neighbours
	other float64 // where the record goes: to the other centre, or away from both
	least float64 // what an attack must find, or it is no test
}

func testEmpiricalEpsilon(t *testing.T, cases []hardest) {
	k, err := NewKernel(&Points{Rows: 2, Dim: 1, Data: []float64{0, 100}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	sums := func(x float64) [][]*big.Int {
		s, err := k.Sum(context.Background(), &Points{Rows: 1, Dim: 1, Data: []float64{x}})
		if err != nil {
			t.Fatal(err)
		}
		return [][]*big.Int{s}
	}
	root, _, err := k.root()
	if err != nil {
		t.Fatal(err)
	}
	norm := func(y []float64, one bool) float64 {
		if one {
			return math.Abs(y[0]) + math.Abs(y[1])
		}
		var v mat.VecDense
		if err := v.SolveVec(root, mat.NewVecDense(2, y)); err != nil {
			return math.NaN()
		}
		return mat.Norm(&v, 2)
	}
	for _, c := range cases {
		dist, err := newDistribution([]*Kernel{k}, c.noise, c.cost, c.n)
		if err != nil {
			t.Fatal(err)
		}
		ask := func(dist *Distribution, x float64) randtest.Mechanism {
			s := sums(x)
			a, b := fixedMean(sums(0)[0], 1), fixedMean(sums(c.other)[0], 1)
			return func(src *noise.Source) (int64, error) {
				y, err := dist.draw(src, []*Kernel{k}, s)
				if err != nil {
					return 0, err
				}
				to := func(h []float64) float64 {
					v := norm([]float64{y[0][0] - h[0], y[0][1] - h[1]}, c.noise == Laplace || c.noise == Parametric)
					if c.noise == RKHSGaussian {
						return v * v
					}
					return v
				}
				return int64(math.Round(100 * (to(b) - to(a)))), nil
			}
		}
		audit := randtest.Audit{Runs: 40_000, Seed: 4}
		audit.Delta = float64(c.cost.Delta) / account.DeltaUnits
		b, err := randtest.EpsilonLowerBound(context.Background(), audit, ask(dist, 0), ask(dist, c.other))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s %s: epsilon >= %.3f", c.noise, c.n, b.Epsilon)
		if b.Epsilon > 1 || b.Epsilon < c.least {
			t.Errorf("%s %s: the attack finds epsilon >= %g by %s", c.noise, c.n, b.Epsilon, b.Event)
		}
		half := *dist
		half.Scale /= 2
		if dist.exact != nil {
			half.exact = new(big.Rat).Mul(dist.exact, big.NewRat(1, 2))
		}
		if b, err = randtest.EpsilonLowerBound(context.Background(), audit, ask(&half, 0), ask(&half, c.other)); err != nil || b.Epsilon <= 1 {
			t.Errorf("%s %s: half of the noise passes: %g, %v", c.noise, c.n, b.Epsilon, err)
		}
	}
}
