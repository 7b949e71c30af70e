package cli

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

// hints say what to type, by the code of an error. Libraries say what is wrong;
// only a front end knows its own commands and flags.
var hints = map[string]string{
	atomicfile.CodeExists: "choose another name, or say --force to replace it",
	"cannot-rebuild":      "restore it from a copy and run noren ledger reconcile, or keep it as evidence",
	"changed":             "if it is the same data set in a new state, the steward grants it with --changed: what is spent stays spent",
	"closed":              "the steward opens it again with: noren ledger grant NAME --analyst ANALYST --epsilon E; nothing was charged",
	"known":               "ask the data set without --unaccounted: its budget is charged",
	"memory":              "allow more with --memory",
	"no-dataset":          "the steward grants one with: noren ledger grant NAME --file FILE --spec SPEC --epsilon E",
	"no-grant":            "the steward grants one with: noren ledger grant NAME --analyst ANALYST --epsilon E",
	"no-ledger":           "make one with: noren ledger create; or name another with --ledger",
	"no-schema":           "the steward grants one with: noren ledger grant NAME --file FILE --spec SPEC --epsilon E --yes",
	"header-row":          "if the rows above the table hold a title, say --header-row ROW, or FILE.xlsx?header=ROW",
	"no-copy":             "the steward grants one: noren ledger grant NAME --file SOURCE copies it to a private file",
	"not-regular":         "give it on standard input, as -",
	"other-people":        "say --other-people if no person is in both; a new table of the same people is a new version: grant that data set with --changed",
	"schema-incomplete":   "noren init FILE -o SPEC writes a specification with a type for every column; or say --type COLUMN=TYPE",
	"query":               "pg:TABLE, or pg: with --query FILE",
	"sealed":              "run noren ledger reconcile, with the certificates of what was released",
	"sheet":               "say --sheet NAME, or FILE.xlsx?sheet=NAME",
	"table":               "sqlite:FILE?table=TABLE, or --query FILE",
	"temporary-file":      "make room in the folder of the result, or allow more with --memory",
	"public-key":          "noren certificate key prints one",
	"unit-name":           "rename it, or omit --unit for one record as the unit",
	"untrusted":           "name the key of the signer: --trust KEY.pem",
	"unsound":             "restore it from a copy and run noren ledger reconcile, or keep it as evidence",
}

// withHint is err with this front end's hint in place of the library's, where its
// code has one.
func withHint(err error) error {
	e, ok := err.(*noren.Error)
	if !ok {
		return err
	}
	out := *e
	if hint, known := hints[e.Code]; known && !strings.Contains(e.Hint, "noren ") {
		out.Hint = hint // where this front end has not said it for the case at hand
	} else if e.Err != nil {
		out.Err = withHint(e.Err)
	}
	return &out
}
