// Package outlier runs the experiment of the paper on differentially private
// outlier detection (Okada, Fukuchi and Sakuma) as far as the paper describes it, beside
// ours: the accuracy of the query over the radius, the sensitivity bounds over
// t, the standard deviation of every mechanism's noise over epsilon, the
// counterexamples to the paper's bound, and the reasons why its figures 4 and 5 cannot
// be right.
//
// The data are public. What is computed here (sensitivities, the best radius,
// the best beta) would be private for data that are not.
package outlier
