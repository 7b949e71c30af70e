package api

import (
	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ratio"
	"github.com/noren-privacy/noren/spec"
)

// RatioPlanSchema is the form of [RatioPlan].
const RatioPlanSchema = "noren.ratio.plan/1"

// RatioPlanRequest asks for the expected errors of weighted answers. It reads the public
// table only and costs nothing.
type RatioPlanRequest struct {
	RatioSpace
	// SpecFile is the path of a specification of the public table. Optional.
	SpecFile string `json:"spec_file,omitempty"`
	// Spec states types and form of the public table. It is laid over SpecFile. Optional.
	Spec *spec.Spec `json:"spec,omitempty"`
	// Epsilon is the privacy cost of the planned fit, in decimal. Required.
	Epsilon string `json:"epsilon"`
	// Delta is its second part, for rkhs-gaussian.
	Delta string `json:"delta,omitempty"`
	// Neighbours is add-remove or replace-one. Defaults to add-remove.
	Neighbours string `json:"neighbours,omitempty"`
	// Records is the expected number of private records. Required.
	Records int `json:"records"`
	// Noise is the noise of kernels. Defaults to rkhs-pure.
	Noise string `json:"noise,omitempty"`
	// Centres is the number of kernels. Defaults as for a fit.
	Centres int `json:"centres,omitempty"`
}

// RatioPlan is what public facts say about the errors of weighted answers.
type RatioPlan struct {
	// Schema is noren.ratio.plan/1.
	Schema string `json:"schema"`
	// Input is the path of the public table.
	Input string `json:"input"`
	// Epsilon is the privacy cost of the planned fit.
	Epsilon float64 `json:"epsilon"`
	// Records is the expected number of private records.
	Records int `json:"records"`
	// Answers are typical answers, one for each column.
	Answers []RatioPlanned `json:"answers"`
	// Take is the recommended kind of features.
	Take ratio.Feature `json:"take"`
	// Why is the reason for the recommendation.
	Why noren.Text `json:"why"`
	// Questions is the number of questions from which the weights have smaller errors than
	// direct queries that share epsilon.
	Questions int `json:"questions"`
}

// RatioPlanned is a typical answer with its expected errors by kind of features.
type RatioPlanned struct {
	// Question is the question in words.
	Question noren.Text `json:"question"`
	// SD is the standard deviation of the column among the public records.
	SD float64 `json:"sd"`
	// By are the expected errors by kind of features: kernels, marginals, both.
	By map[ratio.Feature]ratio.Plan `json:"by"`
}
