package cli

import (
	"strings"

	"noren"
	"noren/internal/atomicfile"
)

// hints say what to type, by the code of an error. Libraries say what is wrong;
// only a front end knows its own commands and flags.
var hints = map[string]string{
	atomicfile.CodeExists: "choose another name, or say --force to replace it",
	"no-ledger":           "make one with: noren ledger create; or name another with --ledger",
	"no-dataset":          "the steward grants one with: noren ledger grant NAME --file FILE --epsilon E; noren ledger show lists the data sets",
	"no-grant":            "the steward grants one with: noren ledger grant NAME --analyst ANALYST --epsilon E",
	"no-schema":           "the steward grants one with: noren ledger grant NAME --file FILE --spec SPEC --epsilon E",
	"closed":              "the steward opens it again with: noren ledger grant NAME --analyst ANALYST --epsilon E; nothing was charged",
	"known":               "ask the data set without --unaccounted: its budget is charged",
	"changed":             "if it is the same data set in a new state, the steward grants it with --changed: what is spent stays spent",
	"other-people":        "say --other-people if no person is in both; a new table of the same people is a new version of that data set: grant it under that name with --changed",
	"sealed":              "the steward repairs it with: noren ledger reconcile CERTIFICATES",
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
