// Package noise draws noise for differential privacy from exact samplers. They are safe
// against floating-point attacks (Mironov 2012).
//
// Guarantee: the integers that [Laplace] and
// [Gaussian] return, and the grid points that [Lomax], [StudentT],
// [ContinuousLaplace] and [ContinuousGaussian] return, have exactly the
// distribution that their documentation states, given uniform random bits. No
// floating-point number stands between the bits and the result: where one is
// used to decide quickly, it comes with a proven bound, and the rare draw that
// the bound leaves open is decided with integers of as many bits as it needs.
// Randomness comes from crypto/rand, or is expanded from a secret that does ([Expand]); where it fails, the draw returns an error.
//
// # How to release a number
//
// Floating-point noise on a floating-point sum is not private: the low bits reveal the
// sum (Mironov 2012; Haney et al. 2022), and the rounding of the sum has a sensitivity
// of its own (Casacuberta et al. 2022). The steps here avoid both:
//
//  1. Bring each value to a public grid and into public bounds: [Grid], [Range].
//     NaN and the infinities are refused.
//  2. Add in integers: [Sum]. The result does not depend on the order.
//  3. Take the scale from the sensitivity and the loss as exact rationals:
//     [ScaleFor], [Sigma2For].
//  4. Add one draw of discrete noise, with [AddSaturating].
//  5. Scale back: [Grid.Value].
//
// A [Source] is not safe for concurrent use. The samplers, once made, hold no
// state and may be shared.
//
// # What is not covered
//
// The time that a draw takes depends on what is drawn (Jin et al. 2022). A server must
// answer after fixed intervals of time, or from noise drawn in advance. The
// floating-point samplers [Uniform], [Exponential], [Normal] and [Gamma] are not exact;
// their comments state their distributions.
//
// Sources: Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential
// Privacy" (2020), for the discrete samplers; docs/differential-privacy.md for
// the proofs.
package noise

import "github.com/noren-privacy/noren/internal/entropy"

// Source is a stream of secret random bits. It is not safe for concurrent use.
type Source = entropy.Source

// NewSource returns a source over crypto/rand.
func NewSource() *Source { return entropy.Secret() }

// Expand returns a source whose bits follow from a secret of 256 uniform bits, from the
// identity of what is computed with them, and from the name of the stream (HKDF-SHA256 and
// AES-256 in counter mode). It is for an answer that may have to be computed again: each
// combination of the three must be used for one answer. Guarantees of noise drawn from it
// are computational.
func Expand(secret, about [32]byte, stream string) *Source {
	return entropy.Expanded(secret, about, stream)
}
