package ratio

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren/internal/randtest"
)

func TestBoundsOfFixtures(t *testing.T) {
	randtest.SkipShort(t)
	for _, f := range readGolden(t).Fixtures {
		k, err := NewKernel(pointsOf(f.Centres), f.Sigma)
		if err != nil {
			t.Fatal(err)
		}
		near(t, f.Name+": theorem 1, kappa 1", largestRow(k, 2*k.Sigma), f.Kappa1Up, 1e-12)
		near(t, f.Name+": theorem 1, kappa 2 squared", largestRow(k, math.Sqrt2*k.Sigma), f.Kappa2Up, 1e-12)
		b := k.Bounds()
		if f.Kappa1 != nil {
			// The golden figure is itself an upper bound, to 1e-9.
			near(t, f.Name+": kappa 1", b.Kappa1, *f.Kappa1, 1e-9)
			phi := make([]float64, k.Size())
			for i := range 400_001 {
				k.Phi(phi, []float64{-1 + 4*float64(i)/400_000})
				if s := dot(phi, ones(len(phi))); b.Kappa1 < s {
					t.Fatalf("%s: kappa 1 is below a value that is reached", f.Name)
				}
			}
		}
		if f.ReplaceL1 != nil && (b.Replace1 < f.ReplaceL1.GridMax || b.Replace1 > f.ReplaceL1.Certified) {
			t.Errorf("%s: replace-one L1 %g is not between %g, which is reached, and %g", f.Name, b.Replace1, f.ReplaceL1.GridMax,
				f.ReplaceL1.Certified)
		}
	}
}

// No pair of records passes the bounds, wherever they lie; and the bounds are not
// idle: some come near.
func TestBoundsHold(t *testing.T) {
	randtest.SkipShort(t)
	rng := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{1, 2, 3, 7} {
		for _, b := range []int{1, 2, 12, 30} {
			k, err := NewKernel(gaussian(uint64(10*d+b), b, d, 0, 1), 0.3+rng.Float64())
			if err != nil {
				t.Fatal(err)
			}
			bounds := k.Bounds()
			u, v := make([]float64, b), make([]float64, b)
			best := 0.0
			for range 4000 {
				x, y := make([]float64, d), make([]float64, d)
				for j := range x {
					c := k.Centres.Row(rng.IntN(b))[j]
					x[j], y[j] = c+0.3*rng.NormFloat64(), 4*rng.NormFloat64()
				}
				k.Phi(u, x)
				k.Phi(v, y)
				var u1, d1, d2 float64
				for l := range u {
					u1 += u[l]
					d1 += math.Abs(u[l] - v[l])
					d2 += (u[l] - v[l]) * (u[l] - v[l])
				}
				best = max(best, u1/bounds.Kappa1)
				if u1 > bounds.Kappa1 || dot(u, u) > bounds.Kappa2*bounds.Kappa2 || d1 > bounds.Replace1 || math.Sqrt(d2) > bounds.Replace2 {
					t.Fatalf("d %d, b %d: a pair passes the bounds", d, b)
				}
			}
			if d <= 2 && best < 0.8 {
				t.Errorf("d %d, b %d: kappa 1 is loose: %g of it was reached", d, b, best)
			}
		}
	}
}

// Theorem 2: |L^-1 (phi(x) - phi(x'))|^2 <= 2 - 2 K(x, x'), and |L^-1 phi(x)| <= 1.
func TestMahalanobis(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	worst := 0.0
	for _, d := range []int{1, 2, 5} {
		for _, b := range []int{1, 3, 12, 40} {
			k, err := NewKernel(gaussian(uint64(d+b), b, d, 0, 1), 0.3+0.7*rng.Float64())
			if err != nil {
				t.Fatal(err)
			}
			l, _, err := k.root()
			if err != nil {
				t.Fatal(err)
			}
			u, v := make([]float64, b), make([]float64, b)
			for range 500 {
				x, y := make([]float64, d), make([]float64, d)
				at, other := rng.IntN(b), rng.IntN(b)
				for j := range x {
					x[j] = k.Centres.Row(at)[j] + 0.1*rng.NormFloat64()
					y[j] = k.Centres.Row(other)[j] + float64(rng.IntN(2))*9
				}
				k.Phi(u, x)
				k.Phi(v, y)
				pair := 0.0
				for j := range x {
					pair += (x[j] - y[j]) * (x[j] - y[j])
				}
				pair = math.Exp(-pair / (2 * k.Sigma * k.Sigma))
				diff := mat.NewVecDense(b, nil)
				diff.SubVec(mat.NewVecDense(b, u), mat.NewVecDense(b, v))
				var z mat.VecDense
				if err := z.SolveVec(l, diff); err != nil {
					if _, ok := err.(mat.Condition); !ok {
						t.Fatal(err)
					}
				}
				m := mat.Dot(&z, &z)
				worst = max(worst, m)
				if m > 2-2*pair+1e-6 {
					t.Fatalf("d %d, b %d: %g above %g", d, b, m, 2-2*pair)
				}
				if err := z.SolveVec(l, mat.NewVecDense(b, u)); err == nil && mat.Dot(&z, &z) > 1+1e-6 {
					t.Fatalf("one record: %g", mat.Dot(&z, &z))
				}
			}
		}
	}
	if worst < 1.9 {
		t.Errorf("the bound of 2 is loose: %g was reached", worst)
	}
}
