// Package account is the arithmetic of privacy loss: what a release costs, what
// several cost together, what a cost in one relation of neighbours is worth in
// another, and how much Gaussian noise a cost asks for. It is pure: no input or
// output, no state, no randomness.
//
// The promise it keeps: every figure is rounded in the safe direction, losses
// and noise up. A [Cost] is a pair of integers, epsilon in units of 1e-9 and
// delta in units of 1e-18. Where exponentials, logarithms and normal tails come
// in, they are computed as intervals that are proven to hold the true value
// (interval.go), and the end of the interval that promises less is taken.
//
// # What to use
//
//   - [ParseEpsilon], [ParseDelta]: "0.1" to units, exactly.
//   - [Cost.Add]: composition of queries that are chosen adaptively; package ledger
//     keeps the sums of a data set.
//   - [Charge]: what a guarantee in one relation costs in a book of another.
//   - [Group]: what a guarantee for one record is worth for a person with n.
//   - [GaussianSigma]: the analytic calibration of Balle and Wang, for continuous
//     noise; [DiscreteGaussian]: the exact account of discrete Gaussian noise, which
//     a release of integers uses; [RhoWithin]: the zCDP loss for several coordinates.
//
// # Neighbours
//
// Two tables are neighbours in [AddRemove] when one has all records of one unit
// more, in [ReplaceOne] when the records of one unit differ. Epsilons of
// different relations do not add up.
//
// Source: docs/differential-privacy.md and the papers that each function names.
package account
