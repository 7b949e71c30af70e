package ratio

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// clipped is the positive part of alpha, as in the paper.
func clipped(alpha []float64) []float64 {
	out := make([]float64, len(alpha))
	for l, v := range alpha {
		out[l] = max(0, v)
	}
	return out
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// NNLS returns the alpha >= 0 that minimises alpha^T (H + lambda I) alpha / 2 -
// h^T alpha, b numbers: the active set method of Lawson and Hanson (1974, chapter
// 23) on the normal equations, which are given here. The quadratic is strictly
// convex, so that there is one solution, and each round lowers it: the method ends.
// Error: [noren.Usage].
func (f *Features) NNLS(h []float64, lambda float64) ([]float64, error) {
	b := f.Kernel.Size()
	if len(h) != b {
		return nil, noren.Usagef("h", "one mean for each centre is needed")
	}
	if _, err := f.ridge(lambda); err != nil {
		return nil, err
	}
	alpha, free := make([]float64, b), make([]bool, b)
	largest := 0.0
	for _, v := range h {
		largest = max(largest, math.Abs(v))
	}
	tolerance := 1e-14 * largest * float64(b)
	for range 10 * b {
		best, at := tolerance, -1
		for l := range b {
			if free[l] {
				continue
			}
			g := h[l] - lambda*alpha[l]
			for m, a := range alpha {
				g -= f.H.At(l, m) * a
			}
			if g > best {
				best, at = g, l
			}
		}
		if at < 0 {
			break
		}
		free[at] = true
		for {
			z, err := f.solveFree(h, lambda, free)
			if err != nil {
				return nil, err
			}
			step := 1.0
			for l, on := range free {
				switch {
				case !on || z[l] > 0:
				case alpha[l] > z[l]:
					step = min(step, alpha[l]/(alpha[l]-z[l]))
				default:
					step = 0
				}
			}
			if step == 1 {
				alpha = z
				break
			}
			held := false
			for l, on := range free {
				if !on {
					continue
				}
				alpha[l] += step * (z[l] - alpha[l])
				if z[l] <= 0 && alpha[l] <= 1e-15*largest {
					alpha[l], free[l], held = 0, false, true
				}
			}
			if !held {
				break
			}
		}
	}
	return alpha, nil
}

// solveFree solves for the free coordinates with the others held at 0.
func (f *Features) solveFree(h []float64, lambda float64, free []bool) ([]float64, error) {
	var at []int
	for l, on := range free {
		if on {
			at = append(at, l)
		}
	}
	a, r := mat.NewSymDense(len(at), nil), make([]float64, len(at))
	for i, l := range at {
		r[i] = h[l]
		for j := i; j < len(at); j++ {
			a.SetSym(i, j, f.H.At(l, at[j]))
		}
		a.SetSym(i, i, f.H.At(l, l)+lambda)
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return nil, broken("NNLS", "the linear system could not be solved")
	}
	x, err := solve(&c, r)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(free))
	for i, l := range at {
		out[l] = x[i]
	}
	return out, nil
}
