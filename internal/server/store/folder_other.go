//go:build !unix

package store

import (
	"errors"
	"os"
)

// errHeld says that another process holds a folder.
var errHeld = errors.New("another process holds it")

// holdFolder is for systems on which the open lock file cannot be deleted: it holds.
func holdFolder(string) (*os.File, error) { return nil, nil }

// letFolder gives back what holdFolder took.
func letFolder(f *os.File) error { return f.Close() }
