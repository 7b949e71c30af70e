// Package correlated calibrates Laplace noise for records that depend on each other.
//
// Differential privacy bounds what an answer reveals about one record while all others
// are fixed. Where records depend on each other (readings of a meter, members of a
// household), an adversary who knows the dependence can learn more. This package takes a
// public model of the dependence and computes the leakage about one record, exactly
// where that is affordable and otherwise as a certified bound, and the noise scale that
// keeps it below a chosen epsilon.
//
//	model, err := correlated.NewHomogeneousChain(init, p, 1440)
//	c, err := correlated.Calibrate(ctx, model, correlated.Count(on), 1, correlated.Options{})
//	fmt.Println(c.Scale, c.Leakage.Witness)
//
// # Guarantee
//
// A query f(x) = sum of g_i(x_i) is answered with Laplace noise of scale b. An
// adversary knows the model and the states x_K of some records K, and wants to
// know record i. CBP(b) is the largest
//
//	| log p(r | X_i=a, x_K) - log p(r | X_i=a', x_K) |
//
// over targets i, sets K, values x_K of positive probability, states a and a'
// that are both possible given x_K, and answers r. It bounds the change of the log odds
// between two states of a record. [ComputeLeakage] computes it, [Calibrate] the smallest
// b with CBP(b) <= epsilon, and both name the adversary who reaches it ([Witness]).
//
// The guarantee assumes the model. A model that was estimated from the private records
// would reveal them: estimate it from public or older data ([FitChain], [FitTree]), and
// as a [Box], so that the guarantee does not depend on a point estimate.
//
// # Models and methods
//
// [JointTable] is a joint probability table, [Chain] a Markov chain, [Tree] a tree or
// forest. [Class] and [Box] are credal sets: a finite set of distributions, and an
// interval model (all distributions within bounds). Exact evaluation
// enumerates adversaries: all sets for a table, intervals for a chain, connected
// pieces for a tree within a public budget. Beyond it the bounds are Theorem 6
// (chains: exact nearby, certified beyond) and the tanh rule, Theorem 5 (chains,
// trees and boxes of any size).
//
// Leakages of several answers do not add up; charges do. [Charge] is the privacy cost of
// an answer with Laplace noise to a budget under the model, and [Price] the cost of any
// other mechanism of pure epsilon. [Mechanism] answers a query on a table's column.
//
// Package correlated/harm computes the expected harm of the noise itself.
//
// # Source
//
// docs/correlated-privacy.md has the theorems with their proofs, and the errors of the
// report that this follows (grant 24650064, Nakagawa 2014; see also Yang, Sato and
// Nakagawa, SIGMOD 2015).
package correlated
