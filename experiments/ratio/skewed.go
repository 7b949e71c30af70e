package ratio

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// outcomes is a setting of one column, public N(0, 1) and private N(mean, sd^2), whose y
// given the column is of a distribution with a long side.
func outcomes(name string, mean, sd float64, y func(rng *rand.Rand, x float64) float64) *CoverageSetting {
	return &CoverageSetting{Name: name, dim: 1, draw: func(rng *rand.Rand, private bool, x []float64) float64 {
		x[0] = rng.NormFloat64()
		if private {
			x[0] = mean + sd*x[0]
		}
		return y(rng, x[0])
	}}
}

// skewed are outcomes such as incomes and costs. Near the public records (private as in
// normal d=1) the largest parts of the answer are among them; further off most are not.
func skewed() []*CoverageSetting {
	logNormal := func(rng *rand.Rand, x float64) float64 { return math.Exp(1.5*x + 0.5*rng.NormFloat64()) }
	gamma := func(rng *rand.Rand, x float64) float64 { return math.Exp(x) * (rng.ExpFloat64() + rng.ExpFloat64()) }
	pareto := func(rng *rand.Rand, x float64) float64 { return math.Exp(x) * math.Pow(1-rng.Float64(), -1/2.5) }
	return []*CoverageSetting{
		outcomes("log-normal", 0.5, 0.8, logNormal), outcomes("gamma", 0.5, 0.8, gamma), outcomes("Pareto", 0.5, 0.8, pareto),
		outcomes("log-normal far", 1, 1, logNormal), outcomes("Pareto far", 1, 1, pareto),
	}
}

// interaction is the setting of d uniform columns whose y is 1 where an odd number of them is
// above .5: so are 3 of 4 private records and half of the public ones.
func interaction(d int) *CoverageSetting {
	return &CoverageSetting{Name: fmt.Sprintf("interaction of %d", d), dim: d, draw: func(rng *rand.Rand, private bool, x []float64) float64 {
		for {
			odd := false
			for j := range x {
				x[j] = rng.Float64()
				odd = odd != (x[j] > 0.5)
			}
			// Of private records with an even number one of three stays.
			if !private || odd || rng.IntN(3) == 0 {
				return share(odd)
			}
		}
	}}
}

// product is the setting of two normal columns, unrelated in the public table and of the
// correlation .7 in the private one, whose y is their product; with a third column that is
// the product where column is set.
func product(column bool) *CoverageSetting {
	s := &CoverageSetting{Name: "product of 2", dim: 2}
	if column {
		s.Name, s.dim = "product as a column", 3
	}
	s.draw = func(rng *rand.Rand, private bool, x []float64) float64 {
		x[0], x[1] = rng.NormFloat64(), rng.NormFloat64()
		if private {
			x[1] = 0.7*x[0] + math.Sqrt(1-0.7*0.7)*x[1]
		}
		y := x[0] * x[1]
		if column {
			x[2] = y
		}
		return y
	}
	return s
}
