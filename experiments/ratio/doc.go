// Package ratio runs the experiment of the paper on density ratios with differential
// privacy (Takabayashi, Arai and Nakagawa) and the settings that go beyond it: the
// paper's methods A, B and C as they are written, the sound ones, and ours, each with
// its errors over many repeats and whether the fit check warned; what a public or a
// paid choice of the bandwidth reaches where the usual one fails; and a second, real
// case, a census table whose public part is biased.
//
// The distributions and tables here are public. Much of what is computed (errors against the
// truth, bandwidths chosen on private records, method C) would not be private for data
// that are not.
package ratio
