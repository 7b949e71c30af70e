package ratio

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// Kernel is the vector of Gaussian kernels phi_l(x) = exp(-|x - c_l|^2 / (2 sigma^2))
// about b centres. Centres and sigma must be public. It is not changed once made,
// and may be shared by goroutines.
type Kernel struct {
	Centres *Points
	Sigma   float64
}

// NewKernel checks centres (b x d, all finite) and the bandwidth sigma > 0. Error:
// [noren.Usage].
func NewKernel(centres *Points, sigma float64) (*Kernel, error) {
	if centres == nil || centres.Rows < 1 || centres.Dim < 1 || len(centres.Data) != centres.Rows*centres.Dim {
		return nil, noren.Usagef("centres", "at least one centre with at least one coordinate is needed")
	}
	if centres.Rows > maxCentres || centres.Dim > maxDim {
		return nil, noren.Usagef("centres", "more than 4096 centres or 4096 coordinates").
			Hinted("noise grows with the number of centres: a dozen to a hundred serve best")
	}
	for _, v := range centres.Data {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, noren.Usagef("centres", "a coordinate is not a finite number")
		}
	}
	if !(sigma > 0) || math.IsInf(sigma, 1) || sigma*sigma == 0 || math.IsInf(sigma*sigma, 1) {
		return nil, noren.Usagef("sigma", "the bandwidth must be a number above 0")
	}
	return &Kernel{Centres: centres, Sigma: sigma}, nil
}

const (
	maxCentres = 4096
	maxDim     = 4096
)

// Size is b, the number of centres.
func (k *Kernel) Size() int { return k.Centres.Rows }

// Phi fills dst (b) with the kernels at x (d), each in [0, 1].
func (k *Kernel) Phi(dst, x []float64) {
	c, d := k.Centres.Data, k.Centres.Dim
	scale := -1 / (2 * k.Sigma * k.Sigma)
	x = x[:d]
	l := 0
	for ; l+4 <= len(dst); l += 4 {
		// Four sums at a time, each in its own order.
		c0, c1, c2, c3 := c[l*d:][:d], c[(l+1)*d:][:d], c[(l+2)*d:][:d], c[(l+3)*d:][:d]
		var s0, s1, s2, s3 float64
		for j, v := range x {
			u0, u1, u2, u3 := v-c0[j], v-c1[j], v-c2[j], v-c3[j]
			s0 += u0 * u0
			s1 += u1 * u1
			s2 += u2 * u2
			s3 += u3 * u3
		}
		s0, s1, s2, s3 = scale*s0, scale*s1, scale*s2, scale*s3
		if s0 >= expLeast && s1 >= expLeast && s2 >= expLeast && s3 >= expLeast {
			dst[l], dst[l+1], dst[l+2], dst[l+3] = expDown4(s0, s1, s2, s3)
		} else {
			dst[l], dst[l+1], dst[l+2], dst[l+3] = kernelOf(s0), kernelOf(s1), kernelOf(s2), kernelOf(s3)
		}
	}
	for ; l < len(dst); l++ {
		s := 0.0
		for j, v := range c[l*d:][:d] {
			u := x[j] - v
			s += u * u
		}
		dst[l] = kernelOf(scale * s)
	}
}

// kernelOf is e^v, and 0 for a coordinate that is no number.
func kernelOf(v float64) float64 {
	if e := expDown(v); e <= 1 {
		return e
	}
	return 0
}

// Gram is K, b x b: the kernels of the centres among each other.
func (k *Kernel) Gram() *mat.SymDense { return k.gramAt(k.Sigma) }

// gramAt is Gram for another bandwidth.
func (k *Kernel) gramAt(sigma float64) *mat.SymDense {
	b := k.Size()
	g := mat.NewSymDense(b, nil)
	other := Kernel{Centres: k.Centres, Sigma: sigma}
	row := make([]float64, b)
	for i := range b {
		other.Phi(row, k.Centres.Row(i))
		for j := i; j < b; j++ {
			g.SetSym(i, j, row[j])
		}
	}
	return g
}

// kernelError bounds how far a kernel that Phi computes is from its true value: the
// squared distance has a relative error of (d+3) units of 2^-53, its product with
// the scale 4 more, and t e^-t <= 1/e; the exponential itself is good to 2^-51 of a
// number of at most 1 ([expDown]): (d+7)/e + 4 units. The bound has a factor of 4 to
// spare.
func (k *Kernel) kernelError() float64 {
	return 4 * float64(k.Centres.Dim+10) * 0x1p-53
}

func broken(where any, what noren.Format) error {
	return &noren.Error{Kind: noren.Internal, Where: where, What: what}
}
