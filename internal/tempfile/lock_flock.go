//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package tempfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Hold locks a temporary file until it is closed, and reports whether no other process had
// locked it. On a file system without locks it is not locked, and stays until somebody removes it.
func Hold(f *os.File) bool {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	return !errors.Is(err, unix.EWOULDBLOCK)
}

// holdFolder locks a folder. ok is false with an error where it cannot be opened, and without
// one where another process has locked or removed it.
func holdFolder(path string) (f *os.File, ok bool, err error) {
	if f, err = os.Open(path); err != nil {
		return nil, false, err
	}
	if Hold(f) && is(f, path) {
		return f, true, nil
	}
	_ = f.Close()
	return nil, false, nil
}

// unheld reports whether no process holds a temporary file or folder, which then is held
// until release.
func unheld(path string, _ fs.DirEntry) (free bool, release func()) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, func() {}
	}
	f := os.NewFile(uintptr(fd), path)
	return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil && is(f, path), func() { _ = f.Close() }
}

// Lock takes the lock of a file at path, which it makes with mode 0600, and reports whether no
// other process has it. The system ends it with the process. unlock removes the file. On a file system
// without locks the one who makes the file has it, and one who is killed leaves it.
func Lock(path string) (unlock func(), ok bool, err error) { return lock(path, unix.Flock) }

func lock(path string, flock func(fd, how int) error) (unlock func(), ok bool, err error) {
	const how = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	fd, err := unix.Open(path, how|unix.O_CREAT|unix.O_EXCL, 0o600)
	made := err == nil
	if errors.Is(err, fs.ErrExist) {
		fd, err = unix.Open(path, how, 0)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist): // the one who had it has removed the file
		return nil, false, nil
	case err != nil:
		return nil, false, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	err = flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	held := err == nil || made && !errors.Is(err, unix.EWOULDBLOCK)
	if !held || !is(f, path) {
		_ = f.Close()
		return nil, false, nil
	}
	return func() { _ = os.Remove(path); _ = f.Close() }, true, nil
}
