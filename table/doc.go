// Package table defines tables of records: columns in memory, their types and
// roles, and the streams by which files are read and written.
//
// Columns needed for computation (the quasi-identifiers, and the sensitive columns
// where diversity is requested) are read once into a [Table] ([Read]), of which each [Column] is
// typed and dictionary-coded. All other columns are streamed from the file, a [Chunk]
// of a few thousand records at a time, when the result is written. Their values are
// never interpreted, so that they are written exactly as they were read.
//
// Packages table/csvio, table/parquetio and table/xlsx implement [Source] and [Sink]
// for file formats; table/pg and table/sqlite read databases. Package table/file
// opens all of them by name. Package table/infer proposes what the columns of a file are,
// and table/shuffle writes records in another order than they were read in.
package table
