package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/noren-privacy/noren/internal/tempfile"
)

// create opens a file that has no name (O_TMPFILE), or a named temporary one
// where the file system does not offer that.
func create(dir string) (*os.File, string, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err == nil {
		tempfile.Sweep(dir)
		f := os.NewFile(uintptr(fd), filepath.Join(dir, "(unnamed)"))
		// Without /proc the file could not be named.
		if _, err := os.Stat(procPath(f)); err == nil && tempfile.Hold(f) {
			return f, "", nil
		}
		_ = f.Close()
	}
	return createNamed(dir)
}

// publicMode is the mode that a new file in dir gets from the umask, and from
// the folder's default access list where it has one.
func publicMode(dir string) (fs.FileMode, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o666)
	if err != nil {
		return namedMode(dir)
	}
	f := os.NewFile(uintptr(fd), filepath.Join(dir, "(unnamed)"))
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm(), nil
}

func procPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

func (f *File) publish() error {
	if f.temp != "" {
		return publishNamed(f.temp, f.target, f.force)
	}
	link := func(to string) error {
		return unix.Linkat(unix.AT_FDCWD, procPath(f.File), unix.AT_FDCWD, to, unix.AT_SYMLINK_FOLLOW)
	}
	if !f.force {
		return link(f.target)
	}
	// A link cannot replace a file, a rename can: name it beside, then rename.
	named := tempfile.Name(filepath.Dir(f.target))
	if err := link(named); err != nil {
		return err
	}
	if err := os.Rename(named, f.target); err != nil {
		_ = os.Remove(named)
		return err
	}
	return nil
}

// syncDir makes the names in a folder durable. Folders that this user may write to and not read,
// and those of file systems that cannot sync folders, are left as they are: the files are whole.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
