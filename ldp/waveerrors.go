package ldp

import (
	"context"
	"math"
	"slices"

	"github.com/noren-privacy/noren"
)

// Measured is an estimate with its standard error and interval.
type Measured struct {
	Value, StdErr, Low, High float64
}

// WaveErrors are the errors of what is read off a distribution.
type WaveErrors struct {
	Level     float64 // of each interval
	Mean      Measured
	Basis     noren.Term  // what the interval of the mean is by
	Quartiles [3]Measured // at 1/4, 1/2, 3/4
	// Doubt says why the intervals of the quartiles hold less often than stated, empty
	// where they do hold.
	Doubt noren.Text
}

// resamples is the number of resamples of the bootstrap, resampleSteps the largest
// number of steps of each.
const (
	resamples     = 100
	resampleSteps = 1000
)

// Limits of the intervals of quartiles, by simulation (TestLongWaveCoverage): beyond them
// they hold less often than stated.
const (
	// quartilesFrom is the least epsilon: below, the search ends before the estimate has
	// followed the reports.
	quartilesFrom = 0.5
	// quartilesError is the largest standard error of the mean of a report's values,
	// whatever people hold, as a share of the range.
	quartilesError = 0.15
)

// Errors computes the errors of the mean and the quartiles of an estimate.
//
// The mean is the linear estimate from the counts, which is unbiased, with an interval
// that holds for every number of reports (the bound of [MeanCollector.Estimate]); it is not the mean
// of the estimated shares, though near it where reports are many.
//
// The quartiles are those of the distribution, with errors by the bootstrap (Efron
// 1979): the counts of reports are drawn anew, each from the Poisson
// distribution with its mean, the distribution is estimated again, and the spread of
// what is read off it is the standard error. The interval is the estimate plus and
// minus its quantile of the normal distribution times that, extended by half a bucket
// and at least to the edges of the buckets in which it ends: an estimate cannot place a
// value within a bucket. It reaches at least over the quantiles whose ranks the choice of
// as many persons and the noise of their reports move to the quartile: where values lie in two places, few reports move
// a quartile from one to the other. Where the
// estimate is smoothed, the interval is around its quartile and that of the unsmoothed
// one, by the larger of both errors. Doubt is set where reports are too few, epsilon is
// too small, or smoothing moves a quartile too far for such intervals to hold as often
// as stated; docs/local-privacy.md, section 5, has their coverage. The resamples follow
// from a fixed seed, so that an estimate can be repeated; they are computed from reports
// and protect nothing.
func (c *WaveCollector) Errors(ctx context.Context, d *Distribution, smooth bool, level float64) (*WaveErrors, error) {
	if !(level > 0 && level < 1) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "level", What: "must lie between 0 and 1", Hint: "0.95 is usual"}
	}
	if len(d.Share) != c.m.bins.Len() || c.n < 1 {
		return nil, &noren.Error{Kind: noren.Usage, What: "the distribution is not an estimate from these reports"}
	}
	o, err := EM{MaxIterations: resampleSteps, Tolerance: 1e-8}.withDefaults()
	if err != nil {
		return nil, err
	}
	// again estimates from shares of reports, from near d; a share of 0 would stay 0.
	again := func(shares []float64, smooth bool, o EM) ([3]float64, error) {
		x := &Distribution{Edges: d.Edges, Share: make([]float64, len(d.Share))}
		for i, v := range d.Share {
			x.Share[i] = 0.9*v + 0.1/float64(len(d.Share))
		}
		_, _, err := c.m.climb(ctx, shares, x.Share, smooth, o)
		return x.quartiles(), err
	}
	value, shares := d.quartiles(), make([]float64, len(c.counts))
	rough := value
	if smooth {
		for y, v := range c.counts {
			shares[y] = float64(v) / float64(c.n)
		}
		if rough, err = again(shares, false, EM{Tolerance: 1e-10, MaxIterations: 10_000}); err != nil {
			return nil, err
		}
	}
	moved := false
	spread, err := c.resampled(value, func(shares []float64) ([3]float64, error) { return again(shares, false, o) })
	if err != nil {
		return nil, err
	}
	if smooth {
		narrow, err := c.resampled(value, func(shares []float64) ([3]float64, error) { return again(shares, true, o) })
		if err != nil {
			return nil, err
		}
		for i, se := range narrow {
			spread[i] = max(spread[i], se)
			moved = moved || math.Abs(rough[i]-value[i]) > 2*se+(d.Edges[1]-d.Edges[0])
		}
	}
	e := &WaveErrors{Level: level, Doubt: c.doubt()}
	if e.Doubt.IsZero() && moved {
		e.Doubt = noren.Textf("smoothing moves the quartiles by more than chance does, as many values lie in one place: their intervals hold " +
			"less often than stated; estimate without smoothing (rough), or collect with fewer than 128 buckets")
	}
	e.Mean, e.Basis = c.mean(level)
	z, half := quantile((1-level)/2), (d.Edges[1]-d.Edges[0])/2
	for i, v := range value {
		se := spread[i]
		from, to := min(v, rough[i]), max(v, rough[i])
		low, high := d.around(from-z*se, to+z*se)
		// The share below a quartile varies with who was asked and with the noise of reports,
		// however spread the values are.
		q := float64(i+1) / 4
		asked := z * math.Sqrt(q*(1-q)/float64(c.n)*max(1, c.m.spread().moment))
		least, most := d.around(d.Quantile(max(0, q-asked)), d.Quantile(min(1, q+asked)))
		low, high = min(low, least), max(high, most)
		e.Quartiles[i] = Measured{
			Value: v, StdErr: se,
			Low: min(low, max(from-z*se-half, d.Edges[0])), High: max(high, min(to+z*se+half, d.Edges[len(d.Edges)-1])),
		}
	}
	return e, nil
}

// resampled is the standard deviation of what estimate reads off resamples of the counts.
func (c *WaveCollector) resampled(value [3]float64, estimate func(shares []float64) ([3]float64, error)) (spread [3]float64, err error) {
	var sum, squares [3]float64
	draw, shares := mix(0x6e6f72656e), make([]float64, len(c.counts))
	for range resamples {
		total := 0.0
		for y, v := range c.counts {
			shares[y] = draw.poisson(float64(v))
			total += shares[y]
		}
		if total == 0 {
			continue
		}
		for y := range shares {
			shares[y] /= total
		}
		drawn, err := estimate(shares)
		if err != nil {
			return spread, err
		}
		for i, v := range drawn {
			sum[i] += v - value[i]
			squares[i] += (v - value[i]) * (v - value[i])
		}
	}
	for i := range spread {
		spread[i] = math.Sqrt(max(squares[i]-sum[i]*sum[i]/resamples, 0) / (resamples - 1))
	}
	return spread, nil
}

func (d *Distribution) quartiles() [3]float64 {
	return [3]float64{d.Quantile(0.25), d.Quantile(0.5), d.Quantile(0.75)}
}

// doubt says why intervals of quartiles hold less often than stated; empty where they
// do hold.
func (c *WaveCollector) doubt() noren.Text {
	switch {
	case c.m.epsilon < quartilesFrom:
		return noren.Textf("below epsilon %g the intervals of the quartiles hold less often than stated, and the distribution stays near even "+
			"shares: use the mean, whose interval holds", quartilesFrom)
	case math.Sqrt(c.m.spread().moment/float64(c.n))/2 > quartilesError:
		return noren.Textf("%d {report|reports} at epsilon %g {1|is|are} too few for the quartiles: their intervals hold less often than "+
			"stated; use the mean, whose interval holds", c.n, c.m.epsilon)
	}
	return noren.Text{}
}

// around extends an interval to the edges of the buckets in which its ends lie: within
// a bucket an estimate cannot place a value.
func (d *Distribution) around(low, high float64) (from, to float64) {
	// The first edge at or above an end; one below the range has none before it.
	i, _ := slices.BinarySearch(d.Edges, low)
	if i == len(d.Edges) || i > 0 && d.Edges[i] > low {
		i--
	}
	j, _ := slices.BinarySearch(d.Edges, high)
	return d.Edges[i], d.Edges[min(j, len(d.Edges)-1)]
}

// mix is a small generator of numbers that need not be secret (Steele, Lea and Flood
// 2014, SplitMix64).
type mix uint64

func (m *mix) float() float64 {
	*m += 0x9e3779b97f4a7c15
	z := uint64(*m)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11) * 0x1p-53
}

// poisson draws from the Poisson distribution, for large means from its normal
// approximation.
func (m *mix) poisson(mean float64) float64 {
	if mean > 50 {
		normal := math.Sqrt(-2*math.Log(1-m.float())) * math.Cos(2*math.Pi*m.float())
		return max(0, math.Round(mean+math.Sqrt(mean)*normal))
	}
	k, product := 0.0, m.float()
	for limit := math.Exp(-mean); product > limit; k++ {
		product *= m.float()
	}
	return k
}
