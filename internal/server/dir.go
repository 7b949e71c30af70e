package server

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/noren-privacy/noren"
	"github.com/noren-privacy/noren/internal/server/store"
)

// folders are the folders of the state.
var folders = []string{"key", "uploads", "tables", "work", "releases", "books"}

// prepare makes the folder of the state where it does not exist, refuses one that others
// can read, takes its lock, and empties what earlier jobs left.
func prepare(ctx context.Context, dir string) (*store.Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, folderError(dir, "cannot be made", err)
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	lock, err := store.NewLock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	if err := fill(dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// private refuses a folder or file that others than its owner can use.
func private(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return folderError(path, "cannot be examined", err)
	}
	if !info.IsDir() {
		return noren.Usagef(noren.File(path), "expected a folder").Hinted("name a folder that does not exist yet, or that of a server")
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return noren.Usagef(noren.File(path), "expected mode 0700, got %04o: others than its owner can use the folder", mode).
			Hinted("chmod 700 the folder, if the files in it were read by its owner alone")
	}
	return nil
}

func fill(dir string) error {
	work := filepath.Join(dir, "work")
	if err := os.RemoveAll(work); err != nil {
		return folderError(work, "cannot be emptied", err)
	}
	for _, name := range folders {
		path := filepath.Join(dir, name)
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return folderError(path, "cannot be made", err)
		}
		if err := private(path); err != nil {
			return err
		}
	}
	return nil
}

func folderError(path string, what noren.Phrase, err error) error {
	kind := noren.Internal
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrExist) {
		kind = noren.Usage
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return &noren.Error{Kind: kind, Where: noren.File(path), What: "the folder %s", Args: []any{what}, Err: err}
}
