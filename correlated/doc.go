// Package correlated calibrates noise for records that depend on each other.
//
// Differential privacy bounds what an answer tells of one record when all others
// are held still. Where records move together (minutes of a meter, members of
// a household), an adversary who knows how can learn more: the others answer for it. This
// package takes a public model of the dependence and computes how much more, to
// the last digit where that is affordable and as a certified bound where it is
// not, and the noise that keeps it below a chosen epsilon.
//
//	model, err := correlated.NewHomogeneousChain(init, p, 1440)
//	c, err := correlated.Calibrate(ctx, model, correlated.Count(on), 1, correlated.Options{})
//	fmt.Println(c.Scale, c.Leakage.Witness)
//
// # What is promised
//
// A query f(x) = sum of g_i(x_i) is answered with Laplace noise of scale b. An
// adversary knows the model and the states x_K of some records K, and wants to
// know record i. CBP(b) is the largest
//
//	| log p(r | X_i=a, x_K) - log p(r | X_i=a', x_K) |
//
// over targets i, sets K, values x_K of positive probability, states a and a'
// that are both possible given x_K, and answers r: by so much the odds between
// two states of a record move at most. [ComputeLeakage] computes it,
// [Calibrate] the smallest b with CBP(b) <= epsilon, and both name the
// adversary for whom it is reached ([Witness]).
//
// The promise stands on the model. A model made from the records that it is to
// protect would itself tell of them: take it from public or older data
// ([FitChain], [FitTree]), and from such data as a [Box], so that the promise
// does not hang on one estimate.
//
// # Models and methods
//
// [JointTable] is a joint distribution, [Chain] a Markov chain, [Tree] a tree or forest,
// [Class] a list of distributions, [Box] all distributions within bounds. Exact evaluation
// enumerates adversaries: all sets for a table, intervals for a chain, connected
// pieces for a tree within a public budget. Beyond it the bounds are Theorem 6
// (chains: exact nearby, certified beyond) and the tanh rule, Theorem 5 (chains,
// trees and boxes of any size).
//
// Leakages do not add up over several answers, and charges do: [Charge] is what
// an answer with Laplace noise costs a budget under the model, and [Price] what
// any other mechanism of pure epsilon costs it. [Mechanism] answers a query on a
// table's column.
//
// Package correlated/harm weighs the damage that the noise itself does.
//
// # Source
//
// docs/correlated-privacy.md holds the theorems with their proofs, and what was
// wrong in the report that this follows (grant 24650064, Nakagawa 2014; see also
// Yang, Sato and Nakagawa, SIGMOD 2015). "The note" in comments is that document.
package correlated
