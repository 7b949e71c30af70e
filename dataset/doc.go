// Package dataset defines how a protected table is read: a public definition
// (schema, privacy unit, relation, bounds), total reading, and keyed prints.
//
//	d, err := dataset.Parse(text)                       // pinned by the steward
//	src, err := dataset.Open(ctx, f, "visits.csv", d)
//	review, err := dataset.Inspect(ctx, src, d, dataset.InspectOptions{Keys: keys}) // private: for the steward
//	...
//	t, prints, err := dataset.Read(ctx, src, d, fields, &keys)
//
// # The cell rule noren.reading/1
//
// A cell is null or a text of at most 16 MiB. In a text file it is the field
// after unquoting, decoded to UTF-8; in a typed file the text that
// [table.AppendText] shows. It is never trimmed, folded or normalised.
//
// A cell is missing if it is null, empty, or equal byte for byte to one of
// [Definition.Missing]. Any other cell has a value if it fits the type of its
// column, and is missing if it does not:
//
//   - integer: [table.ParseInteger]; decimal: [table.ParseDecimal];
//   - date: the pinned layout; the value counts days or seconds since 1970;
//   - ordered: one of the levels, by bytes; the value is its rank;
//   - category: every text.
//
// In the column of a model every cell has a state, missing ones included: the
// state that equals it, or [Model.Other].
//
// If the unit is a column, each record has a label: the text of that cell, or
// none if the cell is missing. Labels are equal if their bytes are equal; the type of
// the column does not matter.
//
// # Guarantee
//
// [Read] acts on each record alone and has a result for every table of the form
// that a definition describes. It therefore maps neighbouring tables to equal or
// neighbouring tables, so that the guarantee of a mechanism for read tables holds
// for the tables of the form. The definition is public: the guarantee compares
// tables under one definition and does not cover what its choice reveals. The
// proofs are in docs/differential-privacy.md, section 1.1.
//
// # Prints
//
// A table print recognises a table by its records, and a column print verifies
// that a column still holds the cells, in the order, that it held when it was
// printed. The prints of its values ([Values]) recognise a column by them alone. All are
// HMAC-SHA256 under keys that the caller keeps secret ([Keys]).
//
// Every result of [Inspect] is private. Errors hold no cell.
package dataset
