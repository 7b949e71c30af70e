// Package atomicfile writes files that appear whole or not at all. Until
// Commit nothing can be seen under the final name; where the system can hold
// a file without a name (Linux), not even a killed process leaves anything
// behind.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"noren"
)

// File is a file in the making. Write to it, read it back (ReadAt), then Commit
// or Discard it; Discard after Commit does nothing, so that it can be deferred.
type File struct {
	*os.File
	target string
	temp   string // its name until Commit; empty while it has none
	force  bool
	done   bool
}

// Create starts a file that is to become target, which must not exist unless
// force is set. The file is readable by its owner alone until Commit.
func Create(target string, force bool) (*File, error) {
	if err := Check(target, force); err != nil {
		return nil, err
	}
	f, temp, err := create(filepath.Dir(target))
	if err != nil {
		return nil, &noren.Error{Kind: kindOf(err), Where: target, What: "cannot be written", Hint: "the folder must exist and be writable", Err: Reason(err)}
	}
	return &File{File: f, target: target, temp: temp, force: force}, nil
}

// Check reports what would keep target from being written, before any work is
// done for it.
func Check(target string, force bool) error {
	info, err := os.Lstat(target)
	switch {
	case err == nil && info.IsDir():
		return &noren.Error{Kind: noren.Usage, Where: target, What: "is a folder", Hint: "name a file"}
	case err == nil && !force:
		return &noren.Error{Kind: noren.Usage, Where: target, What: "exists already", Hint: "choose another name, or say --force to replace it"}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return &noren.Error{Kind: kindOf(err), Where: target, What: "cannot be written", Err: Reason(err)}
	}
	dir := filepath.Dir(target)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &noren.Error{Kind: noren.Usage, Where: target, What: "its folder does not exist", Hint: "make the folder " + dir + " first"}
	}
	return nil
}

// Commit syncs the file and gives it its name.
func (f *File) Commit() error {
	if f.done {
		return nil
	}
	err := f.Sync()
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.publish()
	}
	if err != nil {
		f.Discard()
		if errors.Is(err, fs.ErrExist) {
			return &noren.Error{Kind: noren.Usage, Where: f.target, What: "came into being meanwhile", Hint: "say --force to replace it"}
		}
		return &noren.Error{Where: f.target, What: "cannot be completed", Err: Reason(err)}
	}
	f.done = true
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return &noren.Error{Where: f.target, What: "cannot be closed", Err: Reason(err)}
	}
	return syncDir(filepath.Dir(f.target))
}

// Discard gives the file up and leaves nothing behind.
func (f *File) Discard() {
	if f.done {
		return
	}
	f.done = true
	_ = f.Close()
	if f.temp != "" {
		_ = os.Remove(f.temp)
	}
}

// publishNamed gives the named temporary file its final name. Without force a
// hard link is made first, which fails where the name is taken.
func publishNamed(temp, target string, force bool) error {
	if force {
		return os.Rename(temp, target)
	}
	err := os.Link(temp, target)
	if err == nil {
		return os.Remove(temp)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// No hard links on this file system: look, then rename.
	if _, statErr := os.Lstat(target); statErr == nil {
		return fs.ErrExist
	}
	return os.Rename(temp, target)
}

func createNamed(dir string) (*os.File, string, error) {
	f, err := os.CreateTemp(dir, ".noren-*.tmp")
	if err != nil {
		return nil, "", err
	}
	return f, f.Name(), nil
}

// Reason strips the path from a system error, as the caller names the target.
func Reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

func kindOf(err error) noren.Kind {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return noren.Usage
	}
	return noren.Internal
}
