// Package tables keeps the tables of the server: a copy of the data as it was when the
// table was added, what the steward has confirmed of its columns, and its hierarchies.
//
// A table is added by a job that copies the source, reads it whole and proposes types and
// roles. A source is an upload, a file of a granted folder or a table of a configured
// database; a request names neither a path outside of such a folder nor an address nor
// SQL. Files of granted folders are opened by [os.Root]: a link that leads out of the
// folder is refused.
//
// The copy is pinned by its SHA-256. Nothing is computed from it for a release until a
// steward has confirmed the columns, and a file of a granted folder that has changed since
// must be confirmed again.
//
// The folder of a table appears by one rename when it is complete, before the store says
// that the table can be read. [Tables.Recover] removes what a killed process left.
package tables
