//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package tempfile

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// age is the time after which a temporary file counts as left by a killed process, where
// the system has no locks that end with a process. An open file cannot be removed on Windows.
const age = 24 * time.Hour

// Hold reports true: nothing is locked here.
func Hold(*os.File) bool { return true }

func holdFolder(string) (*os.File, bool, error) { return nil, true, nil }

func unheld(_ string, e fs.DirEntry) (free bool, release func()) {
	info, err := e.Info()
	return err == nil && time.Since(info.ModTime()) > age, func() {}
}

// Lock takes the lock of a file at path, which it makes, and reports whether no other process
// has it. unlock removes the file. A process that is killed leaves it.
func Lock(path string) (unlock func(), ok bool, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	_ = f.Close()
	return func() { _ = os.Remove(path) }, true, nil
}
