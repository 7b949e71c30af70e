package paper

import (
	"math"
)

// Data are records as integer points, with the query's parameters.
type Data struct {
	Points  [][]int64
	K       int
	Radius2 int64

	near   [][]int // who lies within the radius of whom, everybody of themselves
	degree []int
}

// New finds the degrees of the points, in O(n^2 d).
func New(points [][]int64, k int, radius2 int64) *Data {
	d := &Data{Points: points, K: k, Radius2: radius2, near: make([][]int, len(points)), degree: make([]int, len(points))}
	for i := range points {
		for j := range points {
			if dist2(points[i], points[j]) <= radius2 {
				d.near[i] = append(d.near[i], j)
			}
		}
		d.degree[i] = len(d.near[i]) - 1
	}
	return d
}

func dist2(p, q []int64) int64 {
	var sum int64
	for j := range p {
		sum += (p[j] - q[j]) * (p[j] - q[j])
	}
	return sum
}

// Outliers is the query, equation (2).
func (d *Data) Outliers() int {
	n := 0
	for _, g := range d.degree {
		if g < d.K {
			n++
		}
	}
	return n
}

// Centres returns the largest number of the points numbered in window that one
// ball of the radius holds, over the centres that it stands for.
type Centres func(window []int) int

// OverDomain takes the points of a finite domain as centres.
func (d *Data) OverDomain(domain [][]int64) Centres {
	return func(window []int) int {
		best := 0
		for _, x := range domain {
			n := 0
			for _, i := range window {
				if dist2(x, d.Points[i]) <= d.Radius2 {
					n++
				}
			}
			best = max(best, n)
		}
		return best
	}
}

// Anywhere takes all points of the space as centres, by algorithm 1.
func (d *Data) Anywhere(window []int) int {
	points := make([][]int64, len(window))
	for k, i := range window {
		points[k] = d.Points[i]
	}
	best := 0
	for _, b := range Enumerate(points, d.Radius2) {
		best = max(best, len(b.Members))
	}
	return best
}

// window is V(low) + .. + V(high), the points of those degrees.
func (d *Data) window(low, high int) []int {
	var w []int
	for i, g := range d.degree {
		if low <= g && g <= high {
			w = append(w, i)
		}
	}
	return w
}

// around takes the points themselves as centres: max_{a in X} |B(a,r) n W|.
func (d *Data) around(window []int) int {
	in := make([]bool, len(d.Points))
	for _, i := range window {
		in[i] = true
	}
	best := 0
	for _, near := range d.near {
		n := 0
		for _, j := range near {
			if in[j] {
				n++
			}
		}
		best = max(best, n)
	}
	return best
}

// Bound is the right side of equation (23) for t >= 0, with the maxima of (20)
// and (22):
//
//	OC = max_{a in X} |B(a,r) n V(k..k+t)| + max_{x in D} |B(x,r) n V(k-t..k-1)|
//	IC = max_{a in X} |B(a,r) n V(k-1..k-1+t)| + max_{x in D} |B(x,r) n V(k-1-t..k-2)|
//	bound = max(OC, IC) + t + 1
func (d *Data) Bound(t int, centres Centres) int {
	k := d.K
	oc := d.around(d.window(k, k+t)) + centres(d.window(k-t, k-1))
	ic := d.around(d.window(k-1, k-1+t)) + centres(d.window(k-1-t, k-2))
	return max(oc, ic) + t + 1
}

// BoundOverDomain is [Data.Bound] with the first maximum of IC over all centres
// too, as the paper's own equation (13) has it. It bounds the local sensitivity,
// and is still not smooth.
func (d *Data) BoundOverDomain(t int, centres Centres) int {
	k := d.K
	oc := d.around(d.window(k, k+t)) + centres(d.window(k-t, k-1))
	ic := centres(d.window(k-1, k-1+t)) + centres(d.window(k-1-t, k-2))
	return max(oc, ic) + t + 1
}

// Smooth is algorithm 2 for a bound U_t: terms e^{-beta t} U_t from t = 0 on,
// until one found exceeds e^{-beta t} N. As the terms are not capped by N, the
// result depends on where it stops.
func Smooth(n int, beta float64, bound func(t int) int) float64 {
	best := 0.0
	for t := 0; t <= n; t++ {
		decay := math.Exp(-beta * float64(t))
		if t > 0 && best > decay*float64(n) {
			break
		}
		best = max(best, decay*float64(bound(t)))
	}
	return best
}

// SmoothCapped is max_{t <= n} e^{-beta t} min(n, U_t), which no stopping
// changes.
func SmoothCapped(n int, beta float64, bound func(t int) int) float64 {
	best := 0.0
	for t := 0; t <= n; t++ {
		decay := math.Exp(-beta * float64(t))
		if best >= decay*float64(n) {
			break
		}
		best = max(best, decay*float64(min(n, bound(t))))
	}
	return best
}

// GlobalLower is theorem 3's min(N, 2d(k-1)+1), which the paper takes for the
// global sensitivity in its figures. It is neither an upper bound nor, for small
// N, a lower one.
func GlobalLower(n, d, k int) int { return min(n, 2*d*(k-1)+1) }

// Alpha and Beta are theorem 2's parameters for an output of one dimension.
func Alpha(epsilon, delta float64) float64 {
	return epsilon / (5 * math.Sqrt(2*math.Log(2/delta)))
}

// Beta is theorem 2's smoothness.
func Beta(epsilon, delta float64) float64 {
	return epsilon / (4 * (1 + math.Log(2/delta)))
}

// GlobalSD is the standard deviation of theorem 1's Gaussian noise.
func GlobalSD(g int, epsilon, delta float64) float64 {
	return float64(g) * math.Sqrt(2*math.Log(2/delta)) / epsilon
}
