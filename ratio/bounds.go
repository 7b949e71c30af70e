package ratio

import (
	"container/heap"
	"math"
)

// Bounds are certified upper bounds of what one record can change in the sum of
// kernels, over all records of R^d: no record needs to be clamped for them. Local
// search finds lower bounds and is not used.
type Bounds struct {
	// Kappa1 and Kappa2 bound sup |phi(x)|_1 and sup |phi(x)|_2: one record more
	// or less.
	Kappa1 float64 `json:"kappa_1"`
	Kappa2 float64 `json:"kappa_2"`
	// Replace1 and Replace2 bound sup |phi(x) - phi(x')|_1 and its L2: one record
	// in the place of another.
	Replace1 float64 `json:"replace_1"`
	Replace2 float64 `json:"replace_2"`
}

// Bounds computes them: theorem 1 of docs/density-ratio.md in every dimension, in
// O(b^2), and in up to three dimensions a search by branch and bound for Kappa1, in one
// for Replace1. Each comes with the rounding errors of its own computation added, and
// of the kernels that it is about.
func (k *Kernel) Bounds() Bounds {
	b := float64(k.Size())
	slack := 2 * b * k.kernelError()
	// Theorem 1. With c* the centre nearest to x, |c* - c_l| <= |c* - x| + |x - c_l|
	// <= 2 |x - c_l|, so that K_s(x, c_l) <= K_2s(c*, c_l); and K_s^2 is a Gaussian
	// kernel of bandwidth s/sqrt(2), to which the same applies.
	out := Bounds{
		Kappa1: min(b, largestRow(k, 2*k.Sigma)+slack),
		Kappa2: math.Sqrt(min(b, largestRow(k, math.Sqrt2*k.Sigma)+slack)),
	}
	if k.Centres.Dim <= 3 {
		out.Kappa1 = min(out.Kappa1, k.searchKappa1()+slack)
	}
	// |u - v| <= 1 in each coordinate, |u - v|_1 <= |u|_1 + |v|_1, and, as kernels
	// are not negative, |u - v|_2^2 <= |u|_2^2 + |v|_2^2.
	out.Replace1 = min(b, 2*out.Kappa1)
	if k.Centres.Dim == 1 {
		out.Replace1 = min(out.Replace1, k.searchReplace1()+slack)
	}
	out.Replace2 = min(math.Sqrt(b), math.Sqrt2*out.Kappa2)
	for _, v := range []*float64{&out.Kappa1, &out.Kappa2, &out.Replace1, &out.Replace2} {
		*v *= 1 + 0x1p-40 // the roundings of the sums themselves
	}
	return out
}

// largestRow is the largest sum of a row of the kernels of bandwidth sigma among the
// centres.
func largestRow(k *Kernel, sigma float64) float64 {
	g := k.gramAt(sigma)
	most := 0.0
	for i := range k.Size() {
		s := 0.0
		for j := range k.Size() {
			s += g.At(i, j)
		}
		most = max(most, s)
	}
	return most
}

// box is a part of the space searched, and a bound of the function on it.
type box struct {
	low, high []float64
	bound     float64
}

type boxes []box

func (b boxes) Len() int           { return len(b) }
func (b boxes) Less(i, j int) bool { return b[i].bound > b[j].bound }
func (b boxes) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *boxes) Push(x any)        { *b = append(*b, x.(box)) }
func (b *boxes) Pop() any {
	old := *b
	x := old[len(old)-1]
	*b = old[:len(old)-1]
	return x
}

// search is branch and bound, the box of the largest bound first. evaluate returns a
// value that is taken in the box and a bound of all values in it. The result is an
// upper bound of the function on the first box, whenever the search ends: when it is
// within tolerance of a value that is taken, or after a number of boxes.
func search(first box, tolerance float64, most int, evaluate func(b *box) (value float64)) float64 {
	best := evaluate(&first)
	queue := boxes{first}
	for n := 0; n < most; n++ {
		top := queue[0]
		if top.bound <= best+tolerance {
			return top.bound
		}
		at, width := 0, 0.0
		for j := range top.low {
			if w := top.high[j] - top.low[j]; w > width {
				at, width = j, w
			}
		}
		mid := top.low[at] + width/2
		if !(mid > top.low[at] && mid < top.high[at]) {
			return top.bound
		}
		heap.Pop(&queue)
		for side := range 2 {
			half := box{append([]float64(nil), top.low...), append([]float64(nil), top.high...), 0}
			if side == 0 {
				half.high[at] = mid
			} else {
				half.low[at] = mid
			}
			v := evaluate(&half)
			half.bound = min(half.bound, top.bound)
			best = max(best, v)
			heap.Push(&queue, half)
		}
	}
	return queue[0].bound
}

// searchEffort is how many kernels a search may evaluate.
const searchEffort = 1 << 20

// searchKappa1 bounds sup_x sum_l K(x, c_l). Coordinate by coordinate, moving x into
// the box of the centres brings it nearer to all of them: that box is all that need be
// searched. In a box of centre m and half-diagonal r the function f is at most
//
//	f(m) + |grad f(m)| r + b e^(-3/2) r^2 / sigma^2,
//
// as the Hessian of a kernel, K (u u^T - I)/sigma^2 for u = (x-c)/sigma, has no
// eigenvalue above (|u|^2 - 1) e^(-|u|^2/2)/sigma^2 <= 2 e^(-3/2)/sigma^2; and at most
// the sum of each kernel's own maximum in the box.
func (k *Kernel) searchKappa1() float64 {
	b, d := k.Size(), k.Centres.Dim
	first := box{low: append([]float64(nil), k.Centres.Row(0)...), high: append([]float64(nil), k.Centres.Row(0)...)}
	for l := range b {
		for j, v := range k.Centres.Row(l) {
			first.low[j], first.high[j] = min(first.low[j], v), max(first.high[j], v)
		}
	}
	s2 := k.Sigma * k.Sigma
	phi, mid, gradient := make([]float64, b), make([]float64, d), make([]float64, d)
	return search(first, 1e-9, searchEffort/(2*b), func(x *box) float64 {
		r2 := 0.0
		for j := range mid {
			half := (x.high[j] - x.low[j]) / 2
			mid[j], gradient[j] = x.low[j]+half, 0
			r2 += half * half
		}
		k.Phi(phi, mid)
		value, each := 0.0, 0.0
		for l, v := range phi {
			value += v
			nearest := 0.0
			for j, c := range k.Centres.Row(l) {
				gradient[j] += v * (c - mid[j]) / s2
				u := max(0, x.low[j]-c, c-x.high[j])
				nearest += u * u
			}
			each += math.Exp(-nearest / (2 * s2))
		}
		slope := math.Sqrt(dot(gradient, gradient)*r2) * (1 + 0x1p-30)
		x.bound = min(each, value+slope+float64(b)*math.Exp(-1.5)*r2/s2*(1+0x1p-30)+float64(b)*0x1p-45)
		return value
	})
}

// searchReplace1 bounds sup over x, x' of sum_l |K(x, c_l) - K(x', c_l)| in one
// dimension. Beyond 9 sigma from all centres every kernel is below e^(-40.5), less
// than 3e-18: the box reaches so far and the rest is added.
func (k *Kernel) searchReplace1() float64 {
	b := k.Size()
	lo, hi := k.Centres.Data[0], k.Centres.Data[0]
	for _, c := range k.Centres.Data {
		lo, hi = min(lo, c), max(hi, c)
	}
	lo, hi = lo-9*k.Sigma, hi+9*k.Sigma
	s2 := k.Sigma * k.Sigma
	span := func(c, low, high float64) (least, most float64) {
		near := max(0, low-c, c-high)
		far := max(c-low, high-c)
		return math.Exp(-far * far / (2 * s2)), math.Exp(-near * near / (2 * s2))
	}
	first := box{low: []float64{lo, lo}, high: []float64{hi, hi}}
	top := search(first, 1e-3, searchEffort/(8*b), func(x *box) float64 {
		x.bound = 0
		value := 0.0
		for _, c := range k.Centres.Data {
			least0, most0 := span(c, x.low[0], x.high[0])
			least1, most1 := span(c, x.low[1], x.high[1])
			x.bound += max(most0-least1, most1-least0)
			u, v := x.low[0]+(x.high[0]-x.low[0])/2-c, x.low[1]+(x.high[1]-x.low[1])/2-c
			value += math.Abs(math.Exp(-u*u/(2*s2)) - math.Exp(-v*v/(2*s2)))
		}
		return value
	})
	return top + float64(b)*1e-17
}
