// Package books keeps the budget books of a server's tables.
//
// A book is a data set of the ledger with a name of its own: a copy of the table's file,
// a public definition of its columns, a cap, and an account (a cap of its own) for each
// principal who may ask. The opener gets the first account, so that from the start the
// ledger refuses everyone without one. Caps rise and never fall.
//
// A table has one book. The book keeps its file and its definition when the table's
// columns are confirmed anew, until a steward takes them over as a new version, and it
// stays when the table is deleted: its copy of the file
// is removed, nothing can be asked then, and its entries, answers and certificates can
// still be read.
//
// All that is charged is in the ledger. The server's store holds what the ledger does not
// know: the id of the book and its table, refused requests, and alerts.
package books
