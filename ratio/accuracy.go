package ratio

import (
	"math"

	"github.com/noren-privacy/noren"
)

// Accuracy is a forecast of the noise of a release. It is computed from public facts alone.
type Accuracy struct {
	// Level is the confidence of HalfWidth, and Records the number of private records that
	// it is for.
	Level   float64
	Records int64
	// HalfWidth bounds the error of the released mean of one kernel, the root mean square
	// over centres, with confidence Level: by Chebyshev's inequality, which holds for every
	// distribution of the noise. It is that of the bandwidth with the most noise; 0 without
	// kernels.
	HalfWidth float64
	// Kernels are the bandwidths, in the order of [Mechanism.Kernels]; none for histograms
	// alone and for NoisyCentres, whose centres are not public.
	Kernels []KernelNoise
}

// KernelNoise describes the noise of one bandwidth.
type KernelNoise struct {
	// Sigma is the bandwidth, in units of distance.
	Sigma float64 `json:"sigma"`
	// B is the number of kernels.
	B int `json:"b"`
	// NoiseSD is the standard deviation of the noise on a sum of kernels, the root mean
	// square over centres.
	NoiseSD float64 `json:"noise_sd"`
	// Records is the number of private records above which the noise is smaller than the
	// sampling error: the mean over n records has the variances noise^2/n^2 and spread^2/n,
	// if private kernels spread as the public ones do.
	Records float64 `json:"records_needed"`
}

// Accuracy forecasts the noise of a release for n private records with confidence level, 0 <
// level < 1. Error: [noren.Usage].
func (m *Mechanism) Accuracy(level float64, n int64) (Accuracy, error) {
	if !(level > 0 && level < 1) {
		return Accuracy{}, noren.Usagef("level", "expected a confidence above 0 and below 1").Hinted("0.95 is usual")
	}
	if n < 1 {
		return Accuracy{}, noren.Usagef("records", "expected a number of private records of at least 1")
	}
	out := Accuracy{Level: level, Records: n}
	for _, k := range m.kernels {
		one := m.kernelNoise(k)
		out.HalfWidth = max(out.HalfWidth, one.NoiseSD/float64(n)/math.Sqrt(1-level))
		out.Kernels = append(out.Kernels, one)
	}
	return out, nil
}

func (m *Mechanism) kernelNoise(k *Kernel) KernelNoise {
	public := m.options.Public
	b := k.Size()
	cov := m.distribution.Covariance(k)
	noise, spread := 0.0, 0.0
	phi, sum, square := make([]float64, b), make([]float64, b), make([]float64, b)
	for i := range public.Rows {
		k.Phi(phi, public.Row(i))
		for l, p := range phi {
			sum[l] += p
			square[l] += p * p
		}
	}
	n := float64(public.Rows)
	for l := range b {
		noise += cov.At(l, l)
		spread += square[l]/n - sum[l]/n*sum[l]/n
	}
	return KernelNoise{Sigma: k.Sigma, B: b, NoiseSD: math.Sqrt(noise / float64(b)), Records: noise / spread}
}

// Remarks are sentences about public facts of a fit with that number of kernels: categories
// that the kernels do not tell apart, and public records that lack a value.
func (m *Mechanism) Remarks(kernels int) (out []noren.Text) {
	public := m.options.Public
	categories := 0
	if m.options.Frame != nil {
		for _, a := range m.options.Frame.Axes() {
			categories += len(a.Categories)
		}
	}
	if kernels > 0 && len(m.marginals) == 0 && categories > kernels {
		out = append(out, noren.Textf("there {1|is|are} %d {kernel|kernels} for columns of %d {category|categories}: categories without a "+
			"kernel near them cannot be told from others; %d {centre|centres}, or fewer categories, would help", kernels, categories, 2*categories))
	}
	missing := 0
	for i := range public.Rows {
		if !isWhole(public.Row(i)) {
			missing++
		}
	}
	if missing > 0 {
		records := noren.Textf("1 public record")
		if missing > 1 {
			records = noren.Textf("%d public {record|records}", missing)
		}
		out = append(out, noren.Textf("%s without a value in a column of the weights: of weight 0, as they represent no private record", records))
	}
	return out
}
