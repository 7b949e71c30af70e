package tempfile

import (
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Temporary files that need a name are in the folder of the file that they become. There is
// one rule for all of them:
//
//   - The name is .noren-HOST-RANDOM.tmp. Nothing that Noren reads or publishes has such a name.
//   - A file has mode 0600 and a folder mode 0700 until it is complete.
//   - The process that made it holds a lock of it, which the system ends with the process.
//   - The process that makes the next one in that folder removes those that no process holds:
//     what a killed process left goes with the next run. Those of another host go when nothing
//     has changed them for a week.
const (
	prefix = ".noren-"
	suffix = ".tmp"
)

// IsName reports whether a name is one of temporary files and folders.
func IsName(name string) bool {
	return len(name) > len(prefix)+len(suffix) && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix)
}

// Name is a new name for a temporary file in dir. It need not be hard to guess: a file is only
// made where none is.
func Name(dir string) string {
	m := marks()
	return filepath.Join(dir, prefix+m[0]+m[1]+"-"+strconv.FormatUint(maphash.String(maphash.MakeSeed(), dir), 36)+suffix)
}

// tries is how often a temporary file is made anew that another process removed before it was
// locked. More are a fault of the file system, as where a file has another number each time.
const tries = 100

// lost says that no temporary file in dir stayed until it was locked.
func lost(dir string) error {
	return &fs.PathError{Op: "lock", Path: dir, Err: errors.ErrUnsupported}
}

// CreateNamed makes an empty file of mode 0600 under a temporary name in dir, for a writer
// that renames it. It is locked until it is closed.
func CreateNamed(dir string) (*os.File, error) {
	Sweep(dir)
	for range tries {
		name := Name(dir)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		if Hold(f) && is(f, name) {
			return f, nil
		}
		_ = f.Close() // another process took it for the remains of one that was killed
		_ = os.Remove(name)
	}
	return nil, lost(dir)
}

// Folder is a folder under a temporary name. Close ends its lock, after it was renamed or
// removed.
type Folder struct {
	Path string
	held *os.File // nil where folders cannot be locked
}

// CreateFolder makes a folder of mode 0700 under a temporary name in dir.
func CreateFolder(dir string) (*Folder, error) {
	Sweep(dir)
	for range tries {
		f := &Folder{Path: Name(dir)}
		if err := os.Mkdir(f.Path, 0o700); err != nil {
			return nil, err
		}
		held, ok, err := holdFolder(f.Path)
		if ok {
			f.held = held
			return f, nil
		}
		_ = os.Remove(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return nil, lost(dir)
}

// Close ends the lock of the folder. It may be called more than once.
func (f *Folder) Close() {
	if f.held != nil {
		_ = f.held.Close()
		f.held = nil
	}
}

// HoldFolder locks a folder until release, so that no other process takes it for the remains of
// a killed one when it is given a temporary name. Where it cannot be locked nothing is.
func HoldFolder(path string) (release func()) {
	f, ok, err := holdFolder(path)
	if err != nil || !ok || f == nil {
		return func() {}
	}
	return func() { _ = f.Close() }
}

// is reports whether a name is that of an open file.
func is(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(open, named)
}

// Sweep removes the temporary files and folders in dir that no process holds. What cannot
// be removed stays.
func Sweep(dir string) { sweepAll(dir, nil) }

// sweepAll is Sweep; also names of another host are removed that are names of the file also.
func sweepAll(dir string, also os.FileInfo) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer func() { _ = d.Close() }()
	for {
		entries, err := d.ReadDir(1000)
		for _, e := range entries {
			if IsName(e.Name()) && (e.Type().IsRegular() || e.IsDir()) {
				sweep(filepath.Join(dir, e.Name()), e, also)
			}
		}
		if err != nil || len(entries) == 0 {
			return
		}
	}
}

func sweep(path string, e fs.DirEntry, also os.FileInfo) {
	free, release := unheld(path, e)
	defer release()
	if !free {
		return
	}
	info, err := e.Info()
	if own(e.Name()) || err == nil && also != nil && os.SameFile(info, also) || !changedWithin(path, foreign) {
		_ = os.RemoveAll(path)
	}
}
