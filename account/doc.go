// Package account is privacy accounting: costs, their composition, and calibration of
// Gaussian noise. It converts costs between relations of neighbours, and has no input
// or output, no state and no randomness.
//
// Guarantee: every figure is rounded in the safe direction, losses and noise up. A [Cost] is a pair
// of integers, epsilon in units of 1e-9 and
// delta in units of 1e-18. Where exponentials, logarithms and normal tails come
// in, they are computed as intervals that are proven to contain the true value
// (interval.go), and the end of the interval with the weaker guarantee is taken.
//
// # What to use
//
//   - [ParseEpsilon], [ParseDelta]: "0.1" to units, exactly.
//   - [Cost.Add]: composition of queries that are chosen adaptively; package ledger
//     keeps the sums of a data set.
//   - [Charge]: the cost of a guarantee in one relation to a budget of another.
//   - [Group]: the guarantee for a person with n records.
//   - [GaussianSigma]: the analytic calibration of Balle and Wang, for continuous
//     noise; [DiscreteGaussian]: the exact account of discrete Gaussian noise, which
//     a release of integers uses; [RhoWithin]: the zCDP loss for several coordinates.
//
// # Neighbours
//
// Two tables are neighbours in [AddRemove] (unbounded) when one has all records of one
// unit more, in [ReplaceOne] (bounded, substitution) when the records of one unit differ. Epsilons of
// different relations do not add up.
//
// Source: docs/differential-privacy.md and the papers that each function names.
package account
