// Package paper holds what the paper on differentially private outlier detection
// (Okada, Fukuchi and Sakuma) prints, as it prints it: its bound of the local
// sensitivity at distance t (equations 17-24), its enumeration of balls
// (algorithm 1), its way to the smooth sensitivity (algorithm 2) and its
// Gaussian mechanisms (theorems 1 and 2).
//
// It protects nothing: the bound is neither an upper bound nor smooth (docs/outliers.md
// shows both, and a release of the paper's own size that fails its guarantee by
// far). It is for comparison, for reproducing the paper, and, in the case of the
// enumeration, as an oracle of exact coverage. No release imports it. All of it
// is meant for small sets.
package paper
