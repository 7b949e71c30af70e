// Package xlsx reads and writes tables as Excel workbooks (.xlsx, ECMA-376).
//
//	src, err := xlsx.OpenFile(ctx, f, xlsx.Options{Name: "visits.xlsx", Sheet: "2024"})
//	...
//	defer src.Close()
//	r, err := src.Open(ctx, nil) // a table.Reader
//
// # Reading
//
// A table is a worksheet whose first row that is not blank (or the row that
// Options.HeaderRow says) names the columns; the rows below are the records.
// Rows without any value are not records. A cell is a number, a day, an instant
// or a time of day by its number format, a boolean, a text or an error such as
// #N/A. A formula has the value that the workbook stores for it, and is an error
// where none is stored. A column whose cells have one type has that type; in
// another each cell keeps its own (package table/spool). An empty cell and an
// empty text are missing. Merged cells in the table, values beside it and names
// that are missing are errors, with a hint for titles above a table.
//
// The sheet is read as a stream, once, within Options.Limits: at most 64 MiB of
// shared texts are in memory, 8 bytes for each of them, 16 MiB for the longest
// cell, and an eighth of the memory for a row. A workbook that exceeds a limit is
// an error with code [meter.Code]. Document types in its XML are refused.
//
// # Writing
//
// The workbook has one sheet, Sheet1, that is written as a stream without
// temporary files. Numbers, days, instants, times of day and booleans are cells
// of these types. What a workbook cannot hold exactly is a text: whole numbers
// of more than 15 digits, instants in UTC or with parts of a millisecond, and
// dates before 1900. Texts that begin with = + - @, a tab or a carriage return
// are marked as texts and are never formulas. A column that comes from a
// workbook keeps its number formats. No other metadata comes along.
//
// Reading is our own and not that of a general library because a general
// library's stream shows cells as texts, without their types, and keeps named
// copies of the sheet in temporary files.
package xlsx
