package correlated

import (
	"context"
	"testing"

	"github.com/noren-privacy/noren/internal/randtest"
)

// namedChain100 are the chains of the golden file's comparison.
func namedChain100(t testing.TB, name string, n int) *Chain {
	t.Helper()
	sym := func(s float64) ([]float64, [][]float64) {
		return []float64{.5, .5}, [][]float64{{s, 1 - s}, {1 - s, s}}
	}
	var init []float64
	var p [][]float64
	switch name {
	case "sym stay=0.9":
		init, p = sym(.9)
	case "sym stay=0.8":
		init, p = sym(.8)
	case "sym stay=0.7":
		init, p = sym(.7)
	case "sym stay=0.6":
		init, p = sym(.6)
	case "sym stay=0.4":
		init, p = sym(.4)
	case "sym stay=0.2":
		init, p = sym(.2)
	case "theta1 [.9 .1;.4 .6] init(1,0)":
		init, p = []float64{1, 0}, [][]float64{{.9, .1}, {.4, .6}}
	case "theta1 stationary":
		init, p = []float64{.8, .2}, [][]float64{{.9, .1}, {.4, .6}}
	case "theta2 [.8 .2;.3 .7] init(.9,.1)":
		init, p = []float64{.9, .1}, [][]float64{{.8, .2}, {.3, .7}}
	case "theta2 stationary":
		init, p = []float64{.6, .4}, [][]float64{{.8, .2}, {.3, .7}}
	default:
		t.Fatalf("no chain %q", name)
	}
	c, err := NewHomogeneousChain(init, p, n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The prototype stopped its bisection at a relative width of 1e-6.
const chain100Tolerance = 2e-6

func TestGoldenChain100(t *testing.T) {
	randtest.SkipShort(t)
	testChain100(t, 3)
}

func TestLongGoldenChain100(t *testing.T) {
	randtest.Long(t)
	testChain100(t, 1)
}

// testChain100 checks one figure in share.
func testChain100(t *testing.T, share int) {
	ctx := context.Background()
	for i, row := range golden(t).Chain100 {
		if i%share != 0 {
			continue
		}
		c := namedChain100(t, row.Name, row.N)
		for _, v := range []struct {
			name string
			o    LeakageOptions
			want float64
		}{
			{"all", LeakageOptions{Method: Exact}, row.All},
			{"empty", LeakageOptions{Method: Exact, Adversaries: EmptyAdversaries()}, row.Empty},
			{"tanh", LeakageOptions{Method: Tanh}, row.Tanh},
		} {
			k, err := Calibrate(ctx, c, Count(1), row.Eps, v.o)
			if err != nil {
				t.Fatal(err)
			}
			if !closeTo(k.Scale, v.want, chain100Tolerance) {
				t.Errorf("%s, eps=%g, %s: b=%.10g, want %.10g", row.Name, row.Eps, v.name, k.Scale, v.want)
			}
		}
	}
}

func BenchmarkLeakageChain100(b *testing.B) {
	c := namedChain100(b, "sym stay=0.9", 100)
	for b.Loop() {
		if _, err := ComputeLeakage(context.Background(), c, Count(1), 8.65, LeakageOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCalibrateChain100(b *testing.B) {
	c := namedChain100(b, "sym stay=0.9", 100)
	for b.Loop() {
		k, err := Calibrate(context.Background(), c, Count(1), 1, LeakageOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(k.Evaluations), "evaluations")
	}
}

func BenchmarkQuiltedChain10000(b *testing.B) {
	c := namedChain100(b, "sym stay=0.9", 10000)
	for b.Loop() {
		k, err := Calibrate(context.Background(), c, Count(1), 1, LeakageOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if k.Leakage.Method != Quilt || k.Leakage.Upper-k.Leakage.Lower > 0.01*k.Leakage.Upper {
			b.Fatalf("%+v", k.Leakage)
		}
	}
}

// BenchmarkTanhTree calibrates by the tanh rule for a tree of a million records.
func BenchmarkTanhTree(b *testing.B) {
	n := 1_000_000
	parent := make([]int, n)
	cpt := make([][][]float64, n)
	k := [][]float64{{.95, .05}, {.4, .6}}
	parent[0] = -1
	state := uint64(1)
	for i := 1; i < n; i++ {
		state = hashWord(state, uint64(i))
		parent[i] = max(0, i-1-int(state%100))
		cpt[i] = k
	}
	t, err := NewTree(parent, []float64{.9, .1}, cpt)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Calibrate(context.Background(), t, Count(1), 1, LeakageOptions{Method: Tanh}); err != nil {
			b.Fatal(err)
		}
	}
}
