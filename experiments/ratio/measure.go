package ratio

import (
	"math"
	"slices"

	core "github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/table/axis"
)

// grid is a rule of quadrature over the public distribution: points, and their weights times
// p_E. On a line 801 points, in the plane 61 x 61, to 6 standard deviations.
type grid struct {
	points *core.Points
	mass   []float64
	truth  []float64
}

func (s *Setting) grid() *grid {
	per := 801
	if s.Dim() == 2 {
		per = 61
	}
	rows := int(math.Pow(float64(per), float64(s.Dim())) + 0.5)
	g := &grid{points: axis.NewPoints[float64](rows, s.Dim()), mass: make([]float64, rows), truth: make([]float64, rows)}
	for i := range rows {
		x, cell := g.points.Row(i), 1.0
		for j, k := 0, i; j < s.Dim(); j, k = j+1, k/per {
			step := 12 * s.public.sd[j] / float64(per-1)
			x[j] = s.public.mean[j] + step*(float64(k%per)-float64(per-1)/2)
			cell *= step
		}
		g.mass[i] = cell * s.PublicDensity(x)
		g.truth[i] = s.Ratio(x)
	}
	return g
}

// measured are the errors of one fit in one repeat.
type measured struct {
	mse, integrated [2]float64 // as fitted, and normalised
	mean            float64    // absolute error of the weighted mean of the first coordinate
	ess             float64
	sigma           float64
	warned          float64
}

// Kinds of weights, and their indices in measured.
const (
	asFitted = iota
	normalised
)

func (t *trial) measure(f *fitted, g *grid) (measured, error) {
	var e measured
	sum, square, first := 0.0, 0.0, 0.0
	for i, w := range f.weights {
		sum += w
		square += w * w
		first += w * t.public.Row(i)[0]
	}
	curve, err := f.at(g.points)
	if err != nil {
		return e, err
	}
	weights := f.weights
	by := sum / float64(len(weights))
	if sum == 0 {
		// Nothing is left: uniform, as the package does.
		weights, curve, by = ones(len(weights)), ones(len(curve)), 1
		sum, square, first = float64(len(weights)), float64(len(weights)), 0
		for i := range weights {
			first += t.public.Row(i)[0]
		}
	}
	for kind, scale := range [2]float64{asFitted: 1, normalised: 1 / by} {
		for i, w := range weights {
			d := w*scale - t.truth[i]
			e.mse[kind] += d * d / float64(len(weights))
		}
		for i, w := range curve {
			d := w*scale - g.truth[i]
			e.integrated[kind] += d * d * g.mass[i]
		}
	}
	e.mean = math.Abs(first/sum - t.setting.Mean())
	e.ess = sum * sum / square
	e.sigma = f.sigma
	if f.check != nil && !f.check.Passed {
		e.warned = 1
	}
	return e, nil
}

func meanOf(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x
	}
	return s / float64(len(v))
}

func medianOf(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// errorOf is the standard error of the mean.
func errorOf(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	m, s := meanOf(v), 0.0
	for _, x := range v {
		s += (x - m) * (x - m)
	}
	return math.Sqrt(s / float64(len(v)-1) / float64(len(v)))
}
