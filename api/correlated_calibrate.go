package api

import "github.com/noren-privacy/noren/correlated"

// CorrelatedCalibrateSchema is the form of [CorrelatedCalibrate].
const CorrelatedCalibrateSchema = "noren.correlated.calibrate/1"

// CorrelatedCalibrateRequest asks for the smallest noise that keeps a leakage.
type CorrelatedCalibrateRequest struct {
	Dependence
	// Epsilon is the largest leakage about one record. Required, above 0.
	Epsilon float64 `json:"epsilon"`
}

// CorrelatedCalibrate is the smallest scale of Laplace noise for a leakage, with the
// scales of other methods.
type CorrelatedCalibrate struct {
	// Schema is noren.correlated.calibrate/1.
	Schema string `json:"schema"`
	// Epsilon is the largest leakage about one record.
	Epsilon float64 `json:"epsilon"`
	// Scale is the scale of the Laplace noise; 0 where no record changes the answer.
	Scale float64 `json:"scale"`
	*correlated.Leakage
	// Bounds are the bounds of the leakage at that scale.
	Bounds Bounds `json:"bounds"`
	// Evaluations is the number of scales that were tried.
	Evaluations int `json:"evaluations"`
	*correlated.Baselines

	Asked
}

// CorrelatedExplainRequest asks for a page about a model and a query.
type CorrelatedExplainRequest struct {
	Dependence
	// Epsilon is the largest leakage about one record. Required, above 0.
	Epsilon float64 `json:"epsilon"`
}
