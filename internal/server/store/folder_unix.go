//go:build unix

package store

import (
	"errors"
	"os"
	"syscall"
)

// errHeld says that another process holds a folder.
var errHeld = errors.New("another process holds it")

// holdFolder takes the lock of the folder itself, which the deletion of a file in it does
// not end. The system ends it with the process.
func holdFolder(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return f, nil
	}
	_ = f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	if errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.EINVAL) {
		return nil, nil // a file system without such locks: the lock file holds
	}
	return nil, err
}

// letFolder gives the lock back. A process that starts at this moment has the same open file until
// its program begins: closing the file alone would leave the lock to it.
func letFolder(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	return errors.Join(err, f.Close())
}
