package ratio

import (
	"math/rand/v2"

	"github.com/noren-privacy/noren/table/axis"
)

// gaussian is n points of R^d about (mean, ..., mean).
func gaussian(seed uint64, n, d int, mean, sd float64) *Points {
	rng := rand.New(rand.NewPCG(seed, 77))
	p := axis.NewPoints[float64](n, d)
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
