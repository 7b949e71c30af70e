package ratio

import "math/rand/v2"

// gaussian is n points of R^d about (mean, ..., mean).
func gaussian(seed uint64, n, d int, mean, sd float64) *Points {
	rng := rand.New(rand.NewPCG(seed, 77))
	p := NewPoints(n, d)
	for i := range p.Data {
		p.Data[i] = mean + sd*rng.NormFloat64()
	}
	return p
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}
