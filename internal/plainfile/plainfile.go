// Package plainfile opens files of a folder without following links: what a link leads to is
// not what was put into the folder.
package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/internal/meter"
)

// ErrNot is the cause of errors about a link, a folder or a device in the place of a file, or
// about a link in the place of a folder.
var ErrNot = errors.New("expected a file, got a link or another kind of entry")

// Open opens a file of dir for reading. name is a path within dir; no component of it is
// followed as a link. dir itself may be one.
func Open(dir, name string) (*os.File, error) { return OpenFile(dir, name, os.O_RDONLY) }

// OpenFile is [Open] with the flags of [os.OpenFile]. The file must exist.
func OpenFile(dir, name string, flag int) (_ *os.File, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	not := &fs.PathError{Op: "open", Path: filepath.Join(dir, name), Err: ErrNot}
	for at := filepath.Dir(name); at != "."; at = filepath.Dir(at) {
		info, err := root.Lstat(at)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, not
		}
	}
	named, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !named.Mode().IsRegular() {
		return nil, not
	}
	f, err := root.OpenFile(name, flag, 0)
	if err != nil {
		return nil, err
	}
	// The name may lead to another file by now.
	if info, err := f.Stat(); err != nil || !os.SameFile(info, named) {
		_ = f.Close()
		return nil, not
	}
	return f, nil
}

// OpenPath is [Open] of the file at a path, in the folder that it is in.
func OpenPath(path string) (*os.File, error) { return Open(filepath.Dir(path), filepath.Base(path)) }

// OpenOrMake opens the file at a path for reading and writing, and makes it with mode 0600
// where there is none.
func OpenOrMake(path string) (*os.File, error) {
	f, err := OpenFile(filepath.Dir(path), filepath.Base(path), os.O_RDWR)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// ReadFile is the content of a file of dir, which has at most limit bytes. See [Open].
func ReadFile(dir, name string, limit int64) ([]byte, error) {
	f, err := Open(dir, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return meter.ReadAll(f, limit, filepath.Join(dir, name))
}
