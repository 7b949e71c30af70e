package ldp

import (
	"context"
	"math"

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
	Quartiles [3]Measured // at 1/4, 1/2, 3/4
}

// resamples is the number of resamples of the bootstrap, resampleSteps the largest
// number of steps of each.
const (
	resamples     = 100
	resampleSteps = 1000
)

// Errors computes the errors of the mean and the quartiles of an estimate by the
// bootstrap (Efron 1979): the counts of reports are drawn anew, each from the Poisson
// distribution with its mean, the distribution is estimated again, and the spread of
// what is read off it is the standard error. The interval is the estimate plus and
// minus its quantile of the normal distribution times that, and half a bucket,
// within which an estimate cannot place a value. It is cut to the range.
//
// The intervals are approximate: they are for some hundred reports and more, and the
// bias of smoothing is not in them. docs/local-privacy.md, section 5, has their
// coverage. The resamples follow from a fixed seed, so that an estimate can be
// repeated; they are computed from reports and protect nothing.
func (c *WaveCollector) Errors(ctx context.Context, d *Distribution, smooth bool, level float64) (*WaveErrors, error) {
	if !(level > 0 && level < 1) {
		return nil, &noren.Error{Kind: noren.Usage, Where: "level", What: "must lie between 0 and 1", Hint: "0.95 is usual"}
	}
	if len(d.Share) != c.m.bins.Len() || c.n < 1 {
		return nil, &noren.Error{Kind: noren.Usage, What: "the distribution is not an estimate from these reports"}
	}
	read := func(d *Distribution) [4]float64 {
		return [4]float64{d.Mean(), d.Quantile(0.25), d.Quantile(0.5), d.Quantile(0.75)}
	}
	o, err := EM{MaxIterations: resampleSteps, Tolerance: 1e-8}.withDefaults()
	if err != nil {
		return nil, err
	}
	var sum, squares [4]float64
	value := read(d)
	draw := mix(0x6e6f72656e)
	shares, again := make([]float64, len(c.counts)), &Distribution{Edges: d.Edges, Share: make([]float64, len(d.Share))}
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
		// From near the estimate; a share of 0 would stay 0.
		for i, v := range d.Share {
			again.Share[i] = 0.9*v + 0.1/float64(len(d.Share))
		}
		if _, _, err := c.m.climb(ctx, shares, again.Share, smooth, o); err != nil {
			return nil, err
		}
		for i, v := range read(again) {
			sum[i] += v - value[i]
			squares[i] += (v - value[i]) * (v - value[i])
		}
	}
	z := quantile((1 - level) / 2)
	low, high := d.Edges[0], d.Edges[len(d.Edges)-1]
	half := (high - low) / float64(len(d.Share)) / 2
	measured := func(i int) Measured {
		se := math.Sqrt(max(squares[i]-sum[i]*sum[i]/resamples, 0) / (resamples - 1))
		return Measured{Value: value[i], StdErr: se, Low: max(value[i]-z*se-half, low), High: min(value[i]+z*se+half, high)}
	}
	return &WaveErrors{Level: level, Mean: measured(0), Quartiles: [3]Measured{measured(1), measured(2), measured(3)}}, nil
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
