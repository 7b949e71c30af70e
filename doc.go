// Package noren holds the words that every room of Noren shares: what a
// release promises ([Guarantee]), how a failure is told ([Error], [Kind]) and
// how long work reports itself ([Progress]).
//
// Noren is the curtain at the door of a data set: what an organisation learns
// from, or hands out of, a table about people goes out through it, with a
// promise that is stated, proved and checked.
//
// # Where to start
//
//   - To hand out records, read package noren/kanon: a k-anonymous release of
//     a table, from the file that is read to the file that was verified.
//   - To measure the risk and the use of a table, read package noren/assess.
//   - Tables, their columns, types and roles are in package noren/table; CSV
//     and Parquet files in noren/table/csvio and noren/table/parquetio.
//
// The program noren (cmd/noren) is a thin face over these packages.
//
// # Errors
//
// A library function of this module returns an error; it never exits, and it
// does not panic across a package border. An error that a caller may want to
// act on is an [*Error] with a [Kind]. The text of an error names files,
// lines, columns and parameters, and never a value that stands in a cell: an
// error message is an output like any other.
package noren
