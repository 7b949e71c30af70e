// Package spool keeps a table that can be read only once, such as the result of
// a query, in a private temporary file and offers it as a [table.Source].
//
// The types of such tables are known only at their end: a workbook and a SQLite
// file have a type in each cell. A [Writer] takes cells with their types; the
// [Source] that [Writer.Finish] makes gives each column the narrowest type that
// holds all its cells:
//
//   - cells of one type: that type;
//   - integers and floating point: floating point, where no integer loses a
//     digit by it;
//   - days and instants: instants;
//   - anything else: text, in which every cell keeps its own type
//     (table.Mixed).
//
// Every column is nullable. The file is readable by its owner alone, has no
// name where the system allows it, and vanishes with the process. Errors hold no
// cell.
package spool
