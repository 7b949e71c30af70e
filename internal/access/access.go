// Package access lists every way to a table: each command, each stage of a worker and each
// route of the server, with what it reads, what it writes, who gets that, and why it shows no private
// table without a payment. Tests walk the commands and docs/openapi.json
// and fail for a way that is not listed, and run each command that takes a table on a
// granted one (internal/cli, TestWaysToGrantedTables).
//
// docs/threat-model.md, "No way around the ledger", says what follows.
package access

// Hold is what keeps a private table from being shown by a way.
type Hold uint8

const (
	// None: no private table is read. Files that are released, public or of a ledger are.
	None Hold = iota + 1
	// Private: the output is for the steward alone. Files have the mode 0600, and what is
	// printed says that it is private.
	Private
	// Charged: the ledger is charged before the table is read.
	Charged
	// Gate: a release is written after the gate asked about each column and the
	// verifier read the file back.
	Gate
	// Ungranted: what is written was randomised, or the file is stated to be public, and no
	// ledger that can be reached has granted the file.
	Ungranted
	// Unaccounted: --unaccounted answers without a ledger, of a file that no ledger that can be
	// reached has granted.
	Unaccounted
	// NotCharged: --not-charged of ldp randomize: the steward randomises a granted table, the
	// result states it, and the ledger notes it.
	NotCharged
)

// Way is a way to a table.
type Way struct {
	// Name is the command without the program's name, or the method and path of a route.
	Name string
	// Reads is what it reads, and Writes what it writes.
	Reads, Writes string
	// Gets is who gets what it writes.
	Gets string
	// Holds are what keeps private tables from being shown; more than one where an option of
	// the request decides.
	Holds []Hold
}

// Table reports whether the way takes a private table as the request names it.
func (w *Way) Table() bool { return w.Holds[0] != None && w.Reads != bookRead && w.Reads != previewed }

// Has reports whether a hold is among those of the way.
func (w *Way) Has(h Hold) bool {
	for _, have := range w.Holds {
		if have == h {
			return true
		}
	}
	return false
}

// What several ways read.
const (
	tableRead = "a table"
	bookRead  = "the granted table of a book"
	previewed = "the file of a preview, which was made through the gate"
	nothing   = "nothing of a table"
	ledgered  = "a ledger"
	models    = "public models and figures"
	released  = "released files and certificates"
)

// Who gets what is written.
const (
	steward = "the steward"
	anyone  = "anyone"
	analyst = "the analyst"
)

func way(name, reads, writes, gets string, holds ...Hold) Way {
	return Way{Name: name, Reads: reads, Writes: writes, Gets: gets, Holds: holds}
}

// Ways are all ways of noren, commands before routes.
func Ways() []Way { return append(Commands(), Routes()...) }
