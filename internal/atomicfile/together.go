package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/tempfile"
)

// Together are files that appear together or not at all. The Discard of each, which callers
// defer, ends that too.
type Together []*File

// Commit gives all files their names. After an error, which has the name of what could not be
// made, all is as it was before, or the error says what is not.
func (g Together) Commit() error {
	for i, f := range g {
		f.keep()
		err := f.commit()
		if _, ok := errors.AsType[*unsynced](err); ok {
			err = &noren.Error{
				Where: noren.File(f.target), What: "its folder cannot be synced", Hint: "check the disk, then run the command again",
				Err: Reason(err),
			}
		}
		if err != nil {
			return g[:i+1].Retract(err, f.target)
		}
	}
	return nil
}

// Retract undoes Commit, since something that goes with the files could not be made for the
// reason err. It returns err, which says what could not be undone. Files that were replaced are
// back, unless the file system has no hard links.
func (g Together) Retract(err error, what string) error {
	var gone, stay []string
	for _, f := range g {
		switch f.retract() {
		case lost:
			gone = append(gone, f.target)
		case stays:
			stay = append(stay, f.target)
		}
	}
	if len(gone) > 0 {
		err = &noren.Error{
			Kind: noren.KindOf(err), Where: noren.File(what),
			What: "was not made; removed again: %s, and with them the files of these names that they replaced", Args: []any{
				strings.Join(gone, ", "),
			},
			Hint: "run the command again with the same names", Err: err,
		}
	}
	if len(stay) > 0 {
		err = &noren.Error{
			Kind: noren.KindOf(err), Where: noren.File(what),
			What: "was not made; what goes with it was, and cannot be removed: %s", Args: []any{strings.Join(stay, ", ")},
			Hint: "remove it, or run the command again with the same names", Err: err,
		}
	}
	return err
}

// What becomes of a file that is retracted.
type retracted int

const (
	undone retracted = iota // all is as it was before Commit
	lost                    // it is removed, and what it replaced is not back
	stays                   // it is under its name
)

// keep gives the file that Commit will replace a second name, a temporary one.
func (f *File) keep() {
	if f.done || !f.force {
		return
	}
	info, err := os.Lstat(f.target)
	f.replaces = !errors.Is(err, os.ErrNotExist)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	name := tempfile.Name(filepath.Dir(f.target))
	if os.Link(f.target, name) != nil {
		return
	}
	f.kept = name
	if runtime.GOOS == "windows" {
		return // an open file cannot be renamed there
	}
	// So that no other process takes it for what a killed one left.
	if f.held, err = os.Open(name); err == nil {
		tempfile.Hold(f.held)
	}
}

// retract undoes Commit, if the file is still the one under its name.
func (f *File) retract() retracted {
	defer f.unkeep()
	if f.made == nil {
		return undone
	}
	now, err := os.Lstat(f.target)
	if err != nil || !os.SameFile(now, f.made) {
		return undone // another process has made this one
	}
	if f.kept != "" && os.Rename(f.kept, f.target) == nil {
		f.kept = ""
		return undone
	}
	switch {
	case os.Remove(f.target) != nil:
		return stays
	case f.replaces:
		return lost
	}
	return undone
}

// unkeep removes the second name of what was replaced.
func (f *File) unkeep() {
	if f.kept != "" {
		_ = os.Remove(f.kept)
		f.kept = ""
	}
	if f.held != nil {
		_ = f.held.Close()
		f.held = nil
	}
}
