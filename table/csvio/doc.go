// Package csvio reads and writes tables as text: CSV, TSV and similar formats, plain
// or compressed (gzip, Zstandard), in UTF-8, UTF-16, Shift_JIS and other encodings
// (see [Encoding]).
//
//	src, err := csvio.OpenFile(ctx, f, csvio.Options{Name: "visits.csv.gz"})
//	...
//	defer src.Close()
//	r, err := src.Open(ctx, nil) // a table.Reader; may be opened again and again
//
// # Guarantee
//
// A [Sink] writes a field exactly as the [Source] returned it, byte for byte
// of its text, line breaks and blanks included: what is written is read back
// the same. A field for which this cannot hold is an error of kind
// noren.BadData with file, line and column; no value is invented or left out.
// An error never holds the value of a cell; the names of columns are public
// and may be named.
//
// # The format
//
// A file is read by RFC 4180, strictly, with these decisions where it is
// silent or practice differs:
//
//   - The first record is the header: names that are neither empty nor twice.
//     A file of a header alone is a table of no records.
//   - Records end with LF or CRLF, mixed if need be; the last may lack its
//     end. A carriage return alone is part of a quoted field or an error, but in
//     a file without any LF, where it ends records.
//   - A first line such as "sep=;" names the delimiter and is no record.
//   - Fields without a name at the end of the header are no columns. Records may
//     have them or not, and they must be empty there.
//   - Every record has as many fields as the header. A blank line stands for
//     a record of one empty field in a table of one column, and for nothing in
//     a table of several (a record there has delimiters).
//   - A field that begins with a quote ends with one, and a quote within is
//     doubled. A quote in a field that does not begin with one is an error.
//     Blanks around a field are part of it.
//   - Bytes that are not of the encoding, and NUL, are errors. In Shift_JIS
//     (Windows code page 932) so are the user-defined characters, which mean
//     nothing outside of the computer that wrote them.
//   - A field is at most 16 MiB long, a record 64 MiB, a header 65,535 columns:
//     longer ones are the mark of a quote that was never closed.
//
// [Options].Plain reads without these forms: definitions of data sets, which pin
// how each record is read, use it. [Source.Notes] says how a file is read.
//
// Package encoding/csv of the standard library is not used because it cannot
// guarantee this: it turns CRLF within quotes into LF and skips blank lines.
package csvio
