// Package outlier tells how many distance-based outliers a table holds, with
// differential privacy.
//
// A record is an outlier when fewer than k others lie within a radius of it, in
// a space made of some of its columns (Knorr and Ng 1998). One record can change
// the number of outliers by much: in the worst case by about tau k, where tau is
// the kissing number of the space, which in 30 dimensions is more than any table
// has records. In data as they are it changes it by a few. So the noise is scaled
// by a smooth upper bound of what one record can change in these data and in all
// that are near them (Nissim, Raskhodnikova and Smith 2007).
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
// # The promise
//
//   - The bound is smooth, by theorems 2 and 3 of docs/outliers.md, for
//     replace-one and for add-remove neighbours; the tests hold both conditions
//     against every data set and every pair of neighbours on small grids. The
//     bound of the paper that this package follows is not smooth, and noise made
//     from it is not private: it is kept in outlier/paper, for comparison.
//   - The theorems hold for the points as they are computed with: coordinates
//     are integers, distances are compared exactly, and what is rounded after
//     that is covered by the choice of beta ([Noise]).
//   - Nothing that decides how the answer is made is taken from the data: not
//     the scales, not the radius, not the family of the noise. How much noise was
//     drawn depends on the data and is private. Intervals are therefore as wide
//     as public facts make them, unless a share of epsilon is spent on telling
//     more ([Options.IntervalShare]).
//   - A computation is never cut short; public limits on records and dimensions
//     bound its time.
//
// # What there is
//
//   - [New] makes a [Mechanism], which fits package release by its methods.
//   - [NewPlan] says from public facts what to expect, and chooses the noise:
//     two-sided Lomax noise on the smooth bound, or Laplace noise on the global
//     sensitivity where that is less.
//   - [Diagnose] is the private look at what the noise is made from: degrees,
//     bounds at every distance, smooth bounds.
//   - [LomaxNoise], [StudentNoise], [LaplaceNoise], [GaussianNoise] and
//     [GlobalNoise] are the noises with their conditions; [StrictKissing] and
//     [GlobalSensitivity] the worst case.
package outlier
