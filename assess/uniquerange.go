package assess

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/noren-privacy/noren"
)

// ShareRange is a range of shares of unique records in the population.
type ShareRange struct {
	// Low is the lower end.
	Low float64 `json:"low"`
	// High is the upper end.
	High float64 `json:"high"`
}

// bootstraps is the number of resamples of a model's interval.
const bootstraps = 100

// decided is the factor within which the bounds must lie about the range of the models
// for it to be more than an order of magnitude.
const decided = 1.5

// model is an estimator and where its estimate belongs.
type model struct {
	name string
	e    *Estimate
	fit  func(*sample) Estimate
}

func (u *Uniqueness) models() []model {
	return []model{
		{ModelPitman, &u.Pitman, (*sample).pitman},
		{ModelSNB, &u.SNB, (*sample).snb},
		{ModelZayatz, &u.Zayatz, (*sample).zayatzThatFits},
	}
}

// judged is an estimate if it lies within the bounds, to a part in a thousand: then the end
// of the bounds takes its place.
func (r ShareRange) judged(e Estimate) Estimate {
	if e.Share != nil && (*e.Share < r.Low*0.999-1e-9 || *e.Share > r.High*1.001+1e-9) {
		return absent(noren.Textf("no population with as many unique records agrees with the sample"))
	}
	if e.Share != nil {
		if share := min(max(*e.Share, r.Low), r.High); share != *e.Share {
			uniques := *e.Uniques / *e.Share * share
			e.Share, e.Uniques = &share, &uniques
		}
	}
	return e
}

// describe fills in the range of the models that fit.
func (u *Uniqueness) describe(s *sample) {
	for _, m := range u.models() {
		if m.e.Share == nil {
			continue
		}
		r, ok := s.bootstrap(m.fit)
		if !ok {
			// Too few resamples fit for an interval: that of the sample alone.
			r = u.Bounds
		}
		// The estimate is in its own interval, whatever the resamples say, and no share
		// outside of the bounds is.
		r.Low, r.High = max(min(r.Low, *m.e.Share), u.Bounds.Low), min(max(r.High, *m.e.Share), u.Bounds.High)
		u.Fitting = append(u.Fitting, m.name)
		if u.Range == nil {
			u.Range = &r
		} else {
			u.Range.Low, u.Range.High = min(u.Range.Low, r.Low), max(u.Range.High, r.High)
		}
	}
	if u.Range != nil {
		u.OrderOfMagnitude = u.Bounds.Low < u.Range.Low/decided || u.Bounds.High > u.Range.High*decided
	}
}

// bootstrap is the interval at 95 % of a model's share (Efron 1979, percentiles): numbers
// of classes are drawn anew, each from the Poisson distribution with its mean. Resamples
// follow from a fixed seed, so that a result can be repeated. It is not ok where the model
// fits fewer than half of them.
func (s *sample) bootstrap(fit func(*sample) Estimate) (ShareRange, bool) {
	rng := rand.New(rand.NewPCG(0x756e69717565, 0x626f6f74))
	var shares []float64
	counts := make([]sizeCount, 0, len(s.counts))
	for range bootstraps {
		counts = counts[:0]
		for _, c := range s.counts {
			if classes := poisson(rng, float64(c.classes)); classes > 0 {
				counts = append(counts, sizeCount{c.size, classes})
			}
		}
		again := newSample(counts, s.fraction)
		if again.uniques == 0 {
			shares = append(shares, 0)
			continue
		}
		if e := fit(again); e.Share != nil {
			shares = append(shares, *e.Share)
		}
	}
	if len(shares) < bootstraps/2 {
		return ShareRange{}, false
	}
	slices.Sort(shares)
	tail := len(shares) / 40
	return ShareRange{shares[tail], shares[len(shares)-1-tail]}, true
}

// poisson draws from the Poisson distribution, for large means from its normal
// approximation.
func poisson(rng *rand.Rand, mean float64) int64 {
	if mean > 50 {
		return int64(max(0, math.Round(mean+math.Sqrt(mean)*rng.NormFloat64())))
	}
	k, product := int64(0), rng.Float64()
	for limit := math.Exp(-mean); product > limit; k++ {
		product *= rng.Float64()
	}
	return k
}

// boundSizes is up to which size the numbers of sample classes restrict a population,
// and boundZ the normal quantile at 95 % of all of them together, both sides.
const (
	boundSizes = 8
	boundZ     = 2.73
)

// bounds are the smallest and the largest share of unique records over all populations
// that agree with the sample, whatever the sizes of their classes. A population with T_i
// classes of i records shows, in expectation, sum_i T_i C(i,j) f^j (1-f)^(i-j) classes of
// j records. Each of the observed numbers, j = 1 .. 8, is within its interval at a common
// level of 95 % (score intervals, Bonferroni), and sum i T_i = N; the two ends
// are those of a linear programme. Sizes are taken from a grid whose steps are a
// twentieth. Where the programme has no solution, the bounds are 0 and the share
// that follows if every unique record of the sample were one of the population.
func (s *sample) bounds() ShareRange {
	upper := func(count float64) float64 { return count + boundZ*boundZ/2 + boundZ*math.Sqrt(count+boundZ*boundZ/4) }
	lower := func(count float64) float64 { return count + boundZ*boundZ/2 - boundZ*math.Sqrt(count+boundZ*boundZ/4) }
	widest := ShareRange{0, min(1, upper(s.uniques)/s.records)}
	observed := [boundSizes + 1]float64{}
	for _, c := range s.counts {
		if c.size <= boundSizes {
			observed[c.size] = float64(c.classes)
		}
	}
	f := s.records / s.population
	if f >= 1 {
		return ShareRange{s.uniques / s.records, s.uniques / s.records}
	}
	var sizes []float64
	for i := 1.0; i <= s.population; i = math.Max(i+1, math.Floor(i*1.05)) {
		sizes = append(sizes, i)
		if i*f > boundSizes+60 {
			break // larger classes are never seen as small ones
		}
	}
	// Variables: the share of the population's records in classes of each size, the rest,
	// and slacks of two rows for each j. In these shares the expected number of sample
	// classes of j records, divided by n, is sum_i x_i P(j|i)/(i f).
	rows, vars := 1+2*boundSizes, len(sizes)+1+2*boundSizes
	a, b := mat.NewDense(rows, vars, nil), make([]float64, rows)
	for v := range len(sizes) + 1 {
		a.Set(0, v, 1)
	}
	b[0] = 1
	for j := 1; j <= boundSizes; j++ {
		for v, i := range sizes {
			p := 0.0
			if float64(j) <= i {
				x, _ := math.Lgamma(i + 1)
				y, _ := math.Lgamma(float64(j) + 1)
				z, _ := math.Lgamma(i - float64(j) + 1)
				p = math.Exp(x-y-z+float64(j)*math.Log(f)+(i-float64(j))*math.Log1p(-f)) / (i * f)
			}
			a.Set(2*j-1, v, p)
			a.Set(2*j, v, p)
		}
		slack := len(sizes) + 1 + 2*(j-1)
		a.Set(2*j-1, slack, 1)
		a.Set(2*j, slack+1, -1)
		b[2*j-1], b[2*j] = upper(observed[j])/s.records, max(0, lower(observed[j]))/s.records
	}
	solve := func(sign float64) (float64, bool) {
		c := make([]float64, vars)
		c[0] = sign
		best, _, err := lp.Simplex(c, a, b, 1e-10, nil)
		return sign * best, err == nil && !math.IsNaN(best)
	}
	low, okLow := solve(1)
	high, okHigh := solve(-1)
	if !okLow || !okHigh || low > high {
		return widest
	}
	return ShareRange{min(max(low, 0), widest.High), min(max(high, 0), widest.High)}
}
