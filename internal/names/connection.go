package names

import (
	"bytes"
	"regexp"
	"strings"
)

// A connection string may hold a password. The forms are a URL of a database, or any URL
// with a user and a password; a password among the parameters of a URL; and the keywords of
// libpq and ODBC, which name a password beside a server, a user or a database.
var (
	databaseURL = regexp.MustCompile(`(?i)\b(?:postgres(?:ql)?|mysql|mariadb|mssql|sqlserver|oracle|mongodb|` +
		`redis|rediss|clickhouse|snowflake)` +
		`(?:\+[a-z0-9]+)*:/{1,2}|\bjdbc:[a-z0-9]+:|[a-z][a-z0-9+.-]*://[^/?#@\s]*:[^?#\s]*@`)
	databaseParam = regexp.MustCompile(`(?i)[?&](?:password|passwd|pwd|sslpassword)=`)
	secretWord    = regexp.MustCompile(`(?i)\b(?:password|passwd|pwd)\s*=`)
	serverWord    = regexp.MustCompile(`(?i)\b(?:host|hostaddr|user|user id|uid|username|dbname|database|initial catalog|` +
		`data source|server|port|service)\s*=`)
	// A user and a password before a host with a port or a database, without a scheme.
	userAtHost = regexp.MustCompile(`^(?:-{1,2}[a-z-]+=)?(?:pg:)?([^\s:/\\@=,]{2,}):([^\s@/\\,][^\s@,]*)@[\w.-]+(?::\d+(?:/\S*)?|/\S*)$`)
)

// Connection reports whether a text is, or holds, the connection string of a database or a
// URL with a password. Such a text must not be repeated: what is printed reaches logs,
// screens, records and certificates.
func Connection(text string) bool {
	if databaseURL.MatchString(text) || databaseParam.MatchString(text) || secretWord.MatchString(text) && serverWord.MatchString(text) {
		return true
	}
	found := userAtHost.FindStringSubmatch(text)
	return found != nil && !strings.EqualFold(found[1], "sqlite")
}

// ConnectionLine is the number, from 1, of the first line of a YAML file that holds a
// connection string outside of comments; 0 for none.
func ConnectionLine(yaml []byte) int {
	for n := 1; len(yaml) > 0; n++ {
		var line []byte
		line, yaml, _ = bytes.Cut(yaml, []byte{'\n'})
		if !bytes.ContainsAny(line, "@=") && !bytes.Contains(line, []byte(":/")) && !bytes.Contains(line, []byte("jdbc:")) {
			continue // no form of a connection string lacks all of these
		}
		line = comment.ReplaceAll(line, nil)
		if Connection(string(line)) || Connection(string(bytes.Trim(entry.ReplaceAll(line, nil), " \t\r\"'"))) {
			return n
		}
	}
	return 0
}

var (
	comment = regexp.MustCompile(`(?:^|\s)#.*`)
	entry   = regexp.MustCompile(`^\s*(?:- )*(?:[^\s:]+: )?`) // what stands before the value of a line
)
