package cli

import (
	"fmt"
	"regexp"

	"github.com/noren-privacy/noren"
)

// A connection string may hold a password. The first form is a URL of a database, or any
// URL with a user and a password; the second the keywords of libpq.
var (
	databaseURL   = regexp.MustCompile(`(?i)\b(?:postgres(?:ql)?|mysql|mariadb|mssql|sqlserver|oracle|mongodb(?:\+srv)?|redis|jdbc:[a-z0-9]+):/{1,2}|[a-z][a-z0-9+.-]*://[^/?#@\s]*:[^/?#\s]*@`)
	databaseWords = regexp.MustCompile(`(?i)\b(?:host|hostaddr|user|dbname|port|service)\s*=.*\bpassword\s*=|\bpassword\s*=.*\b(?:host|hostaddr|user|dbname|port|service)\s*=`)
)

// refuseConnections returns an error where an argument of the program is a connection
// string. Nothing of the argument is repeated: an error reaches logs and screens.
func refuseConnections(args []string) error {
	for i, arg := range args {
		if databaseURL.MatchString(arg) || databaseWords.MatchString(arg) {
			return (&noren.Error{
				Kind: noren.Usage, Where: fmt.Sprintf("argument %d", i+1), What: "expected a file or a table, got a connection string, which is not repeated because it may hold a password",
			}).Hinted("set PGHOST, PGUSER and PGDATABASE, and PGPASSFILE for the password, or a service of PGSERVICEFILE, and name the table as pg:TABLE")
		}
	}
	return nil
}
