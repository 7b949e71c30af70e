package ratio

import (
	"context"
	"math"
	"math/rand/v2"

	core "github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table/axis"
)

// The paper's methods as they are written, with the choices that it leaves open:
// b = 100 centres from D for A and C, the 50 public records for B, and sigma and
// lambda by leave-one-out over 81 pairs, on the private records and without any
// account of it. None of this is private as claimed.

// paperCentres is b for centres from D.
const paperCentres = 100

// chosen is a pair that leave-one-out prefers.
type chosen struct {
	centres       *core.Points
	sigma, lambda float64
}

// tenths are powers of 10 from first, step by step in the exponent.
func tenths(first, step float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Pow(10, first+step*float64(i))
	}
	return out
}

// choose finds sigma in 10^-1 .. 10 and lambda in 10^-3 .. 10, nine each, with the least
// exact leave-one-out score.
func choose(ctx context.Context, centres *core.Points, s *sample) (chosen, error) {
	best, at := math.Inf(1), chosen{centres: centres}
	lambdas := tenths(-3, 0.5, 9)
	for _, sigma := range tenths(-1, 0.25, 9) {
		k, err := core.NewKernel(centres, sigma)
		if err != nil {
			return at, err
		}
		scores, err := core.LOOCV(ctx, k, s.private, s.public, lambdas)
		if err != nil {
			return at, err
		}
		for i, v := range scores {
			if v < best {
				best, at.sigma, at.lambda = v, sigma, lambdas[i]
			}
		}
	}
	return at, nil
}

// sampleOf draws b of the points without replacement.
func sampleOf(rng *rand.Rand, p *core.Points, b int) *core.Points {
	out := axis.NewPoints[float64](b, p.Dim)
	for l, i := range rng.Perm(p.Rows)[:b] {
		copy(out.Row(l), p.Row(i))
	}
	return out
}

func laplace(rng *rand.Rand, scale float64) float64 {
	return scale * (rng.ExpFloat64() - rng.ExpFloat64())
}

// uLSIF is the non-private fit with the positive part on alpha, after noise of a scale
// in every mean.
func uLSIF(ctx context.Context, c chosen, s *sample, rng *rand.Rand, scale float64) (*fitted, error) {
	k, err := core.NewKernel(c.centres, c.sigma)
	if err != nil {
		return nil, err
	}
	f, err := core.NewFeatures(ctx, k, s.public)
	if err != nil {
		return nil, err
	}
	h, err := k.Mean(ctx, s.private)
	if err != nil {
		return nil, err
	}
	if scale > 0 {
		for l := range h {
			h[l] += laplace(rng, scale)
		}
	}
	alpha, err := f.Solve(h, c.lambda)
	if err != nil {
		return nil, err
	}
	for l, a := range alpha {
		alpha[l] = max(0, a)
	}
	return &fitted{weights: f.At(alpha), at: curveOf(k, alpha), sigma: c.sigma}, nil
}

// curveOf is max(0, phi(x).alpha).
func curveOf(k *core.Kernel, alpha []float64) func(*core.Points) ([]float64, error) {
	return func(x *core.Points) ([]float64, error) {
		out, phi := make([]float64, x.Rows), make([]float64, k.Size())
		for i := range out {
			k.Phi(phi, x.Row(i))
			for l, a := range alpha {
				out[i] += a * phi[l]
			}
			out[i] = max(0, out[i])
		}
		return out, nil
	}
}

// writtenA is method A as the paper has it: epsilon for the centres, amplified, and the
// same epsilon again for h. It costs 2 epsilon.
func writtenA(ctx context.Context, c chosen, s *sample, rng *rand.Rand, epsilon float64) (*fitted, error) {
	n, b := float64(s.private.Rows), float64(c.centres.Rows)
	inner := math.Log1p(n / b * math.Expm1(epsilon))
	noisy := chosen{centres: axis.NewPoints[float64](c.centres.Rows, c.centres.Dim), sigma: c.sigma, lambda: c.lambda}
	for i, v := range c.centres.Data {
		noisy.centres.Data[i] = v + laplace(rng, (boxHigh-boxLow)/inner)
	}
	return uLSIF(ctx, noisy, s, rng, b/(n*epsilon))
}

// writtenC is method C: private records as centres, and noise on h.
func writtenC(ctx context.Context, c chosen, s *sample, rng *rand.Rand, epsilon float64) (*fitted, error) {
	return uLSIF(ctx, c, s, rng, float64(c.centres.Rows)/(float64(s.private.Rows)*epsilon))
}
