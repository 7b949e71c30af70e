package shard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// A commit and its recovery change the file system by the functions below alone. Tests end the
// process between any two changes, and have each of them fail.

// change is the kind of a use of the file system.
type change string

const (
	changes change = "changes"
	looks   change = "looks" // and changes nothing
)

// stepKey is the key of a function that tests have called in place of each use of the file
// system, with what is to be done.
type stepKey struct{}

type stepper func(kind change, do func() error) error

func step(ctx context.Context, kind change, do func() error) error {
	if f, ok := ctx.Value(stepKey{}).(stepper); ok {
		return f(kind, do)
	}
	return do()
}

func rename(ctx context.Context, from, to string) error {
	return step(ctx, changes, func() error { return os.Rename(from, to) })
}

func mkdir(ctx context.Context, path string, mode fs.FileMode) error {
	return step(ctx, changes, func() error { return os.Mkdir(path, mode) })
}

func chmod(ctx context.Context, path string, mode fs.FileMode) error {
	return step(ctx, changes, func() error { return os.Chmod(path, mode) })
}

func removeAll(ctx context.Context, path string) error {
	return step(ctx, changes, func() error { return os.RemoveAll(path) })
}

func removeFile(ctx context.Context, path string) error {
	return step(ctx, changes, func() error { return os.Remove(path) })
}

// drop removes files that may be missing.
func drop(ctx context.Context, dir string, names ...string) error {
	for _, name := range names {
		if err := removeFile(ctx, filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// exists reports whether something has a name. That it cannot be told is an error: what is
// there, and is taken for missing, would be lost.
func exists(ctx context.Context, path string) (bool, error) {
	err := step(ctx, looks, func() error {
		_, err := os.Lstat(path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// list is the names in a folder, none where there is no folder.
func list(ctx context.Context, path string) (entries []fs.DirEntry, err error) {
	err = step(ctx, looks, func() (err error) {
		entries, err = os.ReadDir(path)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

func syncFolder(ctx context.Context, path string) error {
	return step(ctx, looks, func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_ = f.Sync() // not every system syncs folders
		return f.Close()
	})
}
