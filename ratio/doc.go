// Package ratio makes public records stand in for private ones: it gives each of N
// public records a weight, near the ratio of the private density to the public one,
// so that means, counts, quantiles and models of the private records can be read off
// the weighted public ones, any number of them and at no further budget. It is uLSIF
// (Kanamori, Hido and Sugiyama, JMLR 2009) with differential privacy.
//
// The promise it keeps: the private records enter only through the mean h of b
// Gaussian kernels about public centres, and h only through one of the mechanisms
// whose comments state guarantee, neighbours, assumptions and proof
// (docs/density-ratio.md). All else, the centres, the bandwidth, the scales of the
// columns, lambda, the weights and the errors of answers, is computed from public
// data and from the released mean. Weights are never called reliable: they come with
// a [FitCheck] that says what was looked at and what is wrong.
//
// # How to fit
//
// From tables, through package release, which prices, charges, reads and signs:
//
//	axes, err := ratio.PublicAxes(public, "age", "hours", "sex") // bounds, scales, words: from the public table
//	frame, err := ratio.NewFrame(axes)
//	points, err := frame.Points(public)                          // *table.Table to *Points
//	m, err := ratio.New(ctx, ratio.Options{
//		Frame: frame, Public: points,
//		Cost: account.Cost{Epsilon: 1 * account.EpsilonUnits},
//		// Noise: ratio.RKHSPure, Centres: 12, Sigmas: nil, Post: ratio.Plain,
//		// Neighbours: account.ReplaceOne, Records: n,
//	})
//	answer, err := release.Run(ctx, release.Request{Mechanism: m, File: "private.csv", ...})
//	released, err := m.Decode(answer.Payload)                    // *Released, also in a Publish hook
//	w, err := m.Weights(ctx, released)                           // *Weights: post-processing
//	w.W                                                          // a weight for each public record
//	meta, err := w.Meta.Encode()                                 // JSON to keep beside the table
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
// [Kernel], [Features] and [LOOCV] are uLSIF without privacy; [NewLogistic] is the
// baseline of Ji and Elkan (2013); NoisyCentres is the paper's method A with a sound
// split of the budget, Parametric its method B. Method C publishes b records verbatim
// with its delta of b/n: asking for it is refused, with the reason.
//
// # What is not covered
//
// RKHSPure, RKHSGaussian and the logistic baseline draw continuous noise in floating
// point: the theorems are about real numbers, and the guarantee says so. Laplace,
// Parametric and the paid check are exact: integers on a public grid with discrete
// noise. Nothing outside the support of the public records can be answered.
//
// Sources: Takabayashi, Arai and Nakagawa, "Differentially Private Least-squares
// Importance Fitting", and docs/density-ratio.md, where the paper is audited.
package ratio
