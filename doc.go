// Package noren holds the vocabulary that all packages of Noren share: the guarantee of
// a release ([Guarantee]), errors with codes ([Error], [Kind], [Codes]) and progress
// ([Progress]).
//
// Noren is a privacy toolkit: k-anonymous releases, differentially private queries with a
// budget ledger, privacy for dependent records, density-ratio weights, and local
// differential privacy.
//
// # Where to start
//
// Package service has every operation as one method: a request of package api in, a typed
// result out. The command noren (cmd/noren) is a front end of it. For parts of an
// operation use the packages below.
//
// Release tables:
//
//   - kanon: k-anonymous releases, with l-diversity and t-closeness; kanon/verify checks
//     any file.
//   - assess: risk and utility of a table, before and after a release.
//   - table: columns, schemas and hierarchies; table/csvio, table/parquetio, table/xlsx,
//     table/pg and table/sqlite read tables.
//   - spec: the specification noren.yaml.
//
// Query data sets with differential privacy:
//
//   - query: counts, sums, means, variances, histograms, quantiles, equal-frequency edges.
//   - outlier: counts of distance-based outliers.
//   - correlated: queries on dependent records; correlated/harm: the cost of an answer.
//   - ratio: weights for a public table, so that it represents a private one.
//   - release: prices, charges, answers and certifies a query of these families.
//   - ledger: the privacy budgets of data sets; dataset: their definitions;
//     certificate: signed statements of what was released.
//   - account: composition of privacy costs; noise: exact samplers.
//
// Collect data with local differential privacy:
//
//   - ldp: randomise and estimate; ldp/survey: design, collect and estimate a survey.
//
// Results:
//
//   - api: requests and results, which are the JSON contract; report: pages and pictures;
//     report/text: sentences about guarantees and charges.
//   - learn: classifiers and principal components, for measurements of utility.
//
// # Errors
//
// A library function of this module returns an error; it never exits, and it does not
// panic across a package border. An error that a caller can act on is an [*Error] with a
// [Kind] and often a [Code]. Its text names files, lines, columns and parameters, and
// never the value of a cell: an error message is an output like any other.
package noren
