// Package noren defines what all packages of Noren share: the statement of a
// guarantee ([Guarantee]), errors with a kind and a code ([Error], [Kind]) and
// progress reports ([Progress]).
//
// Noren is a privacy toolkit: k-anonymous releases of tables, differentially
// private queries with a budget ledger, privacy for dependent records,
// density-ratio weights, and local differential privacy. Every release states a
// guarantee that is proved in docs/ and checked before anything is published.
//
// # Packages by task
//
// To run an operation of the command line from a program, with the same requests,
// results and errors, use package service with the types of package api. Package spec
// reads the specification of a table, noren.yaml.
//
// To release records about people:
//
//   - kanon makes a k-anonymous release, from the file that is read to the file that
//     was verified; its subpackages are the steps.
//   - kanon/verify checks k-anonymity, l-diversity and t-closeness of any file.
//   - assess measures the risk of a table and the utility of a release; report draws
//     pages from its results.
//   - table holds columns, types, roles and hierarchies; table/file opens CSV, Parquet,
//     Excel, PostgreSQL and SQLite.
//
// To answer queries on a private table with differential privacy:
//
//   - query computes counts, sums, means, variances, histograms and quantiles.
//   - outlier counts distance-based outliers.
//   - correlated bounds leakage and calibrates noise where records depend on each
//     other.
//   - ratio computes weights with which a public table matches a private one, and
//     estimates from them.
//   - ledger stores privacy budgets, and dataset the public definition of a private
//     table. release runs a query: it prices, reserves budget, reads, computes, signs
//     and settles, in that order.
//   - noise draws exact discrete and rounded noise; account adds up privacy costs.
//
// To collect data that is randomised before it leaves the device:
//
//   - ldp randomises values and estimates frequencies and means.
//   - ldp/survey runs a collection by one specification: it encodes, collects and
//     estimates.
//   - ldp/evaluate measures what can be learned from a table randomised at its source.
//
// To prove what was released: certificate states and signs releases.
//
// # Errors
//
// A library function of this module returns an error; it never exits the process, and
// it does not panic across packages. An error that a caller may want to act on is an
// [*Error] with a [Kind] and a Code. The text of an error names files, lines, columns
// and parameters, and never the value of a cell: an error message is an output, and
// outputs must not disclose private data.
package noren
