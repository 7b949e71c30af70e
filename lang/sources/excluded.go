package sources

import (
	"go/ast"
	"regexp"
	"strings"
)

// skipped are folders and files without texts of a result, and why.
var skipped = map[string]bool{
	// papers and their program, which is in English; examples, generators, other programs, and the catalogue itself
	"experiments": true, "internal/reproduce": true, "outlier/paper": true,
	"examples": true, "internal/cli/generate": true, "api/generate": true, "web": true, "client": true, "cluster": true, "docs": true, "lang": true,
	// the list of streams, for its test and the documentation
	"internal/streams": true, "internal/lint": true,
	// randomness of tests, and changes of fields for tests
	"internal/access": true, "internal/randtest": true, "internal/meter/metertest": true, "internal/identity/identitytest": true,
	// reasons for those who change the code
	"kanon/unordered.go": true, "kanon/shard/unordered.go": true,
	// words by which columns, names and missing values are recognised
	"table/personal/header.go": true, "table/personal/text.go": true, "table/personal/name.go": true, "table/personal/namelist.go": true,
	"table/infer/missing.go": true, "table/infer/scales.go": true,
	// the values of an invented table
	"internal/cli/serve_demo.go": true,
	// help in Japanese beside that in English
	"internal/cli/help_japanese.go": true,
	// what a recipient reads, in both languages at once
	"internal/server/bundle.go": true,
	// documents in JSON
	"api/documents.go": true, "api/grant.go": true,
	// faults of the program itself, and its own names of types
	"internal/server/apart/fault.go": true,
	// states and figures for monitors
	"internal/server/health.go": true, "internal/server/metrics.go": true,
	// the odds of a book, which the page says by their code
	"internal/server/books/statement.go": true,
}

// helpTexts are the fields of a command that its help and manual show, of the interface
// that its documentation shows, and of figures for monitors. They are in English.
var helpTexts = map[string]bool{
	"Use": true, "Short": true, "Long": true, "Example": true, "short": true, "example": true, "heading": true,
	"Summary": true, "summary": true, "Description": true, "help": true, "Command": true,
}

// code finds constants that are no texts wherever they are used.
var code = regexp.MustCompile(strings.Join([]string{
	// statements for a database, their parts, and lists of its columns
	`^[;(]? ?(ALTER|ATTACH|BEGIN|CLOSE|COMMIT|COPY|CREATE|DECLARE|DELETE|DROP|FETCH|INSERT|PRAGMA|RELEASE|ROLLBACK|SAVEPOINT|SELECT|SET|UPDATE|VACUUM|WITH) `,
	` = '?(\?|%s')|^(c\.)?seq < \?|^table sqlite|^[a-z_]+ AS |coalesce\(|^[a-z_., ]+,\n\t|^id, `,
	// labels of keyed streams, and the line of a file of reports
	`^(# )?noren ldp [a-z]+( [0-9])?\s*$|^(%s%s)? ?sha256:`,
	// layouts of dates and times
	`^2006-|^[dmy/-]* ?h?h:mm\b`,
	// headers and events of HTTP
	`^HTTP/|^(GET|POST) /|^(text|attachment|public)[,;/] ?|^default-src |^camera=|^id: %d\n`,
	// markup
	`^(%s)?<|^><|="%|="preserve"`,
}, "|"))

// lists finds constants that are no texts where nothing says that they are.
var lists = regexp.MustCompile(strings.Join([]string{
	`^ *(delimiter|encoding|format|header|header-row|missing|order|query|role|sheet|type|unit): %[a-z]|^ *%s:\n|^\s*version: `, // fields of a specification
	` \($|^[a-z]+ >= `, // parts and examples of conditions
	`^--[a-z-]+( [a-z]+| %[a-z]|(, --[a-z-]+)+)$`, // options
	`^[.a-z0-9_-]+(, [.a-z0-9_-]+)+$`,             // lists of words
	`%x`,                                          // keys
	`^\.[A-Z]+ |^ \(default `,                     // the manual in the format of man
}, "|"))

// literals are constants that are no texts of ours, and why.
var literals = map[string]bool{
	"memo %s": true, "key %d": true, // keys
	"numbers %q": true, "text delimiter %d encoding %d cr %t nameless %t above %d": true, // forms of sums
	"Demo analyst": true, "Demo steward": true, "in use": true, // names and states
	"data set": true, "of %s": true, "%s is missing": true, // parts of texts that are read again, and of conditions
	"%s, commit %s":        true, // the version
	"noren %s":             true, // the program and its version
	"SQLite format 3":      true, // the beginning of a file
	"SQLite format 3\x00":  true,
	"double precision":     true, // a type of PostgreSQL
	`unknown field "seed"`: true, // an error of a library
	"What a table is and how Noren is to release it.": true, // of the schema of noren.yaml
}

// symbols are names of parameters and units, which are the same in every language.
var symbols = regexp.MustCompile(`\b(epsilon|delta|rho|[A-Z]+)\b`)

// noTextCalls are functions, by package or alone, that get no texts for users: they make
// regular expressions and keys, the help of commands, the documentation of the interface,
// figures for monitors, and lines of the server's own log.
var noTextCalls = map[string]bool{
	"regexp.MustCompile": true, "hkdf.Key": true, "copy": true,
	"Derive": true, "AddGroup": true, "SetVersionTemplate": true, "register": true, "newWorkerStage": true, "newWorkerVerify": true,
	"op": true, "pathParameter": true, "count": true, "Log.Error": true, "Log.Warn": true, "Log.Info": true,
}

// flag matches the methods that define a flag, whose usage is help.
var flag = regexp.MustCompile(`(^|[a-z0-9])Var(P|PF)?$`)

// takesNoText reports whether a call gets no texts: it is one of [noTextCalls], defines a
// flag, or makes bytes of a constant, such as the name of a key.
func takesNoText(c *ast.CallExpr) bool {
	if array, ok := c.Fun.(*ast.ArrayType); ok {
		return typeName(array.Elt) == "byte"
	}
	name := typeName(c.Fun)
	if s, ok := c.Fun.(*ast.SelectorExpr); ok && noTextCalls[typeName(s.X)+"."+name] {
		return true
	}
	return noTextCalls[name] || flag.MatchString(name)
}

// isUsage reports whether a constant that is assigned to e is the usage of a flag.
func isUsage(e ast.Expr) bool {
	name := typeName(e)
	return name == "usage" || name == "Usage"
}
