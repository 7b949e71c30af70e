// Package outlier counts the distance-based outliers of a table with differential
// privacy.
//
// A record is an outlier when fewer than k others lie within a radius of it, in
// a space made of some of its columns (Knorr and Ng 1998). In the
// worst case one record changes the count by about tau k, where tau is the kissing
// number of the space; in 30 dimensions that is more than any table has records. On
// typical data it changes the count by a few. The noise is therefore scaled by a
// smooth upper bound of the local sensitivity (Nissim, Raskhodnikova and Smith 2007).
//
//	m, err := outlier.New(context.Background(), outlier.Options{
//		Axes: []axis.Axis{
//			{Field: table.Field{Name: "temperature"}, Low: -20, High: 50, Scale: 5},
//			{Field: table.Field{Name: "load"}, Low: 0, High: 100, Scale: 10},
//		},
//		Step: 0.001, Radius: 0.2, K: 5,
//		Cost: account.Cost{Epsilon: account.EpsilonUnits},
//	})
//	answer, err := release.Run(ctx, release.Request{Mechanism: m, ...})
//
// # The guarantee
//
//   - The bound is smooth, by theorems 2 and 3 of docs/outliers.md, for
//     replace-one and for add-remove neighbours; the tests check both conditions
//     on every data set and every pair of neighbours on small grids. The
//     bound of the paper that this package follows is not smooth, and noise made
//     from it is not private: outlier/paper has it for comparison.
//   - The theorems hold for the points as they are computed with: coordinates
//     are integers, distances are compared exactly, and what is rounded after
//     that is covered by the choice of beta ([Calibrated]).
//   - Nothing that decides how the answer is made is taken from the data: not
//     the scales, not the radius, not the family of the noise. How much noise was
//     drawn depends on the data and is private. Intervals are therefore as wide
//     as public facts make them, unless a share of epsilon is spent on the
//     size of the noise ([Options.IntervalShare]).
//   - A computation is never cut short; public limits on records and dimensions
//     bound its time.
//
// # Contents
//
//   - [New] makes a [Mechanism], which implements release.Mechanism.
//   - [NewPlan] computes the expected error from public facts, and chooses the noise:
//     two-sided Lomax noise on the smooth bound, or Laplace noise on the global
//     sensitivity where that is less.
//   - [Diagnose] computes the sensitivity bounds of a private table: degrees, bounds at
//     every distance, smooth bounds. Its result is private.
//   - [LomaxNoise], [StudentNoise], [LaplaceNoise], [GaussianNoise] and
//     [GlobalNoise] are the families of noise with their conditions; [StrictKissing] and
//     [GlobalSensitivity] are the worst case.
package outlier
