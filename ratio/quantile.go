package ratio

import (
	"math"
	"slices"

	"github.com/noren-privacy/noren"
)

// Quantile estimates the p-quantile of f over the private records, 0 < p < 1: the least
// value at which the corrected distribution function reaches p (made to rise where noise
// makes it fall). Its standard error is such that the value and 1.96 of it hold Woodruff's
// interval (1952): the values at which the distribution function is 1.96 of its own
// standard errors off. For whole numbers it is at least what the smoothed distribution
// function gives, a step of one spread over its whole number. Beyond the values of the
// public records there is nothing, which is warned of. Error: [noren.Usage].
func (w *Weights) Quantile(f []float64, p float64) (*Answer, error) {
	if !(p > 0 && p < 1) {
		return nil, noren.Usagef("quantile", "a quantile is asked for between 0 and 1")
	}
	f = w.asked(f)
	if err := w.fits(f); err != nil {
		return nil, err
	}
	c, err := w.calibration()
	if err != nil {
		return nil, err
	}
	corrected := make([]float64, len(f))
	for i := range corrected {
		if c.w[i] > 0 {
			corrected[i] = c.weight(i)
		}
	}
	d := distributionOf(f, corrected)
	value := d.at(p)
	a, err := w.below(f, value)
	if err != nil {
		return nil, err
	}
	const z = 1.96
	if a.SE == 0 {
		a.Value = value
		w.warn(a)
		return a, nil
	}
	if p-z*a.SE <= 0 || p+z*a.SE >= 1 {
		a.Warnings = append(a.Warnings,
			noren.Textf("the quantile is too near the end for its error: it reaches beyond the values of the public records"))
	}
	// Errors of the distribution function are taken where the interval ends.
	low, high := d.at(max(p-z*a.SE, 0)), d.at(min(p+z*a.SE, 1))
	half := 0.0
	for end, v := range map[float64]float64{-1: low, 1: high} {
		b, err := w.below(f, v)
		if err != nil {
			return nil, err
		}
		half = max(half, math.Abs(d.at(min(max(p+end*z*max(a.SE, b.SE), 0), 1))-value))
	}
	if d.whole {
		half = max(half, (d.smooth(min(p+z*a.SE, 1))-d.smooth(max(p-z*a.SE, 0)))/2)
	}
	a.Parts = a.Parts.times(half / z / a.SE)
	a.Value, a.SE = value, a.Parts.total()
	w.warn(a)
	// The unweighted quantile, with the errors of a sample of its size.
	equal, count := w.equal()
	d = distributionOf(f, equal)
	plain, by := d.at(p), math.Sqrt(p*(1-p)/count)
	sampling := (d.at(min(p+by, 1)) - d.at(max(p-by, 0))) / 2
	w.notBetter(a, plain, sampling*sampling, 1)
	return a, nil
}

// below is the share of the private records whose f is at most v.
func (w *Weights) below(f []float64, v float64) (*Answer, error) {
	in := make([]float64, len(f))
	for i, x := range f {
		switch {
		case math.IsNaN(x):
			in[i] = x
		case x <= v:
			in[i] = 1
		}
	}
	return w.point(in)
}

// distribution is a distribution function of weighted records, made to rise.
type distribution struct {
	values []float64 // distinct, rising
	upTo   []float64 // the share of records of at most that; the last is 1
	whole  bool      // all values are whole numbers
}

// distributionOf is that of f with weights, of which some may be below 0.
func distributionOf(f, weights []float64) *distribution {
	order := make([]int, 0, len(f))
	for i, v := range f {
		if !math.IsNaN(v) && weights[i] != 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case f[i] < f[j]:
			return -1
		case f[i] > f[j]:
			return 1
		}
		return 0
	})
	d := &distribution{whole: true}
	sum, total := 0.0, 0.0
	for _, i := range order {
		total += weights[i]
	}
	most := 0.0
	for k, i := range order {
		sum += weights[i]
		d.whole = d.whole && f[i] == math.Floor(f[i])
		if k+1 < len(order) && f[order[k+1]] == f[i] {
			continue
		}
		most = max(most, min(1, sum/total))
		d.values, d.upTo = append(d.values, f[i]), append(d.upTo, most)
	}
	d.upTo[len(d.upTo)-1] = 1
	return d
}

// weight is what C, which is linear, gives to record i: w_i (1 + (psi_i - psi(w)).(M + P)^-1 delta).
func (c *calibration) weight(i int) float64 {
	by := 1.0
	for k, y := range c.y.RawRowView(i) {
		by += y * c.shrink[k] * c.delta[k]
	}
	return c.w[i] * by
}

// at is the least value at which the distribution function reaches p.
func (d *distribution) at(p float64) float64 {
	i, _ := slices.BinarySearch(d.upTo, p-1e-12)
	return d.values[min(i, len(d.values)-1)]
}

// smooth is at with each whole number spread from half below to half above.
func (d *distribution) smooth(p float64) float64 {
	i, _ := slices.BinarySearch(d.upTo, p-1e-12)
	i = min(i, len(d.values)-1)
	before := 0.0
	if i > 0 {
		before = d.upTo[i-1]
	}
	share := 1.0
	if d.upTo[i] > before {
		share = min(1, max(0, (p-before)/(d.upTo[i]-before)))
	}
	return d.values[i] - 0.5 + share
}
