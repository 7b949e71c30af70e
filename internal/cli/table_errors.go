package cli

import (
	"errors"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/api"
	"github.com/noren-privacy/noren/kanon/gate"
	"github.com/noren-privacy/noren/service"
	"github.com/noren-privacy/noren/spec"
	"github.com/noren-privacy/noren/table/csvio"
)

// tableTexts are texts of errors that name several parameters, in terms of flags.
var tableTexts = map[string]noren.Format{
	spec.CodeNeedsL:         "--l-model and --c go with --l",
	spec.CodeNeedsUnit:      "--unit-linkage and --pseudonym are about persons: name the column that tells them apart",
	service.CodeNeedsSeed:   "goes with --seed",
	service.CodeNoSensitive: "--l and --t are about sensitive columns, and none is named",
}

// tableHints say what to type about errors of operations on a table.
var tableHints = map[string]noren.Format{
	csvio.FirstLineCode:     "--no-header if it is a record, --header if these are names",
	service.CodeNeedsSplit:  "--split-rows N writes a folder of several files",
	service.CodeNoK:         "--k 5",
	service.CodeNoSensitive: "--sensitive diagnosis",
	service.CodeNoUnit:      "without --unit records are counted; anonymize counted the persons when it made the release",
	service.CodeSeedShort:   "draw one, for instance by openssl rand -hex 16; or leave it out; or say --seed-insecure for a test",
}

// tableError is an error of an operation on a table, in terms of flags.
func tableError(err error) error {
	var faults spec.Faults
	if errors.As(err, &faults) {
		out := make(spec.Faults, len(faults))
		for i, e := range faults {
			own := *e
			if what, known := tableTexts[e.Code]; known {
				own.Saying(what)
			}
			out[i] = &own
		}
		return out
	}
	e, ok := err.(*noren.Error)
	if !ok {
		return err
	}
	out := *e
	if what, known := tableTexts[e.Code]; known {
		out.Saying(what)
	}
	if hint, known := tableHints[noren.CodeOf(err)]; known {
		out.Hinted(hint)
	}
	var refused *gate.Refused
	if errors.As(err, &refused) {
		out.Err = nil
		out.Advising(decideHint(refused))
	}
	return &out
}

// decideHint says by which flags the columns of a refusal are decided on.
func decideHint(refused *gate.Refused) noren.Text {
	names := make([]string, len(refused.Columns))
	for i, c := range refused.Columns {
		names[i] = c.Column
	}
	list := strings.Join(names, ",")
	return noren.Textf("decide on each: --identifier %s drops, --quasi %s transforms, --other %s keeps; or write its role in a specification",
		list, list, list)
}

// noteHint says by which flags a note of the service layer is acted upon.
func noteHint(n *api.Note) noren.Text {
	column := strings.Join(n.Columns, ", ")
	switch n.Code {
	case spec.NoteMissing:
		return noren.Textf(" (say --missing to decide otherwise)")
	case spec.NoteNumberFormat:
		return noren.Textf(" (say --format to decide otherwise)")
	case spec.NoteKeptNumbers:
		return noren.Textf(" (the type category without a format keeps them as they are)")
	case spec.NoteRowIndex:
		return noren.Textf(" (--other %s keeps it)", column)
	case spec.NoteKept:
		return noren.Textf(" (name what others may know in --quasi, what names a person in --identifier)")
	case service.NoteLooksMissing:
		return noren.Textf(". If its readers go by the same texts, make it again with --publish generalize or another --round")
	case service.NoteFormulas:
		return noren.Textf(" (--formulas text writes them as text)")
	case service.NoteUncounted:
		return noren.Textf(" (--unit)")
	case service.NoteRepeated:
		return noren.Textf("; --unit %s counts persons", column)
	}
	return noren.Text{}
}
