package refine

import "github.com/noren-privacy/noren/kanon/space"

// The kernels of the searches: short vectors, whose length is a multiple of four.
// Four sums side by side, as one alone would wait for itself at each addition.

// squared is |x-y|².
func squared(x, y []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		d0, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
		x, y = x[4:], y[4:]
	}
	return (s0 + s1) + (s2 + s3)
}

// distance is the squared distance of two records.
func distance(rows *space.Rows, i, j int32) float64 {
	return squared(rows.Point(i), rows.Point(j)) + rows.Differ(i, j)
}

// double writes 2(x-y).
func double(out, x, y []float64) {
	for len(x) >= 4 && len(y) >= 4 && len(out) >= 4 {
		out[0], out[1], out[2], out[3] = 2*(x[0]-y[0]), 2*(x[1]-y[1]), 2*(x[2]-y[2]), 2*(x[3]-y[3])
		x, y, out = x[4:], y[4:], out[4:]
	}
}

// exchange is (x-y)·(slope - share (x-y)).
func exchange(x, y, slope []float64, share float64) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 && len(slope) >= 4 {
		d0, d1, d2, d3 := x[0]-y[0], x[1]-y[1], x[2]-y[2], x[3]-y[3]
		s0 += d0 * (slope[0] - share*d0)
		s1 += d1 * (slope[1] - share*d1)
		s2 += d2 * (slope[2] - share*d2)
		s3 += d3 * (slope[3] - share*d3)
		x, y, slope = x[4:], y[4:], slope[4:]
	}
	return (s0 + s1) + (s2 + s3)
}

// shift moves a centre by f of the way to x and returns |x-c|² of before.
func shift(centre, x []float64, f float64) float64 {
	var s float64
	for j, c := range centre {
		d := x[j] - c
		s += d * d
		centre[j] = c + f*d
	}
	return s
}

// replace moves the centre of a group whose record x goes and y comes, with f
// one over its size, and returns by how much its sum of squares changes:
// (y-x)·(x+y-2c - f (y-x)).
func replace(centre, x, y []float64, f float64) float64 {
	var s float64
	for j, c := range centre {
		u := y[j] - x[j]
		s += u * (x[j] + y[j] - 2*c - f*u)
		centre[j] = c + f*u
	}
	return s
}
