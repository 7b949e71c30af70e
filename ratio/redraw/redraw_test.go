package redraw_test

import (
	"math"
	"testing"

	"github.com/noren-privacy/noren/ratio/redraw"
)

func TestMoments(t *testing.T) {
	s := redraw.New(1)
	for _, c := range []struct {
		name           string
		draw           func() float64
		mean, variance float64
	}{
		{"normal", s.Normal, 0, 1},
		{"laplace", s.Laplace, 0, 2},
		{"gamma 1", func() float64 { return s.Gamma(1) }, 1, 1},
		{"gamma 12", func() float64 { return s.Gamma(12) }, 12, 12},
	} {
		const n = 200_000
		var sum, square float64
		for range n {
			x := c.draw()
			sum += x
			square += (x - c.mean) * (x - c.mean)
		}
		if d := math.Abs(sum/n - c.mean); d > 5*math.Sqrt(c.variance/n) {
			t.Errorf("%s: mean off by %g", c.name, d)
		}
		if r := square / n / c.variance; math.Abs(r-1) > 0.05 {
			t.Errorf("%s: variance off by a factor of %g", c.name, r)
		}
	}
	if redraw.New(3).Normal() != redraw.New(3).Normal() {
		t.Error("a seed does not repeat")
	}
}
