// Package atomicfile writes files atomically: a file appears complete or not at all.
// Until Commit there is no file of the final name; where the system supports files
// without a name (Linux), even a killed process leaves no file.
package atomicfile

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/tempfile"
)

// File is a file in the making. Write to it, read it back (ReadAt), then Commit
// or Discard it; Discard after Commit does nothing, so that it can be deferred.
type File struct {
	*os.File
	target string
	temp   string // its name until Commit; empty while it has none
	force  bool
	mode   fs.FileMode // from Commit on
	done   bool
	made   fs.FileInfo // what Commit has given its name, nil before
	sync   func(dir string) error

	replaces bool     // Commit replaces something
	kept     string   // the second name of what Commit replaces, empty for none
	held     *os.File // open on it
}

// Create starts a public file that is to become target, which must not exist
// unless force is set. The file is readable by its owner alone until Commit, which
// gives it the mode that the umask allows.
func Create(target string, force bool) (*File, error) {
	mode, err := publicMode(filepath.Dir(target))
	if err != nil {
		mode = private // Check says why the folder does not serve
	}
	return start(target, force, mode)
}

// CreatePrivate is [Create] for a file that was computed from private data: it
// stays readable by its owner alone.
func CreatePrivate(target string, force bool) (*File, error) {
	return start(target, force, private)
}

// private is the mode of files that their owner alone may read.
const private fs.FileMode = 0o600

func start(target string, force bool, mode fs.FileMode) (*File, error) {
	if err := Check(target, force); err != nil {
		return nil, err
	}
	f, temp, err := create(filepath.Dir(target))
	if err != nil {
		return nil, &noren.Error{
			Kind: kindOf(err), Where: noren.File(target), What: "cannot be written",
			Hint: cmp.Or(Space(err), "the folder must exist and be writable"), Err: Reason(err),
		}
	}
	return &File{File: f, target: target, temp: temp, force: force, mode: mode, sync: syncDir}, nil
}

// CodeExists is the code of errors about a target that exists.
const CodeExists = "file-exists"

// Check reports what would keep target from being written, before any work is
// done for it.
func Check(target string, force bool) error {
	info, err := os.Lstat(target)
	switch {
	case err == nil && info.IsDir():
		return &noren.Error{Kind: noren.Usage, Where: noren.File(target), What: "is a folder", Hint: "name a file"}
	case err == nil && !force:
		return &noren.Error{
			Kind: noren.Usage, Code: CodeExists, Where: noren.File(target), What: "exists already",
			Hint: "choose another name, or allow it to be replaced",
		}
	case err == nil && info.Mode().IsRegular() && isPrivateKey(target):
		return &noren.Error{
			Kind: noren.Usage, Where: noren.File(target), What: "is a private key, which no result replaces",
			Hint: "choose another name",
		}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return &noren.Error{Kind: kindOf(err), Where: noren.File(target), What: "cannot be written", Err: Reason(err)}
	}
	dir := filepath.Dir(target)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return &noren.Error{
			Kind: noren.Usage, Where: noren.File(target), What: "its folder does not exist", Hint: "make the folder %s first",
			HintArgs: []any{noren.File(dir)},
		}
	}
	return nil
}

// isPrivateKey reports whether a file holds a private key in PEM: without it no more can be
// signed under its id, and the noise of unfinished answers is lost.
func isPrivateKey(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	for line := range bytes.Lines(head[:n]) {
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte("-----BEGIN ")) && bytes.HasSuffix(line, []byte("PRIVATE KEY-----")) {
			return true
		}
	}
	return false
}

// Write implements io.Writer. Its errors name the file that is to be, which has no name yet.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	return n, f.failed(err)
}

// WriteString is [File.Write] of a text.
func (f *File) WriteString(text string) (int, error) {
	n, err := f.File.WriteString(text)
	return n, f.failed(err)
}

// ReadFrom implements io.ReaderFrom. Only errors of the file name it.
func (f *File) ReadFrom(in io.Reader) (int64, error) { return io.Copy(struct{ io.Writer }{f}, in) }

func (f *File) failed(err error) error {
	if err == nil {
		return nil
	}
	return &noren.Error{Where: noren.File(f.target), What: "cannot be written", Hint: Space(err), Err: Reason(err)}
}

// Commit syncs the file and gives it its name. Where the folder could not be synced after it, the
// file is whole under its name, and the error says so.
func (f *File) Commit() error {
	err := f.commit()
	if _, ok := errors.AsType[*unsynced](err); ok {
		return &noren.Error{
			Where: noren.File(f.target),
			What:  "is complete, but its folder cannot be synced: after a power failure it may be missing, or be the one from before",
			Hint:  "check the disk, then run the command again", Err: Reason(err),
		}
	}
	return err
}

// unsynced is a file that has its name, in a folder that could not be synced.
type unsynced struct{ error }

func (u *unsynced) Unwrap() error { return u.error }

// commit is Commit, whose error is [unsynced] where the file has its name.
func (f *File) commit() error {
	if f.done {
		return nil
	}
	err := f.Sync()
	if err == nil {
		err = f.Chmod(f.mode)
	}
	if err == nil {
		err = f.publish()
	}
	if err != nil {
		f.Discard()
		if errors.Is(err, fs.ErrExist) && !f.force { // of a folder that is not empty too, which force does not replace
			return &noren.Error{
				Kind: noren.Usage, Code: CodeExists, Where: noren.File(f.target),
				What: "was created by another process in the meantime", Hint: "choose another name, or allow it to be replaced",
			}
		}
		return &noren.Error{Where: noren.File(f.target), What: "cannot be completed", Err: Reason(err)}
	}
	f.done = true
	f.made, _ = f.Stat()
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return &noren.Error{Where: noren.File(f.target), What: "cannot be closed", Err: Reason(err)}
	}
	if err := f.sync(filepath.Dir(f.target)); err != nil {
		return &unsynced{err}
	}
	return nil
}

// Discard gives the file up and leaves nothing behind. After Commit, it ends what [Together]
// keeps of a file that was replaced.
func (f *File) Discard() {
	f.unkeep()
	if f.done {
		return
	}
	f.done = true
	_ = f.Close()
	if f.temp != "" {
		_ = os.Remove(f.temp)
	}
}

// Target is the name that Commit gives the file.
func (f *File) Target() string { return f.target }

// publishNamed gives the named temporary file its final name; without force it replaces nothing.
func publishNamed(temp, target string, force bool) error {
	if force {
		return os.Rename(temp, target)
	}
	return tempfile.Publish(temp, target)
}

func createNamed(dir string) (*os.File, string, error) {
	f, err := tempfile.CreateNamed(dir)
	if err != nil {
		return nil, "", err
	}
	return f, f.Name(), nil
}

// namedMode is publicMode by way of an empty file that has a name for a moment.
func namedMode(dir string) (fs.FileMode, error) {
	name := tempfile.Name(dir)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return 0, err
	}
	info, err := f.Stat()
	_ = f.Close()
	_ = os.Remove(name)
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm(), nil
}

// Reason strips the path from a system error, as the caller names the target.
func Reason(err error) error {
	var own *noren.Error
	if errors.As(err, &own) && own.Err != nil {
		return Reason(own.Err)
	}
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

// Space is what to do where a disk is full, or a quota or a limit of sizes does not allow a file; "" where the cause of
// err is another one.
func Space(err error) noren.Format {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EDQUOT) {
		return "is there space on the disk? choose a folder on another one"
	}
	return ""
}

func kindOf(err error) noren.Kind {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return noren.Usage
	}
	return noren.Internal
}
