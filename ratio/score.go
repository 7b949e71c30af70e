package ratio

import (
	"gonum.org/v1/gonum/mat"

	"github.com/noren-privacy/noren"
)

// Scores rates lambdas on released means h (b numbers) whose noise has the covariance
// noise (b x b), the least best: the estimate of theorem 4, with each public record left
// out in turn (docs/density-ratio.md, section 6). It is post-processing. [Mechanism.Weights]
// chooses by it; it is for features of one's own, such as linear combinations of
// kernels that were released. Scores of different features compare as well. Errors:
// [noren.Usage].
func (f *Features) Scores(h []float64, noise *mat.SymDense, lambdas []float64) ([]float64, error) {
	b, _ := f.H.Dims()
	if len(h) != b || noise == nil || noise.SymmetricDim() != b {
		return nil, noren.Usagef("h", "one mean for each feature and the covariance of its noise are needed")
	}
	for _, l := range lambdas {
		if !(l > 0) {
			return nil, noren.Usagef("lambda", "lambda must be a number above 0")
		}
	}
	return f.scores(h, noise, lambdas)
}

// Spread estimates the covariance of the features over the private records, b x b, from
// weights of the public ones, each 0 or more. Divided by n it is that of h over another
// private sample.
func (f *Features) Spread(weights []float64) *mat.SymDense { return f.spreadOf(weights) }
