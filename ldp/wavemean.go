package ldp

import (
	"math"

	"github.com/noren-privacy/noren"
)

// mean returns the linear estimate of the mean with an interval that holds for every
// number of reports, and what it is by.
//
// Cell y stands for the position (y-a)/b, whose expectation over the reports of a
// bucket is the bucket ([window.moments]): the mean over reports is unbiased. On the
// scale [-1, 1] of the middles of the buckets the values are bounded, and their second
// moment is largest for a bucket that is found exactly, so that the interval is that
// of [MeanCollector.Estimate]. A value lies within half a bucket of its middle, by
// which the interval is wider. Estimate and interval are cut to the range.
func (c *WaveCollector) mean(level float64) (Measured, noren.Term) {
	m, n := c.m, float64(c.n)
	s := m.spread()
	sum, squares := 0.0, 0.0
	for y, count := range c.counts {
		v := s.value(y)
		sum += float64(count) * v
		squares += float64(count) * v * v
	}
	unit, variance := sum/n, s.moment
	if c.n > 1 {
		variance = max(squares-sum*sum/n, 0) / (n - 1)
	}
	w, basis := boundedMean{moment: s.moment, middle: s.middle, top: s.top}.halfWidth(unit, variance, c.n, level)
	edges := m.bins.Edges()
	low, high := edges[0], edges[len(edges)-1]
	half := (high/float64(m.bins.Len()) - low/float64(m.bins.Len())) / 2
	at := func(u float64) float64 {
		share := (u + 1) / 2
		return (low+half)*(1-share) + (high-half)*share
	}
	return Measured{
		Value: min(max(at(unit), low), high), StdErr: math.Sqrt(max(variance, s.least)/n) * (high/2 - low/2 - half),
		Low: min(max(at(unit-w)-half, low), high), High: max(min(at(unit+w)+half, high), low),
	}, basis
}

// waveSpread is how far the values of cells spread on the scale [-1, 1].
type waveSpread struct {
	a, b   float64
	last   float64 // position of the last bucket
	moment float64 // the largest mean square over buckets
	middle float64 // the variance of a report of the middle bucket
	least  float64 // the smallest variance over buckets
	top    float64 // the largest absolute value
}

func (s *waveSpread) value(cell int) float64 { return 2*((float64(cell)-s.a)/s.b)/s.last - 1 }

// spread computes the moments of all buckets.
func (m *SquareWave) spread() *waveSpread {
	d, cells, width := m.bins.Len(), m.wave.cells, m.wave.width
	s := &waveSpread{last: float64(d - 1), least: math.Inf(1)}
	s.a, s.b = m.wave.moments()
	squares := make([]float64, cells+1) // running sums
	for y := range cells {
		v := s.value(y)
		squares[y+1] = squares[y] + v*v
		s.top = max(s.top, math.Abs(v))
	}
	in, out := m.wave.densities()
	for i := range d {
		near := squares[i+width] - squares[i]
		square, at := out*(squares[cells]-near)+in*near, 2*float64(i)/s.last-1
		s.moment, s.least = max(s.moment, square), min(s.least, square-at*at)
		if i == d/2 {
			s.middle = square - at*at
		}
	}
	return s
}
