// Package redraw draws numbers that protect nothing: what noise of a public
// distribution might have been, to tell how far answers would have moved. They repeat
// from their seed, so that the error of an answer does not change when it is asked
// again. Noise that protects data comes from package noise, and from there alone.
package redraw

import (
	"math"
	"math/rand/v2"
)

// Stream is a stream of numbers. It is not safe for concurrent use.
type Stream struct{ r *rand.Rand }

// New returns the stream of a seed.
func New(seed uint64) *Stream { return &Stream{rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))} }

// Normal is a standard Gaussian number.
func (s *Stream) Normal() float64 { return s.r.NormFloat64() }

// Laplace is a number of the Laplace distribution of scale 1.
func (s *Stream) Laplace() float64 {
	x := s.r.ExpFloat64()
	if s.r.Uint64()&1 == 0 {
		return -x
	}
	return x
}

// Gamma is a Gamma number of a whole shape of at least 1 and scale 1 (Marsaglia and
// Tsang 2000).
func (s *Stream) Gamma(shape int) float64 {
	d := float64(shape) - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.r.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(1-s.r.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v
		}
	}
}
