// Package ratio reweights a public table to match a private one, with differential privacy.
//
// Each of N public records gets a weight, an estimate of the density ratio private/public
// at its place. Means, counts, quantiles and models of the private records are then
// estimated from the weighted public ones, any number of them and at no further cost. The
// estimator is uLSIF (Kanamori, Hido and Sugiyama, JMLR 2009) with noise.
//
// Guarantee: the private records are used only to compute the mean h of b Gaussian kernels
// about public centres, or counts of public bins, and these are released only by one of the
// mechanisms of [Noise] and [Feature]. Their comments state guarantee, neighbours,
// assumptions and proof (docs/density-ratio.md). Everything else (centres, bandwidth, scales
// of the columns, lambda, weights, errors of answers) is computed from public data and from
// what was released. No accuracy is guaranteed: weights come with a [FitCheck], which states
// what was checked and what is wrong.
//
// # How to fit
//
// From tables, through package release, which charges a budget and signs a certificate:
//
//	axes, err := ratio.PublicAxes(public, "age", "hours", "sex") // bounds, scales, categories: from the public table
//	frame, err := ratio.NewFrame(axes)
//	points, err := frame.Points(public)                          // *table.Table to *Points
//	m, err := ratio.New(ctx, ratio.Options{
//		Frame: frame, Public: points,
//		Cost: account.Cost{Epsilon: 1 * account.EpsilonUnits},
//		// Noise: ratio.RKHSPure, Centres: 12, Sigmas: nil, Post: ratio.Plain,
//		// Neighbours: account.ReplaceOne, Records: n,
//	})
//	answer, err := release.Run(ctx, release.Request{Mechanism: m, Dataset: data, ...})
//	released, err := m.Decode(answer.Payload)                    // *Released, also in a Publish hook
//	w, err := m.Weights(ctx, released)                           // *Weights: post-processing
//	w.W                                                          // a weight for each public record
//	meta, err := w.Meta.Encode()                                 // JSON, to be stored beside the table
//
// From points, where no release is made (experiments, seeded noise):
//
//	m, err := ratio.New(ctx, ratio.Options{Public: points, ...}) // no Frame
//	released, err := m.Release(ctx, private, src)
//	w, err := m.Weights(ctx, released)
//
// # How to answer
//
// The weights are made again from the public table and the meta data, and compared
// with the column of the file:
//
//	meta, err := ratio.DecodeMeta(text)
//	frame, err := meta.Frame()                                   // frame.Columns(): what to read
//	points, err := frame.Points(public)
//	w, err := ratio.Open(ctx, meta, points)
//	err = w.Same(column)                                         // the file's weights, or an error
//	a, err := w.Mean(f)           // f: one number for each public record, NaN where missing
//	a, err := w.Count(in)         // in: one bool for each public record
//	a, err := w.Quantile(f, 0.5)
//	as, err := w.Histogram(bin, bins) // bin: 0..bins-1, or -1 for none
//	r, err := w.Regression(x, y)      // x: *Points, N rows
//	some, err := w.Among(in)          // the same questions about some of the records
//
// Each answer is corrected by what was released (docs/density-ratio.md, section 7). Each
// [Answer] has its Value, its standard error SE with the parts Public, Privacy, Private and
// Model, how well the kernels carry the question, and Warnings.
//
// A paid check compares bounded means of the private records with those of the
// weighted public ones. It is a mechanism of its own, "ratio.check":
//
//	c, err := ratio.NewCheck(ratio.CheckOptions{Weights: w, Frame: frame, Public: points, Cost: ..., Neighbours: ..., Records: ...})
//	answer, err := release.Run(ctx, release.Request{Mechanism: c, ...})
//	sums, err := c.Decode(answer.Payload)                                // noisy sums
//	result, err := c.Compare(sums)                                       // *CheckResult
//
// # The pieces
//
// [Kernel], [Features] and [LOOCV] are uLSIF without privacy; NoisyCentres is the paper's method A with a sound
// split of the budget, Parametric its method B. Method C publishes b records verbatim
// with its delta of b/n: asking for it is refused, with the reason.
//
// # What is not covered
//
// RKHSPure and RKHSGaussian draw continuous noise in floating
// point: the theorems are about real numbers, and the guarantee says so. Laplace,
// Parametric and the paid check are exact: integers on a public grid with discrete
// noise. Nothing outside the support of the public records can be answered.
//
// Sources: Takabayashi, Arai and Nakagawa, "Differentially Private Least-squares
// Importance Fitting", and docs/density-ratio.md, where the paper is audited.
package ratio
