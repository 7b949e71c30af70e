package cli

import (
	"os"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/names"
)

// environment are the variables whose values name files.
var environment = []string{"NOREN_KEY", "NOREN_LEDGER"}

// refuseConnections returns an error where an argument of the program, or a variable of its
// environment, is a connection string. Nothing of it is repeated: an error reaches logs and
// screens.
func refuseConnections(args []string) error {
	for i, arg := range args {
		// A password alone is that of a string which the shell has parted; behind a flag
		// it may be the type of a column of that name.
		alone := strings.HasPrefix(strings.ToLower(arg), "password=") && (i == 0 || !strings.HasPrefix(args[i-1], "-"))
		if alone || names.Connection(arg) {
			return refusedConnection(noren.Textf("argument %d", i+1))
		}
	}
	for _, name := range environment {
		if names.Connection(os.Getenv(name)) {
			return refusedConnection(name)
		}
	}
	return nil
}

func refusedConnection(where any) error {
	return (&noren.Error{
		Kind: noren.Usage, Where: where,
		What: "expected a file or a table, got a connection string, which is not repeated because it may hold a password",
	}).Hinted(
		"set PGHOST, PGUSER and PGDATABASE, and PGPASSFILE for the password, or a service of PGSERVICEFILE, and name the table as pg:TABLE")
}
