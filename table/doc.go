// Package table holds tables about people: columns in memory, their types and
// roles, and the streams by which files are read and written.
//
// A table has two lives. The columns that a computation needs (the
// quasi-identifiers, and the sensitive columns where diversity is asked for)
// are read once into a [Table] of typed, dictionary-coded [Column]s. All other
// columns stay in their file and pass through as [Chunk]s, a few thousand
// records at a time, when the result is written; their values are never
// interpreted, so they come out exactly as they went in.
//
// The formats live in table/csvio and table/parquetio; both offer a [Source]
// and a [Sink], and table/file is the door to both, by which files are opened
// and columns read. Package table/infer proposes what the columns of a file are,
// and table/shuffle writes records in another order than they were read in.
package table
