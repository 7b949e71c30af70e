// Package pg reads tables and results of queries from PostgreSQL and writes
// tables to it.
//
//	src, err := pg.Open(ctx, pg.Options{Table: "clinic.visits"})
//	...
//	defer src.Close()
//
// # Connection
//
// Server, database, user and password come from the usual environment variables
// (PGHOST, PGDATABASE, PGUSER, PGSSLMODE, ...), the service file and the
// password file, as libpq has them, or from a connection string that a server keeps
// ([Options.Connection]). No password and no connection string is in an error. A
// connection that leaves this machine is encrypted: sslmode is at least require.
//
// # Reading
//
// A table is read once, by a cursor in one transaction that is REPEATABLE READ
// and READ ONLY, into a private temporary file (package table/spool), which the
// source reads: the records are those of one moment, and the connection is closed
// before they are processed. boolean, smallint, integer, bigint, real, double
// precision, numeric, date, time, timestamp and timestamptz keep their types;
// all others are shown as the server writes them. A day or an instant that is
// infinite is a text. A query is one statement that returns records.
//
// # Writing
//
// A [Target] is a table in the making: created and filled by COPY under a name
// of its own, read back, and renamed at the end, all in one transaction. Until
// then no other session can see it, and a lost connection or a killed process
// leaves nothing. A column that comes from PostgreSQL untouched has its type
// again.
//
// Errors name tables, columns, records and the SQLSTATE, never a value, a query
// or where the server is.
package pg
