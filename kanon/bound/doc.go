// Package bound computes lower bounds of the information loss of any k-partition.
//
// The loss is the sum of squared errors. With a lower bound, the distance of a
// partition that was found by search from the optimum is known.
//
//	b, err := bound.Lower(ctx, s, bound.Options{K: 5, Duration: time.Minute})
//	...
//	fmt.Println(b.Loss, b.Gap(s.SSE(p)))
//
// # Guarantee
//
// No partition of the space's records into groups of k or more has a sum of
// squared errors below [Bound.SSE], and none has a loss below [Bound.Loss]. Both
// are rounded down past all that floating-point arithmetic can have done; the
// coordinates are taken as the space holds them.
//
// # Two bounds
//
// The simple bound uses the nearest neighbours: a record of a group of m
// contributes its distances to m-1 others, which are no nearer than its nearest.
//
// The dual bound gives every record a dual variable (a price) such that no group
// costs less than the sum of its members' prices. The groups of a partition hold
// every record once, so that their cost is at least the sum of all prices. The
// prices are fitted to a growing pool of groups (pool). A search of all groups
// (pricing) then verifies that no group costs less; where the search finds one, or
// ends early, the prices are lowered by the violation. So the bound holds at any
// time, and improves with time.
//
// # Prices as guides
//
// The same prices show where a partition costs too much: [NewPrices] fits them,
// [Prices.Regions] chooses groups that are worth re-solving, and
// [Region.Regroup] re-solves them by branch and price.
//
// The proofs, with the analysis of the rounding, are in docs/loss-bounds.md.
package bound
