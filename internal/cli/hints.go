package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/file"
)

// hints say what to type, by the code of an error. Libraries say what is wrong;
// only a front end knows its own commands and flags.
var hints = map[string]noren.Format{
	"cannot-rebuild": "restore it from a copy and run noren ledger reconcile, or keep it as evidence",
	"changed":        "if it is the same data set in a new state, the steward grants it with --changed: what is spent stays spent",
	"closed":         "the steward opens it again with: noren ledger grant NAME --analyst ANALYST --epsilon E; nothing was charged",
	"granted": "ask the data set with noren query, whose budget is charged; --not-charged is for the steward, and the ledger " +
		"notes it",
	"header-row":  "if the rows above the table hold a title, say --header-row ROW, or FILE.xlsx?header=ROW",
	"key-unknown": "the signer prints it by noren certificate key, and a server's by noren serve key --dir DIR; give it with --trust",
	"totals": "--totals leave leaves rows of totals and notes out, --totals read takes them as records, or " +
		"FILE.xlsx?totals=leave",
	"totals-database": "leave them out by a query: --query FILE; --totals read takes them as records",
	"hidden": "--hidden leave leaves hidden rows and columns out, --hidden read takes them, or FILE.xlsx?hidden=leave; " +
		"--sheet NAME reads another sheet",
	"known":               "ask the data set without --unaccounted: its budget is charged",
	"ledger-missing":      "make one with: noren ledger create; or name another with --ledger",
	"ledger-unreadable":   "noren ledger verify tells what is wrong with it; --ledger names another",
	"malformed-reports":   "see whether the specification is the one that the reports were made by; --max-malformed allows a larger share",
	"memory":              "allow more with --memory",
	"missing-unclear":     "say --missing with this text if it is missing everywhere; else name the texts that are missing",
	"no-copy":             "the steward grants one: noren ledger grant NAME --file SOURCE copies it to a private file",
	"no-dataset":          "the steward grants one with: noren ledger grant NAME --file FILE --spec SPEC --epsilon E",
	"no-grant":            "the steward grants one with: noren ledger grant NAME --analyst ANALYST --epsilon E",
	"no-quasi-identifier": "name the columns that others may know: --quasi age,sex,postcode, or role: quasi-identifier in a specification",
	"no-schema":           "the steward grants one with: noren ledger grant NAME --file FILE --spec SPEC --epsilon E --yes",
	"not-regular":         "give it on standard input, as -",
	"note-line":           "if it is a note below the table, --totals leave leaves it out; else write the line as a record or remove it",
	"other-answer": "it was changed, the certificate belongs to another, or it is what --json printed: a certificate is of the file " +
		"of -o",
	"other-specification": "give the specification by which they were made, by --spec or its flags; --question names a question that is " +
		"not the column's name",
	"other-people": "say --other-people if no person is in both; a new table of the same people is a new version: grant that data " +
		"set with --changed",
	"previous-quasi":      "name them with --previous-quasi, or its certificate with --previous-certificate",
	"public-key":          "noren certificate key prints one",
	"query":               "pg:TABLE, or pg: with --query FILE",
	"sampled":             "--all takes all, --sample another number",
	"schema-incomplete":   "noren init FILE -o SPEC writes a specification with a type for every column; or say --type COLUMN=TYPE",
	"sealed":              "run noren ledger reconcile, with the certificates of what was released",
	"sheet":               "say --sheet NAME, or FILE.xlsx?sheet=NAME",
	"spec-empty":          "noren init FILE writes one",
	"spec-invalid":        "noren init --schema prints what a specification may hold",
	"spec-seed":           "give it by --seed, or leave it out",
	"spec-unreadable":     "noren init FILE -o noren.yaml writes one",
	"table":               "sqlite:FILE?table=TABLE, or --query FILE",
	"temporary-file":      "free space in the folder of the result, or allow more with --memory",
	"unit-name":           "rename it, or omit --unit for one record as the unit",
	"unsound":             "restore it from a copy and run noren ledger reconcile, or keep it as evidence",
	"untrusted":           "name the key of the signer: --trust KEY.pem",
	service.CodeConfirm:   "confirm with --yes; nothing was granted",
	atomicfile.CodeExists: "choose another name, or say --force to replace it",
}

// shown is err as this front end says it: the field of a request that it is about
// becomes the command's flag of that name, and the library's hint becomes this front
// end's, where the code has one.
func shown(c *cobra.Command, err error) error {
	switch e := err.(type) {
	case *noren.Error:
		out := *e
		if flag, known := flagOf(c, e); known {
			out.Where = flag
		}
		if hint, known := hints[e.Code]; known {
			out.Hinted(hint)
		} else if e.Code == file.CodeMissing {
			out.Advising(missingHint(e))
		} else if e.Err != nil {
			out.Err = hinted(e.Err)
		}
		return &out
	case spec.Faults:
		out := make(spec.Faults, len(e))
		for i, fault := range e {
			out[i] = shown(c, fault).(*noren.Error)
		}
		return out
	case interface{ Unwrap() []error }:
		all := e.Unwrap()
		out := make([]error, len(all))
		for i := range all {
			out[i] = shown(c, all[i])
		}
		return errors.Join(out...)
	}
	return err
}

// hinted is [shown] for a cause, which is about no flag.
func hinted(err error) error { return shown(nil, err) }

// exportHints are the hints of noren ledger check-export, which takes ids of keys.
var exportHints = map[string]noren.Format{
	"key-unknown": "its owner prints the id by noren ledger export, and that of a server by noren serve key --dir DIR --id; give it with " +
		"--key ID",
}

// fields are the flags of fields of requests that have other names.
var fields = map[string]string{"noise": "mechanism", "interval share": "interval-share", "groups": "keys"}

// flagOf is the flag that an error of kind Usage is about.
func flagOf(c *cobra.Command, e *noren.Error) (string, bool) {
	if c == nil || noren.KindOf(e) != noren.Usage {
		return "", false
	}
	if e.Place() == "dataset" {
		return "DATASET", true
	}
	name, entry, _ := strings.Cut(e.Place(), ": ") // a field, or an entry of it
	if other, known := fields[name]; known {
		name = other
	}
	if name == "" || c.Flags().Lookup(name) == nil {
		return "", false
	}
	if entry != "" {
		entry = ": " + entry
	}
	return "--" + name + entry, true
}
