package cli

import (
	"noren"
	"noren/internal/atomicfile"
)

// hints say what to type, by the code of an error. Libraries say what is wrong;
// only a front end knows its own commands and flags.
var hints = map[string]string{
	atomicfile.CodeExists: "choose another name, or say --force to replace it",
}

// withHint is err with this front end's hint in place of the library's, where its
// code has one.
func withHint(err error) error {
	e, ok := err.(*noren.Error)
	if !ok {
		return err
	}
	out := *e
	if hint, known := hints[e.Code]; known {
		out.Hint = hint
	} else if e.Err != nil {
		out.Err = withHint(e.Err)
	}
	return &out
}
