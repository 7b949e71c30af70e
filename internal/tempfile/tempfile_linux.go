package tempfile

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

func create(dir string) (*File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		return &File{File: os.NewFile(uintptr(fd), filepath.Join(dir, "(unnamed)"))}, nil
	}
	return createUnlinked(dir)
}
