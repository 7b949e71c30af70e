// Package query answers counts, sums, means, variances, histograms and quantiles of a
// table with differential privacy, for all records or those that a predicate selects, in
// one group or several.
//
//	q, err := query.New(ctx, query.Options{
//		Kind: query.Mean, Column: "age", Bounds: &query.Bounds{Lo: 0, Hi: 100},
//		By: []string{"sex"}, Keys: [][]string{{"Female"}, {"Male"}},
//		Fields: fields, Cost: account.Cost{Epsilon: 100_000_000}, // 0.1
//	})
//	cost, err := q.Cost(account.AddRemove, account.Record) // before data is read
//	...
//	answer, err := q.Answer(ctx, t, noise.NewSource()) // a *query.Result
//
// A [Query] implements release.Mechanism. Use package release for protected data: it
// charges the privacy cost to a ledger before the table is read.
//
// # The guarantee
//
// What [Query.Answer] returns is (epsilon, delta)-differentially private for the
// [Query.Guarantee] it states. The proofs stand beside the code:
//
//   - which records count, and for which group, is decided record by record by public
//     rules (predicate, keys, bounds, missing values), after the records of each person
//     were bounded by a rule that looks at that person's records alone (unit.go);
//   - the largest change of the exact integers by one unit (additive.sensitivity, scale.go);
//   - that the noise meets the privacy cost (newSampler, scale.go; packages noise, account);
//   - means and variances from sums that are private together (sums, sums.go), and their
//     intervals;
//   - the exponential mechanism for quantiles (quantile.go), drawn without rounding
//     (choose.go);
//   - the smooth sensitivity of the median in both relations (smooth.go).
//
// No floating-point number depends on the data before the noise is added: values are
// clamped to public bounds and rounded to a public grid, and sums are of integers, so that
// they do not depend on the order of the records. Errors hold no value of the table, and
// whether [New] fails depends on public parameters alone.
//
// # What is public
//
// Bounds, bins, keys, grid and predicate must be chosen without looking at the data: from
// a questionnaire, a code book, or common sense. A list of keys that was read from the
// data reveals who is in it, and noise on the counts does not change that.
//
// # What the intervals say
//
// Each interval by itself holds, with its confidence, what the answer would be without
// noise for the clamped, rounded values. It is computed from what was released and public
// parameters. Intervals of means and variances are conservative: every noisy sum is
// allowed its own error (the union bound), and the worst over all of these is taken.
// [Query.Accuracy] computes the same widths from public facts, before the query runs.
//
// # Which quantile
//
// [Exponential] guarantees a rank: the rank of the value that it returns is off by a
// number of records that does not depend on the data. [Smooth] adds noise scaled to how closely the
// values lie around the median, and guarantees no accuracy beforehand. Which is better
// depends on how the values are spread: [Accuracy].EvenSpread is, for both, the error that
// an even spread between the bounds would give, for a public guess of how many records
// there are. Choose by it before asking.
//
// # Edges of bins
//
// [Edges] asks for all inner edges of bins that hold about equally many values: one
// answer, one cost, which is split exactly over the quantiles (edges.go).
//
// # What is not covered
//
// The time that an answer takes depends on the data. A budget whose unit is a person
// protects persons as the unit column identifies them: one person under two names counts
// as two.
package query
