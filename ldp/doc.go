// Package ldp provides mechanisms and estimators of local differential privacy. Each
// person's device randomises its own value; from many reports the collector
// estimates frequencies, means and distributions, with stated errors.
//
//	grr, err := ldp.NewGRR(5, 1.0)                   // 5 labels, epsilon 1
//	report, err := grr.Randomise(noise.NewSource(), label) // on the device
//	c := ldp.NewCollector(grr)                        // at the collector
//	c.Add(report)
//	f, err := c.Frequencies(0.95)                     // estimates, errors, intervals
//
// # The guarantee
//
// A mechanism is epsilon-locally private if for all values x, x' of one person
// and every set S of reports P(report in S | x) <= e^epsilon P(report in S | x')
// (Kasiviswanathan et al. 2008). No party is trusted: the collector is the
// adversary. Every mechanism states a [Loss]: epsilon of one report, of one
// record with all its attributes, and over a lifetime of repeated reports. The
// probabilities that run are multiples of 2^-64, rounded to the private side; the
// stated epsilon holds for them and not only for the formula. Randomness comes
// from [noren/noise.Source] alone.
//
// What is not protected: who reports and when; an attribute that is sent as it
// is (a class label, a cohort); bins, scalers or choices of attributes that were
// fitted on raw data ([Bins] says where its edges come from); and a value that
// changes, whose every new version costs again.
//
// # Which mechanism
//
// [Advise] answers from the size of the domain, epsilon, the number of people and
// of repeats. In short: labels few (k < 3 e^epsilon + 2): [NewGRR]; many:
// [NewOUE], [NewOLH] where k bits are too many to send; free text: [Rappor]; a
// mean: [NewHybrid]; a distribution of a number: [NewSquareWave]; the same
// question repeatedly: [NewLongitudinalGRR], [NewLongitudinalOUE] or RAPPOR;
// many attributes: [NewMulti].
//
// Malformed reports are counted and excluded; they never change the estimate of
// the others. Counts that the mechanism cannot have made are found by the collectors'
// Fit methods. Reports of one person in several rounds are for [Rounds].
//
// docs/local-privacy.md has the proofs and measured figures. Package ldp/survey collects
// and estimates from files of reports, by a specification.
package ldp
