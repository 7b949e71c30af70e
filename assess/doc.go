// Package assess measures a table: how easily its records can be told apart,
// and how much of what the original could be used for a release still gives.
//
// # Risk
//
// Records that share all quasi-identifiers form a class; every measure of
// re-identification risk is a function of the class sizes. [Classify] finds
// the classes of one or more tables, [NewRisk] measures one table on its own
// (prosecutor and marketer risk, unique records, class sizes),
// [NewJournalist] measures it against a population table, and
// [EstimateUniqueness] estimates from a sample how many records are unique in
// the population, where there is no such table.
//
// # Utility
//
// [Compare] lays a release beside its original, column by column: moments and
// quartiles, frequencies, correlations, certainty penalty, loss. The rows of
// the two tables need not correspond, as a release is shuffled; then some
// figures cannot be had exactly, and the documentation of each field says
// whether it is exact, a bound or absent. A figure that is absent is null in
// JSON and comes with its reason; it is never a NaN and never a guess.
//
// # Guarantee
//
// A figure here is never better than the truth without saying so: a bound is
// named a bound, and an estimate that rests on a model is withheld where the
// model does not fit. What this package returns holds statistics of the
// original table: it is for the steward of the data and not a release.
package assess
