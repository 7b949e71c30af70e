package ratio_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table/axis"
)

// BenchmarkAgainstNumpy times python/ulsif.py and package ratio on data of one size
// in one run, and reports how many times longer numpy takes. NOREN_PYTHON names a
// Python that has numpy; by default it is python3.
func BenchmarkAgainstNumpy(b *testing.B) {
	python := os.Getenv("NOREN_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import numpy; numpy.exp(0)").Run(); err != nil {
		b.Skipf("%s has no numpy: NOREN_PYTHON names one that has", python)
	}
	ctx := context.Background()
	draw := func(n, d int, mean, sd float64) *ratio.Points {
		rng := rand.New(rand.NewPCG(1, uint64(n+d)))
		p := axis.NewPoints[float64](n, d)
		for i := range p.Data {
			p.Data[i] = mean + sd*rng.NormFloat64()
		}
		return p
	}
	for _, c := range []struct {
		name string
		work func(b *testing.B) func() error
	}{
		{"loocv", func(b *testing.B) func() error {
			x, e, centres := draw(2000, 2, 0.5, 0.7), draw(2000, 2, 0, 1), draw(100, 2, 0, 1)
			return func() error {
				for _, sigma := range []float64{0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3} {
					k, err := ratio.NewKernel(centres, sigma)
					if err != nil {
						return err
					}
					if _, err := ratio.LOOCV(ctx, k, x, e, []float64{1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1, 3, 10}); err != nil {
						return err
					}
				}
				return nil
			}
		}},
		{"fit", func(b *testing.B) func() error {
			if testing.Short() {
				b.Skip("a million records")
			}
			x, e := draw(1_000_000, 10, 0.3, 0.8), draw(10_000, 10, 0, 1)
			return func() error {
				m, err := ratio.New(ctx, ratio.Options{Public: e, Centres: 100, Cost: account.Cost{Epsilon: account.EpsilonUnits}})
				if err != nil {
					return err
				}
				r, err := m.Release(ctx, x, noise.NewSource())
				if err != nil {
					return err
				}
				_, err = m.Weights(ctx, r)
				return err
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			work := c.work(b)
			var ours, numpys time.Duration
			for b.Loop() {
				start := time.Now()
				if err := work(); err != nil {
					b.Fatal(err)
				}
				ours += time.Since(start)
				out, err := exec.Command(python, filepath.Join("python", "ulsif.py"), c.name).Output()
				if err != nil {
					b.Fatal(err)
				}
				seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
				if err != nil {
					b.Fatal(err)
				}
				numpys += time.Duration(seconds * float64(time.Second))
			}
			b.ReportMetric(ours.Seconds()/float64(b.N), "ours-s")
			b.ReportMetric(numpys.Seconds()/float64(b.N), "numpy-s")
			b.ReportMetric(numpys.Seconds()/ours.Seconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}
