package api

import (
	"io"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/ratio"
)

// RatioFitSchema is the form of [RatioFit].
const RatioFitSchema = "noren.ratio/1"

// RatioSpace describes the space in which two tables are compared: columns as axes. All of
// it is public.
type RatioSpace struct {
	// Public is the path of the public table.
	Public string `json:"public"`
	// PublicDelimiter is the field delimiter of a public text file. Detected by default.
	PublicDelimiter string `json:"public_delimiter,omitempty"`
	// PublicEncoding is utf-8 or shift_jis. Detected by default.
	PublicEncoding string `json:"public_encoding,omitempty"`
	// Columns are the columns of the space, which both tables have. Required.
	Columns []string `json:"columns"`
	// Bounds are the smallest and the largest value of columns of numbers, as texts in the
	// form of the column. They default to those of PublicScale, of the data set's schema, or
	// of the public table, in this order.
	Bounds map[string][]string `json:"bounds,omitempty"`
	// Categories are the values that count of columns of categories. They default to those
	// of the public table.
	Categories map[string][]string `json:"categories,omitempty"`
	// PublicScale is the path of a public file with one unit of distance for each column
	// that it names: CSV column,scale or column,low,high,scale.
	PublicScale string `json:"public_scale,omitempty"`
}

// RatioFitRequest asks for a weight for each record of a public table, so that the weighted
// table matches a private one.
type RatioFitRequest struct {
	Ask
	RatioSpace
	// Features are what is released: kernels, marginals or both. Defaults to marginals where
	// a column has more than two categories and no other field is about kernels, else to
	// kernels.
	Features string `json:"features,omitempty"`
	// Noise is the noise of kernels: rkhs-pure, rkhs-gaussian, laplace, parametric or
	// noisy-centres. Defaults to rkhs-pure.
	Noise string `json:"noise,omitempty"`
	// Centres is the number of kernels. Defaults to 12 or 24, or twice the number of
	// categories up to 64.
	Centres int `json:"centres,omitempty"`
	// Sigmas are the bandwidths, in units of distance; the best of several is taken, which
	// adds noise. Defaults to half the median distance in the public table.
	Sigmas []float64 `json:"sigmas,omitempty"`
	// Lambda is the regularisation. By default it is chosen on what was released.
	Lambda float64 `json:"lambda,omitempty"`
	// Post is how negative ratios are avoided: plain, entropy, nnls or clip. Defaults to
	// plain, and to entropy with marginals.
	Post string `json:"post,omitempty"`
	// Raw leaves the weights as they are, not divided by their mean.
	Raw bool `json:"raw,omitempty"`
	// CountShare is the share of epsilon for the number of private records, where neighbours
	// are add-remove. Defaults to 0.1.
	CountShare *float64 `json:"count_share,omitempty"`
	// OutsideShare is the share of epsilon for the number of private records outside of the
	// public range. Defaults to 0.1. Both shares together are at most 0.2.
	OutsideShare *float64 `json:"outside_share,omitempty"`
	// Records is the public number of private records, where neighbours are replace-one.
	// Defaults to that of the schema, and may only repeat it.
	Records int `json:"records,omitempty"`
	// WeightColumn is the name of the new column. Defaults to weight.
	WeightColumn string `json:"weight_column,omitempty"`
	// Output is the path of the weighted table to write; its meta data are written beside it.
	// Required, except for a price.
	Output string `json:"output,omitempty"`
	// Force replaces files that exist.
	Force bool `json:"force,omitempty"`
	// Certified refuses to write weights other than those that the certificate is about: a
	// repeated request may make other weights of the same release.
	Certified bool `json:"certified,omitempty"`

	// Page receives an HTML page about weights and fit. Optional.
	Page io.Writer `json:"-"`
}

// RatioFit is the result of a fit of density-ratio weights.
type RatioFit struct {
	// Schema is noren.ratio/1.
	Schema string `json:"schema"`
	// Output is the path of the weighted table.
	Output string `json:"output"`
	// Meta is the path of the meta data of the weights.
	Meta string `json:"meta"`
	// Columns are the columns of the space.
	Columns []string `json:"columns"`
	// PublicRecords is the number of public records.
	PublicRecords int `json:"public_records"`
	// Records is the number of private records; RecordsFrom is how it is known.
	Records float64 `json:"records"`
	// RecordsFrom is how the number of private records is known: declared, paid (released with
	// noise) or estimated.
	RecordsFrom string `json:"records_from"`
	// Mechanism is the mechanism of the noise.
	Mechanism ratio.Noise `json:"mechanism"`
	// B is the number of kernels; 0 for marginals.
	B int `json:"b"`
	// Sigma is the bandwidth of the kernels, in units of distance.
	Sigma float64 `json:"sigma"`
	// Lambda is the regularisation.
	Lambda float64 `json:"lambda"`
	// Post is the method by which negative ratios were avoided.
	Post ratio.Post `json:"post"`
	// ESS is the effective sample size (Kish).
	ESS float64 `json:"ess"`
	// MaxShare is the largest weight of a record as a share of the total weight.
	MaxShare float64 `json:"max_share"`
	// MeanWeight is the mean weight before normalisation.
	MeanWeight float64 `json:"mean_weight"`
	// FitCheck is the result of the check of the fit.
	FitCheck ratio.FitCheck `json:"fit_check"`
	// Warnings are the findings of the check and the notes of the fit.
	Warnings []noren.Text `json:"warnings"`
	Receipt

	// Histograms are the names of the histograms, in order.
	Histograms []string `json:"-"`
	// Cells is the number of their cells.
	Cells int `json:"-"`
	// Notes are the notes of the fit among the warnings.
	Notes []noren.Text `json:"-"`
}

// RatioFitQuote is the price of a fit.
type RatioFitQuote struct {
	Quote[[]ratio.KernelNoise]
	// CountEpsilon is the epsilon for the number of private records, a part of the cost.
	CountEpsilon float64 `json:"-"`
	// OutsideEpsilon is the epsilon for the number of those outside, a part of the cost.
	OutsideEpsilon float64 `json:"-"`
}
