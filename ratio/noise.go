package ratio

import (
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/account"
	"github.com/noren-privacy/noren/noise"
	"github.com/noren-privacy/noren/ratio/redraw"
)

// Noise names a mechanism.
type Noise string

const (
	// RKHSPure adds L u rho to the sum of kernels, L L^T = K + tau I, u uniform on
	// the sphere of R^b and rho ~ Gamma(shape b, scale D/eps), where D = sqrt(2) for
	// replace-one and 1 for add-remove: the density falls with e^(-eps |L^-1 z|/D).
	//
	// Guarantee: pure eps. Neighbours: either. Proof: docs/density-ratio.md, theorem 2
	// (|L^-1 (phi(x) - phi(x'))| <= sqrt(2), |L^-1 phi(x)| <= 1, whatever the records,
	// b and d) and the K-norm mechanism (Hardt and Talwar 2010). Assumptions: centres
	// and bandwidth are public; real-valued noise, of which floating point is an
	// approximation. Noise grows with b: up to 30 centres serve best.
	RKHSPure Noise = "rkhs-pure"
	// RKHSGaussian adds N(0, s^2 (K + tau I)) to the sum of kernels, s the analytic
	// Gaussian multiplier of Balle and Wang (2018) for the L2 sensitivity D of RKHSPure:
	// noise in a coordinate does not depend on b.
	//
	// Guarantee: (eps, delta), delta above 0. Neighbours: either. Proof: theorem 2 and
	// Balle and Wang 2018, theorem 8 (functional noise: Hall, Rinaldo and Wasserman
	// 2013). Assumptions: those of RKHSPure.
	RKHSGaussian Noise = "rkhs-gaussian"
	// Laplace adds independent discrete Laplace noise to each sum of kernels, on a
	// public grid of step 2^-30. The scale is D1/eps, D1 the certified L1 sensitivity
	// ([Bounds]) and one step a centre for rounding to the grid.
	//
	// Guarantee: pure eps, exactly: sums are whole numbers and no floating-point number
	// stands between the random bits and the noise. Neighbours: either. Proof: theorem 1,
	// and Ghosh, Roughgarden and Sundararajan 2009. Assumptions: centres and bandwidth
	// are public.
	Laplace Noise = "laplace"
	// Parametric is the paper's mechanism for basis functions that are public (section
	// 3.1; its method B with public records for centres): Laplace with the sensitivity
	// b, each kernel being in [0, 1].
	//
	// Guarantee: pure eps, exactly. Neighbours: either. Proof: each coordinate changes
	// by at most 1. Assumptions: as for Laplace, and, other than in the paper,
	// bandwidth and lambda are not chosen on private records.
	Parametric Noise = "parametric"
	// NoisyCentres is the paper's method A with a split that is sound: half of eps for b
	// private records that become centres, with noise, and half for the sums of kernels
	// about the noisy centres. It needs a public box.
	//
	// Centres are drawn without replacement; discrete Laplace noise of scale R/eps',
	// R the L1 diameter of the box, eps' = ln(1 + (n/b)(e^(eps/2) - 1)), makes them
	// eps/2-private by amplification (Balle, Barthe and Gaboardi 2018, theorem 9, sampling
	// without replacement). The sums use all records and gain nothing from sampling:
	// Laplace with eps/2.
	//
	// Guarantee: pure eps, exactly; as written in the paper it is 2 eps. Neighbours:
	// replace-one. Proof: docs/density-ratio.md, audit. Assumptions: the box is public.
	NoisyCentres Noise = "noisy-centres"
	// DiscreteLaplace is the noise of histograms without kernels ([MarginalFeatures], where
	// guarantee, neighbours, assumptions and proof are stated).
	DiscreteLaplace Noise = "discrete-laplace"
	// SampledCentres is the paper's method C, which is refused: see [New].
	SampledCentres Noise = "sampled-centres"
)

// jitter is tau: it only lowers the left side of theorem 2, and it covers the rounding
// errors of the factorisation, |L L^T - (K + tau I)| <= (b+1) b 2^-52 (Higham 2002,
// theorem 10.3, with a diagonal of 1), so that L L^T >= K holds of the L that is used.
func (k *Kernel) jitter() float64 {
	b := float64(k.Size())
	return max(1e-10, 8*b*(b+1)*0x1p-52)
}

// root is L, lower triangular, L L^T = K + tau I, and tau.
func (k *Kernel) root() (*mat.TriDense, float64, error) {
	g, tau := k.Gram(), k.jitter()
	for l := range k.Size() {
		g.SetSym(l, l, 1+tau)
	}
	var c mat.Cholesky
	if !c.Factorize(g) {
		return nil, 0, broken(noren.Phrase("noise"), "the kernels of the centres could not be factorised")
	}
	var l mat.TriDense
	c.LTo(&l)
	return &l, tau, nil
}

// rkhsSensitivity bounds |L^-1 (phi(x) - phi(x'))|, or |L^-1 phi(x)|, for kernels as
// they are computed and rounded to units of 2^-52: each is off by eta, which L^-1
// stretches by at most 1/sqrt(tau).
func (k *Kernel) rkhsSensitivity(n account.Neighbours) float64 {
	eta := k.kernelError() + 0x1p-52
	d := 1.0
	if n == account.ReplaceOne {
		d = math.Sqrt2
	}
	return (d + 2*math.Sqrt(float64(k.Size()))*eta/math.Sqrt(k.jitter()/2)) * (1 + 0x1p-40)
}

// gridBits: sums with discrete noise are counted in steps of 2^-30.
const gridBits = 30

// steps is the L1 sensitivity of the sums in steps: what kernels as they are computed
// can change, and one step a centre for rounding.
func (k *Kernel) steps(n account.Neighbours, noise Noise) *big.Rat {
	b := float64(k.Size())
	d := b
	if noise != Parametric {
		bounds := k.Bounds()
		d = bounds.Replace1
		if n == account.AddRemove {
			d = bounds.Kappa1
		}
		d = min(b, d+2*b*(k.kernelError()+0x1p-52))
	}
	return new(big.Rat).SetInt64(int64(math.Ceil(math.Ldexp(d, gridBits))) + int64(k.Size()))
}

// Distribution is the distribution of the noise on the sums of kernels. It is public.
type Distribution struct {
	Noise Noise `json:"noise"`
	// Scale is the factor of L for RKHS noise and the scale of Laplace noise in
	// steps of 2^-30.
	Scale float64 `json:"scale"`
	// Shape is that of the Gamma radius of RKHSPure: all centres of all candidates.
	Shape int `json:"shape,omitempty"`
	// Grid is j where sums are released on a grid of step 2^-j.
	Grid int `json:"grid"`

	exact *big.Rat // the scale of discrete noise
}

// newDistribution makes the distribution for a list of kernels that are released together.
func newDistribution(ks []*Kernel, noiseName Noise, c account.Cost, n account.Neighbours) (*Distribution, error) {
	epsilon, _ := c.Float()
	dist := &Distribution{Noise: noiseName, Grid: gridBits}
	switch noiseName {
	case RKHSPure, RKHSGaussian:
		// Stacked, the squares of the sensitivities add up.
		d2 := 0.0
		for _, k := range ks {
			s := k.rkhsSensitivity(n)
			d2 += s * s
			dist.Shape += k.Size()
		}
		d := math.Sqrt(d2) * (1 + 0x1p-40)
		if noiseName == RKHSPure {
			dist.Scale = d / epsilon * (1 + 0x1p-40)
		} else {
			dist.Shape = 0
			up, err := noise.RatUp(d)
			if err != nil {
				return nil, err
			}
			s, err := account.GaussianSigma(c, up)
			if err != nil {
				return nil, err
			}
			dist.Scale, _ = s.Float64()
			dist.Scale *= 1 + 0x1p-40
		}
		// Coarse against floating-point errors, fine against the noise.
		dist.Grid = min(50, max(-20, 20-int(math.Floor(math.Log2(dist.Scale)))))
	default:
		total := new(big.Rat)
		for _, k := range ks {
			total.Add(total, k.steps(n, noiseName))
		}
		s, err := noise.ScaleFor(total, c.Epsilon)
		if err != nil {
			return nil, err
		}
		dist.exact = s
		dist.Scale, _ = s.Float64()
	}
	return dist, checkScale(dist.Scale)
}

// Covariance is that of the noise on the sums of the kernel k, b x b.
func (l *Distribution) Covariance(k *Kernel) *mat.SymDense {
	b := k.Size()
	out := mat.NewSymDense(b, nil)
	switch l.Noise {
	case RKHSPure, RKHSGaussian:
		// E u u^T = I/m and E rho^2 = m (m+1) scale^2 for a stack of m coordinates.
		v := l.Scale * l.Scale
		if l.Noise == RKHSPure {
			v *= float64(l.Shape + 1)
		}
		out.CopySym(k.Gram())
		for i := range b {
			out.SetSym(i, i, out.At(i, i)+k.jitter())
		}
		out.ScaleSym(v, out)
	default:
		// Discrete Laplace of scale s has 2q/(1-q)^2, q = e^(-1/s): 1/(2 sinh^2(1/2s)).
		h := math.Sinh(0.5 / l.Scale)
		v := 1 / (2 * h * h) * 0x1p-60
		for i := range b {
			out.SetSym(i, i, v)
		}
	}
	return out
}

// standard fills z with noise as it is drawn, but of variance 1 and without the shape of
// the kernels.
func (l *Distribution) standard(s *redraw.Stream, z []float64) {
	norm := 0.0
	for k := range z {
		if l.Noise == RKHSPure || l.Noise == RKHSGaussian {
			z[k] = s.Normal()
		} else {
			z[k] = s.Laplace() / math.Sqrt2
		}
		norm += z[k] * z[k]
	}
	if l.Noise == RKHSPure {
		by := s.Gamma(l.Shape) / math.Sqrt(norm*float64(l.Shape+1))
		for k := range z {
			z[k] *= by
		}
	}
}

// draw adds noise to the exact sums (units of 2^-52) of the kernels, in one draw, and
// returns grid points: floating-point numbers that hold them exactly.
func (l *Distribution) draw(src *noise.Source, ks []*Kernel, sums [][]*big.Int) ([][]float64, error) {
	out := make([][]float64, len(ks))
	if l.Noise != RKHSPure && l.Noise != RKHSGaussian {
		d, err := noise.NewLaplace(l.exact)
		if err != nil {
			return nil, err
		}
		for i := range ks {
			out[i] = make([]float64, len(sums[i]))
			for j, s := range sums[i] {
				z, err := d.Draw(src)
				if err != nil {
					return nil, err
				}
				v := toGrid(s, gridBits)
				out[i][j] = gridValue(v.Add(v, big.NewInt(z)), gridBits)
			}
		}
		return out, nil
	}
	z := make([]float64, 0, l.Shape)
	for _, k := range ks {
		z = append(z, make([]float64, k.Size())...)
	}
	if l.Noise == RKHSPure {
		if err := noise.L2Laplace(src, z, l.Scale); err != nil {
			return nil, err
		}
	} else {
		for i := range z {
			g, err := noise.Normal(src)
			if err != nil {
				return nil, err
			}
			z[i] = l.Scale * g
		}
	}
	for i, k := range ks {
		root, _, err := k.root()
		if err != nil {
			return nil, err
		}
		b := k.Size()
		var y mat.VecDense
		y.MulVec(root, mat.NewVecDense(b, z[:b]))
		z = z[b:]
		out[i] = make([]float64, b)
		for j, s := range sums[i] {
			// The sum is added to exactly: what floating point does is to the noise alone.
			v := fixed(y.AtVec(j))
			v.Add(v, s)
			out[i][j] = gridValue(toGrid(v, l.Grid), l.Grid)
		}
	}
	return out, nil
}

// fixed is x in units of 2^-52, rounded down.
func fixed(x float64) *big.Int {
	v, _ := new(big.Float).SetMantExp(big.NewFloat(x), fixedBits).Int(nil)
	return v
}

// toGrid rounds units of 2^-52 to steps of 2^-j, halves up.
func toGrid(v *big.Int, j int) *big.Int {
	shift := uint(fixedBits - j)
	half := new(big.Int).Lsh(big.NewInt(1), shift-1)
	half.Add(half, v)
	return half.Rsh(half, shift)
}

// gridValue is step k of 2^-j as the nearest floating-point number: exact below 2^53. What
// canonical JSON cannot hold stops at its end.
func gridValue(k *big.Int, j int) float64 {
	v, _ := new(big.Float).SetInt(k).Float64()
	return publishable(math.Ldexp(v, -j))
}

// ParseNoise is the noise of that name: one of the constants, or a, b or c for the paper's
// methods. Names that it does not know are left to [New] to refuse.
func ParseNoise(name string) Noise {
	switch name {
	case "a", "A":
		return NoisyCentres
	case "b", "B":
		return Parametric
	case "c", "C":
		return SampledCentres
	}
	return Noise(name)
}
