// Package parquetio reads and writes tables as Apache Parquet.
//
//	src, err := parquetio.OpenFile(f, parquetio.Options{Name: "visits.parquet"})
//	...
//	defer src.Close()
//	r, err := src.Open(ctx, nil) // a table.Reader
//
// # Guarantee
//
// A column that is copied from one Parquet file to another keeps
// the same name, physical and logical type, nullability, field id and
// compression, and with the same value in every record: its description
// travels in table.StoredColumn.Origin. (A "converted type" of an old writer
// is written as a logical type.) Properties of the file, as opposed to its columns, are
// not copied: the sort order, Bloom filters, the sizes of pages, and the key-value metadata, in
// which tools keep copies of schemas, indices and notes that may hold dropped
// values. Of the Arrow schema the types of the columns that are
// written are copied, so that dictionaries, zones, durations and large texts are
// what they were for tools of Arrow, pandas and polars; the notes of its fields
// (categories of a polars Enum, extension types) do not.
//
// No file, however damaged, makes this package panic: it is an error of kind
// noren.BadData. Errors name columns and records, never values.
//
// # Memory
//
// A file is read within Options.Limits. This package reads and unpacks pages
// itself, within the size that each states, and draws what the library takes to
// decode them on a meter before the library sees them: runs, differences, counts
// and texts that share beginnings can state a billion values in ten bytes. The
// description of the file is walked through in the same way. A chunk ends before
// [chunkRows] records where their texts take a quarter of the memory. A file that
// exceeds a limit is an error with code [meter.Code].
//
// # The types
//
// A column of lists, maps or groups is Nested: it can be kept or dropped, and is
// shown as JSON. A column whose type says that it is always null is of kind Text
// and holds nulls. In a [table.Vector] any other column is of kind
//
//   - Int: booleans, integers, dates (days), times and timestamps (in the
//     column's unit), decimals of 32 or 64 bits (without their point);
//     unsigned 64-bit integers by their bits;
//   - Float: 32- and 64-bit floating point, not-a-number and infinities
//     included;
//   - Text: all others, by their bytes.
//
// As text they are shown as table.StoredColumn.AppendText does it:
//
//   - booleans as true and false, integers and floating point in decimal, in the
//     shortest form that reads back the same (NaN, +Inf and -Inf);
//   - decimals with all the places that their type has, 12.50;
//   - dates as 2024-02-29; times as 13:05:09 and timestamps as
//     2024-02-29T13:05:09, with 3, 6 or 9 more digits where they are not zero,
//     and a Z where the type says that they are in UTC; INT96 is a timestamp in
//     nanoseconds without a Z;
//   - UUIDs as 123e4567-e89b-12d3-a456-426614174000, intervals as
//     P1M2DT3.500S;
//   - strings, enums and JSON as they are; all other bytes in hexadecimal.
package parquetio
