package api

import (
	"encoding/json"

	"github.com/noren-privacy/noren/correlated/harm"
)

// The forms of [HarmEvaluate], [HarmOptimise] and [HarmThreshold].
const (
	HarmEvaluateSchema  = "noren.harm.evaluate/1"
	HarmOptimiseSchema  = "noren.harm.optimise/1"
	HarmThresholdSchema = "noren.harm.threshold/1"
)

// HarmCosts states the public costs of the errors of noise. No private data is read.
type HarmCosts struct {
	// Costs are the costs, as package harm reads them (harm.ParseCosts). Required here or
	// in CostsFile.
	Costs json.RawMessage `json:"costs,omitempty"`
	// CostsFile is the path of costs in JSON.
	CostsFile string `json:"costs_file,omitempty"`
}

// HarmEvaluateRequest asks for the expected harm of noise.
type HarmEvaluateRequest struct {
	HarmCosts
	// Scale is the scale b of Laplace noise. Give it or Geometric.
	Scale float64 `json:"scale,omitempty"`
	// Geometric is the epsilon of two-sided geometric noise.
	Geometric float64 `json:"geometric,omitempty"`
	// Dependence is a model: the probability of identification follows from the leakage
	// under it. Optional; without it records are taken as independent.
	Dependence *Dependence `json:"dependence,omitempty"`
}

// HarmEvaluate is the expected harm of noise.
type HarmEvaluate struct {
	// Schema is noren.harm.evaluate/1.
	Schema string `json:"schema"`
	*harm.Evaluation

	// Costs are the costs that were read.
	Costs *harm.Costs `json:"-"`
}

// HarmOptimiseRequest asks for the scale of noise with the smallest expected total.
type HarmOptimiseRequest struct {
	HarmCosts
	// EpsilonMax is the largest privacy loss that is allowed. Defaults to 1000, which is
	// no protection.
	EpsilonMax *float64 `json:"epsilon_max,omitempty"`
	// Points is how many scales are tried before the search narrows. Defaults to 400, or
	// 60 with a model.
	Points int `json:"points,omitempty"`
	// Dependence is a model: the privacy loss is the leakage under it. Optional.
	Dependence *Dependence `json:"dependence,omitempty"`
}

// HarmOptimise is the scale of noise with the smallest expected total.
type HarmOptimise struct {
	// Schema is noren.harm.optimise/1.
	Schema string `json:"schema"`
	*harm.Optimum
}

// HarmThresholdRequest asks for the smallest answer that should be an alarm.
type HarmThresholdRequest struct {
	HarmCosts
	// Scale is the scale b of Laplace noise. Required, above 0.
	Scale float64 `json:"scale"`
}

// HarmThreshold is the optimal alarm threshold.
type HarmThreshold struct {
	// Schema is noren.harm.threshold/1.
	Schema string `json:"schema"`
	harm.Threshold
}
