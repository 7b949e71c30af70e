package ratio

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren/table/axis"
)

// fixture is a case of testdata/golden.json: an independent implementation
// (Python), which refitted every left-out pair for its loocv_brute.
type fixture struct {
	Name      string      `json:"name"`
	X         [][]float64 `json:"x"`
	E         [][]float64 `json:"e"`
	Centres   [][]float64 `json:"centres"`
	Sigma     float64     `json:"sigma"`
	H         [][]float64 `json:"H"`
	Mean      []float64   `json:"h"`
	Kappa1Up  float64     `json:"kappa1_upper"`
	Kappa2Up  float64     `json:"kappa2sq_upper"`
	Kappa1    *float64    `json:"kappa1_exact"`
	ReplaceL1 *struct {
		GridMax   float64 `json:"grid_max"`
		Certified float64 `json:"certified"`
	} `json:"replace_L1"`
	ByLambda []struct {
		Lambda    float64   `json:"lam"`
		Raw       []float64 `json:"alpha_raw"`
		Alpha     []float64 `json:"alpha"`
		W         []float64 `json:"w_e"`
		LOOCV     float64   `json:"loocv_brute"`
		Variant   float64   `json:"loocv_densratio_variant"`
		NNLS      []float64 `json:"alpha_nnls"`
		Objective float64   `json:"objective_nnls"`
	} `json:"by_lambda"`
}

type golden struct {
	Fixtures []fixture `json:"fixtures"`
	Gauss    []struct {
		Epsilon, Sigma float64
		Delta          float64
	} `json:"gauss"`
	Amplification []struct {
		Epsilon float64 `json:"eps"`
		B       int     `json:"b"`
		N       int     `json:"n"`
		Inner   float64 `json:"eps_inner"`
	} `json:"amplification"`
}

func readGolden(t testing.TB) *golden {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	return &g
}

func pointsOf(rows [][]float64) *Points {
	p := axis.NewPoints[float64](len(rows), len(rows[0]))
	for i, r := range rows {
		copy(p.Row(i), r)
	}
	return p
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s: got %.15g, want %.15g", what, got, want)
	}
}

func TestFixtures(t *testing.T) {
	ctx := context.Background()
	for _, f := range readGolden(t).Fixtures {
		t.Run(f.Name, func(t *testing.T) {
			k, err := NewKernel(pointsOf(f.Centres), f.Sigma)
			if err != nil {
				t.Fatal(err)
			}
			x, e := pointsOf(f.X), pointsOf(f.E)
			h, err := k.Mean(ctx, x)
			if err != nil {
				t.Fatal(err)
			}
			fe, err := NewFeatures(ctx, k, e)
			if err != nil {
				t.Fatal(err)
			}
			for i := range h {
				near(t, "h", h[i], f.Mean[i], 1e-14)
				for j := range h {
					near(t, "H", fe.H.At(i, j), f.H[i][j], 1e-14)
				}
			}
			var lambdas []float64
			for _, c := range f.ByLambda {
				lambdas = append(lambdas, c.Lambda)
				raw, err := fe.Solve(h, c.Lambda)
				if err != nil {
					t.Fatal(err)
				}
				alpha := clipped(raw)
				w := fe.At(alpha)
				for l := range raw {
					near(t, "alpha~", raw[l], c.Raw[l], 1e-10)
					near(t, "alpha", alpha[l], c.Alpha[l], 1e-10)
				}
				for i := range w {
					near(t, "w", w[i], c.W[i], 1e-10)
				}
				nn, err := fe.NNLS(h, c.Lambda)
				if err != nil {
					t.Fatal(err)
				}
				for l := range nn {
					near(t, "nnls", nn[l], c.NNLS[l], 1e-10)
				}
				near(t, "nnls objective", fe.objective(nn, h, c.Lambda), c.Objective, 1e-10)
			}
			scores, err := LOOCV(ctx, k, x, e, lambdas)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range f.ByLambda {
				near(t, "LOOCV", scores[i], c.LOOCV, 1e-10)
				if math.Abs(scores[i]-c.Variant) < 1e-3 {
					t.Errorf("lambda %g: the score is that of the widely copied formula", c.Lambda)
				}
			}
		})
	}
}

// The score is that of fitting again without each pair.
func TestLOOCVIsRefitting(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(6) {
		x, e := gaussian(seed, 9+int(seed), 2, 0.5, 0.6), gaussian(100+seed, 12-int(seed), 2, 0, 1)
		k, err := NewKernel(gaussian(7+seed, 5, 2, 0, 1), 0.8)
		if err != nil {
			t.Fatal(err)
		}
		lambdas := []float64{1e-3, 0.1, 2}
		scores, err := LOOCV(ctx, k, x, e, lambdas)
		if err != nil {
			t.Fatal(err)
		}
		for li, lambda := range lambdas {
			m, want := min(x.Rows, e.Rows), 0.0
			for i := range m {
				h, err := k.Mean(ctx, without(x, i))
				if err != nil {
					t.Fatal(err)
				}
				fe, err := NewFeatures(ctx, k, without(e, i))
				if err != nil {
					t.Fatal(err)
				}
				raw, err := fe.Solve(h, lambda)
				if err != nil {
					t.Fatal(err)
				}
				a := clipped(raw)
				px, pe := make([]float64, 5), make([]float64, 5)
				k.Phi(px, x.Row(i))
				k.Phi(pe, e.Row(i))
				we := dot(pe, a)
				want += (we*we/2 - dot(px, a)) / float64(m)
			}
			near(t, "LOOCV", scores[li], want, 1e-10)
		}
	}
}

func without(p *Points, i int) *Points {
	q := axis.NewPoints[float64](p.Rows-1, p.Dim)
	copy(q.Data, p.Data[:i*p.Dim])
	copy(q.Data[i*p.Dim:], p.Data[(i+1)*p.Dim:])
	return q
}

// objective is alpha^T (H + lambda I) alpha / 2 - h^T alpha.
func (f *Features) objective(alpha, h []float64, lambda float64) float64 {
	a := mat.NewVecDense(len(alpha), alpha)
	return mat.Inner(a, f.H, a)/2 + lambda*dot(alpha, alpha)/2 - dot(h, alpha)
}
