// Package harm computes the expected harm of noise to the subjects of an answer: a firm
// without a bad lot that is reported to have one, a firm with bad lots that is reported
// to have none.
//
// The true count is t >= 0 (bad lots, cases of food poisoning), the answer is
// A = max(0, t+Z), Z Laplace noise of scale b, and the public takes alarm iff
// A >= tau. [Costs] are the costs of the errors of the noise, all in one currency;
// [Costs.Evaluate] gives the expected harm in closed form, [Costs.Optimise] the
// scale that makes harm and the risk of identification together smallest, and
// [Costs.BestThreshold] the tau, which costs no privacy: it only reads the answer.
//
// Guarantee: nothing here reads the true count. Scale and threshold are computed from
// public costs and a public prior, and reveal nothing about the data.
//
// Derivations: docs/correlated-privacy.md, section on harm; they correct
// section 4(2) of the report on grant 24650064 (Nakagawa 2014).
package harm
