package api

import "github.com/noren-privacy/noren/correlated"

// CorrelatedLeakageSchema is the form of [CorrelatedLeakage].
const CorrelatedLeakageSchema = "noren.correlated.leakage/1"

// CorrelatedLeakageRequest asks for the leakage of an answer with noise of a scale.
type CorrelatedLeakageRequest struct {
	Dependence
	// Scale is the scale b of the Laplace noise. Required, above 0.
	Scale float64 `json:"scale"`
}

// CorrelatedLeakage is an upper bound on what an answer reveals about one record.
type CorrelatedLeakage struct {
	// Schema is noren.correlated.leakage/1.
	Schema string `json:"schema"`
	// Scale is the scale of the noise.
	Scale float64 `json:"scale"`
	*correlated.Leakage
	// Bounds are the bounds of the leakage; both are equal where the leakage is exact.
	Bounds Bounds `json:"bounds"`

	Asked
}
