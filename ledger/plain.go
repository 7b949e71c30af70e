package ledger

import (
	"errors"
	"io/fs"
	"os"
)

// errNotPlain is the cause of errors about a link, a folder or a device in the place of a
// file.
var errNotPlain = errors.New("expected a file, got a link or another kind of entry")

// openPlain opens a file that exists, and follows no link at its name: what a link leads
// to was not written by the ledger.
func openPlain(path string, flag int) (*os.File, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotPlain}
	}
	f, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(named, info) {
		err = &fs.PathError{Op: "open", Path: path, Err: errNotPlain}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
