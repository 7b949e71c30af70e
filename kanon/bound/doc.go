// Package bound says how much any k-partition must lose: lower bounds of the
// sum of squared errors, so that a partition found by search is known to be
// within a known distance of the optimum.
//
//	b, err := bound.Lower(ctx, s, bound.Options{K: 5, Duration: time.Minute}, nil)
//	...
//	fmt.Println(b.Loss, b.Gap(s.SSE(p)))
//
// # The promise
//
// No partition of the space's records into groups of k or more has a sum of
// squared errors below [Bound.SSE], and none has a loss below [Bound.Loss]. Both
// are rounded down past all that floating-point arithmetic can have done; the
// coordinates are taken as the space holds them.
//
// # Two bounds
//
// The simple bound goes by the nearest neighbours: a record of a group of m
// pays for m-1 others, and they are no nearer than its nearest.
//
// The dual bound puts a price on every record such that no group costs less
// than its members' prices together. The groups of a partition hold every
// record once, so that their cost is no less than all the prices. Good prices
// come from fitting them to a pool of groups that grows (pool); that no group
// at all costs less is found out by a search of all groups (pricing), and where
// the search finds one after all, or is broken off, prices are lowered by as
// much as is amiss. So the bound holds at any time, and gets better with time.
//
// # Prices as guides
//
// The same prices tell where a partition costs too much: [NewPrices] fits them,
// [Prices.Regions] chooses groups that are worth dividing anew, and
// [Region.Regroup] does so by branch and price.
//
// The proofs, with the analysis of the rounding, are in docs/loss-bounds.md.
package bound
