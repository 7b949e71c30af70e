package service

import (
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/atomicfile"
)

// companions are the files that go with a release: its page and its certificate. They are
// created before it, so that there is no release without them.
type companions []*atomicfile.File

// commit creates the files.
func (c companions) commit() error {
	for _, f := range c {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return nil
}

// retract removes those that were created for a release that could not be, and returns
// the error. Where they may have replaced those of an earlier release, it says what is
// left, and how to go on.
func (c companions) retract(err error, release string, force bool) error {
	var gone []string
	for _, f := range c {
		if f.Retract() {
			gone = append(gone, f.Target())
		}
	}
	if len(gone) == 0 || !force {
		return err
	}
	return &noren.Error{
		Kind: noren.KindOf(err), Where: release,
		What: "was not made; removed again: %s, and with them the files of these names that they replaced", Args: []any{strings.Join(gone, ", ")},
		Hint: "make the release again with the same names", Err: err,
	}
}
