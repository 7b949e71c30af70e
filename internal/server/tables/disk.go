package tables

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/noren-privacy/noren/internal/server/problem"
	"github.com/noren-privacy/noren/internal/server/uploads"
)

// FileError is a failure of the file system, without its path.
func FileError(err error) error {
	if uploads.DiskFull(err) {
		return problem.New("unavailable", "The disk is full.").Hinted("free space on the server")
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		err = l.Err
	}
	return &storeFailure{err}
}

// Watched is an error of work under a context that ended because the disk is full: that it
// is full. Other errors stay as they are.
func Watched(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), uploads.ErrDiskFull) {
		return FileError(uploads.ErrDiskFull)
	}
	return err
}

// storeFailure is a failure whose text is for the server's own log.
type storeFailure struct{ err error }

func (f *storeFailure) Error() string { return "server: a file cannot be used: " + f.err.Error() }
func (f *storeFailure) Unwrap() error { return f.err }

// SyncAll puts the files and folders below dir on the disk. Its errors are those of
// [FileError].
func SyncAll(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return FileError(err)
		}
		return SyncFolder(path)
	})
}

// SyncFolder puts a folder, or a file, on the disk. Its errors are those of [FileError].
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return FileError(err)
	}
	defer func() { _ = f.Close() }()
	if err := f.Sync(); err != nil {
		return FileError(err)
	}
	return nil
}
